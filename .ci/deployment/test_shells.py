"""Every command in the documents runs in bash, zsh and dash, and with macOS tools."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from template import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# GNU tool options that BSD tools lack.
GNU_ONLY = re.compile(
    r"(?<![-\w])(date -d|date --date|sed -i |grep -P|readlink -f|xargs -r|base64 -w|stat -c|sort -V|head -n -|tac |timeout \d)"
)
# Blocks in a document use variables set in other blocks. AWS queries have backquotes in single quotes.
EXCLUDED_CHECKS = "SC1091,SC2016,SC2034,SC2154,SC2164"


def read_script(document):
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", document.read_text(), re.DOTALL | re.MULTILINE)
    return "\n".join(blocks)


SCRIPTS = {str(path.relative_to(ROOT)): script for path in DOCUMENTS if (script := read_script(path))}
each_script = pytest.mark.parametrize("document", SCRIPTS)


def error_output(command, script):
    result = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
    return result.stdout + result.stderr if result.returncode else ""


@each_script
@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_each_shell_parses_the_commands(document, shell):
    assert error_output([shell, "-n"], SCRIPTS[document]) == ""


@each_script
def test_shellcheck_finds_nothing(document):
    checked = [Path(sys.executable).parent / "shellcheck", "--shell=sh", f"--exclude={EXCLUDED_CHECKS}", "-"]
    assert error_output(checked, SCRIPTS[document]) == ""


@each_script
def test_no_command_needs_gnu_tools(document):
    assert GNU_ONLY.findall(SCRIPTS[document]) == []
