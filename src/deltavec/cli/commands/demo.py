"""``deltavec demo``: the whole path on real text."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from deltavec.cli import options
from deltavec.cli.outputs import require_new_folder
from deltavec.cli.printing import print_json
from deltavec.cli.progress import Stages, stages

STORY = 0  # whose neighbors are shown
NEIGHBORS = 3
PAIRS = 6


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

    Examples
    --------
    deltavec demo
    deltavec demo -o lee-news
    """
    if output is not None:
        require_new_folder(output)
    with stages("starting") as work:
        outcome = run(work, output)
    if as_json:
        print_json(outcome)
        return
    from deltavec.cli.commands.demo_report import print_outcome

    print_outcome(outcome, output)


def run(work: Stages, folder: Path | None) -> dict[str, Any]:
    """Run the demo, from text to neighbors, and keep its files if a folder is given."""
    from deltavec.core.fitting import fit
    from deltavec.core.recipes import RECIPES
    from deltavec.core.threads import thread_count
    from deltavec.io.artifacts.model import save
    from deltavec.io.vectors.load import save_vectors
    from deltavec.lab.report.published_tables import LEE
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
    embedded = model.embed(judged)
    agreements[model.recipe.name] = agreement(embedded, documents.judgements)
    cosines = embedded @ embedded[STORY]
    order = [int(story) for story in (-cosines).argsort(kind="stable") if story != STORY]
    outcome = {
        "documents": len(stories),
        "judged": len(judged),
        "pairs": documents.pairs,
        "vectors": {"words": len(vectors), "dimensions": vectors.dimensions},
        "agreement": agreements,
        "published": LEE,
        "recipe": model.recipe.name,
        "reason": model.reason,
        "story": judged[STORY],
        "neighbors": [
            {
                "story": judged[story],
                "cosine": float(cosines[story]),
                "people": documents.judgement(STORY, story),
                "pairs": [
                    pair._asdict()
                    for pair in model.explain(judged[STORY], judged[story], pairs=PAIRS).pairs
                ],
            }
            for story in order[:NEIGHBORS]
        ],
        "seconds": round(time.perf_counter() - begun, 3),
    }
    if folder is not None:
        work.begin("saving")
        folder.mkdir(exist_ok=True)
        lines = "".join(f"{story}\n" for story in stories)
        (folder / "news.txt").write_text(lines, encoding="utf-8")
        save_vectors(vectors, folder / "news.safetensors")
        save(model, folder / "news.dv")
    return outcome
