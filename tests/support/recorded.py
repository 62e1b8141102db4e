"""Public behavior as plain records: what snapshots hold, and what is compared with them.

Records are JSON values. `lost` lists what a later version no longer has; what it adds is no loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer
from typer.testing import CliRunner

WIDTH = 80
# Typer's own, and other ones where it can tell the shell.
TYPERS_OWN = ("install_completion", "show_completion")
TYPES = {str: "text", int: "integer", float: "float", bool: "boolean", Path: "path"}
# Schemas say these in prose, and prose may change.
PROSE = ("title", "description", "examples")


def lost(recorded: Any, current: Any, place: str = "") -> list[str]:
    """What was recorded and is now gone or different; entries of objects may be added."""
    if isinstance(recorded, dict) and isinstance(current, dict):
        gone = [f"{place}/{name}: gone" for name in recorded.keys() - current.keys()]
        both = [(name, recorded[name], current[name]) for name in recorded.keys() & current.keys()]
    elif isinstance(recorded, list) and isinstance(current, list) and len(recorded) == len(current):
        gone = []
        both = list(zip(range(len(recorded)), recorded, current, strict=True))
    else:
        return [] if recorded == current else [f"{place}: was {recorded!r}, is {current!r}"]
    for name, before, now in both:
        gone += lost(before, now, f"{place}/{name}")
    return sorted(gone)


def command_line(app: typer.Typer) -> dict[str, Any]:
    """Each command and group: its parameters, and its help."""
    return {
        " ".join(("deltavec", *words)): {
            "parameters": parameters(command),
            "help": shown_help(app, words),
        }
        for words, command in commands(typer.main.get_command(app))
    }


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The command, and all below it, each with the words that are typed for it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))


def parameters(command: Any) -> dict[str, Any]:
    """What a command takes, by name."""
    own = [parameter for parameter in command.params if parameter.name not in TYPERS_OWN]
    positional = [one.name for one in own if one.param_type_name == "argument"]
    return {
        one.name: {
            "kind": one.param_type_name,
            "position": positional.index(one.name) if one.name in positional else None,
            "opts": [*one.opts, *one.secondary_opts],
            "default": plain(one.default),
            "required": one.required,
            "multiple": one.multiple or one.nargs != 1,
            **type_of(one),
        }
        for one in own
    }


def plain(default: Any) -> Any:
    """A default as JSON knows it."""
    if isinstance(default, Enum):
        return default.value
    if isinstance(default, list | tuple):
        return [plain(value) for value in default]
    return str(default) if isinstance(default, Path) else default


def type_of(parameter: Any) -> dict[str, Any]:
    """The name of a parameter's type, and the values that may be chosen, each an entry.

    From Typer's own description of types, or click's in versions of Typer that have none.
    """
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        name = parameter.type.name.removesuffix(" range").replace("filename", "path")
        choices = getattr(parameter.type, "choices", ())
    else:
        kind = next(iter(get_args(described.annotation)), described.annotation)
        is_choice = isinstance(kind, type) and issubclass(kind, Enum)
        name = "choice" if is_choice else TYPES[kind]
        choices = list(kind) if is_choice else ()
    return {"type": name, "choices": {str(plain(choice)): True for choice in choices}}


def shown_help(app: typer.Typer, words: tuple[str, ...]) -> list[str]:
    """The lines that ``--help`` prints in a terminal of fixed width."""
    done = CliRunner().invoke(
        app, [*words, "--help"], prog_name="deltavec", env={"COLUMNS": str(WIDTH)}
    )
    assert done.exit_code == 0, done.output
    return [line.rstrip() for line in done.stdout.splitlines()]


def options_in(lines: list[str]) -> set[str]:
    """The options that a text names, such as ``-o`` and ``--output``."""
    return set(re.findall(r"(?<![\w-])--?\w[\w-]*", "\n".join(lines)))


def http_api(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Each operation of an OpenAPI schema: parameters, and the fields of bodies by their path."""
    return {
        f"{method.upper()} {path}": {
            "parameters": {
                f"{one['in']} {one['name']}": {
                    "required": one.get("required", False),
                    "default": one["schema"].get("default"),
                    "fields": fields(one["schema"], schema),
                }
                for one in operation.get("parameters", [])
            },
            "request": bodies(operation.get("requestBody", {}), schema),
            "responses": {
                status: bodies(answer, schema) for status, answer in operation["responses"].items()
            },
        }
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def demands(api: Mapping[str, Any]) -> dict[str, set[str]]:
    """What a client must send, for each recorded operation."""
    return {
        operation: {
            *(name for name, one in record["parameters"].items() if one["required"]),
            *(
                f"{path} {kind}"
                for body in record["request"].values()
                for path, kinds in body.items()
                for kind in kinds
                if kind.startswith("requires ")
            ),
        }
        for operation, record in api.items()
    }


def bodies(described: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body, for each of its media types."""
    content = described.get("content", {})
    return {media: fields(one.get("schema", {}), schema) for media, one in content.items()}


def fields(part: Mapping[str, Any], schema: Mapping[str, Any], path: str = "$") -> dict[str, Any]:
    """The types that may stand at each path below a part of a schema, such as ``$.results[].id``.

    References are followed, so that what a class is called does not show. Each type is an entry:
    one more is no loss.
    """
    if "$ref" in part:
        target: Any = schema
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return fields(target, schema, path)
    found: dict[str, Any] = {path: dict.fromkeys(types(part), True)}
    for option in (*part.get("anyOf", ()), *part.get("oneOf", ()), *part.get("allOf", ())):
        merge(found, fields(option, schema, path))
    for name, inner in part.get("properties", {}).items():
        merge(found, fields(inner, schema, f"{path}.{name}"))
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(part.get(key), dict):
            merge(found, fields(part[key], schema, path + mark))
    return found


def merge(found: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add the types of more fields to those found."""
    for path, names in more.items():
        found.setdefault(path, {}).update(names)


def types(part: Mapping[str, Any]) -> list[str]:
    """What a value may be, literals one by one, and which properties must be there."""
    literals = [part["const"]] if "const" in part else part.get("enum", [])
    if literals:
        return [f"literal {value!r}" for value in literals]
    kinds = part.get("type", [])
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if not names and not set(part) - {*PROSE, "default"}:
        names = ["anything"]
    return [*names, *(f"requires {name}" for name in part.get("required", []))]
