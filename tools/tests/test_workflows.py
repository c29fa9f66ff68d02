"""The promises of SECURITY.md about workflows, checked against the workflow files.

`make zizmor` checks what is no promise of ours alone: pinned actions, tokens in checkouts, expressions in
shell text, and events that give a stranger's code a token.
"""

import re
from pathlib import Path

import pytest
import yaml

from workflows import Job, Workflow, read_action, read_workflow, workflow_in

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: read_workflow(path) for path in sorted(FOLDER.glob("*.yml"))}

MAINTAINERS = {"workflow_dispatch", "schedule"}
"""Events that only somebody with rights in the repository causes."""

READS = {"contents": "read"}
RIGHTS = {
    ("counts", "store"): {"contents": "write"},
    ("pages", "build"): {**READS, "pages": "read"},
    ("pages", "deploy"): {"pages": "write", "id-token": "write"},
    ("release", "publish"): {"contents": "write"},
    ("bench", "propose"): {"contents": "write", "pull-requests": "write", "actions": "write"},
}
"""The permissions of every job that has others than READS: a new one must be added here too."""

ACTION = read_action(ROOT / "action.yml")
PAGE = workflow_in(ROOT / "docs" / "pull-requests.md")
"""What others copy to use the action."""

SITE = read_workflow(ROOT / "tools/src/tlsperf/shipped/site/.github/workflows/pages.yml")
"""That of a site of its own, which `tlsperf init` writes."""

PUSHING = {
    "scripts/open-pull-request",
    "scripts/publish-release",
    "scripts/store-nights",
}
"""Scripts of the jobs that can write, which run git and `gh` alone."""


JOBS = [(workflow, job) for workflow in WORKFLOWS.values() for job in workflow.jobs.values()]
each_job = pytest.mark.parametrize(
    ("workflow", "job"), JOBS, ids=lambda of: of.path.stem if isinstance(of, Workflow) else of.id
)


def test_actions_are_pinned_by_commit_with_their_tag_beside_it_and_alike_everywhere() -> None:
    texts = [*(w.text for w in WORKFLOWS.values()), ACTION.text, PAGE.text, SITE.text]
    found = re.findall(r"uses: ([\w./-]+@.*)", "".join(texts))
    pinned = re.compile(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)")
    found = [use for use in found if not use.startswith("OWNER/")]
    pins = [pinned.fullmatch(use) for use in found]
    assert all(pins), [use for use, pin in zip(found, pins, strict=True) if not pin]
    assert len({pin[0] for pin in pins if pin}) == len({pin[1] for pin in pins if pin}) > 3


