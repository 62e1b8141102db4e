"""``deltavec fit``: a model from a corpus."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.corpora import followed, opened, rereadable
from deltavec.cli.outputs import checked_model_folder
from deltavec.cli.printing import counted, duration, print_facts, print_json, reason, share
from deltavec.cli.progress import stages
from deltavec.cli.recipe_files import recipe_in_file

if TYPE_CHECKING:
    from deltavec.core.recipes import Recipe

RECIPE_NAMES = (
    "auto",
    "spectral",
    "unit-sum",
    *(
        f"{weighting}-{form}{removal}"
        for weighting in ("idf", "sif", "subsampling")
        for form in ("sum", "center", "delta")
        for removal in ("", "-pca")
    ),
)

EXAMPLES = (
    "deltavec fit reviews.csv --column text -o reviews.dv",
    "deltavec fit reviews.csv --vectors reviews.vec --recipe idf-delta-pca -o own.dv",
)


def recipe_names(begun: str) -> list[str]:
    """The names of recipes that begin so, for the shell's completion."""
    return [name for name in RECIPE_NAMES if name.startswith(begun)]


def fit(
    corpus: options.Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL.dv",
            show_default=False,
            help="The folder to write the model to.",
        ),
    ],
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            "-v",
            metavar="FILE",
            show_default=False,
            help="Word vectors: word2vec text or binary, GloVe, fastText .vec, .safetensors, "
            ".npy. Without, the model is learned from the corpus alone.",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            "-r",
            metavar="NAME",
            autocompletion=recipe_names,
            show_default="auto with --vectors, else spectral",
            help="spectral, auto, WEIGHT-FORM, or WEIGHT-FORM-pca: weight idf, sif, subsampling "
            "or unit; form sum, center or delta. Or a file of `deltavec tune`: RECIPE.json.",
        ),
    ] = None,
    remove: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            show_default="1 for auto and -pca, else 0",
            help="How many common components to remove.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="Use only the first N word vectors of the file.",
        ),
    ] = None,
    column: options.Column = "text",
    format: options.Format = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    threads: options.Threads = None,
    max_memory: options.MaxMemory = 2.0,
    as_json: options.AsJson = False,
) -> None:
    """Learn a model from a corpus: what turns documents into vectors."""
    if limit is not None and vectors is None:
        raise typer.BadParameter("only with --vectors", param_hint="'--limit'")
    with stages("starting") as work:
        begun = time.perf_counter()
        chosen = chosen_recipe(recipe, remove, vectors)
        checked_model_folder(output)
        documents = opened(corpus, column, format)

        from deltavec.core.model import fit as fitted
        from deltavec.io.storage import save
        from deltavec.io.word_vectors import load_vectors

        if vectors is not None:
            work.begin(f"loading {vectors.name}")
        loaded = None if vectors is None else load_vectors(vectors, limit=limit)
        several_passes = loaded is None or chosen is None or chosen.n_components_removed > 0
        held = rereadable(documents, work) if several_passes else nullcontext(documents)
        with held as source:
            model = fitted(
                followed(source, work),
                loaded,
                chosen,
                tokenizer=tokenizer.value,
                threads=threads,
                max_memory=int(max_memory * 2**30),
                on_stage=work.begin,
            )
        work.begin("saving")
        save(model, output)
        seconds = time.perf_counter() - begun
    if as_json:
        print_json({"model": output, **model.info(), "seconds": round(seconds, 3)})
        return
    print_facts(summary(model.info(), output, seconds))


def chosen_recipe(name: str | None, remove: int | None, vectors: Path | None) -> Recipe | None:
    """The recipe of this name or in this file, with as many components removed as asked for.

    None leaves the choice to `deltavec.fit`.
    """
    from deltavec.core.recipes import Recipe
    from deltavec.errors import RecipeError

    if name is None:
        if remove is None:
            return None
        name = "auto"  # to remove components is the paper's way
    is_file = name.endswith(".json")
    stored = recipe_in_file(Path(name), vectors) if is_file else None
    try:
        recipe = stored or Recipe.named(name)
    except RecipeError as error:
        raise typer.BadParameter(str(error), param_hint="'--recipe' / '-r'") from None
    return recipe if remove is None else replace(recipe, n_components_removed=remove)


def summary(info: dict[str, Any], output: Path, seconds: float) -> dict[str, str]:
    """What was learned, in a few lines."""
    documents = counted(info["documents"], "document")
    unknown = info["documents_without_known_words"]
    if unknown:
        documents += f", {unknown:,} of them without a known word"
    return {
        "recipe": f"{info['recipe']} ({reason(info)})",
        "vectors": str(info["vectors"]),
        "documents": f"{documents}; {info['mean_length']:.1f} known words each",
        "words": f"{info['words']:,} known, of which {info['words_seen']:,} occur",
        "coverage": f"{share(info['coverage'])} of {counted(info['tokens'], 'word')} are known",
        "dimensions": f"{info['dimensions']}",
        "time": duration(seconds),
        "saved": str(output),
    }
