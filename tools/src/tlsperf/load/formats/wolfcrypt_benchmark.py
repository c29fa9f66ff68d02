"""Output of wolfCrypt's `benchmark` (`wolfcrypt-benchmark`), by wolfcrypt/benchmark/benchmark.c of
wolfSSL 4.6.0, 5.5.4, 5.7.2 and 5.9.4, and runs of 5.5.4 and 5.9.4:

     wolfSSL version 5.9.4
    wolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)
    AES-256-GCM-enc             45 MiB took 1.098 seconds,   40.981 MiB/s Cycles per byte =  60.41
    ED     25519     sign     10900 ops took 1.004 sec, avg 0.092 ms, 10856.744 ops/sec

and of -csv `ED,25519,sign,0.092,10856.744,`, of a machine-parseable build `asym,ED,…` and
`sym,AES-256-GCM-enc,,47185920,1.098,40.981,`. Other bytes of -csv are MB/s whatever they are. MB are
2^20 bytes before 5.0, 10^6 (-base10) since 5.5.4, doubtful between. Each thread has a line; their
sum is the figure. -print repeats all. HW and DevID are a device and not the library's code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

from tlsperf.contract.metrics import LEAST_RATE, MOST_RATE
from tlsperf.contract.record import Scenario
from tlsperf.load import rows
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput, UnknownLineError
from tlsperf.load.spellings import WOLFCRYPT_WORK
from tlsperf.load.subjects import check_stated

_N: Final = r"([0-9]{1,12}\.[0-9]{1,6})"
_LINE: Final = re.compile(
    rf"([A-Za-z0-9][\w/\[\] -]{{0,40}}) ([0-9]{{1,12}}(?:\.[0-9]{{1,3}})?) (ops|bytes|[KM]i?B|[km]B) took {_N} sec(?:onds)?, (?:avg {_N} ms, )?"
    rf"{_N} \3/s(?:ec)?"
    r"(?:,? (?:[0-9]+ cycles|[0-9.]+ [Cc]ycles/op|Cycles per byte = [0-9.]+))*,?"
    r"(?:,? max duration [^|]*)?(?: \[heap [^|]*\])?"
)
_BULK_CSV: Final = re.compile(rf"sym,([^,]+,(?:SW|HW)?),([0-9]{{1,18}}),{_N},{_N},.*")
_CSV: Final = re.compile(rf"(?:asym,)?([^,]+(?:,[0-9]+,[^,]*)?(?:,[SH]W)?),{_N},{_N},.*")
_NOISE: Final = re.compile(  # the last is a line of -print
    r"-{9,}|(?:Math|CPU|\w+ frequency): .*|Benchmark complete|This format allows .* csv file\."
    r"|[\w ]+ Ciphers:|[\w ]*Benchmarks[:.]+|AES-XTS benchmark is with 128-bit keys only"
    rf"|(?:\$ )?(?:\S*/)?benchmark(?: \S+)*|(?!.* took )[^,]+ {_N} (?:[Mm]B/s|ops/sec)"
)
_FAIL: Final = re.compile(r"Benchmark (.+) failed: (-?[0-9]+)")


class _Reader:
    def __init__(self, source: RawInput) -> None:
        own = {i.id: i.version for i in source.run.implementations}
        self.version = own.get(source.implementation, "")
        self.source, self.block, self.columns, self.threads, self.device = source, "", "", 1, ""
        self.figures: defaultdict[Scenario, list[ParsedRow]] = defaultdict(list)
        self.last: tuple[list[str], list[ParsedRow]] = ([], [])  # words and rows of a figure

    def read(self, number: int, line: str, last: bool) -> None:
        line = re.sub(r"^(?:###, |!!!, |\[\w+\]: )", "", " ".join(line.split()))
        if stated := re.search(r"wolfSSL version (\S*\w)", line):
            self.version, self.block, self.columns, self.threads = stated[1], "", "", 1
            self.device = "hw" if "DevID" in line else ""
            check_stated(self.source, number, "wolfssl", self.version)
        elif found := re.match(r"wolfCrypt Benchmark(?: \(block bytes ([1-9][0-9]{0,9}),)?", line):
            self.block = found[1] or ""
        elif found := re.match(r"(?:Threads|CPUs):(?: ([1-9][0-9]{0,3})$)?", line):
            self.threads = int(found[1] or 0)
        elif line.startswith("TPM2 Benchmark"):
            check_stated(self.source, number, "wolfTPM")
        elif found := re.search(r"\buseDevice:([0-9])", line):
            self.device = "" if found[1] == "0" else "hw"
        elif "Algorithm," in line:
            self.columns = line
        elif (found := _FAIL.fullmatch(line)) and self.last[0] == sorted(found[1].lower().split()):
            self.last[1][-1] = self.last[1][-1]._replace(note=f"failed: {found[2]}")
        elif not self._figure(number, line) and not _NOISE.fullmatch(line):
            raise UnknownLineError(self.source.name, number, repr(line), "a line of wolfCrypt")

    def _figure(self, number: int, line: str) -> bool:
        """Keeps the figure of a line; False if it has none that is known."""
        if found := _LINE.fullmatch(line):
            bulk = found[3] != "ops"
            amount, time, each, rate = (float(found[i] or 0) for i in (2, 4, 5, 6))
            right = _agree(rate, time, amount, bulk / 2) and (not each or _agree(rate, each, 1000))
            return self._keep(number, found[1], rate * self._scale(found[3]), bulk, right)
        if (found := _BULK_CSV.fullmatch(line)) and "bytes_total,seconds_total" in self.columns:
            rate, printed = int(found[2]) / max(float(found[3]), 1e-6), float(found[4])
            units = (1, 1e3, 1 << 10, 1e6, 1 << 20)
            right = any(_agree(printed, unit, rate, rate / 1e5) for unit in units)
            return self._keep(number, found[1], rate, True, right)
        if (found := _CSV.fullmatch(line)) and "avg ms,ops/sec" in self.columns:
            each, rate = float(found[2]), float(found[3])
            return self._keep(number, found[1], rate, False, _agree(rate, each, 1000))
        return False

    def _scale(self, unit: str) -> float:
        """The bytes of a unit, by the version that printed it; 0 if they are doubtful."""
        base = 1000.0 if unit[1:] == "B" else 1024.0
        if unit in ("KB", "MB"):
            found = re.match(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})", self.version)
            version = tuple(map(int, found.groups())) if found else (5,)
            base = 1024.0 if version < (5,) else 0.0 if version < (5, 5, 4) else 1000.0
        return base ** {"k": 1, "m": 2}.get(unit[0].lower(), 0)

    def _keep(self, line: int, words: str, rate: float, bulk: bool, right: bool) -> bool:
        """Keeps bytes or operations per second, unless nothing says of what they are."""
        words = " ".join(words.replace(",", " ").split()).lower()
        name = re.sub(" [sh]w$", "", words)
        if name == "pbkdf2":
            rate, bulk = rate / 32, False
        value, unit = (rate / (1 << 20), "MiB/s") if bulk else (rate, "operations/s")
        if not self.threads or (bulk and not self.block) or not LEAST_RATE <= value <= MOST_RATE:
            return False
        printed = sorted(name.split())
        size = "" if not bulk or re.match(r"aes-\d+-(ecb|kw)", name) else self.block
        for pattern, ours in WOLFCRYPT_WORK:
            name = re.sub(pattern, ours, name)
        name = f"{name} {size} {'hw' if words.endswith(' hw') else self.device}"
        note = None if right else "its count, time and rate do not agree"
        threads = {"threads": self.threads if self.threads > 1 else None}
        work = rows.foreign_primitive(self.source, line, name).model_copy(update=threads)
        self.last = printed, self.figures[work]
        self.last[1].append(rows.row_of(self.source, line, work, "rate", value, unit, note=note))
        return True


def _agree(a: float, b: float, product: float, slack: float = 0) -> bool:
    """Whether two figures with three decimals have this product."""
    return abs(a * b - product) <= slack + 6e-4 * (a + b)


def parse(source: RawInput) -> Parsed:
    """One row for each figure; of several threads, one for all that have it."""
    parsed, reader = Parsed(), _Reader(source)
    rows.each_line(source, parsed.remarks, reader.read)
    for work, found in reader.figures.items():
        if work.threads:
            note = next((row.note for row in found if row.note), None)
            some = f"lines of {len(found)} of {work.threads} threads"
            note = note if len(found) == work.threads else some
            found = [found[0]._replace(value=sum(row.value for row in found), note=note)]
        for row in found:
            parsed.add_once(row)
    parsed.rows.sort(key=lambda row: row.line)
    return parsed


FORMATS: Final = (
    Format(
        *("wolfcrypt-benchmark", "wolfCrypt's benchmark"),
        lambda text, name: bool(re.search("wolfCrypt Benchmark|wolfSSL version [0-9]", text)),
        rows.file_by_file(parse),
        libraries=rows.only("wolfssl"),
    ),
)
