"""The scoreboard: libraries by task, each a factor to OpenSSL on one host. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tlsperf.contract.questions import (
    Scoreboard,
    ScoreboardSource,
    Sheet,
    SheetCell,
    SheetRow,
)
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio, Results
from tlsperf.contract.text import listed
from tlsperf.publish.reports import reference
from tlsperf.publish.sheets import NOTHING, Source, mark_of, own_sources, with_most_libraries


class Task(NamedTuple):
    """A column of the scoreboard: its head and the row that it shows."""

    title: str
    row: Identifier


TASKS: Final = (
    Task("Sending", "transfer-1-3-aes-256-gcm-sending"),
    Task("Receiving", "transfer-1-3-aes-256-gcm-receiving"),
    Task("RSA server", "full-handshake-1-3-rsa-2048-x25519-server"),
    Task("ECDSA server", "full-handshake-1-3-ecdsa-p256-x25519-server"),
    Task("Client", "full-handshake-1-3-ecdsa-p256-x25519-client"),
    Task("Resumption", "resumed-handshake-1-3-ticket-x25519-server"),
    Task("Memory per idle connection", "memory-1-3-x25519-server-data-allocated"),
    Task("ClientHello", "client-hello-1-3-x25519-client"),
)
_CONNECTIONS: Final = 6
"""Number of the first tasks that one run must have. Without a run of all tasks, the others come
from the newest run on the same host with the same baseline.
"""


def scoreboard(ordered: Sequence[Results]) -> Scoreboard | None:
    """The scoreboard of the run that has all tasks, or else the first ones, for the most libraries;
    None without one.
    """
    sources = [s for s in own_sources(ordered) if s.results.baseline]
    rows = [task.row for task in TASKS]
    in_one_run = [source for source in sources if len(source.results.runs) == 1]
    main = with_most_libraries(in_one_run, rows) or with_most_libraries(
        sources, rows[:_CONNECTIONS]
    )
    if main is None or main.results.baseline is None:
        return None
    baseline = main.results.baseline
    columns = []
    for task in TASKS:
        of_task = (s for s in (main, *sources) if _completes(s, main) and _compares(s, task.row))
        if source := next(of_task, None):
            columns.append((task, source))
    titles_of: dict[Identifier, tuple[Source, list[str]]] = {}
    for task, source in columns:
        titles_of.setdefault(source.results.id, (source, []))[1].append(task.title)
    parts = [
        ScoreboardSource(
            report=reference(source.results),
            run=listed([run.id for run in source.results.runs]),
            host_id=source.results.hosts[0].id,
            columns=listed(titles),
        )
        for source, titles in titles_of.values()
    ]
    board = Sheet(
        id="scoreboard",
        caption=f"Factors to {main.label(baseline)}, one thread, TLS 1.3 with X25519, "
        f"on one host, {main.host}{_runs(parts)}. Each links to its row.",
        corner="Library",
        columns=[task.title for task, _ in columns],
        rows=[
            SheetRow(
                label=shown.label,
                colour=shown.colour,
                cells=[_cell(source, task.row, shown.id) for task, source in columns],
            )
            for shown in main.shown.values()
        ],
    )
    return Scoreboard(
        baseline=main.label(baseline),
        host=main.host,
        host_id=main.results.hosts[0].id,
        board=board,
        sources=parts,
        withdrawn=_withdrawn([source for source, _ in titles_of.values()]),
    )


def _withdrawn(sources: Sequence[Source]) -> list[str]:
    """What the reports say of libraries whose figures they do not show."""
    warnings = (warning for source in sources for warning in source.results.warnings)
    return list(dict.fromkeys(it.message for it in warnings if it.code == "withdrawn"))


def _runs(sources: Sequence[ScoreboardSource]) -> str:
    if len(sources) == 1:
        return f", all in one run, {sources[0].run}"
    return f", in {len(sources)} runs: " + "; ".join(f"{s.columns} in {s.run}" for s in sources)


def _completes(source: Source, main: Source) -> bool:
    """Whether a report was measured on the host of another, against the same baseline."""
    ours, theirs = source.results.hosts[0], main.results.hosts[0]
    machines = {host.machine for host in (ours, theirs) if host.machine}
    same_host = ours.id == theirs.id and len(machines) < 2
    return same_host and source.results.baseline == main.results.baseline


def _compares(source: Source, row: Identifier) -> bool:
    """Whether a report has a row for several libraries, its baseline among them."""
    baseline = source.results.baseline
    return (
        baseline is not None
        and source.cell(row, baseline) is not None
        and len(source.libraries([row])) > 1
    )


def _cell(source: Source, row: Identifier, implementation: Identifier) -> SheetCell:
    cell = source.cell(row, implementation)
    if cell is None:
        return NOTHING
    text, detail = _parts(cell.ratio) if cell.ratio else ("baseline", None)
    return SheetCell(text=text, href=source.link(row), mark=mark_of(cell), detail=detail)


def _parts(ratio: Ratio) -> tuple[str, str | None]:
    """The text of a ratio and its interval; that of no difference says from what size it is one."""
    if ratio.verdict == "no difference shown":
        return ratio.text, None
    text, _, rest = ratio.text.partition(" (")
    return text, rest.rstrip(")") or None
