"""What a client gets, as the OpenAPI schema tells it, in ``responses.json``.

Responses are made as plain objects in the worker threads; a test holds them against the schemas.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from deltavec.io.output.tables import json_value

LONGEST_VALUE = 1000  # characters of a column's value
EXACT_INTEGERS = 2**53  # from here on a browser would round

SCHEMAS = json.loads((files("deltavec.server") / "responses.json").read_text("utf-8"))
for schema in SCHEMAS.values():  # all properties and no others
    schema |= {"type": "object", "required": [*schema["properties"]], "additionalProperties": False}


def plain(value: Any) -> Any:
    """A value of a column as a browser can show it."""
    return json_value(value, longest=LONGEST_VALUE, largest=EXACT_INTEGERS)
