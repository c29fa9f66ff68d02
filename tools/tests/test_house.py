"""The layout of the code: permitted imports between rooms."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")


def check_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the import check of `make check` for a copy of the tools."""
    command = [str(LINTER), "--no-cache", "--config", str(folder / "pyproject.toml")]
    return subprocess.run(command, cwd=folder / "src", capture_output=True, text=True)


FORBIDDEN = (
    ("contract/text.py", "import tlsperf.analysis.means", "contract is not allowed to import"),
    ("load/run.py", "from tlsperf.report import tables", "load is not allowed to import"),
    ("published/as_published.py", "import tlsperf.report.tables", "published is not allowed"),
    ("load/formats/published.py", "import tlsperf.load.formats.bench_memory", "published is"),
    ("spare/__init__.py", "", "tlsperf.spare"),
)


def test_a_forbidden_import_is_found(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tools" / "src", tmp_path / "src")
    shutil.copy(ROOT / "tools" / "pyproject.toml", tmp_path)
    done = check_imports(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for module, line, _ in FORBIDDEN:
        path = tmp_path / "src" / "tlsperf" / module
        path.parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(f"{text}\n{line}\n", encoding="utf-8")
    done = check_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    for _, _, found in FORBIDDEN:
        assert found in " ".join(done.stdout.split())
