"""Write a file without near-duplicates: python deduplicate.py reviews.csv clean.csv."""

import sys

import pyarrow.csv

import deltavec as dv


def main(file: str, output: str) -> None:
    table = pyarrow.csv.read_csv(file)
    found = dv.duplicates(table["text"])  # exact: every pair that shares half of its text
    print(found)
    for row in found.table.to_pylist():
        if not row["keep"]:
            print(f"  {row['id']} goes, {row['representative']} stays: {row['why']}")
    kept = [row for row in range(len(table)) if row not in {*found.removed.tolist()}]
    pyarrow.csv.write_csv(table.take(kept), output)


if __name__ == "__main__":
    main(*sys.argv[1:])