def test_what_is_pinned_is_proposed_anew_by_dependabot_or_listed_there() -> None:
    """For GitHub's actions it reads the YAML files of a folder, and of the root those of WORKFLOWS."""
    text = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    (actions,) = [
        set(update["directories"])
        for update in yaml.safe_load(text)["updates"]
        if update["package-ecosystem"] == "github-actions"
    ]
    site = SITE.path.parent.relative_to(ROOT).as_posix()
    assert actions == {"/", f"/{site}"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for pin in re.findall(r"^([A-Z_]+_VERSION) :=", makefile, re.MULTILINE):
        assert pin in text, pin


def test_every_job_with_more_rights_exists_and_every_workflow_is_read() -> None:
    assert {(w.path.stem, job.id) for w, job in JOBS} >= RIGHTS.keys()
    assert not list(FOLDER.glob("*.yaml"))


@each_job
def test_a_job_has_the_rights_it_needs_and_no_others(workflow: Workflow, job: Job) -> None:
    assert workflow.permissions == {}
    assert job.permissions == RIGHTS.get((workflow.path.stem, job.id), READS)


@each_job
def test_no_stranger_starts_a_job_on_our_machines_or_with_write_access(
    workflow: Workflow, job: Job
) -> None:
    can_write = "write" in (job.permissions or {}).values()
    assert not (can_write and job.self_hosted)
    if workflow.path.stem == "pages":  # a maintainer merged what is on main
        assert workflow.events.keys() == {"push", *MAINTAINERS}
        assert workflow.events["push"] == {"branches": ["main"]}
    elif workflow.path.stem == "release":  # a maintainer pushed the tag
        assert workflow.events == {"push": {"tags": ["v*"]}}
    elif can_write or job.self_hosted:
        assert workflow.events.keys() <= MAINTAINERS


@each_job
def test_no_secret_is_used_and_a_token_only_by_steps_that_need_it(
    workflow: Workflow, job: Job
) -> None:
    assert "secrets." not in workflow.text
    holders = [step.run for step in job.steps if "github.token" in str(step.env)]
    assert set(holders) <= PUSHING
    assert "github.token" not in str(job.env) + str(workflow.env)
    assert not (holders and job.self_hosted)


@each_job
def test_a_job_that_can_write_installs_and_builds_nothing(workflow: Workflow, job: Job) -> None:
    if "write" in (job.permissions or {}).values():
        actions = {"actions/checkout", "actions/download-artifact", "actions/deploy-pages"}
        assert {step.action or step.run for step in job.steps} <= actions | PUSHING


def test_a_host_measures_one_run_at_a_time_and_only_the_main_branch() -> None:
    measure = WORKFLOWS["bench"].jobs["measure"]
    assert measure.self_hosted
    assert measure.concurrency == {
        "group": "bench-${{ matrix.host }}",
        "cancel-in-progress": False,
        "queue": "max",  # or a third run would cancel the second while it waits
    }
    for job in WORKFLOWS["bench"].jobs.values():
        assert "github.ref == 'refs/heads/main'" in (job.condition or "")


def test_the_host_is_checked_before_measuring_and_reset_whatever_happens() -> None:
    steps = WORKFLOWS["bench"].jobs["measure"].steps
    runs = [step.run or step.action or "" for step in steps]

    def place(part: str) -> int:
        (index,) = [n for n, run in enumerate(runs) if part in run]
        return index

    order = ["host check", "host tune", "scripts/measure", "pack", "upload-artifact", "host reset"]
    assert [place(part) for part in order] == sorted(place(part) for part in order)
    assert steps[place("host reset")].condition == "always()"
    assert all(step.condition is None for step in steps[: place("host reset")])


def test_the_form_offers_every_existing_suite() -> None:
    suite = WORKFLOWS["bench"].events["workflow_dispatch"]["inputs"]["suite"]
    files = (ROOT / "bench" / "suites").glob("[!_]*.toml")
    # Counts need no bench host: they are the same on any machine.
    counts = {"calls", "calls-threads", "instructions", "nightly", "replay", "wire"}
    # A bench host has no web server, and the versions of Debian's packages change under it.
    servers = {"servers"}
    expected = {path.stem for path in files} - counts - servers
    found = set(suite["options"])
    assert found == expected, (
        ".github/workflows/bench.yml, on.workflow_dispatch.inputs.suite.options: "
        f"add {', '.join(sorted(expected - found)) or 'nothing'}, "
        f"remove {', '.join(sorted(found - expected)) or 'nothing'}"
    )


def test_no_job_waits_for_a_machine_that_does_not_exist() -> None:
    jobs = WORKFLOWS["bench"].jobs
    assert "&& vars.BENCH_HOSTS" in (jobs["measure"].condition or "")
    text = WORKFLOWS["bench"].text
    matrices = re.findall(r"host: \$\{\{ fromJSON\((.*)\) \}\}", text)
    assert len(matrices) == len(jobs)
    for matrix in matrices:
        assert matrix.endswith("|| vars.BENCH_HOSTS"), matrix


def test_a_fork_is_fetched_before_the_build_and_never_published() -> None:
    jobs = WORKFLOWS["bench"].jobs
    runs = [step.run or "" for step in jobs["measure"].steps]
    assert runs.index("scripts/fetch-source") < runs.index("make libraries")
    for job in (jobs["draft"], jobs["propose"]):
        assert "&& !inputs.source" in (job.condition or "")


def test_where_nothing_was_measured_nothing_is_drafted() -> None:
    """BENCH_HOSTS need not list the host that is asked for: the other hosts have no run then."""
    jobs = WORKFLOWS["bench"].jobs
    for before, job in (("measure", jobs["draft"]), ("draft", jobs["propose"])):
        assert f"needs.{before}.result != 'skipped'" in (job.condition or "")


@each_job
def test_a_job_can_be_run_again(workflow: Workflow, job: Job) -> None:
    """It uploads under the names of before; actions/deploy-pages takes no second `github-pages`."""
    for step in job.steps:
        if step.action == "actions/upload-artifact":
            assert step.inputs["overwrite"] is True
        if step.action == "actions/upload-pages-artifact":
            assert step.inputs["name"] == "github-pages-${{ github.run_attempt }}"


def test_no_commit_of_a_pull_request_fills_a_cache_for_the_next() -> None:
    """The action uses none at all."""
    steps = [step for _, job in JOBS for step in job.steps if "cache" in (step.action or "")]
    assert [step.action for step in steps] == ["Swatinem/rust-cache"]
    assert steps[0].inputs["save-if"] == "${{ github.ref == 'refs/heads/main' }}"


@each_job
def test_a_pipe_fails_where_any_part_of_it_does(workflow: Workflow, job: Job) -> None:
    """GitHub's shell sets pipefail only where `shell: bash` is named."""
    assert all(step.shell == "bash" for step in job.steps if "|" in (step.run or ""))


@each_job
def test_steps_are_make_targets_scripts_or_one_program(workflow: Workflow, job: Job) -> None:
    """Each step can be run outside GitHub."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for run in [step.run for step in job.steps if step.run]:
        assert "\n" not in run.strip()
        program, *arguments = run.split()
        if program == "make":
            assert next(word for word in arguments if not word.startswith("-")) in targets, run
        elif program.startswith("scripts/"):
            assert (ROOT / program).stat().st_mode & 0o111, run
        else:
            assert program in {"sudo", "bench/target/release/tlsbench"}, run


def test_every_library_with_a_main_branch_is_counted_by_night() -> None:
    text = WORKFLOWS["counts"].text
    files = sorted((ROOT / "bench" / "libraries").glob("*/library.toml"))
    mains = [path.parent.name for path in files if "[main]" in path.read_text(encoding="utf-8")]
    (listed,) = re.findall(r"library: \[([^]]*)\]", text)
    assert sorted(listed.split(", ")) == mains
    steps = [step for step in WORKFLOWS["counts"].jobs["find"].steps if "path" in step.inputs]
    downloads = {step.inputs["name"]: step.inputs["path"] for step in steps[:-1]}
    assert downloads == {f"night-{main}": f"build/night/{main}/" for main in mains}


@each_job
def test_an_artifact_is_fetched_by_its_name_into_a_folder_that_no_other_is_in(
    workflow: Workflow, job: Job
) -> None:
    """Of those that a pattern finds, one could write another's files, and a single one gets no folder."""
    fetched = [step.inputs for step in job.steps if step.action == "actions/download-artifact"]
    assert all(inputs.keys() == {"name", "path"} for inputs in fetched)
    assert len({inputs["path"] for inputs in fetched}) == len(fetched)


def test_every_part_of_make_nightly_runs_every_night() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (parts,) = re.findall(r"^nightly: (.*) ##", makefile, re.MULTILINE)
    jobs = WORKFLOWS["nightly"].jobs.values()
    runs = [word for job in jobs for step in job.steps for word in (step.run or "").split()]
    assert {part for part in parts.split() if not part.startswith("doctor")} <= set(runs)
    assert "audit" in runs


def test_every_program_that_make_installs_is_pinned() -> None:
    """By checksums, or else by its version."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = re.findall(r"\b(pip|go|cargo) install (.*)", text)
    assert len(installs) > 5
    for program, arguments in installs:
        match program:
            case "pip":
                pinned = "--require-hashes" in arguments or "--no-deps" in arguments
            case "go":
                pinned = "@$(" in arguments
            case _:
                pinned = "--version $(" in arguments and "--locked" in arguments
        assert pinned, f"{program} install {arguments}"


def test_every_build_uses_the_lock_files() -> None:
    files = [ROOT / "Makefile", *sorted((ROOT / "scripts").iterdir())]
    files += sorted((ROOT / "bench" / "runner" / "src").rglob("*.rs"))
    found = 0
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        # Without comments, and the help beside targets.
        text = "\n".join(line.partition("## ")[0] for line in lines if line[:1] != "#")
        for match in re.finditer(r'cargo (build|test|clippy|install)\b|"build", "--release"', text):
            line = text[match.start() :].partition("\n")[0]
            found += 1
            assert "--locked" in line, f"{path.name}: {line}"
    assert found > 8


def test_the_reader_of_workflows_finds_all_parts(tmp_path: Path) -> None:
    path = tmp_path / "w.yml"
    steps = [{"uses": "a/b@c", "with": {"x": 1}}, {"run": "make", "if": "i"}]
    jobs = {
        "own": {"runs-on": ["self-hosted", "linux"], "steps": steps},
        "hosted": {"runs-on": "ubuntu-24.04", "steps": []},
        "group": {"runs-on": "bare-metal", "steps": []},
    }
    path.write_text(yaml.safe_dump({"on": ["push"], "jobs": jobs}).replace("'on'", "on"))
    workflow = read_workflow(path)
    assert set(workflow.events) == {"push"}
    assert workflow.permissions is workflow.jobs["own"].permissions is None
    assert [job.self_hosted for job in workflow.jobs.values()] == [True, False, True]
    uses, run = workflow.jobs["own"].steps
    assert (uses.action, uses.inputs, run.run, run.condition) == ("a/b", {"x": 1}, "make", "i")


def test_our_action_uses_no_other_action_and_no_secret() -> None:
    """Such as a cache, in which one commit of a pull request leaves a program that a later one runs."""
    assert not [step.uses for step in ACTION.steps if step.uses]
    assert not re.search(r"secrets\.|github\.token", ACTION.text)


def test_the_workflow_to_copy_can_only_read_and_is_not_started_with_rights() -> None:
    assert PAGE.events == {"pull_request": None}
    assert PAGE.permissions == {}
    (job,) = PAGE.jobs.values()
    assert job.permissions == READS
    assert not job.self_hosted
    (ours,) = [step for step in job.steps if step.inputs.keys() & {"base", "head"}]
    assert ACTION.required <= ours.inputs.keys() <= ACTION.required | ACTION.inputs.keys()
