"""A report as Markdown, and as one HTML page that loads nothing from the network."""

from __future__ import annotations

import html
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from deltavec.lab.report.figures import Figure
from deltavec.lab.report.tables import Cell, Table
from deltavec.lab.results import write_atomically

Block = str | Table | Figure


class Section(NamedTuple):
    """A heading and what is under it."""

    title: str
    blocks: tuple[Block, ...]


class Report(NamedTuple):
    """A report: its title, a warning if it is unfinished, a summary, and the sections."""

    title: str
    warning: str
    lead: str
    sections: tuple[Section, ...]


def write_pages(report: Report, folder: Path) -> None:
    """Write ``report.html``, ``report.md`` and the figures to a folder, each file atomically."""
    write_atomically(folder / "report.html", as_html(report))
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Figure):
                write_atomically(folder / f"{block.name}.svg", block.svg)
    write_atomically(folder / "report.md", as_markdown(report))


def as_html(report: Report) -> str:
    """The report as one HTML page."""
    page, style = (
        (files("deltavec.lab.report") / name).read_text("utf-8")
        for name in ("report.html", "report.css")
    )
    sections = [
        f'<section>\n<h2>{escape(title)}</h2>\n<div class="beside">'
        f"{''.join(map(html_block, blocks))}</div>\n</section>"
        for title, blocks in report.sections
    ]
    return Template(page).substitute(
        title=escape(report.title),
        style=style,
        warning=f'<p class="warning">{escape(report.warning)}</p>' if report.warning else "",
        lead=escape(report.lead),
        sections="\n".join(sections),
    )


def html_block(block: Block) -> str:
    """A paragraph, a table or a figure."""
    if isinstance(block, str):
        return f"<p>{escape(block)}</p>"
    if isinstance(block, Figure):
        caption = f"<b>{escape(block.title)}</b> {escape(block.caption)}"
        return f'<figure id="{block.name}">{block.svg}<figcaption>{caption}</figcaption></figure>'
    head = "".join(f'<th scope="col">{breakable(name)}</th>' for name in block.header)
    heading = f"<thead><tr>{head}</tr></thead>" if any(block.header) else ""
    rows = "\n".join(
        f"<tr>{''.join(map(html_cell, row, block.header, range(len(row))))}</tr>"
        for row in block.rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="{"prose" if block.prose else "numbers"}">'
        f"<caption>{escape(block.caption)}</caption>{heading}\n<tbody>\n{rows}\n</tbody>"
        "</table></div>"
    )


def html_cell(cell: Cell, heading: str, column: int) -> str:
    """A cell; the first one names its row."""
    if column == 0:
        return f'<th scope="row">{breakable(cell.text)}</th>'
    content = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
    return f'<td data-under="{escape(heading)}">{content}</td>'


def escape(text: str) -> str:
    """A text for HTML."""
    return html.escape(visible(text))


def visible(text: str) -> str:
    """A text with a replacement character for each unprintable one."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def breakable(name: str) -> str:
    """A name that may break after a hyphen, an underscore or a colon."""
    return re.sub(r"([-_:])(?=\w)", r"\1<wbr>", escape(name))


def as_markdown(report: Report) -> str:
    """The report as Markdown; figures are files beside it."""
    parts = [f"# {escape_markdown(report.title)}"]
    if report.warning:
        parts.append(f"> **{escape_markdown(report.warning)}**")
    parts.append(escape_markdown(report.lead))
    for section in report.sections:
        parts.append(f"## {escape_markdown(section.title)}")
        parts += map(markdown_block, section.blocks)
    return "\n\n".join(parts) + "\n"


def markdown_block(block: Block) -> str:
    """A paragraph, a table with its caption above it, or a figure."""
    if isinstance(block, str):
        return escape_markdown(block)
    if isinstance(block, Figure):
        title, caption = escape_markdown(block.title), escape_markdown(block.caption)
        return f"![{title}]({block.name}.svg)\n\n*{title}* {caption}"
    aligned = ":--" if block.prose else "--:"
    rows = [
        [escape_markdown(name) for name in block.header],
        [":--"] + [aligned] * (len(block.header) - 1),
    ]
    for row in block.rows:
        cells = [(escape_markdown(cell.text), cell.best) for cell in row]
        rows.append([f"**{text}**" if best else text for text, best in cells])
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"**{escape_markdown(block.caption)}**\n\n{lines}"


def escape_markdown(text: str) -> str:
    """A text without characters that Markdown would read as markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", visible(text))
