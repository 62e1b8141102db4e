"""A judged collection as a task of MTEB, and a model of ours as what MTEB calls an encoder.

    python benchmarks/mteb_retrieval.py cranfield -o benchmarks/results/mteb_retrieval.json

The folder is laid out as BEIR does it. MTEB's nDCG@10 is put beside that of ``deltavec evaluate
retrieval`` for its ranking by meaning (``semantic``): the same model, learned from the same
documents. Needs mteb. All four members of its protocol are there: without ``mteb_model_meta`` it
would quietly use an empty one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from datasets import Dataset
from measuring import publish, surroundings
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.model_meta import ModelMeta
from mteb.models.models_protocols import EncoderProtocol

import deltavec as dv
from deltavec.lab.judged import Judged, read_judged
from deltavec.lab.retrieval import retrieval_benchmark


class Encoder:
    """A model of ours as MTEB's ``EncoderProtocol``."""

    def __init__(
        self,
        model_name: str | dv.EmbeddingModel,
        revision: str | None = None,
        *,
        device: str | None = None,
    ) -> None:
        ours = isinstance(model_name, dv.EmbeddingModel)
        self.model = model_name if ours else dv.load(model_name)

    def encode(self, inputs: Any, **about: Any) -> Any:
        """The vectors of texts that come in batches; what task they are of does not matter."""
        return self.model.encode([text for batch in inputs for text in batch["text"]])

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosines of all pairs; rows have unit length."""
        return np.atleast_2d(np.asarray(embeddings1)) @ np.atleast_2d(np.asarray(embeddings2)).T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The cosine of each pair of rows."""
        return np.einsum("ij,ij->i", *map(np.atleast_2d, (embeddings1, embeddings2)))

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """What MTEB writes beside the scores."""
        return ModelMeta.create_empty(
            {
                "name": f"deltavec/{self.model.recipe.name}",
                "revision": self.model.fingerprint,
                "embed_dim": self.model.dimensions,
                "n_parameters": int(self.model.table.rows.size),
                "similarity_fn_name": "cosine",
            }
        )


def task_of(judged: Judged) -> AbsTaskRetrieval:
    """The judged collection as a task, nothing of which is downloaded."""

    class JudgedCollection(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="JudgedCollection",
            description="Documents and queries of a folder.",
            dataset={"path": "local/folder", "revision": "1"},
            type="Retrieval",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

        def load_data(self, num_proc: int | None = None, **others: Any) -> None:
            corpus = [
                {"id": name, "text": text}
                for name, text in zip(judged.ids, judged.texts, strict=True)
            ]
            queries = [{"id": name, "text": text} for name, text in judged.queries.items()]
            self.dataset = {
                "default": {
                    "test": {
                        "corpus": Dataset.from_list(corpus),
                        "queries": Dataset.from_list(queries),
                        "relevant_docs": judged.grades,
                        "top_ranked": None,
                    }
                }
            }
            self.data_loaded = True

    return JudgedCollection()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    judged = read_judged(arguments.folder)
    encoder = Encoder(dv.fit(judged.texts).for_collection(judged.texts))
    assert isinstance(encoder, EncoderProtocol)
    result = mteb.evaluate(encoder, task_of(judged), cache=None, show_progress_bar=False)
    scores = result.task_results[0].scores["test"][0]
    ours = retrieval_benchmark(arguments.folder).methods["semantic"].mean
    publish(
        {
            **surroundings(["mteb"]),
            "collection": judged.name,
            "documents": len(judged.ids),
            "queries": len(judged.queries),
            "model": result.model_name,
            "mteb": {name: scores[name] for name in ("ndcg_at_10", "recall_at_100")},
            "deltavec evaluate retrieval": {
                "ndcg_at_10": round(ours["ndcg_10"], 5),
                "recall_at_100": round(ours["recall_100"], 5),
            },
        },
        arguments.output,
    )


if __name__ == "__main__":
    main()
