"""Documents of each foreign format, made by printing known figures in its grammar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy, composite

from tlsperf.contract.record import Scenario
from tlsperf.contract.run import HostFacts, Implementation, RawFile, Run, Tool
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import Parsed, RawInput
from tlsperf.load.spellings import OPENSSL_SUITES, RUSTLS_SUITES

RUN = Run(
    id="2026-01-01-test",
    date=date(2026, 1, 1),
    host_id="a-host",
    host=HostFacts(id="a-host", cpu="a cpu", architecture="x86_64"),
    tool=Tool(name="a tool"),
    implementations=[
        Implementation(id="openssl-3.6.1", library="openssl", version="3.6.1"),
        Implementation(id="rustls-0.23.37-aws-lc-rs", library="rustls", version="0.23.37"),
        Implementation(id="boringssl-30cd935", library="boringssl", version="30cd935"),
    ],
    files=[RawFile(path="raw/x", sha256="0" * 64, bytes=0, format="published")],
)


@dataclass
class Document:
    """A file's text and the figures it holds."""

    format: str
    text: str = ""
    name: str = "output_1"
    figures: list[tuple[Scenario, str, float, str]] = field(default_factory=list)
    """(scenario, statistic, value, unit)"""

    def line(self, *words: str, separator: str = "\t") -> None:
        self.text += separator.join(words) + "\n"

    def parsed(self, data: bytes | None = None) -> Parsed:
        """What the format's module makes of it, or of other bytes in its place."""
        given = self.text.encode() if data is None else data
        source = RawInput(given, f"raw/{self.name}", RUN, "openssl-3.6.1", 1)
        return FOREIGN[self.format].parse([source])


def found(parsed: Parsed) -> list[tuple[Scenario, str, float, str]]:
    return [(r.scenario, r.statistic, r.value, r.unit) for r in parsed.rows]


_positive = st.floats(min_value=0.01, max_value=9e6, allow_nan=False)
_general = _positive.map(lambda value: f"{value:g}")
_fixed = _positive.map(lambda value: f"{value:.2f}")
_MODES = {"handshake": "none", "handshake-resume": "session-id", "handshake-ticket": "ticket"}
_CERTIFICATES = {"RSA": "rsa-2048", "ECDSA": "ecdsa-p256"}


def _rates(
    draw: DrawFn, numbers: SearchStrategy[str], print_: Callable[[float], str]
) -> tuple[list[list[str]], int]:
    """The words of both sides' rates: of one thread, or of several with total and mean."""
    threads = draw(st.integers(1, 4))
    sides = [[draw(numbers) for _ in range(threads)] for _ in range(2)]
    if threads == 1 and draw(st.booleans()):
        return sides, 1
    printed = []
    for rates in sides:
        total = sum(map(float, rates))
        words = ["threads", str(threads), *rates]
        printed.append([*words, "total", print_(total), "per-thread", print_(total / threads)])
    return printed, threads


def _rate(words: list[str]) -> float:
    return float(words[0] if len(words) == 1 else words[words.index("total") + 1])


@composite
def openssl_2023(draw: DrawFn) -> Document:
    document = Document("openssl-bench/2023")
    suites = draw(st.lists(st.sampled_from(list(OPENSSL_SUITES)), min_size=1, unique=True))
    for name in suites:
        suite = OPENSSL_SUITES[name]
        ecdsa = suite.signature == "ECDSA" or (not suite.signature and draw(st.booleans()))
        echo = ["env", draw(st.sampled_from(["LD_LIBRARY_PATH=../openssl", "A=b"])), "./bench"]
        flag = ["--ecdsa"] if ecdsa else draw(st.sampled_from([[], ["--rsa"]]))
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        size = draw(st.sampled_from([16, 8192, 1 << 20]))
        end = [str(size)] if mode == "bulk" else []
        document.line(*echo, *flag, mode, name, *end, separator=" ")
        group = None
        if mode != "handshake":
            kx = draw(st.sampled_from([None, "(null)", "x25519", "X25519MLKEM768"]))
            version = f"TLSv{suite.protocol}"
            tail = ["kx", kx] if kx else []
            document.line("negotiated", version, "with", name, *tail, separator=" ")
            groups = {"x25519": "X25519", "X25519MLKEM768": "X25519MLKEM768"}
            if mode == "bulk" or suite.protocol == "1.3":  # no keys in a TLS1.2 resumption
                group = groups.get(kx or "")
        if mode in ("handshake-resume", "handshake-ticket"):
            document.line("connects: 0, connects-good: 0, accepts: 9, accepts-good: 9")
            document.line("sessions: 1, hits: 8, misses: 0")
        sides = (
            [("send:", "sender"), ("recv:", "receiver")]
            if mode == "bulk"
            else draw(st.permutations([("client", "client"), ("server", "server")]))
        )
        for word, side in sides:
            rate = draw(_general)
            if mode == "bulk":
                document.line(word, rate, "MB/s", separator=" ")
            else:
                document.line("handshakes", word, rate, "handshakes/s")
            scenario = Scenario.model_validate(
                {
                    "operation": "transfer" if mode == "bulk" else "handshake",
                    "protocol": suite.protocol,
                    "cipher_suite": suite.iana,
                    "key_exchange": group,
                    "certificate": _CERTIFICATES["ECDSA" if ecdsa else "RSA"],
                    "authentication": "server",
                    "resumption": _MODES.get(mode, "none"),
                    "side": side,
                    "threads": 1,
                    "size": size if mode == "bulk" else None,
                }
            )
            unit = "MiB/s" if mode == "bulk" else "handshakes/s"
            document.figures.append((scenario, "value", float(rate), unit))
    return document


