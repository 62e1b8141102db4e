"""``deltavec tune``: the recipe that suits your own labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deltavec.cli import options, printing
from deltavec.cli.inputs import open_corpus, require_file, require_other_file, require_rereadable
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.lab.tuning.jackknife import Gain
    from deltavec.lab.tuning.results import Trial, Tuning


def tune(
    corpus: str,
    *,
    group_column: str | None = None,
    pairs: Path | None = None,
    id_column: str | None = None,
    output: Path | None = None,
    budget: str = "10m",
    vectors: Path | None = None,
    documents: int = 3000,
    files: options.CorpusOptions = options.CorpusOptions(),
    tokenizer: options.TokenizerName = options.TokenizerName.words,
    seed: int = 0,
    threads: int | None = None,
    max_memory: float = 2.0,
    as_json: bool = False,
) -> None:
    """Find the recipe that suits your own labels.

    Recipes are fitted on the whole corpus, without labels, and compared by ROC AUC: are documents
    that belong together more similar than others? One half of the groups (or pairs) chooses the
    recipe, the held-out half evaluates it. The default stays unless another recipe is better by
    more than noise.

    Parameters
    ----------
    group_column : NAME
        The column with the group of each document.
    pairs : FILE
        Labeled pairs instead of groups: a table with the columns label (1: similar, 0: not),
        id_a and id_b, or label, text_a and text_b.
    id_column : NAME
        The id column of the corpus, for --pairs.
        Default: row numbers
    output : RECIPE.json, -o
        Write the recommended recipe, for `deltavec fit --recipe`.
    budget : TIME
        Time limit: 90s, 10m, 1h; the default recipe always runs.
    vectors : FILE, -v
        Word vectors for the paper's recipes; otherwise trained on the corpus.
    documents : N >= 8
        Most documents to compare.

    Examples
    --------
    deltavec tune reviews.parquet --group-column location -o recipe.json
    deltavec tune questions.csv --pairs labeled.csv --id-column id --budget 90s
    """
    if (group_column is None) == (pairs is None):
        raise typer.BadParameter(
            f"expected --group-column or --pairs, got {'neither' if pairs is None else 'both'}"
        )
    printing.require_usage(
        id_column is None or pairs is not None, "'--id-column'", "only with --pairs"
    )
    require_time(budget)
    with stages("starting") as work:
        if output is not None:
            require_file(output, [".json"])
            require_other_file(output, corpus)
        require_rereadable(corpus)
        source = open_corpus(corpus, files)

        from deltavec.lab.tuning.tune import tune as tuned

        tuning = tuned(
            source,
            group_column=group_column,
            pairs=pairs,
            id_column=id_column,
            encoding=files.encoding,
            vectors=vectors,
            budget=budget,
            documents=documents,
            seed=seed,
            tokenizer=tokenizer.value,
            threads=threads,
            max_memory=int(max_memory * 2**30),
            on_stage=work.begin,
            on_progress=work.reach,
            on_trial=lambda trial: work.say(f"{trial.name}: {trial.choosing:.4f}"),
        )
        if output is not None:
            tuning.save(output)
    if not as_json:
        print_trials(tuning)
        if pairs is not None:
            print_thresholds(tuning.recommended)
    record = {"output": output, **tuning.as_record()}
    printing.print_result(as_json, record, summary(tuning, output))


def require_time(budget: str) -> None:
    """Raise a usage error if the budget is not a time."""
    from deltavec.errors import InputError
    from deltavec.lab.tuning.tune import parse_budget

    try:
        parse_budget(budget)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="'--budget'") from None


def print_trials(tuning: Tuning) -> None:
    """Print the scores of all recipes, the best one of the choosing half first."""
    from rich.text import Text

    rows = []
    for trial in sorted(tuning.trials, key=lambda trial: -trial.choosing):
        is_default = trial is tuning.default
        name = short(trial.name) + (" (default)" if is_default else "")
        gain = "" if is_default else with_error(trial.held_back_gain)
        style = "bold green" if trial is tuning.recommended else ""
        rows.append([Text(name, style), f"{trial.choosing:.4f}", f"{trial.held_back:.4f}", gain])
    columns = ["recipe", ">choosing", ">held back", ">gain there"]
    printing.console().print(printing.table(columns, rows, title="ROC AUC"))


def print_thresholds(trial: Trial) -> None:
    """Print precision and recall of some thresholds, as they are on the half held back."""
    title = f"pairs of the half held back, {short(trial.name)}; * separates best on the other half"
    best = [] if trial.best_threshold is None else [trial.best_threshold]
    rows = []
    for one in sorted({*trial.thresholds, *best}, key=lambda one: one.threshold):
        right = "" if one.precision is None else f"{one.precision:.3f}"
        mark = "*" if one in best else ""
        rows.append([f"{mark}{one.threshold:.3g}", f"{one.found:,}", right, f"{one.recall:.3f}"])
    columns = [">threshold", ">pairs found", ">precision", ">recall"]
    printing.console().print(printing.table(columns, rows, title=title))


def short(name: str) -> str:
    """The name of a recipe for a table: its parameters by their last words."""
    return (
        printing.visible(name)
        .replace("identity_share", "share")
        .replace("spectrum_exponent", "exponent")
    )


def with_error(gain: Gain) -> str:
    """A gain and its standard error."""
    return f"{gain.value:+.4f} ± {gain.standard_error:.4f}"


def summary(tuning: Tuning, output: Path | None) -> dict[str, str]:
    """The facts to print."""
    together = "group" if tuning.unit == "document" else tuning.unit
    lines = {
        "recommended": tuning.recommended.name,
        "why": tuning.reason,
        "gain": f"{with_error(tuning.gain)} over the default on the half that was held back; "
        f"standard error over {tuning.unit}s (jackknife)",
        "compared": "; ".join(
            f"{name.replace('_', '-')} half: {printing.plural(half['documents'], 'document')} in "
            f"{printing.plural(half['groups'], together)}, {printing.plural(half['pairs'], 'pair')}"
            for name, half in tuning.sizes.items()
        ),
    }
    if tuning.recommended is tuning.default:
        del lines["gain"]
    for place, note in enumerate(tuning.notes, 1):
        lines[f"note {place}"] = note
    reasons: dict[str, list[str]] = {}
    for missing in tuning.untried:
        reasons.setdefault(missing.reason, []).append(missing.name)
    for place, (reason, names) in enumerate(reasons.items(), 1):
        lines[f"not tried {place}"] = f"{reason}: {'; '.join(names)}"
    lines["time"] = printing.duration(tuning.seconds)
    if output is not None:
        lines["saved"] = f"{output}; use it with: deltavec fit CORPUS --recipe {output} -o MODEL.dv"
    return lines
