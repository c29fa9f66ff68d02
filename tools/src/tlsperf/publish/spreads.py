"""`tlsperf spreads`: how far runs of the same builds differ, and whether they keep what pages
promise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import numpy as np

from tlsperf.analysis.series import measured
from tlsperf.analysis.spreads import (
    Agreement,
    Difference,
    PairOfRuns,
    agreement,
    foretold,
    is_repeatable,
    pairs_of,
    spreads_of_models,
)
from tlsperf.contract.errors import UserError
from tlsperf.contract.host import completed, host_id_of
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Host
from tlsperf.contract.spreads import ModelSpreads, SpreadsFile
from tlsperf.contract.text import ABSENT, counted, host_label, markdown_table
from tlsperf.load.damage import readable
from tlsperf.load.run import LoadedRun, loader, read_hosts, read_runs
from tlsperf.load.spreads import SPREADS, read_spreads
from tlsperf.publish.files import put_file

_HEADS: Final = (
    *("two runs", "apart", "rates: median, 95%, most", "ratios: median, 95%, most"),
    *("ratios within", "rates within", "contradictions"),
)


def spreads_text(root: Path, names: Sequence[Identifier]) -> tuple[str, bool]:
    """The spreads as Markdown, and whether all pairs of runs keep what pages promise.

    Without names, data/spreads.json is made again from all runs; with names, only these runs are
    compared, with what it has. Raises UserError if two of them are not there or have no build in
    common.
    """
    folder = root / "data" / "runs"
    hosts = read_hosts(root / "data" / "hosts")
    runs = {id_: run for id_, run in read_runs(folder).items() if is_repeatable(run)}
    if unknown := [name for name in names if name not in runs]:
        raise UserError(
            f"{folder / unknown[0]}: found no such run, or one without times of tlsbench, expected "
            "a run that another could repeat"
        )
    load = loader(folder)
    asked = list(dict.fromkeys(names)) or list(runs)
    read = list(readable(load, asked))
    if len(read) < len(asked):
        raise UserError(
            f"{folder}: found {counted(len(asked) - len(read), 'run')} that cannot be read, without "
            "which intervals would be too narrow: mend or remove them"
        )
    pairs = pairs_of((measured(_with_model(run, hosts)) for run in read), across_models=bool(names))
    if names and not pairs:
        raise UserError(
            f"{folder}: found no build that two of these runs have, expected two runs of the same "
            "builds"
        )
    known = read_spreads(root) if names else spreads_of_models(pairs)
    found = [(pair, agreement(pair, known) if pair.one_model else None) for pair in pairs]
    if names:
        return _pairs_text(found), all(of is None or of.holds for _, of in found)
    put_file(root / SPREADS, _json(known).encode())
    if not pairs:
        return (
            "No two runs of the same builds on one processor model: measure a suite again.\n",
            True,
        )
    without = _together(foretold(pairs))
    text = (
        f"{_models_text(known)}\nWith spreads from the other days alone, "
        f"{_of(without.ratios_within, without.ratios)} ratios of a day are within the intervals of "
        f"the others, {_of(without.rates_within, without.rates)} rates within what their pages say, "
        f"and {without.contradictions} of {without.verdicts} verdicts contradict.\n\n"
    )
    return text + _pairs_text(found), all(of is None or of.holds for _, of in found)


def _with_model(loaded: LoadedRun, hosts: Mapping[Identifier, Host]) -> LoadedRun:
    """The run with what data/hosts knows of its host, such as the processor model."""
    run = loaded.run
    host = completed(run.host, hosts.get(host_id_of(run, hosts)))
    return replace(loaded, run=run.model_copy(update={"host": host}))


def _json(models: Sequence[ModelSpreads]) -> str:
    table = SpreadsFile(models=list(models)).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    for of in table["models"]:
        of["host"] = {name: value for name, value in of["host"].items() if value not in ({}, [])}
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def _models_text(models: Sequence[ModelSpreads]) -> str:
    """The spreads of each model, by kind of figure."""
    heads = ("processor model", "runs, days", "kind", "pairs", "rates", "ratios")
    rows = [
        (
            f"{host_label(of.host)}, {of.host.cpu_model or 'model not recorded'}",
            f"{of.runs}, {of.days}",
            kind,
            str(spread.pairs),
            ABSENT if spread.rates is None else f"{spread.rates:.1f}%",
            ABSENT if spread.ratios is None else f"{spread.ratios:.1f}%",
        )
        for of in models
        for kind, spread in of.kinds.items()
    ]
    return markdown_table(heads, rows, right=heads[3:])


def _pairs_text(found: Sequence[tuple[PairOfRuns, Agreement | None]]) -> str:
    """Each pair of runs with how far its figures differ, and how many are within; on two processor
    models no run promises anything of the other.
    """
    rows = [
        (
            f"{pair.one.id}, {pair.other.id}",
            _hours(pair.apart),
            _percents(pair.rates),
            _percents(pair.ratios),
            *(
                (
                    _of(of.ratios_within, of.ratios),
                    _of(of.rates_within, of.rates),
                    f"{of.contradictions} of {of.verdicts}",
                )
                if of
                else ("another processor", ABSENT, ABSENT)
            ),
        )
        for pair, of in found
    ]
    promised = [of for _, of in found if of]
    if not promised:
        return markdown_table(_HEADS, rows, right=_HEADS[1:])
    total = _together(promised)
    return (
        markdown_table(_HEADS, rows, right=_HEADS[1:])
        + f"\nOf {counted(len(promised), 'pair')} of runs {sum(of.holds for of in promised)} keep "
        f"what pages promise: {_of(total.ratios_within, total.ratios)} ratios are within the "
        f"interval of the other run, {_of(total.rates_within, total.rates)} rates within what a "
        f"page says of them, and {total.contradictions} of {total.verdicts} verdicts contradict "
        "another one.\n"
    )


def _together(found: Sequence[Agreement]) -> Agreement:
    return Agreement(*map(sum, zip(*found, strict=True)))


def _hours(apart: timedelta | None) -> str:
    if apart is None:
        return ABSENT
    hours = apart / timedelta(hours=1)
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"


def _percents(differences: Sequence[Difference]) -> str:
    """The median, the 95th percentile and the largest of how far figures differ."""
    if not differences:
        return ABSENT
    logs = np.abs([of.log for of in differences])
    parts = (np.median(logs), np.quantile(logs, 0.95), logs.max())
    return ", ".join(f"{100 * math.expm1(part):.1f}%" for part in parts)


def _of(within: int, total: int) -> str:
    return f"{100 * within / total:.1f}% of {total}" if total else ABSENT
