"""The public surface is what was recorded: names, commands with their options, the HTTP API.

New names, commands, options and fields are welcome; nothing recorded may go.
``tools/take_snapshots.py`` records a change that is meant.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deltavec as dv
from deltavec.cli.application import app
from deltavec.server.app import create_app
from support.recorded import command_line, demands, http_api, lost, options_in, shown_help
from support.served import ask, small_collection

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


def recorded(name: str) -> Any:
    return json.loads((SNAPSHOTS / name).read_text("utf-8"))


COMMANDS = recorded("command_line.json")


@pytest.fixture(scope="module")
def current_commands() -> dict[str, Any]:
    return command_line(app)


@pytest.fixture(scope="module")
def current_api(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    served = create_app(small_collection(tmp_path_factory.mktemp("served")))
    return http_api(ask(served, "GET", "/openapi.json").json)


def test_every_recorded_name_is_public() -> None:
    assert set(recorded("public_names.json")) <= set(dv.__all__)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_every_parameter_that_it_had(
    command: str, current_commands: dict[str, Any]
) -> None:
    assert command in current_commands
    before, now = COMMANDS[command]["parameters"], current_commands[command]["parameters"]
    assert lost(before, now) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_asks_for_no_more_than_it_did(
    command: str, current_commands: dict[str, Any]
) -> None:
    before, now = COMMANDS[command]["parameters"], current_commands[command]["parameters"]
    assert [name for name in now if now[name]["required"] and name not in before] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option_that_it_showed(command: str) -> None:
    taken = {opt for one in COMMANDS[command]["parameters"].values() for opt in one["opts"]}
    before = taken & options_in(COMMANDS[command]["help"])
    assert before - options_in(shown_help(app, tuple(command.split()[1:]))) == set()


def test_the_http_api_has_every_path_parameter_and_field_that_it_had(
    current_api: dict[str, Any],
) -> None:
    assert lost(recorded("http_api.json"), current_api) == []


def test_the_http_api_asks_for_no_more_than_it_did(current_api: dict[str, Any]) -> None:
    before, now = demands(recorded("http_api.json")), demands(current_api)
    assert {name: now[name] - before[name] for name in before if now[name] - before[name]} == {}
