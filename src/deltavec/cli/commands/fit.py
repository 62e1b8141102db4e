"""``deltavec fit`` and ``vectors train``: what is learned from a corpus."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from deltavec.cli import inputs, options
from deltavec.cli.printing import plural, print_result, reason, require_usage, share
from deltavec.cli.progress import stages
from deltavec.core.recipes import PARAMETERS, RECIPES, WEIGHTED_PARAMETERS, Recipe
from deltavec.errors import RecipeError


def recipe_names(begun: str) -> list[str]:
    """The names of recipes that begin so, for the shell's completion."""
    return [name for name in ("auto", "spectral", *RECIPES) if name.startswith(begun)]


def tokenizer_names(begun: str) -> list[str]:
    """The names of tokenizers that begin so."""
    return [name for name in (*options.TokenizerName, "jieba", "sudachi") if name.startswith(begun)]


def option_name(parameter: str) -> str:
    """The option that sets a parameter of the recipe."""
    return "remove" if parameter == "n_components_removed" else parameter


def with_recipe_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose ``**parameters`` Typer sees as one option per recipe parameter."""
    signature = inspect.signature(command, eval_str=True)
    taken = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    place = list(signature.parameters).index("recipe") + 1
    for number, (name, declared) in enumerate(PARAMETERS.items(), place):
        kind = int if declared.values.kinds is int else float
        info = typer.Option(
            metavar="N" if kind is int else "X",
            show_default=declared.default,
            help=declared.help,
            rich_help_panel="Recipe (advanced)",
        )
        hint = Annotated[kind | None, info]  # type: ignore[valid-type]
        option = inspect.Parameter(option_name(name), taken[1].kind, default=None, annotation=hint)
        taken.insert(number, option)
    command.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    return command


@with_recipe_options
def fit(
    corpus: str,
    *,
    output: Path,
    vectors: Path | None = None,
    recipe: Annotated[str | None, {"autocompletion": recipe_names}] = None,
    prior: Path | None = None,
    targets: Path | None = None,
    weight: float = 0.5,
    texts: str | None = None,
    limit: int | None = None,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: Annotated[str, {"autocompletion": tokenizer_names}] = "words",
    units: str = "auto",
    normalization: options.NormalizationName = options.NormalizationName.none,
    threads: int | None = None,
    max_memory: float = 2.0,
    as_json: bool = False,
    **parameters: float | None,
) -> None:
    """Learn an embedding model from a corpus.

    Parameters
    ----------
    output : MODEL.dv, -o
        The folder to write the model to.
    vectors : FILE, -v
        Word vectors: word2vec text or binary, GloVe, fastText .vec, .safetensors.
    recipe : NAME, -r
        spectral, auto, WEIGHT-FORM, or WEIGHT-FORM-pca: weight idf, sif, subsampling or unit;
        form sum, center or delta. Or a file of `deltavec tune`: RECIPE.json.
        Default: auto with --vectors, else spectral
    prior : FILE
        For spectral: word vectors to learn from too, if a split-half test says they help.
    targets : FILE.parquet
        For spectral: vectors you already have of 50 to 10,000 documents, in the columns text
        (or row, their numbers from 0 on) and vector.
    weight : W 0..1
        How much --targets count beside the corpus.
    texts : KIND
        titles, posts or articles: what the documents are, instead of choosing by length.
    limit : N >= 1
        Use only the first N word vectors.
    tokenizer : NAME
        words: runs of letters and digits, lower-cased. whitespace: for tokenized text. Or a
        third-party tokenizer: jieba, sudachi, spacy:ja, module:function.

    Examples
    --------
    deltavec fit reviews.csv --column text -o reviews.dv
    deltavec fit reviews.csv --dimensions 100 -o small.dv
    deltavec fit reviews.csv --vectors reviews.vec --recipe idf-delta-pca -o own.dv
    """
    has_vectors = vectors is not None or prior is not None
    require_usage(limit is None or has_vectors, "'--limit'", "only with --vectors or --prior")
    require_tokenizer(tokenizer)
    from deltavec.io.artifacts.model import MODEL_FOLDER, save

    with stages("starting") as work, inputs.lock_folder(output, MODEL_FOLDER):
        given = {
            name: value
            for name in PARAMETERS
            if (value := parameters.get(option_name(name))) is not None
        }
        chosen = chosen_recipe(recipe, given, vectors)
        documents = inputs.open_corpus(corpus, files)

        from deltavec.core.fitting import fit as fitted
        from deltavec.io.corpus.files import COLUMN, TEXT
        from deltavec.io.vectors.load import load_vectors, read_targets

        work.begin("loading word vectors")
        loaded, known = (
            None if path is None else load_vectors(path, limit=limit) for path in (vectors, prior)
        )
        several_passes = loaded is None or chosen is None or chosen.n_components_removed > 0
        held = inputs.rereadable(documents, work) if several_passes else nullcontext(documents)
        with held as source:
            how: dict[str, Any] = {"prior": known, "weight": weight, "texts": texts, "units": units}
            how |= {"normalization": normalization.value, "max_memory": int(max_memory * 2**30)}
            how |= {"tokenizer": tokenizer, "threads": threads, "on_stage": work.begin}
            how["targets"] = None if targets is None else read_targets(targets)
            model = fitted(inputs.followed(source, work), loaded, chosen, **how)
        work.begin("saving")
        if documents.column != TEXT:
            model = replace(model, notes={**model.notes, COLUMN: documents.column})
        save(model, output)
    info = model.info()
    then = ("index", "build", output, corpus, "-o", output.with_suffix(".idx"))
    record = {"model": output, **info}
    print_result(as_json, record, summary(info), work, saved=output, then=then)


def require_tokenizer(name: str) -> None:
    """Raise an error unless the name is a built-in or third-party tokenizer."""
    from deltavec.core.text.external import is_name

    known = name in list(options.TokenizerName) or is_name(name)
    expected = "words, whitespace, jieba, sudachi, spacy:LANGUAGE or module:function"
    require_usage(known, "'--tokenizer'", f"expected {expected}, got {name!r}")


def chosen_recipe(name: str | None, given: dict[str, float], vectors: Path | None) -> Recipe | None:
    """The recipe of this name or in this file, with the given parameters.

    None leaves the choice to `deltavec.fit`.
    """
    if name is None:
        if not given:
            return None
        weighted = vectors is not None or {*given} & {*WEIGHTED_PARAMETERS}
        name = "auto" if weighted else "spectral"
    stored = recipe_in_file(Path(name), vectors) if name.endswith(".json") else None
    try:
        recipe = stored or Recipe.named(name)
    except RecipeError as error:
        raise typer.BadParameter(str(error), param_hint="'--recipe' / '-r'") from None
    for parameter, value in given.items():
        recipe = with_parameter(recipe, parameter, value)
    return recipe


def with_parameter(recipe: Recipe, name: str, value: float) -> Recipe:
    """The recipe with another value of a parameter; one that it does not use is an error."""
    hint = f"'--{option_name(name).replace('_', '-')}'"
    users = PARAMETERS[name].used_by
    wanted = f"only for recipes with {' or '.join(users)}, got {recipe.name}"
    require_usage({*users} & {*recipe.name.split("-")}, hint, wanted)
    try:
        return replace(recipe, **{name: cast(Any, value)})
    except RecipeError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from None


def recipe_in_file(path: Path, vectors: Path | None) -> Recipe:
    """The recipe in a file; raise an error if --vectors does not fit it."""
    from deltavec.io.artifacts.model import load_recipe

    recipe, chosen_with = load_recipe(path)
    if chosen_with is not None and vectors is None:
        needs = f"the recipe was chosen with the word vectors {chosen_with}"
        raise RecipeError(f"{path}: {needs}: give them with --vectors")
    if vectors is not None and not recipe.needs_vectors:
        own = f"{recipe.name} learns its own word vectors"
        raise RecipeError(f"{path}: {own}: leave --vectors out")
    return recipe


def summary(info: dict[str, Any]) -> dict[str, str]:
    """The facts to print."""
    documents = plural(info["documents"], "document")
    unknown = info["documents_without_known_words"]
    if unknown:
        documents += f", {unknown:,} of them without a known word"
    return {
        "recipe": f"{info['recipe']} ({reason(info)})",
        "vectors": str(info["vectors"]),
        "documents": f"{documents}; {info['mean_length']:.1f} known words each",
        "words": f"{info['words']:,} known, of which {info['words_seen']:,} occur",
        "coverage": f"{share(info['coverage'])} of {plural(info['tokens'], 'word')} are known",
        "dimensions": f"{info['dimensions']}",
    }


def train(
    corpus: str,
    *,
    output: Path,
    dimensions: int = 300,
    window: int = 20,
    min_count: int | None = None,
    max_memory: float = 2.0,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    seed: int = 0,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Train word vectors on your own text.

    The method is an SVD of co-occurrence counts. `deltavec fit` with a recipe of the paper and
    without --vectors trains them too. Train them here to use them again.

    Parameters
    ----------
    output : VECTORS, -o
        A .safetensors (loads fastest), .txt or .vec (text) or .bin (binary) file.
    dimensions : N >= 1
        Length of a vector.
    window : N >= 1
        Context words on each side.
    min_count : N >= 1
        Leave out rarer words.
        Default: 5; 2 or 1 for small corpora

    Examples
    --------
    deltavec vectors train reviews.csv --column text -o reviews.safetensors
    deltavec vectors train reviews.csv --dimensions 100 -o reviews.vec
    """
    with stages("starting") as work:
        from deltavec.io.vectors.load import WRITERS, save_vectors
        from deltavec.training import train_vectors

        inputs.require_other_file(output, corpus)
        with (
            inputs.lock_file(output, WRITERS),
            inputs.rereadable(inputs.open_corpus(corpus, files), work) as documents,
        ):
            vectors = train_vectors(
                inputs.followed(documents, work),
                dimensions=dimensions,
                window=window,
                min_count=min_count,
                max_memory=int(max_memory * 2**30),
                tokenizer=tokenizer.value,
                seed=seed,
                threads=threads,
                on_stage=work.begin,
            )
        work.begin("saving")
        save_vectors(vectors, output)
    size = {"words": len(vectors), "dimensions": vectors.dimensions}
    record = {"vectors": output, **size}
    shown = f"{plural(len(vectors), 'word')}, {vectors.dimensions} dimensions"
    then = ("fit", corpus, "--vectors", output, "-o", output.with_suffix(".dv"))
    print_result(as_json, record, {"vectors": shown}, work, saved=output, then=then)
