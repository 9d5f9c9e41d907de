"""Linters report no findings in any template."""

import re
import subprocess
import sys
from pathlib import Path

from template import EDGE, ERRORS_ALARMS, MONITORING, ROOT, TEMPLATE

TEMPLATE_NAMES = [path.name for path in (TEMPLATE, ERRORS_ALARMS, MONITORING, EDGE)]

TOOLS = Path(sys.executable).parent


def lint(*command):
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_cfn_lint_finds_nothing():
    lint(TOOLS / "cfn-lint", *TEMPLATE_NAMES)


def test_checkov_finds_exactly_what_is_explained():
    """Runs checkov without its configuration, which lists each expected finding with a reason."""
    explained = set(re.findall(r"^  - (\w+)$", (Path(__file__).parent / "checkov.yaml").read_text(), re.MULTILINE))
    # checkov is a script that needs its own environment's Python, which may not be first in PATH.
    options = ["--framework", "cloudformation", "--quiet", "--compact", "-f", *TEMPLATE_NAMES]
    found = subprocess.run([sys.executable, TOOLS / "checkov", *options], cwd=ROOT, capture_output=True, text=True)
    assert set(re.findall(r"Check: (\w+):", found.stdout)) == explained, found.stdout + found.stderr


def test_sam_accepts_the_template():
    lint(TOOLS / "sam", "validate", "--template", TEMPLATE.name)
