"""Equations as MathML, which browsers draw themselves: no script, no font, no request.

Docutils, which Sphinx is built on, translates LaTeX to MathML; this joins the two. An equation it
cannot translate is a warning, and so an error in `make check`.
"""

import html

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def translated(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """The MathML of a node's LaTeX; the LaTeX as it stands, and a warning, where that fails."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("cannot write as MathML: %s", error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def visit_math(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(translated(node, as_block=False))
    raise nodes.SkipNode


def visit_displayed_math(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    writer.body.append(translated(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displayed_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
