"""Which test documents are in the training set: python leakage.py test.csv train.csv."""

import sys
import tempfile

import deltavec as dv


def main(test: str, train: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tested = dv.build_collection(test, f"{folder}/test.idx")
        found = tested.against(dv.read_corpus(train))
        print(f"{found.table.num_rows} of {len(tested)} test documents are in {train}")
        for row in found.table.to_pylist():
            print(f"  {row['id']} shares {row['shared']:.0%} with {row['match']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
