"""The table of the cost of each difference from the transfers of rustls' bench."""

from __future__ import annotations

from upstream import APIS, THEIRS, ours, tables, theirs

STEPS = ("as ours", "one thing changed")


def line(api: str, protocol: str, step: str, rate: int) -> str:
    return f"jemalloc 5.3.1\t{api}\t{protocol}\t{step}\t{rate}\t{rate // 2}\n"


def test_the_rest_is_the_factor_that_no_step_explains() -> None:
    example = "".join(
        line(api, protocol, step, rate)
        for api in APIS
        for protocol in ("1.2", "1.3")
        for step, rate in zip(STEPS, (8000, 10000), strict=True)
    )
    bench = "".join(
        f"{variant}\tTLSv1_3\t{suite}\tmax_fragment_size:default\t{side}\t{rate}\tMB/s\n"
        for variant in ("bulk", "bulk-unbuffered")
        for suite in ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS13_AES_256_GCM_SHA384")
        for side, rate in (("send", 10500.0), ("recv", 4000.0))
    )
    rates = {figure: [rate] for figure, rate in (*ours(example), *theirs(bench, "jemalloc"))}
    found = tables(rates | {f._replace(allocator="system"): r for f, r in rates.items()})
    assert found.count("| as ours, MiB/s | 8,000 | 4,000 | 8,000 | 4,000 |\n") == 4
    for step, sending, receiving in (
        (STEPS[1], 1.25, 1.25),
        (f"{THEIRS} over ours", 1.31, 1.00),
        ("left after these steps", 1.05, 0.80),
    ):
        cells = f"{sending:.2f} | {receiving:.2f}"
        assert found.count(f"| {step} | {cells} | {cells} |\n") == 4, step
    for step, cells in (
        ("allocator: jemalloc", "1.00 | 1.00"),
        (f"{THEIRS} over ours as we publish it", "1.31 | 1.00"),
    ):
        assert found.count(f"| {step} | {cells} | {cells} |\n") == len(APIS), step
