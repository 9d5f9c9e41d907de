"""Runs the commands in docs/RUNBOOKS.md and docs/OPERATIONS.md as written.

A section's commands run in one shell, one after the other, on the stand-in for AWS and with the program in TNR_PROGRAM as
`tnr`, which imports part of the sample instead of what `--fetch` would download. `sam` is replaced, since a build takes
minutes, and the stand-in cannot update a stack with functions; test_first_deployment.py tries the real one. `aws` is the
real one, loaded once (resident_aws.py). Invoked functions do nothing.
"""

import atexit
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from textwrap import dedent
from unittest import mock

import boto3
import pytest
from moto.awslambda.models import LambdaBackend

from stand_in import aws, stack_template
from template import ACCOUNT, EDGE, REGION, ROOT, resources_of_type, source

STACK, STANDBY, OTHER_REGION = "telephone-numbers", "standby", "us-west-2"
PROGRAM = Path(os.environ.get("TNR_PROGRAM", ROOT / "target/debug/tnr")).absolute()
# An import's reports by option, and how many lines of each to use, since moto is slow to scan tables.
REPORTS = {
    "--nanpa": ("nanpa_utilized_codes.txt", 120), "--cnac": ("cnac_co_code_status.csv", 120),
    "--npa-report": ("npa_report.csv", 120), "--carriers": ("carriers.csv", None),
}
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/1"
NUMBER, STREAM = "3052345678", "2026/01/31/[7]0123456789abcdef"
# Commands that the stand-in does not support, by prefix. The test fails if it supports one after all.
UNSUPPORTED_COMMANDS = {
    "aws cloudformation cancel-update-stack": "moto does not support it",
    "aws cloudformation continue-update-rollback": "moto does not support it",
    "aws cloudformation wait stack-rollback-complete": "updates in moto never fail halfway",
    "aws logs put-data-protection-policy": "moto does not support it",
    "aws cloudformation detect-stack-drift": "moto does not support it",
    "aws cloudformation describe-stack-resource-drifts": "moto does not support it",
}


# Imports the reports in $REPORTS instead of what `--fetch` would download.
TNR = f"""#!/bin/sh
for argument; do
  shift
  case $argument in
    --fetch) set -- "$@" {" ".join(f'{option} "$REPORTS/{file}"' for option, (file, _) in REPORTS.items())} ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {PROGRAM} "$@"
"""
# Records a deployment, and creates the stack if the command names one.
SAM = f"""#!/bin/sh
case "$*" in
  build) exit ;;
  deploy*--stack-name*) {sys.executable} {__file__} "$@" || exit ;;
  deploy*) ;;
  *) exit 2 ;;
esac
echo "$*" >> "$DEPLOYMENTS"
"""


