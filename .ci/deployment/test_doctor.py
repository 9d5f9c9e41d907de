"""`tnr doctor` on the stack in moto: healthy at first, then broken in one way at a time.

TNR_PROGRAM names the program to test; the default is the one that `cargo build` creates.
"""

import contextlib
import json
import os
import subprocess
import time
from base64 import b64decode
from unittest import mock
from urllib.parse import parse_qs

import boto3
import pytest
from moto.moto_api import recorder

from stand_in import aws, stack_template
from template import ROOT, STACK, resources_of_type, resources_with

PROGRAM = os.environ.get("TNR_PROGRAM", str(ROOT / "target/debug/tnr"))
SAMPLE = ROOT / "infra/tnr/sample"
ADDRESS = "oncall@example.com"


class Deployment:
    """The stack, with what moto omits, and clients to break it with."""

    def __init__(self):
        for service in ["cloudformation", "cloudwatch", "dynamodb"]:
            setattr(self, service, boto3.client(service))
        parameters = [{"ParameterKey": "AlarmEmail", "ParameterValue": ADDRESS}]
        capabilities = ["CAPABILITY_IAM"]
        self.cloudformation.create_stack(
            StackName=STACK, TemplateBody=stack_template(), Parameters=parameters, Capabilities=capabilities
        )
        for alarm in resources_of_type(resources_with(), "AWS::CloudWatch::Alarm").values():
            self.create_alarm(alarm["Properties"])

    def create_alarm(self, properties):
        numbers = {key: int(properties[key]) for key in ["EvaluationPeriods", "DatapointsToAlarm", "Period"] if key in properties}
        self.cloudwatch.put_metric_alarm(**properties | numbers | {"Threshold": float(properties["Threshold"])})
        self.cloudwatch.set_alarm_state(AlarmName=properties["AlarmName"], StateValue="OK", StateReason="healthy")


def tnr(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


def reports(folder):
    """Writes the sample's reports for two area codes, since moto is slow, and returns the options."""
    files = {
        "--nanpa": ("nanpa_utilized_codes.txt", 1, lambda line: "\t415-" in line),
        "--cnac": ("cnac_co_code_status.csv", 2, lambda line: line.startswith("416")),
        "--npa-report": ("npa_report.csv", 2, lambda line: line.startswith(("415", "416"))),
        "--carriers": ("carriers.csv", 1, lambda line: True),
    }
    options = []
    for option, (name, header, is_kept) in files.items():
        lines = (SAMPLE / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:header] + [line for line in lines[header:] if is_kept(line)]))
        options += [option, str(folder / name)]
    return options


def stdout_of(result):
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextlib.contextmanager
def service(key, folder):
    """The service on the stack's tables, as the functions would run it."""
    tables = {f"{table.upper()}_TABLE": f"{STACK}-{table}" for table in ["carriers", "exchanges", "dataset", "history", "api_keys", "usage"]}
    options = ["--port", "0", "--endpoint-url", os.environ["AWS_ENDPOINT_URL"], "--key", key, "--data-dir", str(folder)]
    command = [PROGRAM, "serve", *options]
    process = subprocess.Popen(command, env=os.environ | tables, stdout=subprocess.PIPE, text=True)
    try:
        yield next(line.split()[-1] for line in process.stdout if line.strip().startswith("base URL"))
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """The deployment, its key, and its URL."""
    # A shell may have a key for another service.
    without_key_variable = mock.patch.dict(os.environ)
    with without_key_variable, aws():
        os.environ.pop("TNR_KEY", None)
        deployment = Deployment()
        folder = tmp_path_factory.mktemp("data")
        stdout_of(tnr("import", *reports(folder), "--stack", STACK))
        key = stdout_of(tnr("keys", "create", "--name", "first", "--per-day", "1000", "--stack", STACK)).strip()
        with service(key, folder) as url:
            yield deployment, key, url


