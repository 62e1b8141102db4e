"""Export of a selection: a CSV table, or the ids."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from deltavec.collection.json_values import rows_of
from deltavec.server.browse.listing import selected_rows
from deltavec.server.errors import RequestError
from deltavec.server.explorer import Explorer
from deltavec.server.requests import ExportRequest
from deltavec.server.responses import plain


def export(explorer: Explorer, request: ExportRequest) -> bytes:
    """The documents as a CSV file with all columns, or their ids, one a line."""
    explorer.require_short(is_long=True)
    rows = selected_rows(explorer, request)
    collection = explorer.collection
    if request.format == "ids":
        ids = collection.ids.take(rows).to_pylist()
        # An id with a line break is written as JSON.
        return "".join(f"{one if one.isprintable() else json.dumps(one)}\n" for one in ids).encode()
    if len(rows) > explorer.limits.exported:
        raise RequestError(
            422,
            f"at most {explorer.limits.exported:,} documents can be exported as a table, these "
            f"are {len(rows):,}: take their ids, or choose fewer",
        )
    names = ["id", "text", *collection.columns, "map_x", "map_y"]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(names)
    positions = explorer.map_view.positions.of(rows)
    for position, entry in zip(positions, rows_of(collection.documents(rows)), strict=True):
        x, y = position or (None, None)
        cells = [entry[name] for name in names[:-2]]
        table.writerow([*(cell(value) for value in cells), x, y])
    return file.getvalue().encode()


def cell(value: Any) -> Any:
    """A value as a cell of a table; lists and objects as JSON."""
    value = plain(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
