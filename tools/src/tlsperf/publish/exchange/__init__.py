"""A report in the formats of other tools: `tlsperf export REPORT --format FORMAT`.

`FORMS` lists them. To add a format, write a module with a function from a `Publication` to its
files, and add a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.contract.errors import UserError, alternatives
from tlsperf.load.config import read_site
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.exchange.benchfmt import benchfmt
from tlsperf.publish.exchange.bmf import bmf
from tlsperf.publish.exchange.github_action import github_action
from tlsperf.publish.exchange.publication import Publication, read_publication
from tlsperf.publish.exchange.rustls_website import rustls_website
from tlsperf.publish.exports import results_csv
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import index_csv, indexed

__all__ = ["FORMS", "Form", "exported"]


class Form(NamedTuple):
    """A format, and the function that makes its files."""

    summary: str
    files: Callable[[Publication], Mapping[str, str]]
    """Returns the text of each file by its name."""


def _csv(publication: Publication) -> dict[str, str]:
    return {"results.csv": results_csv(publication.results)}


def _datapackage(publication: Publication) -> dict[str, str]:
    results = publication.results
    return {
        "datapackage.json": datapackage_json(
            results.id, results.title, read_site(publication.root).licences
        ),
        "index.csv": index_csv(indexed(results, phases=True)),
    }


FORMS: Final[Mapping[str, Form]] = {
    "benchfmt": Form("Go's benchmark format, a line a round, for benchstat", benchfmt),
    "bmf": Form("Bencher Metric Format, JSON with bounds", bmf),
    "csv": Form("the cells of all tables, as results.csv", _csv),
    "datapackage": Form("a Frictionless data package, with the columns of index.csv", _datapackage),
    "github-action": Form("github-action-benchmark, a JSON file a direction", github_action),
    "rustls-website": Form("a page of rustls.dev with its pictures", rustls_website),
}
"""The formats by their name on the command line."""


def exported(root: Path, form: str, report: str, out: Path | None) -> str:
    """The output of the command: the text of a single file, or the paths of the written files.

    Raises UserError.
    """
    if form not in FORMS:
        raise UserError(f"--format {form}: expected {alternatives(form, FORMS)}")
    files = FORMS[form].files(read_publication(root, report))
    if not files:
        raise UserError(f"{report}: no value of it counts, so there is nothing to export")
    if out is None:
        if len(files) > 1:
            raise UserError(
                f"--format {form}: {report} makes {len(files)} files ({', '.join(files)}): "
                "name a folder for them with --out"
            )
        return next(iter(files.values()))
    for name, text in files.items():
        replace_file(out / name, text.encode())
    return "".join(f"wrote {out / name}\n" for name in files)
