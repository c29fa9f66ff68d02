"""Output of `bssl speed` and `bssl speed -json` (`bssl-speed`): speeds of primitives.

    Did 139000 AES-256-GCM (16384 bytes) seal operations in 1004138us (138427.2 ops/sec): \\
      2268.0 MB/s  (on the same line)
    Did 717000 EVP-AES-256-GCM encrypt (16384 bytes) operations in 1001385us (…): 11731.1 MB/s
    Did 30 RSA 2048 key-gen operations in 1013471us (29.6 ops/sec)
      min: 9713us, median: 31203us, max: 100321us
    {"description": "RSA 2048 signing", "numCalls": 2300, "microseconds": 1000200},

BoringSSL had it until October 2025; AWS-LC has it (tool/speed.cc). Megabytes are 10^6 bytes here, the
frame has MiB/s. Rates that are printed with few digits (0.0 MB/s of `Jitter`), and those of `-json`,
follow from count, size and time; too few bytes are operations. AWS-LC measures AES-GCM through
EVP and says encrypt and decrypt for seal and open. Several threads are part of the scenario.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.load import rows
from tlsperf.load.rows import Format, Parsed, RawInput, RefusedError, UnknownLineError
from tlsperf.load.spellings import BSSL_LINKED, bssl_speed_primitive, hyphened
from tlsperf.load.subjects import check_named, check_stated
from tlsperf.load.units import duration_or_rate

_LINE: Final = re.compile(
    r"Did (?P<count>[0-9]{1,18}) (?P<name>.+?) operations in (?P<us>[0-9]{1,18})us "
    r"\((?P<operations>[0-9]{1,18}\.[0-9]{1,3}) ops/sec\)"
    r"(?:: (?P<megabytes>[0-9]{1,18}\.[0-9]) MB/s)?"
)
_OBJECT: Final = re.compile(
    r'\[?\{ ?"description": ?"(?P<name>[^"\\]+)", ?"numCalls": ?(?P<count>[0-9]{1,18}), ?'
    r'"microseconds": ?(?P<us>[0-9]{1,18})'
    r'(?:, ?"(?P<kind>bytes|primeSize)PerCall": ?(?P<size>[0-9]{1,18}))? ?\},?\]?'
)
_SIZE: Final = re.compile(r" \(([0-9]{1,18}) bytes?\)")
_THREADS: Final = re.compile(r" with ([1-9][0-9]{0,4}) threads")
_COMMAND: Final = re.compile(
    r"(?!Did )((?:.*? )??)(?:\w+=\S* )*(\S*bssl\S* speed|(?:\S*/)?(awslc|bssl|ossl)\w*_bm)(?: .*)?"
)
_SECOND: Final = re.compile("AEAD-AES-[0-9]+-GCM |EVP-ChaCha20-Poly1305 .* of aws-lc-")
"""Ciphers that AWS-LC measures through two APIs: the one whose figure is not the cipher's own."""
_NOISE: Final = re.compile(r"min: [0-9]+us, median: [0-9]+us, max: [0-9]+us|[][,]")
MEGABYTE_IN_MIB: Final = 1e6 / (1 << 20)


