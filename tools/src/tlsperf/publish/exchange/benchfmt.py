"""Go's benchmark format, one line for each round (docs/export.md has the commands).

Format: https://go.dev/design/14313-benchmark-format, with the `Unit` lines of
golang.org/x/perf/benchfmt. benchstat treats every line as an independent sample: its interval is
that of the rounds, not about another run, and it does not pair rounds.
"""

from __future__ import annotations

from collections.abc import Iterator

from tlsperf.analysis.series import row_names
from tlsperf.publish.exchange.publication import Publication
from tlsperf.publish.exchange.series import host_key, host_of, subject, version_of


def benchfmt(publication: Publication) -> dict[str, str]:
    """The valid rounds of all rows except phases, one implementation after the other."""
    return {"rounds.bench": "\n".join(_lines(publication)) + "\n"}


def _lines(publication: Publication) -> Iterator[str]:
    yield f"report: {publication.results.id}"
    rows = [row for row in publication.series.rows if not row.is_part]
    names = row_names(publication.series.rows)
    units = {row.unit: row.definition for row in rows}
    for unit, definition in units.items():
        assumed = " assume=exact" if definition.is_count else ""
        yield f"Unit {unit} better={definition.better}{assumed}"
    for shown in publication.results.implementations:
        yield ""
        host = host_of(publication.results, shown)
        facts = {
            "host": host_key(publication.results, host),
            "subject": subject(shown, host),
            "implementation": shown.id,
            "version": version_of(shown),
            # Without a value, that of the implementation before is gone.
            "commit": shown.commit or "",
        }
        yield from (f"{key}: {value}".rstrip() for key, value in facts.items())
        for row in rows:
            sample = row.samples.get(shown.id)
            for value in sample.rounds if sample else ():
                yield f"{benchmark_name(names[row.key][1])} 1 {value!r} {row.unit}"


def benchmark_name(anchor: str) -> str:
    """The anchor without hyphens: benchstat reads a `-2` at the end as a number of processors."""
    return "Benchmark" + anchor[0].upper() + anchor[1:].replace("-", "_")
