"""Reads GitHub Actions workflows and composite actions for their tests and the rehearsals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Step:
    """One step: shell commands in `run`, or an action in `uses` (`owner/name@commit`)."""

    id: str | None
    name: str
    run: str | None
    uses: str | None
    condition: str | None
    env: Mapping[str, str]
    inputs: Mapping[str, Any]

    @property
    def action(self) -> str | None:
        return self.uses.partition("@")[0] if self.uses else None


@dataclass(frozen=True)
class Job:
    """One job; `runs_on` has its labels, and `permissions` is None if the job states none."""

    id: str
    runs_on: tuple[str, ...]
    condition: str | None
    permissions: Mapping[str, str] | None
    concurrency: Mapping[str, Any] | None
    env: Mapping[str, str]
    steps: tuple[Step, ...]

    @property
    def self_hosted(self) -> bool:
        """Whether it may run on our own machine: whether it has a label that is not GitHub's."""
        return not (len(self.runs_on) == 1 and self.runs_on[0].startswith("ubuntu-"))


@dataclass(frozen=True)
class Workflow:
    """One file of .github/workflows; `events` are its triggers."""

    path: Path
    text: str
    events: Mapping[str, Any]
    permissions: Mapping[str, str] | None
    env: Mapping[str, str]
    jobs: Mapping[str, Job]


@dataclass(frozen=True)
class Action:
    """A composite action; `inputs` are the values of those that a workflow may leave out."""

    text: str
    inputs: Mapping[str, str]
    required: frozenset[str]
    steps: tuple[Step, ...]


def read_action(path: Path) -> Action:
    """Reads the `action.yml` of a composite action; KeyError where it is none."""
    text = path.read_text(encoding="utf-8")
    table = yaml.safe_load(text)
    inputs = table["inputs"]
    return Action(
        text=text,
        inputs={name: it["default"] for name, it in inputs.items() if "default" in it},
        required=frozenset(name for name, it in inputs.items() if it.get("required")),
        steps=tuple(_step(step) for step in table["runs"]["steps"]),
    )


def workflow_in(page: Path) -> Workflow:
    """The workflow that a page of `docs/` has for copying: its only block of YAML."""
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return _workflow(page, text)


def read_workflow(path: Path) -> Workflow:
    """Reads a workflow. KeyError or TypeError for other files; actionlint has better messages."""
    return _workflow(path, path.read_text(encoding="utf-8"))


def _workflow(path: Path, text: str) -> Workflow:
    table = yaml.safe_load(text)
    events = table[True]  # YAML 1.1 parses the key `on` as true
    if isinstance(events, str):
        events = [events]
    if isinstance(events, list):
        events = dict.fromkeys(events)
    return Workflow(
        path=path,
        text=text,
        events=events,
        permissions=table.get("permissions"),
        env=table.get("env", {}),
        jobs={id_: _job(id_, job) for id_, job in table["jobs"].items()},
    )


def _job(id_: str, table: Mapping[str, Any]) -> Job:
    runs_on = table["runs-on"]
    return Job(
        id=id_,
        runs_on=(runs_on,) if isinstance(runs_on, str) else tuple(runs_on),
        condition=table.get("if"),
        permissions=table.get("permissions"),
        concurrency=table.get("concurrency"),
        env=table.get("env", {}),
        steps=tuple(_step(step) for step in table["steps"]),
    )


def _step(table: Mapping[str, Any]) -> Step:
    run, uses = table.get("run"), table.get("uses")
    return Step(
        id=table.get("id"),
        name=table.get("name") or run or uses or "",
        run=run,
        uses=uses,
        condition=table.get("if"),
        env=table.get("env", {}),
        inputs=table.get("with", {}),
    )
