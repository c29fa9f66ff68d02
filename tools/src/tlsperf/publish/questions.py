"""Pages by question: tables over the newest reports, with the answer in a few sentences.

Pure functions of results.json. A question without a report that has its rows has no page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tlsperf.contract.questions import Question, Sheet, SheetCell, SheetRow
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Ratio, Results
from tlsperf.contract.text import listed, value_text
from tlsperf.publish.capacity import capacity
from tlsperf.publish.sheets import (
    NOTHING,
    Source,
    by_host,
    newest,
    newest_of_each,
    of_days,
    own_sources,
    ratio_parts,
)

_FULL: Final = "full-handshake-1-3"
_SIDES: Final = ("server", "client")
_KEYS: Final = {"ecdsa-p256": "ECDSA P-256", "rsa-2048": "RSA-2048"}
_RESUMED: Final = "resumed-handshake-1-3-ticket-x25519"
_ONE_HOST: Final = "A figure is of its host. Other processors support other instructions."
_MEDIANS: Final = "Figures are medians. A value that is computed from two rows is not tested."


def questions(ordered: Sequence[Results]) -> list[Question]:
    """The pages that can be answered, in the order in which the site lists them."""
    hosts = by_host(own_sources(ordered))
    every = [Source(results) for results in ordered]
    found = [
        [asked(sources) for sources in hosts]
        for asked in (_server, _post_quantum, _memory, _scaling, _tail, capacity)
    ]
    pages = [_together(pages) for of in found if (pages := [page for page in of if page])]
    return [_with_many_cores(page, every) if page.id == "scaling" else page for page in pages]


def _together(pages: Sequence[Question]) -> Question:
    """One page of those that answer one question on one host each."""
    sheets = list(pages[0].sheets)
    for number, page in enumerate(pages[1:], start=2):
        sheets += [of.model_copy(update={"id": f"{of.id}-host-{number}"}) for of in page.sheets]
    return pages[0].model_copy(
        update={
            "answer": [f"{page.host}: {' '.join(page.answer)}" for page in pages],
            "sheets": sheets,
            "limits": list(dict.fromkeys(limit for page in pages for limit in page.limits)),
            "host": listed([page.host for page in pages]),
            "reports": [report for page in pages for report in page.reports],
        }
    )


def _sheet(
    source: Source,
    name: Identifier,
    caption: str,
    columns: Sequence[str],
    cells: Callable[[Identifier], list[SheetCell]],
) -> Sheet:
    """A table with a line for each library of the report that has a figure in it."""
    made = [
        SheetRow(label=shown.label, colour=shown.colour, cells=cells(shown.id))
        for shown in source.shown.values()
    ]
    return Sheet(
        id=name,
        caption=f"{source.place}: {caption}",
        corner="Library",
        host=source.host,
        columns=list(columns),
        rows=[row for row in made if any(cell != NOTHING for cell in row.cells)],
    )


# --- one function for each question ------------------------------------------------------------


def _server(sources: Sequence[Source]) -> Question | None:
    rows = {
        f"{_FULL}-ecdsa-p256-x25519-server": "Full handshakes/s, ECDSA P-256",
        f"{_FULL}-rsa-2048-x25519-server": "Full handshakes/s, RSA-2048",
        f"{_RESUMED}-server": "Resumptions/s",
        "transfer-1-3-aes-256-gcm-sending": "Sending, MiB/s",
        "transfer-1-3-aes-256-gcm-receiving": "Receiving, MiB/s",
    }
    source = newest_of_each(sources, list(rows))
    if source is None:
        return None
    ecdsa, rsa, resumed, sending, _ = rows
    return Question(
        id="server",
        title="Which library for a TLS-terminating server?",
        description="Handshakes, resumptions and transfers of a TLS 1.3 server, by library.",
        answer=[
            f"Full handshakes with an ECDSA certificate: {source.leaders(ecdsa)}.",
            f"With an RSA certificate: {source.leaders(rsa)}.",
            f"Resumptions by ticket: {source.leaders(resumed)}.",
            f"Sending: {source.leaders(sending)}.",
        ],
        sheets=[
            _sheet(
                source,
                "tasks",
                "TLS 1.3, X25519, AES-256-GCM, one thread. Each figure links to its row, which has "
                "the ratios and intervals.",
                list(rows.values()),
                lambda i: [source.figure(row, i) for row in rows],
            )
        ],
        meaning=[
            "For many short connections, compare full handshakes with the key of your certificate. "
            "For clients that return, compare resumptions; for large downloads, compare sending.",
            "Best and tied are verdicts of the report: a figure is best only if it is shown to be "
            "better than the next.",
        ],
        limits=[
            *of_days([source.results]),
            _ONE_HOST,
            "The figures cover the calls into the library: no network, no kernel, no HTTP. They do "
            "not cover security, features and support.",
        ],
        host=source.host,
        reports=source.reports,
    )


def _post_quantum(sources: Sequence[Source]) -> Question | None:
    pairs = {
        (key, side): (f"{_FULL}-{key}-x25519-{side}", f"{_FULL}-{key}-x25519mlkem768-{side}")
        for side in _SIDES
        for key in _KEYS
    }
    with_prices = [source for source in sources if source.results.prices]
    source = newest(with_prices, [row for rows in pairs.values() for row in rows])
    if source is None:
        return None
    answer = [_cost(source, side, pairs["ecdsa-p256", side]) for side in _SIDES]
    return Question(
        id="post-quantum",
        title="What does post-quantum key exchange cost?",
        description="Full TLS 1.3 handshakes with X25519MLKEM768 against X25519: handshakes lost, "
        "time and bytes added, by library and side.",
        answer=answer,
        sheets=[
            _sheet(
                source,
                f"{side}-{key}",
                f"A {side}, {_KEYS[key]}, full handshakes, one thread: the time of one with X25519, "
                "and what X25519MLKEM768 adds and costs.",
                ["X25519, µs", "Added, µs", "Handshakes lost"],
                lambda i, rows=rows: _costs(source, rows, i),  # type: ignore[misc]
            )
            for (key, side), rows in pairs.items()
        ],
        meaning=[
            "On the wire it adds 1,184 bytes to a ClientHello and 1,088 to a ServerHello: the key "
            "and the ciphertext of ML-KEM-768 (FIPS 203).",
            "The same time is a smaller share of a longer handshake, so the share of handshakes "
            "lost depends on the certificate too.",
        ],
        limits=[
            "All figures are those of the report's price list, from ratios of the same rounds. "
            "Intervals are corrected for all comparisons of the report.",
            "A larger ClientHello may need another packet. No network was measured.",
            *of_days([source.results]),
            _ONE_HOST,
        ],
        host=source.host,
        reports=source.reports,
    )


class _Price(NamedTuple):
    """What the price list of a report has for one library, from one row to another."""

    before: Cell
    """The time of a handshake; `added` is in microseconds too."""
    ratio: Ratio

    @property
    def added(self) -> float:
        """By the ratio that the loss is of."""
        return (self.before.value or 0) * (1 / self.ratio.value - 1)


def _price(source: Source, rows: tuple[str, str], i: Identifier) -> _Price | None:
    first, second = rows
    for table in source.results.prices or ():
        cells = {
            (row.anchor, row.against): cell
            for row in table.rows
            for cell in row.cells
            if cell.implementation == i
        }
        before, after = cells.get((first, None)), cells.get((second, first))
        if before and before.value and after and after.ratio:
            return _Price(before, after.ratio)
    return None


def _costs(source: Source, rows: tuple[str, str], i: Identifier) -> list[SheetCell]:
    price = _price(source, rows, i)
    if price is None:
        return [NOTHING] * 3
    before, after = map(source.link, rows)
    text, interval = ratio_parts(price.ratio.text)
    return [
        SheetCell(text=price.before.text, detail=price.before.interval, href=before),
        SheetCell(text=value_text(price.added, "µs", digits=3), href=after),
        SheetCell(text=text, detail=interval, href=after),
    ]


def _cost(source: Source, side: str, rows: tuple[str, str]) -> str:
    """The range of the losses with that verdict; it ranks none, as their intervals overlap."""
    head = f"a {side} with {_KEYS['ecdsa-p256']}"
    every = [price for i in source.shown if (price := _price(source, rows, i))]
    clear = [price for price in every if price.ratio.verdict == "slower"]
    if not clear:
        return f"No loss of {head} is shown in any library."
    shares = _range([100 * (1 - price.ratio.value) for price in clear])
    times = _range([price.added for price in clear])
    loses = f"{head} loses {shares}% of its handshakes: each takes {times} µs longer"
    if len(clear) == len(every):
        return f"In each library {loses}."
    return f"In {len(clear)} of {len(every)} libraries {loses}; in the others no loss is shown."


def _range(values: Sequence[float], digits: int = 0) -> str:
    """The least to the largest of some values: 17 to 23."""
    return " to ".join(dict.fromkeys(f"{of(values):.{digits}f}" for of in (min, max)))


def _memory(sources: Sequence[Source]) -> Question | None:
    def row(side: str, moment: str) -> str:
        return f"memory-1-3-x25519-{side}-{moment}-allocated"

    moments = {
        "construction": "After construction",
        "handshake": "After the handshake",
        "data": "Idle after data",
    }
    source = newest_of_each(sources, [row(side, m) for side in _SIDES for m in moments])
    if source is None:
        return None

    def cells(side: str) -> Callable[[Identifier], list[SheetCell]]:
        def of(i: Identifier) -> list[SheetCell]:
            idle = source.value(row(side, "data"), i)
            many = SheetCell(text=f"{1e4 * idle / 2**20:.0f} MiB") if idle else NOTHING
            return [*(source.figure(row(side, moment), i) for moment in moments), many]

        return of

    return Question(
        id="memory",
        title="How much memory does an idle connection hold?",
        description="Bytes that a TLS 1.3 connection holds when it is made, after its handshake "
        "and idle after data, for server and client.",
        answer=[
            f"A {side}'s connection that is idle after data: {source.leaders(row(side, 'data'))}."
            for side in _SIDES
        ],
        sheets=[
            _sheet(
                source,
                side,
                f"A {side}, bytes allocated per connection.",
                [*moments.values(), "10,000 idle connections"],
                cells(side),
            )
            for side in _SIDES
        ],
        meaning=[
            "The figure is the slope over a hundred to ten thousand connections: the memory that "
            "one more connection takes, without the memory of a process that has none."
        ],
        limits=[
            "OpenSSL has a mode that releases idle "
            "buffers (SSL_MODE_RELEASE_BUFFERS), which is off by default and was off.",
            "Socket buffers of the kernel and buffers of an application are not included.",
        ],
        host=source.host,
        reports=source.reports,
    )


def _scaling(sources: Sequence[Source]) -> Question | None:
    tasks = {
        f"{_FULL}-rsa-2048-x25519": "Full TLS 1.3 handshakes, RSA-2048",
        _RESUMED: "TLS 1.3 resumptions by ticket",
        "resumed-handshake-1-2-ticket": "TLS 1.2 resumptions by ticket",
    }
    source = newest(sources, [row for task in tasks for row in (task, f"{task}-2-threads")])
    if source is None:
        return None

    def cells(task: str) -> Callable[[Identifier], list[SheetCell]]:
        rows = (task, f"{task}-2-threads", f"{task}-4-threads")

        def of(i: Identifier) -> list[SheetCell]:
            figures = [source.figure(row, i).model_copy(update={"mark": None}) for row in rows]
            return [*figures, _factor(source, i, rows[0], rows[1])]

        return of

    sheets = [
        _sheet(
            source,
            f"threads-{number}",
            f"{title}, both sides together, handshakes/s.",
            ["1 thread", "2 threads", "4 threads", "2 over 1"],
            cells(task),
        )
        for number, (task, title) in enumerate(tasks.items(), start=1)
    ]
    answer = [
        f"{title}: two threads make {_range(factors, 1)} times as many as one, by library."
        for task, title in tasks.items()
        if (
            factors := [
                f for i in source.shown if (f := _over(source, i, f"{task}-2-threads", task))
            ]
        )
    ]
    return Question(
        id="scaling",
        title="How do the libraries scale with threads?",
        description="Handshakes on several threads that share configuration, session cache and "
        "ticket keys.",
        answer=answer,
        sheets=sheets,
        meaning=[
            "A factor below the number of threads may come from locks, shared caches, the clock of "
            "the processor, or cores that are hardware threads of one physical core."
        ],
        limits=[
            f"On {source.host}, three and four threads share two cores.",
            _MEDIANS,
            *of_days([source.results]),
        ],
        host=source.host,
        reports=source.reports,
    )


def _with_many_cores(page: Question, every: Sequence[Source]) -> Question:
    """The page about threads with the newest published figures of many cores."""
    many = [f"{_FULL}-rsa-2048-{count}-threads-server" for count in (2, 80)]
    of_one_host = [source for source in every if len(source.results.hosts) == 1]
    large = newest(of_one_host, many)
    if large is None:
        return page
    sheet = _sheet(
        large,
        "eighty",
        "full TLS 1.3 handshakes of a server with RSA-2048, handshakes/s of one thread, as "
        "published.",
        ["2 threads", "80 threads", "80 over 2"],
        lambda i: [
            *(large.figure(row, i).model_copy(update={"mark": None}) for row in many),
            _factor(large, i, many[0], many[1]),
        ],
    )
    update = {"sheets": [*page.sheets, sheet], "reports": [*page.reports, *large.reports]}
    return page.model_copy(update=update)


def _factor(source: Source, i: Identifier, before: str, after: str) -> SheetCell:
    """Of two medians, so with two digits."""
    factor = _over(source, i, after, before)
    return SheetCell(text=f"{factor:.{1 if factor < 10 else 0}f}x") if factor else NOTHING


def _over(source: Source, i: Identifier, one: str, other: str) -> float | None:
    above, below = source.value(one, i), source.value(other, i)
    return above / below if above and below else None


def _tail(sources: Sequence[Source]) -> Question | None:
    tasks = {
        f"{_FULL}-ecdsa-p256-x25519-server": "Full TLS 1.3 handshake of a server, ECDSA P-256",
        f"{_FULL}-ecdsa-p256-x25519-2-threads-server": "Full TLS 1.3 handshake of a server, "
        "ECDSA P-256, two threads on two cores",
        f"{_RESUMED}-server": "TLS 1.3 resumption by ticket of a server",
    }
    parts = {"p50": "Median", "p90": "90%", "p99": "99%", "p99-9": "99.9%", "max": "Maximum"}
    source = newest(sources, [f"{task}-{part}" for task in tasks for part in parts])
    if source is None:
        return None

    def cells(task: str) -> Callable[[Identifier], list[SheetCell]]:
        def of(i: Identifier) -> list[SheetCell]:
            figures = [source.figure(f"{task}-{part}", i) for part in parts]
            return [*figures, _factor(source, i, f"{task}-p50", f"{task}-p99")]

        return of

    return Question(
        id="tail",
        title="How long is the tail of handshake latency?",
        description="Latency of a server's handshakes by percentile, on one and on two threads.",
        answer=[
            f"{title}, 99th percentile: {source.leaders(f'{task}-p99')}."
            for task, title in tasks.items()
        ],
        sheets=[
            _sheet(
                source,
                f"latency-{number}",
                f"{title}, µs.",
                [*parts.values(), "99% over median"],
                cells(task),
            )
            for number, (task, title) in enumerate(tasks.items(), start=1)
        ],
        meaning=[
            "Each percentile is a median over the rounds; the maximum is the longest handshake of "
            "all rounds. A latency is the time of the library's calls on one side."
        ],
        limits=[
            "A latency does not include waiting for a core, which a server under load adds.",
            *of_days([source.results]),
            "On a virtual machine a pause of the host may be part of any library's maximum, so "
            "maxima are not compared.",
        ],
        host=source.host,
        reports=source.reports,
    )
