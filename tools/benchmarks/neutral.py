"""Measures what our programs measure with each library's own benchmark tool too, in one run.

    make libraries more-libraries && .venv/bin/python tools/benchmarks/neutral.py

builds the tools of neutral.toml with the libraries that our programs are linked with, runs theirs and
ours in turns on one processor, and writes neutral.md beside it. It measures for about six minutes. Tools
that are in no package run if an option names a checkout (`--help`); neutral.md lists those that did not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from neutral_tools import CERTIFICATES, ROOT, Subject, built, run
from tlsperf.contract.errors import UserError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Implementation, RawFile, Run
from tlsperf.contract.run import Tool as Source
from tlsperf.exits import exit_code
from tlsperf.load import tlsbench
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import RawInput

LIMIT: Final = 1.1
ROUNDS: Final = 5
SECONDS: Final = 0.3
PORT: Final = 14433

Rates = Mapping[Scenario, float]
"""Operations per second, or MiB/s, by the scenario that a tool's output names."""


class Row(NamedTuple):
    """One scenario in both programs."""

    scenario: Scenario
    theirs: Mapping[str, str]
    """Fields of the scenario as the tool's output names it."""
    side: str | None
    """The side that is compared; None: the work as a whole."""


class Result(NamedTuple):
    """The rates of all rounds, ours and theirs in turn."""

    library: str
    command: str
    row: Row
    differs: str
    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> list[float]:
        return sorted(a / b for a, b in zip(self.ours, self.theirs, strict=True))

    @property
    def verdict(self) -> str:
        if 1 / LIMIT <= median(self.ratios) <= LIMIT:
            return "yes"
        return f"no: {self.differs}" if self.differs else "no, and not explained"


def table(results: Sequence[Result]) -> list[str]:
    """The lines of the table in Markdown."""
    lines = [
        "| library | scenario | their command | theirs | ours | ours over theirs | within 10% |",
        "|---|---|---|---:|---:|---|---|",
    ]
    before = ""
    for it in results:
        sides = "" if it.row.scenario.operation == "primitive" else ", both sides"
        name = scenario_name(it.row.scenario).removeprefix("primitive, ")
        name += f", {it.row.side}" if it.row.side else sides
        ratio = f"{median(it.ratios):.2f} ({it.ratios[0]:.2f} to {it.ratios[-1]:.2f})"
        escaped = it.command.replace("|", "\\|")
        command = "as above" if it.command == before else f"`{escaped}`"
        before = it.command
        lines.append(
            f"| {it.library} | {name} | {command} | {median(it.theirs):,.0f} "
            f"| {median(it.ours):,.0f} | {ratio} | {it.verdict} |"
        )
    return lines


def row_of(table: Mapping[str, Any], handshakes: Mapping[str, Mapping[str, str]]) -> Row:
    """A row of neutral.toml."""
    side, theirs = table.get("side"), table.get("theirs", {})
    if variant := table.get("primitive"):
        scenario = Scenario(operation="primitive", variant=variant)
        return Row(scenario, theirs or {"variant": variant}, None)
    common = {"operation": "handshake", "authentication": "server", "threads": 1}
    scenario = Scenario.model_validate(common | dict(handshakes[table["handshake"]]))
    return Row(scenario, theirs or {"side": side}, side)


def only_rate(rates: Rates, wanted: Mapping[str, str], command: str) -> float:
    """The rate of the only scenario in one thread that has these fields."""
    found = [
        rate
        for scenario, rate in rates.items()
        if scenario.threads in (None, 1)
        and all(getattr(scenario, field) == value for field, value in wanted.items())
    ]
    if len(found) != 1:
        raise UserError(f"{command}: found {len(found)} figures of {dict(wanted)}, expected one")
    return found[0]


# --- what the tools print --------------------------------------------------------------------------


