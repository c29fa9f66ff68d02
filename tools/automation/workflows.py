"""Reads GitHub Actions workflows and composite actions for their tests and the rehearsals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import AliasPath, BaseModel, Field, field_validator, model_validator


class Step(BaseModel, frozen=True):
    """One step: shell commands in `run`, or an action in `uses` (`owner/name@commit`)."""

    id: str | None = None
    name: str = ""
    run: str | None = None
    shell: str | None = None
    uses: str | None = None
    condition: str | None = Field(None, alias="if")
    env: dict[str, str] = {}
    inputs: dict[str, Any] = Field({}, alias="with")

    @model_validator(mode="before")
    @classmethod
    def _named(cls, table: dict[str, Any]) -> dict[str, Any]:
        return {"name": table.get("run") or table.get("uses"), **table}

    @property
    def action(self) -> str | None:
        return self.uses.partition("@")[0] if self.uses else None


class Job(BaseModel, frozen=True):
    """One job; `runs_on` has its labels, and `permissions` is None if the job states none."""

    id: str
    runs_on: tuple[str, ...] = Field(alias="runs-on")
    condition: str | None = Field(None, alias="if")
    permissions: dict[str, str] | None = None
    concurrency: dict[str, Any] | None = None
    env: dict[str, str] = {}
    steps: tuple[Step, ...]

    @field_validator("runs_on", mode="before")
    @classmethod
    def _labels(cls, of: Any) -> Any:
        return (of,) if isinstance(of, str) else of

    @property
    def self_hosted(self) -> bool:
        """Whether it may run on our own machine: whether it has a label that is not GitHub's."""
        return not (len(self.runs_on) == 1 and self.runs_on[0].startswith("ubuntu-"))


class Workflow(BaseModel, frozen=True):
    """One file of .github/workflows; `events` are its triggers."""

    path: Path
    text: str
    events: dict[str, Any]
    permissions: dict[str, str] | None = None
    env: dict[str, str] = {}
    jobs: dict[str, Job]


class Action(BaseModel, frozen=True):
    """A composite action."""

    text: str
    given: dict[str, dict[str, Any]] = Field(alias="inputs")
    steps: tuple[Step, ...] = Field(validation_alias=AliasPath("runs", "steps"))

    @property
    def inputs(self) -> dict[str, str]:
        """The values of those that a workflow may leave out."""
        return {name: it["default"] for name, it in self.given.items() if "default" in it}

    @property
    def required(self) -> frozenset[str]:
        return frozenset(name for name, it in self.given.items() if it.get("required"))


def read_action(path: Path) -> Action:
    """Reads the `action.yml` of a composite action; ValidationError where it is none."""
    text = path.read_text(encoding="utf-8")
    return Action.model_validate({**yaml.safe_load(text), "text": text})


def workflow_in(page: Path) -> Workflow:
    """The workflow that a page of `docs/` has for copying: its only block of YAML."""
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return _workflow(page, text)


def read_workflow(path: Path) -> Workflow:
    """Reads a workflow; ValidationError for other files. actionlint has better messages."""
    return _workflow(path, path.read_text(encoding="utf-8"))


def _workflow(path: Path, text: str) -> Workflow:
    table = yaml.safe_load(text)
    events = table.pop(True)  # YAML 1.1 parses the key `on` as true
    if not isinstance(events, dict):
        events = dict.fromkeys([events] if isinstance(events, str) else events)
    jobs = {id_: {**job, "id": id_} for id_, job in table["jobs"].items()}
    of_file = {"path": path, "text": text, "events": events, "jobs": jobs}
    return Workflow.model_validate({**table, **of_file})