def parse(source: RawInput) -> Parsed:
    """One row for each line: bytes per second if the tool prints them, else operations."""
    parsed = Parsed()
    named: dict[str, tuple[str, int | None, int]] = {}
    taken: set[tuple[str, int | None]] = set()
    program: dict[str, str] = {}

    def read(number: int, line: str, last: bool) -> None:
        text = " ".join(line.split())
        if command := _COMMAND.fullmatch(text):
            if command[3]:
                check_stated(source, number, BSSL_LINKED[command[3]])
            else:
                check_named(source, number, text)
            called = command[1] + command[2]
            if (first := program.setdefault("first", called)) != called:
                raise RefusedError(source.name, number, called, f"only {first}")
        elif text == "Benchmarking in debug mode.":
            parsed.remarks.append(rows.Remark(source.name, number, text, "method"))
        elif not _NOISE.fullmatch(text):
            printed, rate, unit, note = _figure(source, number, text)
            name, threads, earlier = named.get(printed) or name_of(number, printed)
            named.setdefault(printed, (name, threads, number))
            if earlier != number:
                note = note or f"repeats line {earlier}; one file must hold one round"
                name = f"{name}-line-{number}"
            parsed.rows.append(rows.primitive_row(source, number, name, rate, unit, note, threads))

    def name_of(number: int, printed: str) -> tuple[str, int | None, int]:
        """Variant, threads and line; the variant of a cipher through a second API is as printed."""
        several, bare = _THREADS.search(printed), _THREADS.sub("", printed)
        threads = int(several[1]) if several and several[1] != "1" else None
        second = _SECOND.match(f"{bare} of {source.implementation}")
        for name in [*([] if second else [bssl_speed_primitive(bare)]), hyphened(bare)]:
            if (
                0 < len(name) <= rows.MOST_IN_NAME - len("-line-12345")
                and (name, threads) not in taken
            ):
                taken.add((name, threads))
                return name, threads, number
        raise UnknownLineError(source.name, number, printed, "a name of its own")

    text = rows.text_of(source)
    if text.lstrip().startswith("["):  # `jq` breaks objects into lines: each is one line here
        in_line = re.compile(r"\{[^{}]*\}").sub
        text = in_line(lambda o: o[0].replace("\n", " ") + "\n" * o[0].count("\n"), text)
    rows.each_line(source._replace(data=text.encode()), parsed.remarks, read)
    return parsed


def _figure(source: RawInput, line: int, text: str) -> tuple[str, float, str, str | None]:
    """What a line names, with size and threads; its rate, the unit, and why it does not count."""
    found = _LINE.fullmatch(text) or _OBJECT.fullmatch(text)
    unknown = UnknownLineError(source.name, line, text, "Did N NAME operations in Nus")
    if not found or not int(found["us"]):
        check_named(source, line, text)
        if "speed -" in text or text.count('"description"') > 1:
            expected = "bssl speed, or one figure: `python3 -m json.tool` breaks JSON into lines"
            raise RefusedError(source.name, line, repr(text[:100]), expected)
        raise unknown
    cells = found.groupdict()
    printed, operations, megabytes = found["name"], cells.get("operations"), cells.get("megabytes")
    if cells.get("size"):
        printed += f" ({cells['size']} {cells['kind'].replace('primeSize', 'bits')})"
    size = _SIZE.search(printed)
    rate = int(found["count"]) / int(found["us"]) * 1e6
    bulk = rate * int(size[1]) / 1e6 if size else float(megabytes or 0)
    figure = duration_or_rate(_exact(operations, rate), "ops/s")
    if size or megabytes:
        figure = duration_or_rate(_exact(megabytes, bulk) * MEGABYTE_IN_MIB, "MiB/s") or figure
    if not figure or (operations and size and not megabytes):
        raise unknown
    note = _contradiction(operations, "ops/sec", rate, "count and time")
    note = note or _contradiction(megabytes, "MB/s", bulk, "count, size and time")
    return printed, *figure[1:], note


def _exact(printed: str | None, computed: float) -> float:
    """The printed figure, or the computed one if it has fewer than three digits."""
    return float(printed) if printed and float(printed) >= 10 else computed


def _contradiction(printed: str | None, unit: str, computed: float, by: str) -> str | None:
    """Why a line's numbers disagree by more than rounding explains; None if they agree."""
    if printed and abs(computed - float(printed)) > 0.1 + 1e-6 * computed:
        return f"{printed} {unit} printed where {by} give {computed:.1f}"
    return None


_ANY: Final = re.compile(
    r'^Did \d+ .+ operations in \d+us |^\s*\[?\s*\{\s*"description":\s*"[^"]+",\s*"numCalls"', re.M
)
FORMATS: Final = (
    Format(
        "bssl-speed",
        "bssl speed",
        lambda text, name: _ANY.search(text) is not None,
        rows.file_by_file(parse),
        libraries=rows.only("boringssl", "aws-lc", "openssl"),
    ),
)
