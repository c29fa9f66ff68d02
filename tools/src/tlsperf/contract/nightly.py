"""What is counted night by night: what people add to it, and what its pages read."""

from __future__ import annotations

from pydantic import Field, model_validator

from tlsperf.contract.metrics import Unit
from tlsperf.contract.record import Day, Identifier, Model, Moment, Url
from tlsperf.contract.results import RowReference
from tlsperf.contract.run import HostFacts, LibraryId


class Explanation(Model):
    """What is known of a step: a sentence, and where it can be read."""

    night: str = Field(description="the first night at the new level, as its label")
    text: str
    url: Url


class Explanations(Model):
    """`data/nightly/<folder>/steps.toml`: what a person found out about steps."""

    steps: list[Explanation]

    @model_validator(mode="after")
    def _once(self) -> Explanations:
        nights = [step.night for step in self.steps]
        if len(set(nights)) < len(nights):
            raise ValueError("found a night twice, expected each once")
        return self


class Absence(Model):
    """`data/nightly/<folder>/<night>/absent.toml`: a library that could not be counted."""

    library: LibraryId
    reason: str = Field(description="what the build or the count printed last")


class Night(Model):
    """One state of a library that was counted."""

    run: Identifier
    implementation: Identifier
    label: str = Field(description="its version, or the first digits of its commit")
    date: Day


class NightFigure(Model):
    """The count of one night; `text` is – if it has none."""

    text: str
    value: float | None = None


class NightScenario(RowReference):
    """One scenario through all nights."""

    unit: Unit
    figures: list[NightFigure] = Field(description="one for each night")
    steps: list[int] = Field([], description="the places of the nights with a step in it")


class FoundStep(RowReference):
    """A step in one scenario, as readers see it."""

    unit: Unit
    before: str
    after: str
    change: str = Field(description="in per cent of the level before, such as +1.4%")
    is_better: bool


class NightSteps(Model):
    """The steps of all scenarios that begin with one night."""

    id: Identifier = Field(description="of its page, below content/versions")
    night: str
    before: str = Field(description="the night before it")
    time: Moment = Field(description="when the night's run was finished")
    answer: str
    steps: list[FoundStep]
    explanation: Explanation | None = None
    issue: str = Field(description="Markdown to paste into an issue; its first line is the title")


class Nightly(Model):
    """`content/versions/nights-<folder>-<implementation>/nights.json`: one implementation by night."""

    id: Identifier
    library: LibraryId
    title: str
    answer: str
    colour: Identifier = Field(description="class of the library's colour")
    host: HostFacts
    counter: str = Field(description="the program that counted, with its version")
    nights: list[Night]
    absent: list[str] = Field([], description="nights without it, with the reason")
    scenarios: list[NightScenario]
    changes: list[NightSteps] = Field(description="the newest first")
    rate: str = Field(description="share of nights with a false alarm, at most")
