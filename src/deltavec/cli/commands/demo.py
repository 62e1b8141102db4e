"""``deltavec demo``: search, explain, deduplicate and cluster real text."""

from __future__ import annotations

import shlex
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltavec.cli.inputs import require_new_folder
from deltavec.cli.printing import console, duration, print_json
from deltavec.cli.progress import Stages, stages

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.lab.stories import LeeDocuments

QUERY = "storm and flooding in new south wales"
HITS, WORDS, TOPICS = 3, 5, 8  # shown


def demo(*, output: Path | None = None, as_json: bool = False) -> None:
    """Search, deduplicate and cluster 350 real news stories.

    Learns a model from the stories alone, searches them and says why, finds near-duplicates and
    topics, and compares similarities with people's judgments. The text comes with a dependency:
    nothing is downloaded, and nothing is kept without -o.

    Parameters
    ----------
    output : FOLDER, -o
        Keep stories, word vectors, model and collection in a new folder.

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
    else:
        print_outcome(outcome, output)


def run(work: Stages, kept: Path | None) -> dict[str, Any]:
    """Run the demo, and keep its files if a folder is given."""
    from deltavec.collection.build import build_collection
    from deltavec.io.artifacts.atomic import scratch_folder
    from deltavec.lab.stories import lee_documents
    from deltavec.training import fit

    documents = lee_documents()
    if kept is not None:
        kept.mkdir(exist_ok=True)
        text = "".join(f"{story}\n" for story in documents.stories)
        (kept / "news.txt").write_text(text, encoding="utf-8")
    with scratch_folder() if kept is None else nullcontext(kept) as folder:
        work.begin("learning a model")
        # The paper's recipes do not depend on the default one, so they run beside it.
        with ThreadPoolExecutor(1, "deltavec") as executor:
            paper = executor.submit(paper_agreements, documents, kept)
            model = fit(documents.stories, threads=1)
            work.begin("building a collection")
            news = build_collection(model, documents.stories, folder / "news.idx", threads=1)
            if kept is not None:
                model.save(kept / "news.dv")
            found = answers(news, work)
            work.begin("comparing with people")
            agreements = paper.result()
    from deltavec.lab.report.tables import LEE
    from deltavec.lab.stories import agreement

    own = model.for_collection(documents.judged).embed(documents.judged)
    return {
        "documents": len(documents.stories),
        **found,
        "judged": len(documents.judged),
        "pairs": documents.pairs,
        "recipe": model.recipe.name,
        "agreement": {**agreements, model.recipe.name: agreement(own, documents.judgements)},
        "published": LEE,
        "seconds": work.seconds,
    }


def paper_agreements(documents: LeeDocuments, kept: Path | None) -> dict[str, float]:
    """The agreement of each of the paper's recipes with people."""
    from deltavec.core.recipes import RECIPES
    from deltavec.io.vectors.load import save_vectors
    from deltavec.lab.stories import agreement
    from deltavec.training import fit, train_vectors

    vectors = train_vectors(documents.stories, threads=1)
    if kept is not None:
        save_vectors(vectors, kept / "news.safetensors")
    return {
        recipe: agreement(
            fit(documents.stories, vectors, recipe, threads=1).embed(documents.judged),
            documents.judgements,
        )
        for recipe in RECIPES
    }


def answers(news: Collection, work: Stages) -> dict[str, Any]:
    """A search with its reasons, near-duplicates and topics."""
    work.begin("searching")
    hits = []
    for hit in news.search(QUERY, k=HITS):
        words = {one.word: one.share for one in news.why(QUERY, hit.id).words[:WORDS]}
        hits.append({"id": hit.id, "score": hit.score, "text": hit.text, "words": words})
    work.begin("comparing texts")
    pairs = news.duplicates().pairs
    found = zip(map(str, pairs.a), map(str, pairs.b), pairs.shared.tolist(), strict=True)
    twins = [{"a": news.text(a), "b": news.text(b), "shared": shared} for a, b, shared in found]
    work.begin("finding topics")
    topics = news.cluster(TOPICS)
    named = zip(topics.names, topics.sizes, strict=True)
    groups = [{"words": list(words), "documents": int(size)} for words, size in named]
    return {"query": QUERY, "hits": hits, "duplicates": twins, "topics": groups}


def print_outcome(outcome: dict[str, Any], kept: Path | None) -> None:
    """Print what was found, and how to go on."""
    from rich.text import Text

    from deltavec.lab.report.tables import decimals

    out = console()

    def section(title: str, lines: list[str]) -> None:
        out.print(Text(f"\n{title}\n", "bold"))
        for line in lines:
            out.print(Text(f"  {line}", overflow="ellipsis", no_wrap=True))

    done = f"deltavec learned from {outcome['documents']} news stories alone"
    out.print(f"{done}, in {duration(outcome['seconds'])} with everything below.")
    lines = []
    for hit in outcome["hits"]:
        shares = ", ".join(f"{word} {share:.2f}" for word, share in hit["words"].items())
        lines += [f"{hit['score']:5.2f}  {beginning(hit['text'])}", f"       {shares}"]
    section(f'Search for "{outcome["query"]}", and why', lines)
    twins = outcome["duplicates"]
    first = [f"{one['shared']:.2f}  {beginning(one['a'])}" for one in twins[:2]]
    section(f"Near-duplicates: {len(twins)} pairs share half of their text", first)
    topics = [(one["documents"], ", ".join(one["words"][:WORDS])) for one in outcome["topics"]]
    section("Topics, and how many stories they have", [f"{n:4}  {words}" for n, words in topics])
    scores = outcome["agreement"]
    best = max((name for name in scores if name != outcome["recipe"]), key=scores.__getitem__)
    figures = {
        "deltavec": scores[outcome["recipe"]],
        f"{best}, the paper's best recipe here": scores[best],
        "mean of word vectors": scores["unit-sum"],
        **{f"{name}, published": score for name, score in outcome["published"].items()},
    }
    title = f"Correlation with people, who compared {outcome['judged']} stories"
    section(title, [f"{decimals(score, 3):>6}  {name}" for name, score in figures.items()])
    out.print(Text("\nNext\n", "bold"))
    commands = ["deltavec explore reviews.csv", "deltavec demo -o lee-news"]
    if kept is not None:
        model, folder = (shlex.quote(str(kept / f"news.{kind}")) for kind in ("dv", "idx"))
        commands = [
            f'deltavec search {folder} "bush fires near sydney" --explain',
            f'deltavec explain {model} "bin Laden in Afghanistan" "al Qaeda fighters"',
            f"deltavec serve {folder} --open",
        ]
    for command in commands:
        out.print(f"  {command}", markup=False, soft_wrap=True)  # whole, to be copied


def beginning(story: str, longest: int = 68) -> str:
    """How a story begins, cut at a word."""
    return story if len(story) <= longest else story[:longest].rsplit(" ", 1)[0] + " …"
