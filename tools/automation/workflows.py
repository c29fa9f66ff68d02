"""A GitHub Actions workflow as its tests and the rehearsal read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class Step:
    """One step: a shell text in `run`, or an action in `uses` (`owner/name@commit`)."""

    name: str
    run: str | None
    uses: str | None
    condition: str | None
    env: Mapping[str, str]
    inputs: Mapping[str, Any]

    @property
    def action(self) -> str | None:
        """The action without its commit."""
        return self.uses.partition("@")[0] if self.uses else None


@dataclass(frozen=True)
class Job:
    """One job; `runs_on` as labels, `permissions` None where the job states none."""

    id: str
    runs_on: tuple[str, ...]
    condition: str | None
    permissions: Mapping[str, str] | None
    concurrency: Mapping[str, Any] | None
    env: Mapping[str, str]
    steps: tuple[Step, ...]

    @property
    def self_hosted(self) -> bool:
        """Whether it may run on a machine of ours: any label that is not one of GitHub's."""
        return not (len(self.runs_on) == 1 and self.runs_on[0].startswith("ubuntu-"))


@dataclass(frozen=True)
class Workflow:
    """One file of .github/workflows; `events` are what starts it."""

    path: Path
    text: str
    events: Mapping[str, Any]
    permissions: Mapping[str, str] | None
    env: Mapping[str, str]
    jobs: Mapping[str, Job]


def read_workflow(path: Path) -> Workflow:
    """Reads a workflow; KeyError or TypeError where it is none (actionlint says it better)."""
    text = path.read_text(encoding="utf-8")
    table = yaml.safe_load(text)
    events = table[True]  # YAML 1.1 takes the key `on` for a truth value
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
        name=table.get("name") or run or uses or "",
        run=run,
        uses=uses,
        condition=table.get("if"),
        env=table.get("env", {}),
        inputs=table.get("with", {}),
    )
