"""A report's sections as Markdown, and as one HTML page that asks the network for nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template
from typing import NamedTuple

from deltavec.lab.report.plots import Figure, Panel, escaped, file_text, visible
from deltavec.lab.report.tables import Cell, Table


class Beside(NamedTuple):
    """Tables and figures to be seen side by side where there is room."""

    blocks: tuple[Table | Figure, ...]


Block = str | Table | Beside | Figure


class Section(NamedTuple):
    """A part of a report under a heading."""

    title: str
    blocks: tuple[Block, ...]


class Report(NamedTuple):
    """A report: its title, a warning if it is unfinished, what to know first, and the sections."""

    title: str
    warning: str
    lead: str
    sections: tuple[Section, ...]

    @property
    def figures(self) -> list[Figure]:
        """All figures, those that stand alone first."""
        blocks = [block for section in self.sections for block in section.blocks]
        blocks += [one for block in blocks if isinstance(block, Beside) for one in block.blocks]
        return [block for block in blocks if isinstance(block, Figure)]


def as_html(report: Report) -> str:
    """The whole report as one page."""
    return Template(file_text("report.html")).substitute(
        title=escaped(report.title),
        style="\n".join(map(file_text, ("figures.css", "report.css"))),
        warning=f'<p class="warning">{escaped(report.warning)}</p>' if report.warning else "",
        lead=escaped(report.lead),
        sections="\n".join(map(html_section, report.sections)),
    )


def html_section(section: Section) -> str:
    """A heading and what is under it."""
    blocks = "\n".join(html_block(block) for block in section.blocks)
    return f"<section>\n<h2>{escaped(section.title)}</h2>\n{blocks}\n</section>"


def html_block(block: Block) -> str:
    """A paragraph, a table, some tables, or a figure."""
    if isinstance(block, str):
        return f"<p>{escaped(block)}</p>"
    if isinstance(block, Table):
        return html_table(block)
    if isinstance(block, Beside):
        return f'<div class="beside">{"".join(map(html_block, block.blocks))}</div>'
    panels = "".join(panel.svg() for panel in block.panels)
    several = " several" if len(block.panels) > 1 else ""
    return (
        f'<figure id="{block.name}"><div class="panels{several}">{panels}</div>'
        f"<figcaption><b>{escaped(block.title)}</b> {escaped(block.caption)}</figcaption></figure>"
    )


def html_table(table: Table) -> str:
    """A table that scrolls by itself where the page is too narrow for it."""
    head = "".join(f'<th scope="col">{breakable(name)}</th>' for name in table.header)
    rows = "\n".join(
        f"<tr>{''.join(map(html_cell, row, table.header, range(len(row))))}</tr>"
        for row in table.rows
    )
    kind = "prose" if table.prose else "numbers"
    heading = f"<thead><tr>{head}</tr></thead>" if any(table.header) else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}">'
        f"<caption>{escaped(table.caption)}</caption>{heading}\n<tbody>\n{rows}\n</tbody>"
        "</table></div>"
    )


def html_cell(cell: Cell, heading: str, column: int) -> str:
    """A cell; the first of a row names it, and the others know what they are under."""
    content = breakable(cell.text) if column == 0 else escaped(cell.text)
    if column == 0:
        return f'<th scope="row">{content}</th>'
    if cell.best:
        content = f"<b>{content}</b>"
    if cell.share is not None:
        content += f'<span class="share"><span style="width:{100 * cell.share:.0f}%"></span></span>'
    return f'<td data-under="{escaped(heading)}">{content}</td>'


def breakable(name: str) -> str:
    """A name that may go on below after a hyphen or an underscore."""
    return re.sub(r"([-_:])(?=\w)", r"\1<wbr>", escaped(name))


def as_markdown(report: Report) -> str:
    """The whole report as Markdown; figures are files beside it."""
    parts = [f"# {marked(report.title)}"]
    if report.warning:
        parts.append(f"> **{marked(report.warning)}**")
    parts.append(marked(report.lead))
    for section in report.sections:
        parts.append(f"## {marked(section.title)}")
        parts += [markdown_block(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def markdown_block(block: Block) -> str:
    """A paragraph, a table, some tables, or a figure."""
    if isinstance(block, str):
        return marked(block)
    if isinstance(block, Table):
        return markdown_table(block)
    if isinstance(block, Beside):
        return "\n\n".join(map(markdown_block, block.blocks))
    title, caption = marked(block.title), marked(block.caption)
    return f"![{title}]({block.name}.svg)\n\n*{title}* {caption}"


def markdown_table(table: Table) -> str:
    """A table, its caption above it."""
    aligned = ":--" if table.prose else "--:"
    lines = [
        markdown_row([marked(name) for name in table.header]),
        markdown_row([":--"] + [aligned] * (len(table.header) - 1)),
        *(markdown_row([markdown_cell(cell) for cell in row]) for row in table.rows),
    ]
    return f"**{marked(table.caption)}**\n\n" + "\n".join(lines)


def markdown_row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def markdown_cell(cell: Cell) -> str:
    """A cell, in bold if it is the best."""
    content = marked(cell.text)
    return f"**{content}**" if cell.best else content


def marked(text: str) -> str:
    """Somebody's text with nothing in it that Markdown would take for a sign."""
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", visible(text))


def as_file(figure: Figure) -> str:
    """A figure as an SVG file by itself: its panels two by two, over a ground of its own."""
    columns = min(2, len(figure.panels))
    width = max(panel.width for panel in figure.panels)
    height = max(panel.height for panel in figure.panels)
    gap = 16
    placed = ""
    for place, panel in enumerate(figure.panels):
        row, column = divmod(place, columns)
        x, y = gap + column * (width + gap), gap + row * (height + gap)
        placed += panel.svg(f' x="{x}" y="{y}"')
    rows = -(-len(figure.panels) // columns)
    whole = Panel(
        figure.title,
        columns * (width + gap) + gap,
        rows * (height + gap) + gap,
        f"<style>{file_text('figures.css')}</style>"
        f'<rect width="100%" height="100%" class="ground"/>{placed}',
    )
    spaces = {"xmlns": "2000/svg", "xmlns:xlink": "1999/xlink"}
    named = (f' {name}="http://www.w3.org/{space}"' for name, space in spaces.items())
    return whole.svg("".join(named)) + "\n"
