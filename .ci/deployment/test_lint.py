"""Linters report no findings in either template."""

import subprocess
import sys
from pathlib import Path

import pytest

from template import EDGE, ROOT, TEMPLATE

TOOLS = Path(sys.executable).parent


def lint(*command):
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("path", [TEMPLATE, EDGE], ids=["template", "edge"])
def test_cfn_lint_finds_nothing(path):
    lint(TOOLS / "cfn-lint", path.name)


def test_checkov_finds_nothing_unexplained():
    # checkov is a script that needs its own environment's Python, which may not be first in PATH.
    files = ["-f", TEMPLATE.name, "-f", EDGE.name]
    lint(sys.executable, TOOLS / "checkov", "--config-file", ".ci/deployment/checkov.yaml", *files)


def test_every_skipped_check_would_find_something():
    skipped = (Path(__file__).parent / "checkov.yaml").read_text().split("skip-check:")[1]
    checks = [line.strip()[2:] for line in skipped.splitlines() if line.strip().startswith("- ")]
    files = ["-f", TEMPLATE.name, "-f", EDGE.name, "--framework", "cloudformation", "--quiet", "--compact"]
    found = subprocess.run([sys.executable, TOOLS / "checkov", *files], cwd=ROOT, capture_output=True, text=True).stdout
    assert not [check for check in checks if f"Check: {check}:" not in found]


def test_sam_accepts_the_template():
    lint(TOOLS / "sam", "validate", "--template", TEMPLATE.name)
