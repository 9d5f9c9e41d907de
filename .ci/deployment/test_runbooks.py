"""Runs every command in docs/RUNBOOKS.md."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import boto3
import pytest

from documents import (
    CERTIFICATE, NUMBER, OTHER_REGION, PROGRAM, STACK, STANDBY, STREAM, UNSUPPORTED_COMMANDS, commands,
    current_version, deployments, edge_parameters, functions_with_keys, log, make_key, programs, run, section, stack,
    states, write_edge_template,
)
from template import ACCOUNT, EDGE, ROOT, defaults, source


def test_a_leaked_key_is_replaced_and_revoked(stack):
    key, functions = make_key(), functions_with_keys()
    for function in functions:
        log(function, json.dumps({"key": key, "used": function}))
    printed = run(commands(section("RUNBOOKS.md", "A key leaked")), tnr_live_AbC123=key)
    assert [function for function in functions if f'"used": "{function}"' not in printed] == []
    assert sorted(states().values()) == ["active", "revoked"] and states()[key] == "revoked"


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
    """The other shells only need to split the list of functions in the same way."""
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
    if shell != "bash":
        return
    run([find, slow_down, *resume], shell)
    assert reserved() == {None}
    limits = ["ThrottlingRate", "ThrottlingBurst", "PublicThrottlingRate", "PublicThrottlingBurst"]
    slow, normal = deployments()
    assert slow == dict.fromkeys(limits, "1")
    assert normal == {limit: defaults(source())[limit] for limit in limits}
    [budget] = boto3.client("budgets").describe_budgets(AccountId=ACCOUNT)["Budgets"]
    assert budget["BudgetName"] == STACK


def test_a_flood_without_a_key_is_found_and_limited(programs):
    """The firewall's limits while it lasts, and the defaults afterwards."""
    parameters = {
        "ApiDomain": "origin.example.com", "DomainName": "api.example.com", "CertificateArn": CERTIFICATE,
        "ClientCertificateArn": CERTIFICATE,
    }
    values = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    boto3.client("cloudformation").create_stack(StackName=f"{STACK}-edge", TemplateBody=write_edge_template(), Parameters=values)
    find, show, lower, restore = commands(section("RUNBOOKS.md", "A flood without a key"))
    printed = run([find, show.replace("sleep 10", "sleep 1")])
    assert json.loads(printed)["status"] == "Complete"
    limits = ["RequestsPerAddress", "KeylessRequestsPerAddress", "KeylessRequests"]
    run([lower])
    assert [int(edge_parameters()[name]) for name in limits] == [600, 60, 600]
    run([restore])
    assert [edge_parameters()[name] for name in limits] == [defaults(source(EDGE))[name] for name in limits]
    assert edge_parameters().items() >= parameters.items()


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


def test_every_section_with_commands_has_a_test():
    tests = "".join((Path(__file__).parent / f"test_{name}.py").read_text() for name in ["runbooks", "operations"])
    text = {name: (ROOT / "docs" / name).read_text() for name in ["RUNBOOKS.md", "OPERATIONS.md"]}
    for document in text.values():
        parts = re.split(r"^##+ (.*)\n", document, flags=re.MULTILINE)[1:]
        for heading, body in zip(parts[::2], parts[1::2]):
            is_tested = f'"{heading}"' in tests or f"## {heading}\\n" in tests
            assert "```sh" not in body or is_tested, f"no test runs '{heading}'"
        assert "cargo run -- " not in document
    for command in UNSUPPORTED_COMMANDS:
        assert f"\n{command} " in "".join(text.values()), f"no document contains '{command}'"
