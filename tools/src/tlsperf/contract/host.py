"""Whether two hosts are of one processor model, and whether they are one host.

A host's name decides nothing alone, nor does the hash of its machine's id: that is the image's from
which virtual machines are made, also on other processors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

from tlsperf.contract.identifier import MOST_OF_IDENTIFIER
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import HostFacts, Run

_MODEL: Final = ("cpu", "architecture", "threads", "virtual", "virtualization")


def one_model(a: HostFacts | None, b: HostFacts | None) -> bool:
    """Whether two hosts have the same processor model, as many threads of it and the same
    hypervisor, as far as both record it.
    """
    return not _differing(_model(a), _model(b))


def one_host(a: HostFacts | None, b: HostFacts | None) -> bool:
    """Whether two hosts of one name are one, as far as both record it."""
    return not _differing(_host(a), _host(b))


def completed(recorded: HostFacts | None, described: HostFacts | None) -> HostFacts | None:
    """What a run recorded of its host, with what is known of that besides."""
    facts: dict[str, object] = {}
    for source in (described, recorded):
        if source is not None:
            known = source.model_dump(include=set(HostFacts.model_fields), exclude_none=True)
            facts |= {name: value for name, value in known.items() if value not in ({}, [])}
    return HostFacts.model_validate(facts) if facts else None


def host_id_of(run: Run, known: Mapping[Identifier, HostFacts]) -> Identifier:
    """The id under which the host of a run is shown: its own, unless `known` describes another
    processor model with that id.
    """
    own = _model(run.host)
    apart = _contradicting(run.host, known.get(run.host_id))
    words = re.findall(r"[a-z0-9]+", " ".join(f"{fact} {own[fact]}" for fact in apart).lower())
    return "-".join([run.host_id, *words])[:MOST_OF_IDENTIFIER].rstrip("-")


def two_models(runs: Iterable[Run], known: Mapping[Identifier, HostFacts]) -> dict[Identifier, str]:
    """What is wrong with each run, by its id, that has another processor model than an earlier one
    under the id of one host.
    """
    before: dict[Identifier, list[Run]] = {}
    found = {}
    for run in runs:
        id_ = host_id_of(run, known)
        others = before.setdefault(id_, [])
        if other := next((it for it in others if _contradicting(it.host, run.host)), None):
            facts = " and ".join(_contradicting(run.host, other.host))
            found[run.id] = (
                f"found host {id_} with another {facts} than in run {other.id}, expected "
                f"data/hosts/{id_}.toml, which says which of both has this id"
            )
        others.append(run)
    return found


def hosts_of(runs: Iterable[Run]) -> dict[Identifier, str]:
    """The host of each run by its id: another processor model or another machine under one host's
    name is another host.
    """
    named: dict[Identifier, list[Run]] = {}
    for run in runs:
        named.setdefault(run.host_id, []).append(run)
    found = {}
    for name, of in named.items():
        facts = {run.id: _host(run.host) for run in of}
        apart = dict.fromkeys(
            fact for pair in combinations(facts.values(), 2) for fact in _differing(*pair)
        )
        for id_, own in facts.items():
            told = ", ".join(f"{fact} {own.get(fact, 'not recorded')}" for fact in apart)
            found[id_] = f"{name} ({told})" if apart else name
    return found


def _contradicting(a: HostFacts | None, b: HostFacts | None) -> list[str]:
    """What shows that one id names two processor models; people write a processor's name in
    several ways.
    """
    return [fact for fact in _differing(_model(a), _model(b)) if fact != "cpu"]


def _host(host: HostFacts | None) -> dict[str, object]:
    return _model(host) | _recorded(host, ("machine",))


def _model(host: HostFacts | None) -> dict[str, object]:
    """The facts of a processor model; `family 6, model 94, stepping 3` is three, so that
    `family 6, model 94 (Skylake)` agrees with it.
    """
    parts = (host.cpu_model or "").split(", ") if host else []
    pairs = (part.partition(" (")[0].rpartition(" ") for part in parts if part)
    return _recorded(host, _MODEL) | {name: value for name, _, value in pairs}


def _recorded(host: HostFacts | None, facts: Iterable[str]) -> dict[str, object]:
    found = {fact: getattr(host, fact, None) for fact in facts}
    return {fact: value for fact, value in found.items() if value not in (None, {})}


def _differing(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    return [fact for fact in a if fact in b and a[fact] != b[fact]]