@functools.cache
def resident_aws():
    """Loads the AWS CLI, and returns a script that runs a command with it."""
    program, folder = Path(__file__).with_name("resident_aws.py"), tempfile.TemporaryDirectory()
    server = subprocess.Popen([sys.executable, program, f"{folder.name}/socket"])
    atexit.register(lambda: (server.kill(), folder.cleanup()))
    while not Path(folder.name, "socket").exists():
        assert server.poll() is None
        time.sleep(0.05)
    return f'#!/bin/sh\nexec {sys.executable} -S {program} {folder.name}/socket run "$@"\n'


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The stand-in, and programs that use it."""
    # moto would run a function in a container.
    with aws(), mock.patch.object(LambdaBackend, "invoke", lambda *_: b"{}"):
        os.environ |= {"AWS_DEFAULT_REGION": REGION, "DEPLOYMENTS": str(tmp_path / "deployments")}
        os.environ["REPORTS"] = str(reports(tmp_path / "reports"))
        monkeypatch.chdir(tmp_path)
        programs = tmp_path / "programs"
        programs.mkdir()
        for name, script in [("tnr", TNR), ("sam", SAM), ("aws", resident_aws())]:
            (programs / name).write_text(script)
            (programs / name).chmod(0o755)
        os.environ["PATH"] = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        yield


@pytest.fixture
def stack(programs):
    """A stack on the stand-in, which takes seconds to create. Returns a CloudFormation client."""
    cloud = boto3.client("cloudformation")
    make_stack(cloud, STACK)
    return cloud


def reports(folder, change=lambda content: content):
    """A folder with the reports to import."""
    folder.mkdir()
    for file, lines in REPORTS.values():
        content = "".join((ROOT / "infra/tnr/sample" / file).read_text().splitlines(keepends=True)[:lines])
        (folder / file).write_text(change(content))
    return folder


def make_stack(cloud, name):
    cloud.create_stack(StackName=name, TemplateBody=stack_template(), Capabilities=["CAPABILITY_IAM"])


def tnr(*arguments):
    """Runs the local program on the stack, and returns its output."""
    command = ["tnr", *arguments, "--stack", STACK]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def current_version():
    [current] = [version["version"] for version in json.loads(tnr("versions", "--json")) if version["is_current"]]
    return current


def deployments():
    """The parameters of each deployment so far."""
    return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in Path(os.environ["DEPLOYMENTS"]).read_text().splitlines()]


def section(document, *headings):
    """The text below a heading, or below a nested one."""
    text = (ROOT / "docs" / document).read_text()
    for depth, heading in enumerate(headings, start=2):
        mark = "#" * depth
        part = rf"^{mark} {re.escape(heading)}\n(.*?)(?=^#{{2,{depth}}} |\Z)"
        [text] = re.findall(part, text, re.DOTALL | re.MULTILINE)
    return text


def commands(text):
    """The commands in a document. Continued lines are joined until the shell accepts them."""
    found = []
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
        command = ""
        for line in dedent(block).splitlines():
            command += line
            if not line.endswith("\\") and is_complete(command):
                found.append(command)
                command = ""
            else:
                command += "\n"
        assert not command, f"not a command: {command}"
    assert found
    return found


def is_complete(command):
    return subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True).returncode == 0


def run(commands, shell="bash", **values):
    """Runs commands in one shell, with values for the uppercase placeholders. Returns their output."""
    values = {"STACK": STACK, "STANDBY": STANDBY, "ACCOUNT": ACCOUNT, **values}
    script = "\n".join(script_line(command) for command in commands)
    for name, value in values.items():
        script = re.sub(rf"\b{name}(?![a-zA-Z])", lambda _: value, script)
    options = ["-eu"] if shell == "dash" else ["-euo", "pipefail"]
    result = subprocess.run([shell, *options, "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    return result.stdout


def script_line(command):
    shown = f"echo {shlex.quote('+ ' + command)} >&2\n"
    if not any(command.startswith(beginning) for beginning in UNSUPPORTED_COMMANDS):
        return shown + command
    must_fail = f"if timeout 10 {command} >/dev/null 2>&1; then echo 'the stand-in now supports this command' >&2; exit 1; fi"
    return shown + must_fail


def make_key():
    """Creates a key, and returns its prefix."""
    return tnr("keys", "create", "--name", "a client").strip()[:15]


def states():
    """Each key's state, by its prefix."""
    rows = (line.split() for line in tnr("keys", "list").splitlines() if not line.startswith(" "))
    return {row[0]: row[1] for row in rows}


def log(function, message):
    logs, group = boto3.client("logs"), f"/aws/lambda/{STACK}-{function}"
    logs.create_log_stream(logGroupName=group, logStreamName=STREAM)
    events = [{"timestamp": int(time.time() * 1000), "message": message}]
    logs.put_log_events(logGroupName=group, logStreamName=STREAM, logEvents=events)


def functions_with_keys():
    """The binaries of the functions that clients call with keys; their logs are named after them."""
    functions = resources_of_type(source()["Resources"], "AWS::Serverless::Function").values()
    names = [
        function["Metadata"]["BuildProperties"]["Binary"]
        for function in functions if "UsageTable" in str(function["Properties"].get("Policies"))
    ]
    assert "mcp" in names, names
    return names


def write_edge_template():
    """Writes the part of edge.yaml that the stand-in supports, and returns it."""
    groups = resources_of_type(source(EDGE)["Resources"], "AWS::Logs::LogGroup")
    template = json.dumps({**source(EDGE), "Resources": groups, "Outputs": {}})
    Path("edge.yaml").write_text(template)
    return template


def edge_parameters():
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=f"{STACK}-edge")["Stacks"]
    return {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}


if __name__ == "__main__":
    # The modules in this folder set a different region.
    make_stack(boto3.client("cloudformation", region_name=os.environ["AWS_REGION"]), sys.argv[sys.argv.index("--stack-name") + 1])