@composite
def openssl_2024(draw: DrawFn) -> Document:
    document = Document("openssl-bench/2024")
    boringssl = draw(st.booleans())
    for name in draw(st.lists(st.sampled_from(list(OPENSSL_SUITES)), min_size=1, unique=True)):
        suite = OPENSSL_SUITES[name]
        ecdsa = suite.signature == "ECDSA" or (not suite.signature and draw(st.booleans()))
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        flag = ["--ecdsa"] if ecdsa else []
        end = ["1048576"] if mode == "bulk" else []
        document.line("env", "./bench", *flag, mode, name, *end, separator=" ")
        if mode in ("handshake-resume", "handshake-ticket"):
            document.line("connects: 9, connects-good: 9, accepts: 9, accepts-good: 9")
            document.line("sessions: 1, hits: 8, misses: 0")
        version = "TLSv1/SSLv3" if boringssl else f"TLSv{suite.protocol}"
        word = "handshakes" if mode == "handshake" else mode
        sides = [("send", "sender"), ("recv", "receiver")]
        if mode != "bulk":
            sides = [("server", "server"), ("client", "client")]
        unit = "MB/s" if mode == "bulk" else "handshakes/s"
        rates, threads = _rates(draw, _general, "{:g}".format)
        for (printed, side), rate in zip(sides, rates, strict=True):
            document.line(word, printed, version, name, *rate, unit)
            scenario = Scenario.model_validate(
                {
                    "operation": "transfer" if mode == "bulk" else "handshake",
                    "protocol": suite.protocol,
                    "cipher_suite": suite.iana,
                    "certificate": _CERTIFICATES["ECDSA" if ecdsa else "RSA"],
                    "authentication": "server",
                    "resumption": _MODES.get(mode, "none"),
                    "side": side,
                    "threads": threads,
                    "size": 1 << 20 if mode == "bulk" else None,
                }
            )
            shown = "MiB/s" if mode == "bulk" else "handshakes/s"
            document.figures.append((scenario, "value", _rate(rate), shown))
    return document


