"""``deltavec demo``: the whole path on real text."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

STORY = 0  # whose neighbours are shown
NEIGHBOURS = 3
PAIRS = 6


@dataclass(frozen=True)
class Neighbour:
    """A story near another, and why.

    Attributes
    ----------
    story : int
        Its place among the judged stories.
    cosine : float
        How near it is.
    people : float
        How alike people found the two, from 0 to 1.
    pairs : tuple of WordPair
        The words that pull the two together.
    """

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
        The stories, and what people said of them.
    vectors : WordVectors
        Trained on all the stories.
    agreements : dict of str to float
        Correlation with people, by recipe.
    model : EmbeddingModel
        Fitted on all the stories with the default recipe, for comparing the judged ones.
    neighbours : list of Neighbour
        Of the story shown, nearest first.
    seconds : float
        How long it took.
    """

    documents: LeeDocuments
    vectors: WordVectors
    agreements: dict[str, float]
    model: EmbeddingModel
    neighbours: list[Neighbour]
    seconds: float


def demo(
    output: Annotated[
        Path | None,
        options.output(
            "FOLDER", "Keep the stories, word vectors and model in a new folder, to go on with."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the whole path on real news stories.

    Word vectors, a model of each recipe, how well they agree with people, neighbours and why. The
    text comes with a dependency: nothing is downloaded, and nothing is kept without -o.
    """
    if output is not None:
        require_new_folder(output)
    with stages("starting") as work:
        outcome = ran(work)
        if output is not None:
            work.begin("saving")
            keep(outcome, output)
    from deltavec.cli.commands.demo_report import as_record, printed

    if as_json:
        print_json(as_record(outcome))
    else:
        printed(outcome, output)


def ran(work: Stages) -> Outcome:
    """The demo, from text to neighbours."""
    from deltavec.core.fitting import fit
    from deltavec.core.recipes import RECIPES
    from deltavec.core.threads import thread_count
    from deltavec.lab.stories import agreement, lee_documents
    from deltavec.training import train_vectors

    begun = time.perf_counter()
    documents = lee_documents()
    stories, judged = documents.stories, documents.judged
    cores = max(1, thread_count(None) // 2)
    # The default needs nothing of the others: it has half of the cores.
    with ThreadPoolExecutor(1, "deltavec") as beside:
        default = beside.submit(
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
    neighbours = nearest(documents, model)
    return Outcome(documents, vectors, agreements, model, neighbours, time.perf_counter() - begun)


def nearest(documents: LeeDocuments, model: EmbeddingModel) -> list[Neighbour]:
    """The stories nearest to the one shown, and the words that make them near."""
    judged = documents.judged
    vectors = model.embed(judged)
    cosines = vectors @ vectors[STORY]
    order = [int(story) for story in (-cosines).argsort(kind="stable") if story != STORY]
    return [
        Neighbour(
            story,
            float(cosines[story]),
            documents.judgement(STORY, story),
            model.explain(judged[STORY], judged[story], pairs=PAIRS).pairs,
        )
        for story in order[:NEIGHBOURS]
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
