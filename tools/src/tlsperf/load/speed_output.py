"""What an output of `openssl speed` says before its figures: its command, processes and progress."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from tlsperf.load.speed_lines import KEM, STEPS, Figures, of_machine, slug

_SIGNATURE: Final = ("generate", "sign", "verify")
_NAMING: Final = (
    *("multi", "async_jobs", "primes", "engine", "provider", "propquery"),
    *("misalign", "unaligned"),
)
"""Options that are a part of the name; all have a value."""
_WITH_VALUE: Final = (*_NAMING, "seconds", "bytes", "evp", "hmac", "cmac", "rand", "provider-path")
_FLAGS: Final = (
    *("mr", "mb", "elapsed", "mlock", "decrypt", "aead"),
    *("kem-algorithms", "signature-algorithms"),
)
_HEADER: Final = re.compile(r"type((?: ?[1-9][0-9]{0,8} bytes)+)|\+H((?::[1-9][0-9]{0,8})+)")
_BLOCKS: Final = [8192, 16384, 32768, 65536, 131072]
"""The sizes of -mb alone: several records at once."""
_AEADS: Final = ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305")
_LOW_LEVEL: Final = re.compile(r"[\w/-]+ (?:cbc|ede3|ige)")
"""What LibreSSL, and OpenSSL before 3.0, measure by other functions than -evp; they encrypt."""
EXPORTED: Final = re.compile(r"\b(?:export|set|setenv) OPENSSL_(?:\w+cap|CONF)\b")
UNCLEAR_COMMAND: Final = re.compile(
    r"OPENSSL_(?:\w+cap|CONF)=|(?<![&>|])&(?![&>])|\b(?:parallel|mpirun|mpiexec|srun)\b"
    r"|\bxargs .*-(?:-max-procs|\w*P)"
)
"""Other code than the processor allows, or processes at once, whose number is not known."""
UNCLEAR: Final = re.compile(
    r"[Ii]nvalid engine|[Cc]an't use that engine|CPUINFO: .* env:"
    r"|(?!compiler:)(?=.*\bspeed\b).*(?: -\w|[$#%>])"
)
"""Begins a line after which the command does not say what figures are of."""
_SHELL: Final = re.compile(r" *(?:[0-9]?>|[|;&])")
_SUBSTITUTED: Final = re.compile(r"\$\(.*?\)|`.*?`")
_RAN: Final = re.compile(r"\+R(1[5-9]|20):([0-9]{1,15}):([^:]+):([0-9]{1,9}\.[0-9]{2})")


class Output:
    """The state of one output. `command`: what follows `openssl speed`, None if it is not known."""

    def __init__(self, command: str | None, seconds: bool) -> None:
        self.flags: list[str] | None = None
        """Options of the command; None without one."""
        self.understood = True
        self.sizes: list[int] = []
        self.steps: list[str] = []
        self.printed = False
        """Whether figures were printed, after which the tool ends."""
        self.said: dict[str, str] = {}
        """The values of options that are a part of the name."""
        self._seconds = seconds
        self._processes = 0
        self._parts: defaultdict[str, list[Sequence[float]]] = defaultdict(list)
        """The rates of each process, by the key of their figures."""
        self._runs: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        """Number of the line +R15 to +R20, operations and seconds, by algorithm."""
        self._known: dict[str, Figures] = {}
        if command is not None:
            self._read_command(command)

    def _read_command(self, command: str) -> None:
        options, *rest = _SHELL.split(_SUBSTITUTED.sub("?", command))
        self.flags = []
        self.understood = not (command.endswith("\\") or re.search(r"openssl\S* speed", str(rest)))
        words = iter(options.split())
        for word in words:
            option, _, value = word.lstrip("-").partition("=")
            if word.startswith("-"):
                self.flags.append(option)
                value = value or (next(words, "") if option in _WITH_VALUE else "")
                self.understood &= bool(value) or option in _FLAGS
                if option in _NAMING:
                    before = self.said.get(option)
                    self.said[option] = f"{before}-{value}" if before else value

    def following(self) -> Output:
        """An output without a command of its own, after this one.

        Its figures are not known if the command before it, which may be of a loop, names them.
        """
        following = Output(None, self._seconds)
        named = self.flags is not None and (self.said or {"decrypt", "mb"} & set(self.flags))
        following.understood = self.understood and not named
        return following

    def header(self, line: str) -> bool:
        """Reads the sizes of ciphers; another form ends those of an earlier header."""
        known = _HEADER.fullmatch(line) is not None
        self.sizes = [int(size) for size in re.findall(r"[0-9]+", line)] if known else []
        return known

    def key_header(self, line: str) -> bool:
        """Reads the columns of a table of keys; another form ends those of an earlier header."""
        rates = [word for word in line.split() if word.endswith("/s")]
        known = all(rate in STEPS for rate in rates)
        self.steps = [STEPS[rate] for rate in rates] if known else []
        return known

    def child(self, number: str, line: str | None) -> bool:
        """A process, from 0, and a line of its figures if there is one."""
        self._processes = max(self._processes, int(number) + 1)
        if line and line.startswith("+H"):
            return self.header(line)
        if line and (part := of_machine(line, self._seconds)):
            self._parts[part.key].append(part.rates)
            self.named(part)
            return True
        return line is None

    def progress(self, line: str) -> None:
        """Reads a line of standard error: the names of KEMs and signatures."""
        if found := _RAN.fullmatch(line):
            self._runs[found[3]].append((int(found[1]), float(found[2]), float(found[4])))

    def named(self, figures: Figures) -> Figures:
        """The figures with the name of the only algorithm that ran at these rates.

        The sum of several processes has the name of its parts.
        """
        if figures.name:
            return figures
        fits = [
            figures._replace(name=slug(name), steps=steps)
            for name, runs in self._runs.items()
            for first, steps in ((15, KEM), (18, _SIGNATURE))
            if all(_ran(runs, first + i, rate) for i, rate in enumerate(figures.rates))
        ]
        if len(fits) == 1:
            self._known[figures.key] = fits[0]
        known = self._known.get(figures.key, figures)
        return figures._replace(name=known.name, steps=known.steps)

    def cipher(self, printed: str) -> tuple[str, str | None]:
        """Our name of a cipher or hash, and what is to be said of its figures."""
        name = re.sub(r"^id-aes([0-9]{3})-", r"aes-\1-", slug(printed))
        decrypts = "decrypt" in (self.flags or ())
        if _LOW_LEVEL.fullmatch(printed):
            return f"{name}-low-level", None
        if name not in _AEADS:
            return f"{name}-decrypt" if decrypts else name, None
        name += "-open" if decrypts else "-seal"
        if self.flags is None:
            return (
                name,
                "the file has no command: figures are taken to be of encryption, the default",
            )
        if "aead" in self.flags or " " in printed:  # LibreSSL's aes-256 gcm is an AEAD
            return name, None
        return name, "measured without -aead: operations have no nonce and no tag of their own"

    def suffix(self) -> str | None:
        """What the name of a figure says of the command; None if the processes are not known."""
        processes = str(self._processes or self.said.get("multi", 1))
        if not processes.isdecimal():
            return None
        said = self.said | {"multi": processes}
        if processes == "1":
            del said["multi"]
        blocks = "-mb" if "mb" in (self.flags or ()) or self.sizes == _BLOCKS else ""
        return blocks + "".join(f"-{slug(name)}-{slug(value)}" for name, value in said.items())

    def contradicted(self, rates: Sequence[float]) -> str | None:
        """Why these figures are not those of the processes before them."""
        said = self.said.get("multi", "")
        if self._processes and said.isdecimal() and int(said) != self._processes:
            return f"the command has -multi {said}, its output {self._processes} processes"
        if self._parts and not any(self._adds_up(parts, rates) for parts in self._parts.values()):
            return "not the sum of the figures of its processes"
        return None

    def _adds_up(self, parts: Sequence[Sequence[float]], rates: Sequence[float]) -> bool:
        within = 0.1 if self._seconds else 1e-3  # seconds have few digits
        fits = [len(part) for part in parts] == [len(rates)] * self._processes
        return fits and all(
            math.isclose(sum(part[i] for part in parts), rate, rel_tol=within, abs_tol=0.06)
            for i, rate in enumerate(rates)
        )


def _ran(runs: list[tuple[int, float, float]], number: int, rate: float) -> bool:
    return any(n == number and abs(rate * secs - ops) < rate * 0.006 for n, ops, secs in runs)
