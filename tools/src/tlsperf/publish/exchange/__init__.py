"""A report in the formats of other tools: `tlsperf export FORMAT REPORT`.

`FORMS` lists them. To add a format, write a module with a function from a `Publication` to its
files, and add a line here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.contract.errors import UsageError, UserError, alternatives
from tlsperf.contract.text import listed
from tlsperf.load.config import read_site
from tlsperf.load.page import read_report
from tlsperf.publish.datapackage import datapackage_json
from tlsperf.publish.exchange.benchfmt import benchfmt
from tlsperf.publish.exchange.bmf import BMF, bencher_run, bmf
from tlsperf.publish.exchange.data_js import appended, data_js
from tlsperf.publish.exchange.github_action import FILES, github_action
from tlsperf.publish.exchange.publication import Publication, no_address, read_publication
from tlsperf.publish.exchange.rustls_website import headlines, rustls_website
from tlsperf.publish.exchange.series import left_out
from tlsperf.publish.exports import results_csv
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import index_csv, indexed

__all__ = ["FORMS", "Form", "exported"]


class Form(NamedTuple):
    """A format, and the function that makes its files."""

    summary: str
    files: Callable[[Publication], Mapping[str, str]]
    """Returns the text of each file by its name."""
    hints: tuple[Callable[[Publication, Path], Iterable[str]], ...] = ()
    """Lines for standard error, from the report and the folder of its files: what was left out, and
    how the other tool takes the files.
    """
    names: Collection[str] = ()
    """What files of it are called that another report may leave in the folder."""


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
    "bmf": Form(
        "Bencher Metric Format, JSON with bounds", bmf, hints=(left_out, bencher_run), names=[BMF]
    ),
    "csv": Form("the cells of all tables, as results.csv", _csv),
    "data-js": Form(
        "the history of github-action-benchmark's page", data_js, hints=(left_out, no_address)
    ),
    "datapackage": Form("a Frictionless data package, with the columns of index.csv", _datapackage),
    "github-action": Form(
        "github-action-benchmark, a JSON file a direction",
        github_action,
        hints=(left_out,),
        names=FILES.values(),
    ),
    "rustls-website": Form(
        "a page of rustls.dev with its pictures", rustls_website, hints=(no_address, headlines)
    ),
}
"""The formats by their name on the command line."""


def exported(
    root: Path, form: str, report: str, out: Path | None, append: Path | None = None
) -> str:
    """The output of the command: the text of a single file, or the paths of the written files.

    The report is added to the file `append`. Raises UserError.
    """
    if form not in FORMS:
        raise UserError(f"export {form}: expected {alternatives(form, FORMS)}")
    if (out if form == "data-js" else append) is not None:
        raise UsageError("export: expected --append FILE with the format data-js, or --out FOLDER")
    publication = read_publication(root, report)
    files = FORMS[form].files(publication)
    if not files:
        raise UserError(f"{report}: no value of it counts, so there is nothing to export")
    if out is None and append is None and len(files) > 1:
        raise UserError(
            f"export {form}: {report} makes {len(files)} files ({', '.join(files)}): "
            "name a folder for them with --out"
        )
    lines: list[str] = []
    if append:
        # A link stays one.
        replace_file(append.resolve(), appended(append, publication).encode())
        lines.append(f"wrote {append}")
    if out:
        found = [p for name in FORMS[form].names for p in (*out.glob(name), *out.glob(f"*/{name}"))]
        if left := [str(path) for path in found if str(path.relative_to(out)) not in files]:
            raise UserError(f"{listed(left)}: of another report; remove it, or name another folder")
        for name, text in files.items():
            lines.append(f"{'replaced' if (out / name).exists() else 'wrote'} {out / name}")
            replace_file(out / name, text.encode())
    own, of = publication.results.id, publication.results.of
    others = [part.id for part in read_report(root, of).reports if part.id != own]
    if own == of and others:
        print(f"exported the part {own}; there is also {listed(others)}", file=sys.stderr)
    for hint in FORMS[form].hints:
        for line in hint(publication, out or Path()):
            print(line, file=sys.stderr)
    return "".join(f"{line}\n" for line in lines) or next(iter(files.values()))
