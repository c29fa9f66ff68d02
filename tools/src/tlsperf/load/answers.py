"""The pages that quote reports: the home page, and those that answer a question each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from tlsperf.contract.answer import Answer
from tlsperf.contract.errors import mismatch
from tlsperf.contract.record import Identifier
from tlsperf.load.damage import readable
from tlsperf.load.page import Document, read_document

HOME: Final = Path("content", "_index.md")
FOLDER: Final = Path("content", "answers")
TABLE: Final = "[extra.answer]"


@dataclass(frozen=True)
class AnswerPage(Document):
    """A page with figures of reports."""

    answer: Answer

    @property
    def id(self) -> Identifier:
        """`home`, or the name of its folder."""
        return "home" if self.path.name == HOME.name else self.path.parent.name


def read_answers(root: Path) -> list[AnswerPage]:
    """The pages with `[extra.answer]` that can be read, the home page first."""
    paths = [root / HOME, *sorted((root / FOLDER).glob("*/index.md"))]
    found = readable(_answers, [path for path in paths if path.is_file()])
    return [page for pages in found for page in pages]


def read_answer(root: Path, name: Identifier) -> AnswerPage | None:
    """The page of a name, as `AnswerPage.id`; None if there is none, or if it quotes no report.

    Raises FormatError.
    """
    path = root / (HOME if name == "home" else FOLDER / name / "index.md")
    return next(iter(_answers(path)), None) if path.is_file() else None


def _answers(path: Path) -> list[AnswerPage]:
    """The page, or nothing if it quotes no report. Raises FormatError."""
    document = read_document(path)
    extra = document.head.get("extra")
    if not isinstance(extra, dict) or "answer" not in extra:
        return []
    try:
        answer = Answer.model_validate(extra["answer"])
    except ValidationError as error:
        line = document.line_of(TABLE)
        raise mismatch(error, str(path), line, model=Answer) from None
    return [AnswerPage(**vars(document), answer=answer)]