def _rustls(draw: DrawFn, document: Document, with_keys: bool) -> Document:
    for name in draw(st.lists(st.sampled_from(list(RUSTLS_SUITES)), min_size=1, unique=True)):
        suite = RUSTLS_SUITES[name]
        version = f"TLSv{suite.protocol.replace('.', '_')}"
        mode = draw(st.sampled_from(["bulk", *_MODES]))
        program = draw(
            st.sampled_from(["target/release/examples/bench", "./target/release/rustls-bench"])
        )
        document.line(program, mode, name, separator=" ")
        unbuffered = with_keys and draw(st.booleans())
        suffix = "-unbuffered" if unbuffered else ""
        rates, threads = _rates(draw, _fixed, "{:.2f}".format)
        common = {
            "protocol": suite.protocol,
            "cipher_suite": suite.iana,
            "threads": threads,
            "variant": "unbuffered" if unbuffered else None,
        }
        if mode == "bulk":
            fragment = draw(st.sampled_from([None, 512])) if with_keys else None
            column = [f"max_fragment_size:{fragment or 'default'}"] if with_keys else []
            for (word, side), rate in zip(
                [("send", "sender"), ("recv", "receiver")], rates, strict=True
            ):
                document.line("bulk" + suffix, version, name, *column, word, *rate, "MB/s")
                scenario = Scenario.model_validate(
                    {
                        **common,
                        "operation": "transfer",
                        "certificate": None if suite.signature == "ECDSA" else "rsa-2048",
                        "authentication": "server",
                        "resumption": "none",
                        "side": side,
                        "size": 1 << 20,
                        "record_size": fragment,
                    }
                )
                document.figures.append((scenario, "value", _rate(rate), "MiB/s"))
            continue
        resumption, word = draw(
            st.sampled_from(
                [("none", "no-resume"), ("session-id", "sessionid"), ("ticket", "tickets")]
            )
        )
        mutual = draw(st.booleans())
        keys = {
            "RSA": {"Rsa": "rsa-2048", "Rsa2048": "rsa-2048"},
            "ECDSA": {
                "Ecdsa": "ecdsa-p256",
                "EcdsaP256": "ecdsa-p256",
                "EcdsaP384": "ecdsa-p384",
                "Ed25519": "ed25519",
            },
            None: {"Ed25519": "ed25519", "Rsa2048": "rsa-2048"},
        }[suite.signature]
        key = draw(st.sampled_from(list(keys)))
        certificate = keys[key]
        if not with_keys:
            certificate = _CERTIFICATES[suite.signature] if suite.signature else None  # type: ignore[assignment]
        unit = "handshakes/s" if with_keys and draw(st.booleans()) else "handshake/s"
        for side, rate in zip(["client", "server"], rates, strict=True):
            document.line(
                "handshakes" + suffix,
                version,
                *([key] if with_keys else []),
                name,
                side,
                "mutual" if mutual else "server-auth",
                word,
                *rate,
                unit,
            )
            scenario = Scenario.model_validate(
                {
                    **common,
                    "operation": "handshake",
                    "certificate": certificate,
                    "authentication": "mutual" if mutual else "server",
                    "resumption": resumption,
                    "side": side,
                }
            )
            document.figures.append((scenario, "value", _rate(rate), "handshakes/s"))
    return document


@composite
def rustls_2019(draw: DrawFn) -> Document:
    return _rustls(draw, Document("rustls-bench/2019"), with_keys=False)


@composite
def rustls_2023(draw: DrawFn) -> Document:
    return _rustls(draw, Document("rustls-bench/2023"), with_keys=True)


@composite
def bench_memory(draw: DrawFn) -> Document:
    document = Document("bench-memory")
    suites = draw(st.sampled_from([OPENSSL_SUITES, RUSTLS_SUITES]))
    sessions = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True))
    name = draw(st.sampled_from(list(suites)))
    for count in sessions:
        document.line(
            *("/usr/bin/env", "time", "-f", "%M", "./bench", "memory", name, str(count)),
            separator=" ",
        )
        kibibytes = draw(st.integers(1, 10**9))
        document.line(str(kibibytes))
        scenario = Scenario.model_validate(
            {
                "operation": "memory",
                "protocol": suites[name].protocol,
                "cipher_suite": suites[name].iana,
                "variant": f"sessions-{count}",
            }
        )
        document.figures.append((scenario, "value", kibibytes * 1024.0, "bytes"))
    return document


