"""Pages over all reports: trends, hosts, libraries, scenarios. Pure functions of results.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tlsperf.contract.index import HostOverview, ScenarioOverview, Trend
from tlsperf.contract.questions import ListedQuestion, Question
from tlsperf.contract.record import Identifier, Model
from tlsperf.contract.results import Caveat, Comparisons, Results, RowReference
from tlsperf.contract.run import HostFacts
from tlsperf.contract.text import host_label
from tlsperf.publish.libraries import libraries
from tlsperf.publish.questions import questions
from tlsperf.publish.reports import by_time, newest_first, reference
from tlsperf.publish.scenarios import scenario_csv, shortened
from tlsperf.publish.scoreboard import scoreboard
from tlsperf.publish.upgrades import report_of_versions, upgrade_question, upgrades


def hosts(results: Sequence[Results], trend_list: Sequence[Trend]) -> list[HostOverview]:
    """Each host of a report, with its reports, newest first."""
    facts: dict[Identifier, HostFacts] = {}
    reports: dict[Identifier, list[Results]] = {}
    for report in by_time(results):
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
    trends: Sequence[Trend],
    scenarios: Sequence[ScenarioOverview],
    reports: Sequence[Results],
    notes: Sequence[Caveat] = (),
) -> dict[str, str]:
    """The text of each file below content/ except the charts, by its path there."""
    files: dict[str, str] = {}
    for trend in trends:
        folder = trend_folder(trend)
        title = f"{host_label(trend.host)}, suite {trend.suite}"
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
    for library in libraries(reports, notes):
        folder = f"libraries/{library.library}"
        about = f"The versions of {library.name} in the reports."
        if library.withdrawn:
            about = library.withdrawn.text
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
        files[f"{folder}/page.json"] = _page_json(scenario)
    return files


def question_files(
    reports: Sequence[Results],
    compared: Callable[[Identifier], Comparisons],
    scenarios: Sequence[ScenarioOverview],
) -> dict[str, str]:
    """The text of each file of the scoreboard and of the pages by question, by its path."""
    ordered = newest_first(reports)
    found = questions(ordered)
    files: dict[str, str] = {}
    versions = report_of_versions(ordered)
    if versions is not None:
        ratios = compared(versions.results.id)
        found.insert(2, upgrade_question(versions, ratios))
        for upgrade in upgrades(versions, ratios):
            folder = f"content/upgrades/{upgrade.id}"
            title = f"{upgrade.before} to {upgrade.after}"
            files[f"{folder}/index.md"] = _page(title, upgrade.answer, "upgrade.html")
            files[f"{folder}/upgrade.json"] = _json(upgrade)
    for weight, question in enumerate(found, start=1):
        folder = f"content/questions/{question.id}"
        page = _page(question.title, question.description, "question.html", weight)
        files[f"{folder}/index.md"] = page
        shared = {"scenarios": _scenarios_of(question, scenarios)}
        files[f"{folder}/question.json"] = _json(question.model_copy(update=shared))
    entries = [ListedQuestion(id=q.id, title=q.title, answer=q.answer[0]) for q in found]
    table = [entry.model_dump(mode="json") for entry in entries]
    files["data/questions.json"] = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    board = scoreboard(ordered)
    files["data/scoreboard.json"] = _json(board) if board else "{}\n"
    return files


def _scenarios_of(question: Question, scenarios: Sequence[ScenarioOverview]) -> list[RowReference]:
    """The rows of a question's figures whose scenarios have a page."""
    cells = (cell for sheet in question.sheets for row in sheet.rows for cell in row.cells)
    anchors = dict.fromkeys(cell.href.partition("#")[2] for cell in cells if cell.href)
    names = {scenario.id: scenario.name for scenario in scenarios}
    return [RowReference(anchor=a, name=names[a]) for a in anchors if a in names]


def scenario_folder(scenario: ScenarioOverview) -> str:
    """The folder of a scenario, below content/."""
    return f"scenarios/{scenario.id}"


def trend_folder(trend: Trend) -> str:
    """The folder of a trend, below content/."""
    return f"trends/{trend.id}"


def _page(title: str, description: str, template: str, weight: int | None = None) -> str:
    placed = f"weight = {weight}\n" if weight is not None else ""
    head = "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in (("title", title), ("description", description), ("template", template))
    )
    return f"+++\n# written by `tlsperf render`: changes are lost\n{head}{placed}+++\n"


def _page_json(scenario: ScenarioOverview) -> str:
    """The text of page.json: only the fields of a figure that the page shows."""
    unseen = {"implementation", "version", "value", "low", "high"}
    figures = {"__all__": {"figures": {"__all__": unseen}}}
    table = shortened(scenario).model_dump(
        mode="json", exclude_none=True, exclude={"reports": figures, "kind": True}
    )
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def _json(model: Model) -> str:
    table = model.model_dump(mode="json", exclude_none=True)
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