@pytest.fixture
def doctor(deployed):
    """Checks the stack: returns the exit code, and all findings other than ok and notes, by group and check."""
    _, key, url = deployed

    def run_doctor():
        # On a busy machine, moto may serve doctor's calls first and exceed the service's timeouts: retry.
        for _ in range(9):
            result = tnr("doctor", "--stack", STACK, "--url", url, "--key", key, "--json")
            groups = json.loads(result.stdout)["groups"]
            findings = {(group["name"], finding["check"]): finding for group in groups for finding in group["findings"]}
            assert len(findings) > 20
            wrong = {name: found for name, found in findings.items() if found["state"] not in ["ok", "note"]}
            if not any(finding["message"].startswith('/database must be') for finding in wrong.values()):
                break
            time.sleep(2)
        return result.returncode, wrong

    return run_doctor


def assert_only(found, code, state, group, check, message):
    actual_code, wrong = found
    assert list(wrong) == [(group, check)], wrong
    finding = wrong[group, check]
    assert finding["state"] == state and message in finding["message"], finding
    assert actual_code == code


def test_a_healthy_stack_is_ok(doctor):
    assert doctor() == (0, {})


def test_doctor_needs_exactly_the_documented_permissions(doctor, monkeypatch, tmp_path):
    # Distinguishes doctor's calls from the service's.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "doctor")
    monkeypatch.setattr(recorder, "_location", str(tmp_path / "calls"))
    recorder.start_recording()
    assert doctor() == (0, {})
    recorder.stop_recording()
    called = set()
    for call in map(json.loads, (tmp_path / "calls").read_text().splitlines()):
        headers = {name.lower(): value for name, value in call["headers"].items()}
        if "Credential=doctor/" not in headers.get("authorization", ""):
            continue
        # The signature's scope names the service. CloudWatch signs with its former name.
        service = headers["authorization"].split("/")[3].replace("monitoring", "cloudwatch")
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        called.add(f"{service}:{operation or parse_qs(b64decode(call['body']).decode())['Action'][0]}")
    section = (ROOT / "docs/OPERATIONS.md").read_text().split("## Examine a deployment")[1]
    policy = json.loads(section.split("```json")[1].split("```")[0])
    assert called == {action for statement in policy["Statement"] for action in statement["Action"]}


def test_the_first_key_protects_the_tables(deployed):
    deployment, _, _ = deployed
    tables = [name for name in deployment.dynamodb.list_tables()["TableNames"]]
    assert all(deployment.dynamodb.describe_table(TableName=table)["Table"]["DeletionProtectionEnabled"] for table in tables)


def test_a_firing_alarm_is_reported(deployed, doctor):
    deployment, _, _ = deployed
    name = f"{STACK}-DatabaseThrottledAlarm"
    deployment.cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="reads are throttled")
    assert_only(doctor(), 2, "problem", "alarms", name, "firing: reads are throttled")
    deployment.cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="healthy")


def test_an_expiring_key_is_reported(doctor):
    key = stdout_of(tnr("keys", "create", "--name", "a client", "--per-day", "9", "--expires", "7d", "--stack", STACK)).strip()
    prefix = key[:15]
    assert_only(doctor(), 1, "warning", "keys", f"{prefix} (a client)", "expires at")
    stdout_of(tnr("keys", "revoke", prefix, "--stack", STACK))
    assert doctor() == (0, {})


def test_the_suggested_fix_removes_a_stray_item(deployed, doctor):
    deployment, _, _ = deployed
    deployment.dynamodb.put_item(TableName=f"{STACK}-carriers", Item={"ocn": {"S": "ZZZZ"}})
    found = doctor()
    assert_only(found, 1, "warning", "items", "items", "1 stray")
    command = found[1]["items", "items"]["remedy"].removeprefix("tnr ")
    stdout_of(tnr(*command.split()))
    assert doctor() == (0, {})


def test_a_missing_table_is_reported(deployed, doctor):
    deployment, _, _ = deployed
    usage = f"{STACK}-usage"
    deployment.dynamodb.update_table(TableName=usage, DeletionProtectionEnabled=False)
    deployment.dynamodb.delete_table(TableName=usage)
    code, wrong = doctor()
    assert code == 2
    assert wrong["tables", usage]["message"] == "the table does not exist"


def test_a_missing_stack_is_reported(deployed):
    result = tnr("doctor", "--stack", "letters")
    assert result.returncode == 3 and "stack 'letters' is not a deployment" in result.stderr
