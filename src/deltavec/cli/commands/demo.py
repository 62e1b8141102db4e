"""``deltavec demo``: the whole path on real text."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deltavec.cli import options
from deltavec.cli.outputs import require_new_folder
from deltavec.cli.printing import print_json
from deltavec.cli.progress import Stages, stages

if TYPE_CHECKING:
    from deltavec.core.explain import WordPair
    from deltavec.core.model import EmbeddingModel
    from deltavec.core.vectors import WordVectors
    from deltavec.lab.stories import LeeDocuments

EXAMPLES = ("deltavec demo", "deltavec demo -o lee-news")

STORY = 0  # whose neighbors are shown
NEIGHBORS = 3
PAIRS = 6


class Neighbor(NamedTuple):
    """A story near another: its number, the cosine, the human rating, and the word pairs."""

    story: int
    cosine: float
    people: float
    pairs: tuple[WordPair, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the demo found.

    Attributes
    ----------
    documents : LeeDocuments
        The stories and their human similarity ratings.
    vectors : WordVectors
        Trained on all the stories.
    agreements : dict of str to float
        Correlation with people, by recipe.
    model : EmbeddingModel
        Fitted on all the stories with the default recipe, for comparing the rated ones.
    neighbors : list of Neighbor
        The neighbors of the shown story, nearest first.
    seconds : float
        Wall time.
    """

    documents: LeeDocuments
    vectors: WordVectors
    agreements: dict[str, float]
    model: EmbeddingModel
    neighbors: list[Neighbor]
    seconds: float


def demo(
    output: Path | None = options.output(
        "FOLDER", "Keep the stories, word vectors and model in a new folder.", value=None
    ),
    as_json: options.AsJson = False,
) -> None:
    """Show the whole path on real news stories.

    Trains word vectors, fits a model with each recipe, measures the agreement with people, and
    explains the nearest stories. The text comes with a dependency: nothing is downloaded, and
    nothing is kept without -o.
    """
    if output is not None:
        require_new_folder(output)
    with stages("starting") as work:
        outcome = run(work)
        if output is not None:
            work.begin("saving")
            keep(outcome, output)
    from deltavec.cli.commands.demo_report import as_record, print_outcome

    if as_json:
        print_json(as_record(outcome))
    else:
        print_outcome(outcome, output)


def run(work: Stages) -> Outcome:
    """Run the demo, from text to neighbors."""
    from deltavec.core.fitting import fit
    from deltavec.core.recipes import RECIPES
    from deltavec.core.threads import thread_count
    from deltavec.lab.stories import agreement, lee_documents
    from deltavec.training import train_vectors

    begun = time.perf_counter()
    documents = lee_documents()
    stories, judged = documents.stories, documents.judged
    cores = max(1, thread_count(None) // 2)
    # The default recipe does not depend on the others, so it runs beside them on half of the cores.
    with ThreadPoolExecutor(1, "deltavec") as executor:
        default = executor.submit(
            lambda: fit(stories, threads=cores).for_collection(judged, threads=cores)
        )
        vectors = train_vectors(stories, threads=cores, on_stage=work.begin)
        work.begin("fitting every recipe")
        agreements = {}
        for number, recipe in enumerate(RECIPES, 1):
            fitted = fit(stories, vectors, recipe, threads=cores)
            agreements[recipe] = agreement(fitted.embed(judged), documents.judgements)
            work.reach(number / len(RECIPES))
        work.begin("fitting the default recipe")
        import_module("deltavec.cli.commands.demo_report")  # while the other thread works
        model = default.result()
    agreements[model.recipe.name] = agreement(model.embed(judged), documents.judgements)
    neighbors = nearest(documents, model)
    return Outcome(documents, vectors, agreements, model, neighbors, time.perf_counter() - begun)


def nearest(documents: LeeDocuments, model: EmbeddingModel) -> list[Neighbor]:
    """The stories nearest to the one shown, and the words that make them near."""
    judged = documents.judged
    vectors = model.embed(judged)
    cosines = vectors @ vectors[STORY]
    order = [int(story) for story in (-cosines).argsort(kind="stable") if story != STORY]
    return [
        Neighbor(
            story,
            float(cosines[story]),
            documents.judgement(STORY, story),
            model.explain(judged[STORY], judged[story], pairs=PAIRS).pairs,
        )
        for story in order[:NEIGHBORS]
    ]


def keep(outcome: Outcome, folder: Path) -> None:
    """Write the stories, vectors and model to a new folder."""
    from deltavec.io.artifacts.model import save
    from deltavec.io.vectors.load import save_vectors

    folder.mkdir(exist_ok=True)
    lines = "".join(f"{story}\n" for story in outcome.documents.stories)
    (folder / "news.txt").write_text(lines, encoding="utf-8")
    save_vectors(outcome.vectors, folder / "news.safetensors")
    save(outcome.model, folder / "news.dv")