@composite
def bench_latency(draw: DrawFn) -> Document:
    thread = draw(st.sampled_from(["0", "17", "ThreadId(2)"]))
    side = draw(st.sampled_from(["client", "server"]))
    document = Document("bench-latency", name=f"some-run-{side}-{thread}-latency.tsv")
    latencies = draw(st.lists(st.integers(0, 10**12), min_size=1, max_size=60))
    for index, latency in enumerate(latencies):
        document.line(f"{1795230099 + index}.38374996", f"{latency / 1e8:.8f}")
    ordered = sorted(float(f"{latency / 1e8:.8f}") for latency in latencies)
    scenario = Scenario.model_validate(
        {"operation": "handshake", "side": side, "threads": 1, "variant": "some-run"}
    )
    shares = {"p5": 50, "p50": 500, "p90": 900, "p99": 990, "p99.9": 999, "max": 1000}
    for statistic, share in shares.items():
        rank = -(-share * len(ordered) // 1000)  # the smallest rank with that share below it
        document.figures.append((scenario, statistic, ordered[rank - 1], "µs"))
    return document


@composite
def bssl_speed(draw: DrawFn) -> Document:
    document = Document("bssl-speed")
    ciphers = ["AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"]
    rows = [
        (cipher, direction, size)
        for cipher in ciphers
        for direction in ("seal", "open")
        for size in (None, 16, 16384)
    ]
    for cipher, direction, size in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        count = draw(st.integers(1, 10**9))
        microseconds = draw(st.integers(10**5, 10**7))
        operations = count / microseconds * 1e6
        what = f"{cipher} ({size} bytes) {direction}" if size else f"{cipher} {direction} init"
        line = f"Did {count} {what} operations in {microseconds}us ({operations:.1f} ops/sec)"
        value, unit = float(f"{operations:.1f}"), "operations/s"
        if size:
            megabytes = f"{operations * size / 1e6:.1f}"
            line += f": {megabytes} MB/s"
            value, unit = float(megabytes) * (1e6 / (1 << 20)), "MiB/s"
        document.line(line)
        variant = f"{cipher.lower()}-{direction}-{size or 'init'}"
        scenario = Scenario(operation="primitive", variant=variant)
        document.figures.append((scenario, "value", value, unit))
    return document


@composite
def openssl_speed(draw: DrawFn) -> Document:
    document = Document("openssl-speed")
    command = draw(st.sampled_from(["", " -decrypt"]))
    document.line(f"./apps/openssl speed -aead{command} -evp aes-256-gcm")
    sizes = draw(st.lists(st.integers(1, 65536), min_size=1, max_size=6, unique=True))
    document.line("type     ", *(f"{size} bytes" for size in sizes), separator="  ")
    names = ["AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"]
    for name in draw(st.lists(st.sampled_from(names), min_size=1, unique=True)):
        printed, rates = zip(*(draw(_speed()) for _ in sizes), strict=True)
        document.line(name + "   ", *printed, separator="  ")
        direction = "open" if command else "seal"
        for size, rate in zip(sizes, rates, strict=True):
            scenario = Scenario(operation="primitive", variant=f"{name.lower()}-{direction}-{size}")
            document.figures.append((scenario, "value", rate / (1 << 20), "MiB/s"))
    return document


@composite
def _speed(draw: DrawFn) -> tuple[str, float]:
    """Bytes per second as `openssl speed` prints them: with k above 10,000, else with a space."""
    if draw(st.booleans()):
        value = f"{draw(st.floats(10.01, 9e9)):.2f}"
        return f"{value}k", float(value) * 1000
    value = f"{draw(st.floats(0.01, 10000)):.2f}"
    return f"{value} ", float(value)


_plain = _general.filter(lambda text: "e" not in text)
_SUITES = {
    "1.2": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "1.3": "TLS_AES_256_GCM_SHA384",
}


def _published_report(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "cipher_suite", "certificate", "resumption", "side"),
        *("implementation", "version", "value", "unit"),
        separator=",",
    )
    sides = [("sending", "sender"), ("receiving", "receiver")]
    rows = [(protocol, side) for protocol in _SUITES for side in sides]
    for protocol, (printed, side) in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        value = draw(_plain)
        cells = ["transfer", protocol, "aes-256-gcm", "rsa-2048", "none", printed]
        document.line(*cells, "OpenSSL", "3.6.1", value, "MB/s", separator=",")
        fields = {
            "operation": "transfer",
            "protocol": protocol,
            "cipher_suite": _SUITES[protocol],
            "certificate": "rsa-2048",
            "resumption": "none",
            "side": side,
        }
        document.figures.append((Scenario.model_validate(fields), "value", float(value), "MiB/s"))
    return document


def _published_side_by_side(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "cipher_suite", "resumption", "side"),
        *("openssl_3.6.1", "rustls_0.23.37", "vs", "unit"),
        separator=",",
    )
    rows = [(protocol, side) for protocol in _SUITES for side in ("client", "server")]
    for protocol, side in draw(st.lists(st.sampled_from(rows), min_size=1, unique=True)):
        values = [draw(_plain), draw(_plain)]
        cells = ["handshake", protocol, _SUITES[protocol], "ticket", side, *values]
        document.line(*cells, "+1%", "handshakes/s", separator=",")
        fields = {
            "operation": "handshake",
            "protocol": protocol,
            "cipher_suite": _SUITES[protocol],
            "resumption": "ticket",
            "side": side,
        }
        scenario = Scenario.model_validate(fields)
        document.figures += [(scenario, "value", float(v), "handshakes/s") for v in values]
    return document