def imported(format: str, subject: Implementation, text: str) -> Rates:
    """The figures of an output, by the parser of `tlsperf import`."""
    run = Run(
        id="2026-01-01-neutral",
        date=date(2026, 1, 1),
        host_id="this-host",
        tool=Source(name="neutral"),
        implementations=[subject],
        files=[RawFile(path="raw/output", sha256="0" * 64, bytes=0, format=format)],
    )
    parsed = FOREIGN[format].parse([RawInput(text.encode(), "its output", run, subject.id)])
    rates = {it.scenario: 1e6 / it.value for it in parsed.rows if it.unit == "µs" and it.valid}
    return rates | {it.scenario: it.value for it in parsed.rows if it.metric == "rate" and it.valid}


def of_s_time(text: str) -> Rates:
    """Connections per second of the client's processor time in user mode."""
    found = re.search(r"([0-9.]+) connections/user sec", text)
    return {Scenario(operation="handshake", side="client"): float(found[1])} if found else {}


def of_tls_bench(text: str) -> Rates:
    """Handshakes per second by the mean time of the client, which waits for the server."""
    lines = re.findall(r"(?m)^Client +(\S+) .* ([0-9.]+)$", text)
    return {
        Scenario(operation="handshake", cipher_suite=suite): 1000 / float(milliseconds)
        for suite, milliseconds in lines
        if float(milliseconds)
    }


OTHERS: Final = {"s_time": of_s_time, "tls_bench": of_tls_bench}
"""What reads the output of tools that `tlsperf import` does not know."""


# --- measuring -------------------------------------------------------------------------------------


def ours(subject: Subject, row: Row) -> float:
    """Our rate: of one side, or of both one after the other."""
    request = {
        **{"schema": 1, "round": 1, "block": 0, "implementation": subject.described.id},
        "scenario": row.scenario.model_dump(exclude_none=True),
        **{"measure_seconds": SECONDS, "warmup_seconds": SECONDS / 3},
    }
    printed = run(subject.program, "measure", input=json.dumps(request))
    rates = [
        it.value
        for it in tlsbench.parse(printed.encode(), subject.program.name).rows
        if (it.metric, it.phase) == ("rate", "total") and row.side in (None, it.scenario.side)
    ]
    if not rates:
        raise UserError(f"{subject.program}: no rate of {scenario_name(row.scenario)}\n{printed}")
    return 1 / sum(1 / rate for rate in rates)


@contextmanager
def serving(program: Path, others: str) -> Iterator[list[str]]:
    """`openssl s_server` with our certificates on other processors; options that connect to it."""
    own = CERTIFICATES / "ecdsa-p256"
    chain = program.with_name("intermediate.pem")
    chain.write_text((own / "server.pem").read_text().partition("-----END CERTIFICATE-----\n")[2])
    files = ["-cert", own / "server.pem", "-cert_chain", chain, "-key", own / "server.key"]
    command = ["taskset", "-c", others, str(program), "s_server", "-www", "-accept", str(PORT)]
    command += map(str, files)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("localhost", PORT)) == 0:
                        break
                time.sleep(0.05)
            root = str(own / "root.pem")
            yield [
                "-verify",
                "3",
                "-CAfile",
                root,
                "-no-CApath",
                "-no-CAstore",
                "-connect",
                f"127.0.0.1:{PORT}",
            ]
        finally:
            process.terminate()


