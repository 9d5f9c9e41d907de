"""Runs the runbooks as written: docs/RUNBOOKS.md, and the sections of docs/OPERATIONS.md it links to.

A section's commands run in one shell, one after the other, on the stand-in for AWS and with the local program in
TNR. `cargo run --` runs that program, which imports part of the sample instead of what `--fetch` would download. `sam`
is replaced, since a build takes minutes, and the stand-in cannot update a stack with functions;
test_first_deployment.py tries the real one. Invoked functions do nothing.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import boto3
import pytest
from moto.awslambda.models import LambdaBackend

from stand_in import aws, stack_template
from template import ACCOUNT, REGION, ROOT, defaults, resources_of_type, source

STACK, STANDBY, OTHER_REGION = "telephone-numbers", "standby", "us-west-2"
PROGRAM = Path(os.environ.get("TNR_PROGRAM", ROOT / "target/debug/tnr")).absolute()
# An import's reports by option, and how many lines of each to use, since moto is slow to scan tables.
REPORTS = {
    "--nanpa": ("nanpa_utilized_codes.txt", 120), "--cnac": ("cnac_co_code_status.csv", 120),
    "--npa-report": ("npa_report.csv", 120), "--carriers": ("carriers.csv", None),
}
NUMBER, STREAM = "3052345678", "2026/01/31/[7]0123456789abcdef"
# Commands that the stand-in does not support, by prefix. The test fails if it supports one after all.
UNSUPPORTED_COMMANDS = {
    "aws cloudformation cancel-update-stack": "moto does not support it",
    "aws cloudformation continue-update-rollback": "moto does not support it",
    "aws cloudformation wait stack-rollback-complete": "updates in moto never fail halfway",
    "aws logs put-data-protection-policy": "moto does not support it",
}


@pytest.fixture
def stack(tmp_path, monkeypatch):
    """A stack on the stand-in, and programs that use it. Yields a CloudFormation client."""
    # moto would run a function in a container.
    with aws(), mock.patch.object(LambdaBackend, "invoke", lambda *_: b"{}"):
        os.environ |= {"AWS_DEFAULT_REGION": REGION, "DEPLOYMENTS": str(tmp_path / "deployments")}
        os.environ["REPORTS"] = str(reports(tmp_path / "reports"))
        monkeypatch.chdir(tmp_path)
        programs = tmp_path / "programs"
        programs.mkdir()
        for name in ["cargo", "sam"]:
            script = f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n'
            (programs / name).write_text(script)
            (programs / name).chmod(0o755)
        os.environ["PATH"] = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        cloud = boto3.client("cloudformation")
        make_stack(cloud, STACK)
        yield cloud


def reports(folder, change=lambda content: content):
    """A folder with the reports to import."""
    folder.mkdir()
    for file, lines in REPORTS.values():
        content = "".join((ROOT / "infra/local/sample" / file).read_text().splitlines(keepends=True)[:lines])
        (folder / file).write_text(change(content))
    return folder


def make_stack(cloud, name):
    cloud.create_stack(StackName=name, TemplateBody=stack_template(), Capabilities=["CAPABILITY_IAM"])


def replace_program(program, arguments):
    """Does what `cargo run --` and `sam` would do."""
    if program == "cargo":
        assert arguments[:2] == ["run", "--"], arguments
        subprocess.run(tnr_command(arguments[2:]), check=True)
    elif arguments[0] == "deploy":
        # The modules in this folder set another region.
        cloud = boto3.client("cloudformation", region_name=os.environ["AWS_REGION"])
        name = arguments[arguments.index("--stack-name") + 1] if "--stack-name" in arguments else STACK
        if name not in [each["StackName"] for each in cloud.describe_stacks()["Stacks"]]:
            make_stack(cloud, name)
        with open(os.environ["DEPLOYMENTS"], "a") as deployments:
            deployments.write(json.dumps(dict(re.findall(r"(\w+)=(\S+)", " ".join(arguments)))) + "\n")
    else:
        assert arguments == ["build"], arguments


def tnr_command(arguments):
    if "--fetch" in arguments:
        index, folder = arguments.index("--fetch"), Path(os.environ["REPORTS"])
        arguments[index:index + 1] = [part for option, (file, _) in REPORTS.items() for part in (option, folder / file)]
    return [PROGRAM, *arguments]


def tnr(*arguments):
    """Runs the local program on the stack, and returns its output."""
    command = tnr_command([*arguments, "--stack", STACK])
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def current_version():
    [current] = [version["version"] for version in json.loads(tnr("versions", "--json")) if version["is_current"]]
    return current


def deployments():
    """The parameters of each deployment so far."""
    return [json.loads(line) for line in Path(os.environ["DEPLOYMENTS"]).read_text().splitlines()]


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
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        command = ""
        for line in block.splitlines():
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
    """The binaries of the functions that may read keys; their logs are named after them."""
    functions = resources_of_type(source()["Resources"], "AWS::Serverless::Function").values()
    names = [
        function["Metadata"]["BuildProperties"]["Binary"]
        for function in functions if "ApiKeysTable" in str(function["Properties"].get("Policies"))
    ]
    assert "mcp" in names, names
    return names


def test_a_leaked_key_is_replaced_and_revoked(stack):
    key, functions = make_key(), functions_with_keys()
    for function in functions:
        log(function, json.dumps({"key": key, "used": function}))
    printed = run(commands(section("RUNBOOKS.md", "A key leaked")), tnr_live_AbC123=key)
    assert [function for function in functions if f'"used": "{function}"' not in printed] == []
    assert sorted(states().values()) == ["active", "revoked"] and states()[key] == "revoked"


def test_deleted_keys_are_restored_from_the_backup(stack):
    key, revoked = make_key(), make_key()
    restore, wait, *carry_over = commands(section("OPERATIONS.md", "Restore from backup", "Keys"))
    run([restore, wait])
    tnr("keys", "revoke", revoked)
    table = boto3.resource("dynamodb").Table(f"{STACK}-api_keys")
    [lost] = [item for item in table.scan()["Items"] if item["prefix"] == key]
    table.delete_item(Key={"key_hash": lost["key_hash"]})
    run(carry_over)
    assert states() == {key: "active", revoked: "revoked"}


def test_deleted_items_are_rewritten(stack):
    tnr("import", "--fetch")
    table = boto3.resource("dynamodb").Table(f"{STACK}-carriers")
    lost = table.scan()["Items"][0]
    table.delete_item(Key={"ocn": lost["ocn"]})
    run(commands(section("OPERATIONS.md", "Restore from backup", "Data")))
    assert table.get_item(Key={"ocn": lost["ocn"]})["Item"] == lost


def test_data_is_rolled_back(stack, tmp_path, monkeypatch):
    tnr("import", "--fetch")
    first = current_version()
    changed = reports(tmp_path / "changed", lambda content: content.replace("SAMPLE TELEPHONE", "ANOTHER TELEPHONE"))
    with monkeypatch.context() as patch:
        patch.setenv("REPORTS", str(changed))
        tnr("import", "--fetch", "--max-change", "10000", "--max-loss", "10000")
    assert current_version() != first
    run(commands(section("OPERATIONS.md", "Roll back data")))
    assert current_version() == first


def test_a_lost_region_is_replaced_and_recovers(stack):
    key, revoked_meanwhile = make_key(), make_key()
    run(commands(section("RUNBOOKS.md", "The region is lost", "Before it happens")))
    assert json.loads(Path("parameters.json").read_text())
    replicate(f"{STACK}-api_keys")
    run(commands(section("RUNBOOKS.md", "The region is lost", "When it is lost")))
    at_standby = {"env": os.environ | {"AWS_REGION": OTHER_REGION}, "check": True, "capture_output": True, "text": True}
    listed = subprocess.run([PROGRAM, "keys", "list", "--stack", STANDBY], **at_standby).stdout
    assert key in listed and revoked_meanwhile in listed
    subprocess.run([PROGRAM, "keys", "revoke", revoked_meanwhile, "--stack", STANDBY], **at_standby)
    run(commands(section("RUNBOOKS.md", "The region is lost", "When it is back")))
    assert states() == {key: "active", revoked_meanwhile: "revoked"}
    assert current_version()


def replicate(table):
    """Creates the copy in the other region, which moto omits."""
    here, there = boto3.client("dynamodb"), boto3.client("dynamodb", region_name=OTHER_REGION)
    original = here.describe_table(TableName=table)["Table"]
    assert original["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    settings = {name: original[name] for name in ["TableName", "AttributeDefinitions", "KeySchema"]}
    there.create_table(**settings, BillingMode="PAY_PER_REQUEST")
    for item in here.scan(TableName=table)["Items"]:
        there.put_item(TableName=table, Item=item)


def test_a_stuck_stack_is_examined_and_deleted(stack):
    printed = run(commands(section("RUNBOOKS.md", "The stack is stuck")))
    assert "CREATE_COMPLETE" in printed
    assert STACK not in [each["StackName"] for each in stack.describe_stacks()["Stacks"]]
    assert f"{STACK}-api_keys" in boto3.client("dynamodb").list_tables()["TableNames"]


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_everything_is_stopped_and_restarted(stack, shell):
    functions = boto3.client("lambda")
    names = [function["FunctionName"] for function in functions.list_functions()["Functions"]]
    # The probe keeps running, since deployments wait for it.
    names = [name for name in names if not name.startswith("CodeDeployHook_")]
    find, stop, slow_down, *resume = commands(section("RUNBOOKS.md", "Runaway costs"))

    def reserved():
        settings = [functions.get_function_concurrency(FunctionName=name) for name in names]
        return {setting.get("ReservedConcurrentExecutions") for setting in settings}

    run([find, stop], shell)
    assert reserved() == {0}
    run([find, slow_down, *resume], shell)
    assert reserved() == {None}
    limits = ["ThrottlingRate", "ThrottlingBurst", "PublicThrottlingRate", "PublicThrottlingBurst"]
    slow, normal = deployments()
    assert slow == dict.fromkeys(limits, "1")
    assert normal == {limit: defaults(source())[limit] for limit in limits}
    [budget] = boto3.client("budgets").describe_budgets(AccountId=ACCOUNT)["Budgets"]
    assert budget["BudgetName"] == STACK


def test_a_number_in_the_logs_is_found_and_deleted(stack):
    log("format", f"a line with {NUMBER} in it")
    printed = run(commands(section("RUNBOOKS.md", "Personal data in the logs")), STREAM=STREAM)
    assert STREAM in printed.split(f"/aws/lambda/{STACK}-format\n")[1].split("/aws/lambda/")[0]
    logs, group = boto3.client("logs"), f"/aws/lambda/{STACK}-format"
    assert logs.describe_log_streams(logGroupName=group)["logStreams"] == []
    [setting] = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
    assert str(setting["retentionInDays"]) == defaults(source())["LogRetention"]


def test_the_log_mask_is_json():
    runbook = commands(section("RUNBOOKS.md", "Personal data in the logs"))
    [command] = [command for command in runbook if "put-data-protection" in command]
    policy = json.loads(shlex.split(command)[-1])
    assert [next(iter(statement["Operation"])) for statement in policy["Statement"]] == ["Audit", "Deidentify"]
    custom = {each["Name"]: each["Regex"] for each in policy["Configuration"]["CustomDataIdentifier"]}
    assert re.fullmatch(custom["ApiKey"], "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn")
    assert re.search(custom["Number"], f'"tn":"+1{NUMBER}"') and len(custom) == 2
    assert all(statement["DataIdentifier"] == [*custom] for statement in policy["Statement"])


def test_a_fix_is_deployed_during_an_alarm_and_the_style_is_restored(stack):
    text = section("OPERATIONS.md", "Upgrade and roll back code").split("\n### ")[0]
    run(commands(text))
    assert [each["DeploymentStyle"] for each in deployments()] == ["AllAtOnce", defaults(source())["DeploymentStyle"]]


def test_an_import_prepares_a_release_with_a_different_layout(stack):
    ingest = boto3.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId="IngestFunction")
    function = ingest["StackResourceDetail"]["PhysicalResourceId"]
    text = section("OPERATIONS.md", "Upgrade and roll back code", "Upgrade across snapshot layouts")
    printed = run(commands(text), INGEST_FUNCTION=function)
    assert current_version() in printed


def test_every_runbook_has_a_test():
    tests = Path(__file__).read_text()
    text = (ROOT / "docs/RUNBOOKS.md").read_text()
    parts = re.split(r"^##+ (.*)\n", text, flags=re.MULTILINE)[1:]
    for heading, body in zip(parts[::2], parts[1::2]):
        assert "```sh" not in body or f'"{heading}"' in tests, f"no test runs '{heading}'"
    documents = text + (ROOT / "docs/OPERATIONS.md").read_text()
    for command in UNSUPPORTED_COMMANDS:
        assert f"\n{command} " in documents, f"no runbook contains '{command}'"


if __name__ == "__main__":
    replace_program(sys.argv[1], sys.argv[2:])
