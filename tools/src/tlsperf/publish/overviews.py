"""Pages over all reports: trends, hosts, libraries, scenarios. Pure functions of results.json."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tlsperf.contract.index import HostOverview, ScenarioOverview, Trend
from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts
from tlsperf.contract.text import host_label
from tlsperf.publish.libraries import libraries
from tlsperf.publish.reports import newest_first, reference
from tlsperf.publish.scenarios import scenario_csv, shortened


def hosts(results: Sequence[Results], trend_list: Sequence[Trend]) -> list[HostOverview]:
    """Each host of a report, with its reports, newest first."""
    facts: dict[Identifier, HostFacts] = {}
    reports: dict[Identifier, list[Results]] = {}
    for report in newest_first(results):
        for host in report.hosts:
            facts.setdefault(host.id, host)
            reports.setdefault(host.id, []).append(report)
    return [
        HostOverview(
            host=host,
            reports=[reference(r) for r in reports[host.id]],
            trends=[t.id for t in trend_list if t.host.id == host.id],
        )
        for host in facts.values()
    ]


def overview_files(
    trends: Sequence[Trend], scenarios: Sequence[ScenarioOverview], reports: Sequence[Results]
) -> dict[str, str]:
    """The text of each file below content/ but the charts, by its path there."""
    files: dict[str, str] = {}
    for trend in trends:
        folder = trend_folder(trend)
        title = f"{trend.host.cpu}, suite {trend.suite}"
        first, last = trend.reports[0].date, trend.reports[-1].date
        about = f"Every scenario of the suite {trend.suite} from {first} to {last}."
        files[f"{folder}/index.md"] = _page(title, about, "trend.html")
        files[f"{folder}/trend.json"] = _json(trend)
    for host in hosts(reports, trends):
        folder = f"hosts/{host.host.id}"
        name = host_label(host.host)
        about = host.host.description or f"Reports measured on {name}."
        files[f"{folder}/index.md"] = _page(name, about, "host.html")
        files[f"{folder}/host.json"] = _json(host)
    for library in libraries(reports):
        folder = f"libraries/{library.library}"
        about = f"The versions of {library.name} in the reports, and the verdicts on it."
        files[f"{folder}/index.md"] = _page(library.name, about, "library.html")
        files[f"{folder}/library.json"] = _json(library)
    for scenario in scenarios:
        folder = scenario_folder(scenario)
        count = len(scenario.reports)
        about = f"{scenario.done} Every figure of {count} reports, in {scenario.unit}."
        name = scenario.name[0].upper() + scenario.name[1:]
        files[f"{folder}/index.md"] = _page(name, about, "scenario.html")
        files[f"{folder}/scenario.json"] = _json(scenario)
        files[f"{folder}/scenario.csv"] = scenario_csv(scenario)
        files[f"{folder}/page.json"] = _json(shortened(scenario))
    return files


def scenario_folder(scenario: ScenarioOverview) -> str:
    """Where the files of a scenario are below content/."""
    return f"scenarios/{scenario.id}"


def trend_folder(trend: Trend) -> str:
    """Where the files of a trend are below content/."""
    return f"trends/{trend.id}"


def _page(title: str, description: str, template: str) -> str:
    head = "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in (("title", title), ("description", description), ("template", template))
    )
    return f"+++\n# written by `tlsperf render`: changes are lost\n{head}+++\n"


def _json(model: Model) -> str:
    table = model.model_dump(mode="json", exclude_none=True)
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