def until(last: str, command: Sequence[str]) -> str:
    """What a tool prints up to the time below a heading, where it is stopped."""
    printed = ""
    with subprocess.Popen(
        ["stdbuf", "-oL", *command], stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            printed += line
            if last in printed and "handshake time" in line:
                process.terminate()
    return printed


@dataclass(frozen=True)
class Pair:
    """A tool of neutral.toml and a program of ours, ready to be measured."""

    tool: Mapping[str, Any]
    subject: Subject
    program: Path

    def theirs(self, arguments: str, others: str) -> Rates:
        """The rates that the tool prints; a server of its own is on the processors `others`."""
        command = [str(self.program), *shlex.split(arguments)]
        last = self.tool.get("last")
        if "s_time" in command:
            with serving(self.program, others) as connect:
                printed = run(*command, *connect)
        else:
            printed = until(last, command) if last else run(*command, cwd=self.program.parent)
        if reads := OTHERS.get(self.tool["reads"]):
            return reads(printed)
        first = "" if printed.startswith("{") else f"{self.program.name} {arguments}\n"
        return imported(self.tool["reads"], self.subject.described, first + printed)

    def differs(self, *tables: Mapping[str, Any]) -> str:
        """What the innermost table says that differs."""
        return next((it["differs"] for it in (*tables[::-1], self.tool) if "differs" in it), "")

    def results(self, others: str, handshakes: Mapping[str, Any]) -> Iterator[Result]:
        """All rows, measured in rounds in which theirs and ours take turns."""
        library = self.subject.described.id
        for work in self.tool["runs"]:
            if work.get("only", self.subject.program.name) != self.subject.program.name:
                continue
            command = f"{self.program.name} {work['command']}"
            results = [
                Result(library, command, row_of(it, handshakes), self.differs(work, it), [], [])
                for it in work["rows"]
            ]
            for number in range(ROUNDS):
                print(f"{library}: {command}: round {number + 1} of {ROUNDS}", flush=True)
                rates = self.theirs(work["command"], others)
                for it in results:
                    it.theirs.append(only_rate(rates, it.row.theirs, command))
                    it.ours.append(ours(self.subject, it.row))
            yield from results


def processor() -> str:
    """The name of this machine's processor, as the kernel has it."""
    found = re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text("utf-8"))
    return found[1] if found else os.uname().machine


def page(
    results: Sequence[Result], pairs: Sequence[Pair], missing: Sequence[Mapping[str, Any]]
) -> str:
    """The text of neutral.md."""
    lines = [
        "# Our rates beside those of each library's own benchmark",
        "",
        f"Written by `python tools/benchmarks/neutral.py`, {date.today()}, {processor()}. Theirs and",
        f"ours ran in turns on one processor. Each figure is the median of {ROUNDS} rounds: operations/s,",
        "handshakes/s, or MiB/s of AES-GCM. The ratio is that of the rounds: their median, least and most.",
        "",
        *table(results),
        "",
        "tls-gnutls is not compared: its GnuTLS is built without gnutls-cli. Its adapter is that of",
        "tls-gnutls-host. Tools that no package has are of the checkouts that the options name.",
        "",
        "What theirs and ours have in common. If it is the library, the ratio compares the programs alone.",
        "",
        "| library | their tool | in common | compiler | flags | configured with |",
        "|---|---|---|---|---|---|",
    ]
    for pair in pairs:
        it, tool = pair.subject.described, pair.tool
        facts = [it.c_compiler or "–", it.flags or "–", it.configure or "–"]
        cells = [it.id, f"[{pair.program.name}]({tool['link']})", tool["shared"], *facts]
        lines.append(f"| {' | '.join(cells)} |")
    if missing:
        lines += ["", "Not run, since no package has them:", ""]
    lines += [
        f"- {', '.join(it['programs'])}: {it['link']}, by `--{it['option']} FOLDER`"
        for it in missing
    ]
    return "\n".join(lines) + "\n"


def subject_of(program: Path) -> Subject:
    if not program.is_file():
        raise UserError(f"{program}: found no program: make libraries more-libraries")
    return Subject(program, Implementation.model_validate_json(run(program, "describe")))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    every = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    options = {it["option"]: it["link"] for it in every["tools"] if "option" in it}
    release = ROOT / "bench" / "target" / "release"
    parser.add_argument("--programs", type=Path, default=release, help="folder of our programs")
    parser.add_argument("--only", default="", help="only programs whose names contain this")
    for option, link in options.items():
        parser.add_argument(f"--{option}", type=Path, dest=option, help=f"checkout that has {link}")
    given = vars(parser.parse_args())
    missing = [it for it in every["tools"] if "option" in it and not given[it["option"]]]
    chosen = [
        (tool, subject_of(given["programs"].absolute() / name))
        for tool in every["tools"]
        for name in tool["programs"]
        if tool not in missing and given["only"] in name
    ]
    pairs = [
        Pair(tool, subject, built(tool["build"], subject, given.get(tool.get("option"))))
        for tool, subject in chosen
    ]
    first, *rest = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {first})
    others = ",".join(map(str, rest or [first]))
    results = [it for pair in pairs for it in pair.results(others, every["handshakes"])]
    text = page(results, pairs, missing)
    if given["only"]:
        print(text)
    else:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(exit_code("neutral.py", main))