def _published_threads(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("figure", "operation", "protocol", "resumption", "side", "implementation", "version"),
        *("threads", "handshakes_per_second_per_thread"),
        separator=",",
    )
    rows = draw(st.lists(st.integers(1, 110), min_size=1, unique=True))
    lines = []
    for threads in rows:
        value = draw(_plain)
        cells = ["handshake", "1.2", "ticket", "server", "rustls", "0.23.37", str(threads), value]
        lines.append(cells)
        fields = {
            "operation": "handshake",
            "protocol": "1.2",
            "cipher_suite": _SUITES["1.2"],
            "certificate": "rsa-2048",
            "resumption": "ticket",
            "side": "server",
            "threads": threads,
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, "value", float(value), "handshakes/s/thread"))
    for figure in ["before"] + ["after"] * draw(st.integers(0, 1)):  # the same points again
        for cells in lines:
            document.line(figure, *cells, separator=",")
    return document


def _published_percentiles(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("figure", "protocol", "resumption", "side", "implementation", "version", "threads"),
        *("samples", "percentile", "latency_ms"),
        separator=",",
    )
    chosen = draw(st.lists(st.sampled_from([5, 50, 90, 99]), min_size=1, unique=True))
    for percentile in chosen:
        microseconds = draw(st.integers(1, 10**7))
        printed = f"{microseconds / 1000:.3f}"
        cells = ["1.3", "none", "server", "BoringSSL", "30cd935", "80", "409600"]
        document.line(
            *("latency-fullhs-tls13-server", *cells, str(percentile), printed), separator=","
        )
        fields = {
            "operation": "handshake",
            "protocol": "1.3",
            "cipher_suite": _SUITES["1.3"],
            "certificate": "rsa-2048",
            "resumption": "none",
            "side": "server",
            "threads": 80,
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, f"p{percentile}", float(microseconds), "µs"))
    return document


def _published_key_exchanges(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("operation", "protocol", "certificate", "resumption", "side", "implementation"),
        *("version", "key_exchange", "value", "unit"),
        separator=",",
    )
    groups = {
        "X25519": ("X25519", None),
        "X25519MLKEM768 (shared X25519 setup)": ("X25519MLKEM768", "shared-x25519"),
        "X25519MLKEM768 (separate X25519 setup)": ("X25519MLKEM768", "separate-x25519"),
    }
    for printed in draw(st.lists(st.sampled_from(list(groups)), min_size=1, unique=True)):
        value = draw(_plain)
        cells = ["handshake", "1.3", "ecdsa-p256", "resumed", "client", "rustls", "0.23.37"]
        document.line(*cells, printed, value, "handshakes/s", separator=",")
        fields = {
            "operation": "handshake",
            "protocol": "1.3",
            "key_exchange": groups[printed][0],
            "certificate": "ecdsa-p256",
            "resumption": "resumed",
            "side": "client",
            "variant": groups[printed][1],
        }
        scenario = Scenario.model_validate(fields)
        document.figures.append((scenario, "value", float(value), "handshakes/s"))
    return document


def _published_client_hellos(draw: DrawFn) -> Document:
    document = Document("published")
    document.line(
        *("architecture", "implementation", "version", "key_shares", "median_microseconds"),
        separator=",",
    )
    shares = {
        "X25519": "X25519",
        "X25519MLKEM768 + X25519 (separate)": "X25519MLKEM768+X25519-separate",
    }
    for printed in draw(st.lists(st.sampled_from(list(shares)), min_size=1, unique=True)):
        for architecture in ("arm64", "amd64"):
            value = draw(_plain)
            document.line(architecture, "rustls", "0.23.37", printed, value, separator=",")
        fields = {
            "operation": "client-hello",
            "protocol": "1.3",
            "side": "client",
            "variant": shares[printed],
        }
        document.figures.append((Scenario.model_validate(fields), "value", float(value), "µs"))
    return document


@composite
def published(draw: DrawFn) -> Document:
    tables = [
        _published_report,
        _published_side_by_side,
        _published_threads,
        _published_percentiles,
        _published_key_exchanges,
        _published_client_hellos,
    ]
    return draw(st.sampled_from(tables))(draw)


GRAMMARS = {
    "openssl-bench/2023": openssl_2023(),
    "openssl-bench/2024": openssl_2024(),
    "rustls-bench/2019": rustls_2019(),
    "rustls-bench/2023": rustls_2023(),
    "bench-memory": bench_memory(),
    "bench-latency": bench_latency(),
    "bssl-speed": bssl_speed(),
    "openssl-speed": openssl_speed(),
    "published": published(),
}
