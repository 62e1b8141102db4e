"""What the search of the site finds: pages for users, not decision records."""

from __future__ import annotations

from typing import Any

HIDDEN = ("decisions/0", "reports/")


def hide(app: Any, doctree: Any) -> None:
    """Leave a page out of the search index."""
    name = app.env.docname
    if name.startswith(HIDDEN):
        app.env.metadata[name]["nosearch"] = True


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("doctree-read", hide)
    return {"parallel_read_safe": True}
