"""The figure of scores by method: one strip each, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltavec.evaluation import plots
from deltavec.evaluation.plots import Axis, Figure, Panel
from deltavec.evaluation.results import Problem, Results

WIDTH, ROW = 560, 19
MOST_NAMED = 4  # problems that are told apart by colour


def scores_by_method(results: Results, references: Mapping[str, float]) -> Figure:
    """A strip for each method with a dot for each problem, and lines at published figures."""
    problems = [problem for problem in results.problems if problem.scores]
    panel = strips_panel(results.measure, problems, results.methods, references)
    dots = "One dot for each problem."
    if len(problems) > MOST_NAMED:
        dots = "One dot for each problem; the stroke is their mean."
    widens = " The scale widens towards 1." if is_share(results.measure) else ""
    return Figure("scores", f"{results.measure} of every method", dots + widens, (panel,))


def is_share(measure: str) -> bool:
    """Whether scores go from 0 to 1 and crowd at its end."""
    return measure == "ROC AUC"


def strips_panel(
    measure: str,
    problems: Sequence[Problem],
    methods: Sequence[str],
    references: Mapping[str, float],
) -> Panel:
    """The strips of all methods over one axis."""
    means = {method: mean_score(problems, method) for method in methods}
    ordered = sorted(methods, key=lambda method: -means[method])
    scores = [score for problem in problems for score in problem.scores.values()]
    scores += references.values()
    share = is_share(measure)
    ticks = (plots.nines_around if share else plots.round_steps)(min(scores), max(scores))
    left = 14 + plots.LETTER * max(len(plots.shortened(method)) for method in ordered)
    named = legend(problems) if 1 < len(problems) <= MOST_NAMED else []
    top = 30 + ROW * (len(references) + len(named))
    bottom = top + ROW * len(ordered)
    scale = plots.nines if share else plots.identity
    across = Axis(ticks[0], ticks[-1], left + 6, WIDTH - 56, scale)
    marks = [
        *(
            plots.line((across.at(tick), top - 4), (across.at(tick), bottom), "rule")
            for tick in ticks
        ),
        plots.names_below(across, ticks, bottom + 16),
        plots.text(WIDTH - 4, top - 8, "mean" if len(problems) > 1 else "", "tick", "end"),
        *named,
        reference_lines(references, across, top, bottom),
        *(
            strip(method, problems, across, left, top + ROW * (place + 0.5))
            for place, method in enumerate(ordered)
        ),
    ]
    return Panel(f"{measure} of every method", WIDTH, bottom + 24, "".join(marks))


def mean_score(problems: Sequence[Problem], method: str) -> float:
    """The mean of a method's scores."""
    found = [problem.scores[method] for problem in problems if method in problem.scores]
    return sum(found) / len(found)


def strip(method: str, problems: Sequence[Problem], across: Axis, left: float, y: float) -> str:
    """One method: its name, a dot for each problem, and the mean."""
    found = [
        (problem.name, problem.scores[method]) for problem in problems if method in problem.scores
    ]
    places = [across.at(score) for _, score in found]
    mean = mean_score(problems, method)
    marks = [
        plots.text(left - 4, y + 4, plots.shortened(method), "label", "end"),
        plots.line((min(places), y), (max(places), y), "span"),
    ]
    for place, (name, score) in zip(places, found, strict=True):
        kind, radius = colour_of(problems, name), radius_of(problems, name)
        tip = f"{method}, {name}: {score:.4f}"
        marks.append(plots.dot((place, y), radius, f"fill {kind}", tip))
    if len(problems) > MOST_NAMED:
        marks.append(plots.line((across.at(mean), y - 7), (across.at(mean), y + 7), "mean"))
    marks.append(plots.text(WIDTH - 4, y + 4, f"{mean:.3f}".replace("0.", ".", 1), "label", "end"))
    return "".join(marks)


def colour_of(problems: Sequence[Problem], name: str) -> str:
    """The class of a problem's dots: a colour of its own where there are few."""
    if len(problems) > MOST_NAMED:
        return "many"
    return f"c{[problem.name for problem in problems].index(name)}"


def radius_of(problems: Sequence[Problem], name: str) -> float:
    """The size of a problem's dots: smaller ones come later, so that equal scores all show."""
    if len(problems) > MOST_NAMED:
        return 4.2
    return 5.2 - 1.1 * [problem.name for problem in problems].index(name)


def legend(problems: Sequence[Problem]) -> list[str]:
    """The problems' names beside their colours, in as many lines as they need."""
    lines, x = [""], 0.0
    for problem in problems:
        name = plots.shortened(problem.name)
        width = 32 + plots.LETTER * len(name)
        if x + width > WIDTH and lines[-1]:
            lines, x = [*lines, ""], 0.0
        y = 11 + ROW * (len(lines) - 1)
        lines[-1] += plots.dot((x + 6, y), 4.2, f"fill {colour_of(problems, problem.name)}")
        lines[-1] += plots.text(x + 15, y + 4, name, "label")
        x += width
    return lines


def reference_lines(
    references: Mapping[str, float], across: Axis, top: float, bottom: float
) -> str:
    """Lines at published figures, each named above on a line of its own."""
    marks = []
    for place, (name, value) in enumerate(references.items(), 1):
        x, y = across.at(value), top - 8 - ROW * (len(references) - place)
        marks.append(plots.line((x, y - 10), (x, bottom), "reference"))
        label = f"{name} {plots.number(value).ljust(3, '0')}"
        on_the_left = x > plots.LETTER * len(label)
        beside = (x - 5, "end") if on_the_left else (x + 5, "start")
        marks.append(plots.text(beside[0], y, label, "label reference", beside[1]))
    return "".join(marks)
