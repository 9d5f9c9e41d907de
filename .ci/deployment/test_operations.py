"""Runs every command in docs/OPERATIONS.md except those that test_doctor.py covers."""

import functools
import json
import re
import shlex
import subprocess
import threading
import time
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import boto3
import pytest

from documents import (
    CERTIFICATE, STACK, STREAM, commands, current_version, deployments, edge_parameters, log, make_key, programs, reports,
    run, section, stack, states, tnr, write_edge_template,
)
from stand_in import sam
from template import defaults, source


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
    run(commands(section("OPERATIONS.md", "Verify the items")))


@pytest.fixture
def mirror(tmp_path):
    """The URL of a folder with the British files. S1 and S9 have most of the numbers."""
    header = "NMS Number Block: Number Block,Block Status,CP Name,Non Geo Number Length,Allocation Date\n"
    for name, block in [("s1", "1"), ("s3", "3000 00"), ("s5", "5511 00"), ("s7", "7000 0"), ("s8", "8000 00"), ("s9", "9")]:
        (tmp_path / f"{name}.csv").write_text(f"{header}{block},Allocated,Sample {name},10 digit numbers,01/02/2003\n")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_unread_country_is_imported_from_files(stack, mirror, tmp_path, monkeypatch):
    tnr("import", "--fetch")
    dry_run, from_files = commands(section("OPERATIONS.md", "Alarms", "Country unread"))
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.setenv("TNR_MIRROR", mirror)
        assert "GB dry run: 6 ranges" in run([dry_run])
        tnr("import", "--fetch", "--country", "GB")
    refused = shlex.split(from_files.replace("STACK", STACK).replace(" --allow losses", ""))
    refused = subprocess.run(refused, capture_output=True, text=True)
    assert refused.returncode == 2 and "are no longer assigned" in refused.stderr, refused
    assert "GB published: 2 ranges" in run([from_files])


def settings(table):
    """The settings that a restored table lacks: recovery, deletion protection and expiry."""
    database, name = boto3.client("dynamodb"), f"{STACK}-{table}"
    recovery = database.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    return (
        recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
        database.describe_table(TableName=name)["Table"]["DeletionProtectionEnabled"],
        database.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["TimeToLiveStatus"],
    )


def items(table):
    found = boto3.client("dynamodb").scan(TableName=f"{STACK}-{table}")["Items"]
    return sorted(found, key=lambda item: json.dumps(item, sort_keys=True, default=str))


@pytest.fixture
def history(stack, tmp_path, monkeypatch):
    """A stack with two imports, and so with a history."""
    tnr("import", "--fetch")
    changed = reports(tmp_path / "changed", lambda content: content.replace("SAMPLE TELEPHONE", "ANOTHER TELEPHONE"))
    monkeypatch.setenv("REPORTS", str(changed))
    tnr("import", "--fetch", "--allow", "changes,losses")
    assert items("history")


def test_the_history_and_the_data_are_restored_to_one_moment(history):
    """The stand-in restores the present, so nothing changes after the moment to restore."""
    before = {table: items(table) for table in ["dataset", "history"]}
    give_up, *replace, update = commands(section("OPERATIONS.md", "Restore from backup", "History"))
    run(replace, TIME="2026-11-26T08:00:00Z")
    assert {table: items(table) for table in before} == before
    assert settings("dataset") == ("ENABLED", True, "DISABLED")
    assert settings("history") == ("ENABLED", True, "ENABLED")
    for item in items("history"):
        boto3.client("dynamodb").delete_item(TableName=f"{STACK}-history", Key={name: item[name] for name in ["code", "entry"]})
    run([give_up, update])
    tnr("verify")


def delete_table(table):
    """Deletes a table, and adds the system backup, which moto omits."""
    database, name = boto3.client("dynamodb"), f"{STACK}-{table}"
    backup = database.create_backup(TableName=name, BackupName=f"{name}$DeletedTableBackup")["BackupDetails"]
    database.update_table(TableName=name, DeletionProtectionEnabled=False)
    database.delete_table(TableName=name)
    return backup["BackupArn"]


def test_deleted_tables_are_recreated_from_their_system_backups(history):
    key = make_key()
    before = {table: items(table) for table in ["api_keys", "history"]}
    for table in before:
        delete_table(table)
    failed = subprocess.run(["tnr", "doctor", "--stack", STACK], capture_output=True, text=True, timeout=120)
    assert f"{STACK}-api_keys" in failed.stdout and failed.returncode == 2, failed.stdout
    _, retry, protect, *_ = commands(section("OPERATIONS.md", "Restore from backup", "History"))
    *recreate, update, doctor = commands(section("OPERATIONS.md", "Restore from backup", "A deleted table"))
    # The stand-in lacks the alarms that doctor expects; see test_doctor.py.
    assert doctor == "tnr doctor --stack STACK"
    run([retry, protect, *recreate])
    assert {table: items(table) for table in before} == before
    assert settings("api_keys") == ("ENABLED", True, "DISABLED")
    assert settings("history") == ("ENABLED", True, "ENABLED")
    run([update])
    assert states() == {key: "active"}


def test_data_is_rolled_back(history):
    newest, oldest = (each["version"] for each in json.loads(tnr("versions", "--json")))
    assert current_version() == newest
    run(commands(section("OPERATIONS.md", "Roll back data")))
    assert current_version() == oldest


def test_cloudfront_gets_a_certificate_and_becomes_the_only_way(stack):
    write_edge_template()
    [bucket] = [each["Name"] for each in boto3.client("s3").list_buckets()["Buckets"] if "databucket" in each["Name"]]
    text = section("OPERATIONS.md", "CloudFront and a firewall")
    *certificate, upload, domain, deploy, lock, unlock, delete = commands(text)
    arn = run(certificate).strip().splitlines()[-1]
    assert boto3.client("acm").describe_certificate(CertificateArn=arn)["Certificate"]["Subject"] == "CN=origin.example.com"
    # The certificate is for clients only, from the authority that API Gateway gets.
    for purpose, verified in [("sslclient", True), ("sslserver", False)]:
        command = ["openssl", "verify", "-purpose", purpose, "-CAfile", "ca.pem", "client.pem"]
        assert (subprocess.run(command, capture_output=True).returncode == 0) is verified, purpose
    values = {"CLIENT_CERTIFICATE": arn, "ORIGIN_CERTIFICATE": CERTIFICATE, "CERTIFICATE": CERTIFICATE, "DATA_BUCKET": bucket}
    run([upload, domain, deploy, lock], **values)
    stored = boto3.client("s3").get_object(Bucket=bucket, Key="edge-ca.pem")["Body"].read()
    assert stored == Path("ca.pem").read_bytes()
    assert edge_parameters().items() >= {"ClientCertificateArn": arn, "ApiDomain": "origin.example.com"}.items()
    origin, locked = deployments()
    assert origin == {"DomainName": "origin.example.com", "CertificateArn": CERTIFICATE}
    assert locked == {
        "ClientCertificates": f"s3://{bucket}/edge-ca.pem", "PublicUrl": "https://api.example.com",
        "FlagsBaseUrl": "https://api.example.com/flags",
    }
    run([unlock, delete])
    assert deployments()[-1] == dict.fromkeys(locked, '""')
    assert f"{STACK}-edge" not in [each["StackName"] for each in stack.describe_stacks()["Stacks"]]


def test_the_stack_is_deployed_with_parameters(programs):
    with zipfile.ZipFile("functions-0.1.0-arm64.zip", "w") as archive:
        archive.writestr("template.yaml", "")
    run(commands(section("OPERATIONS.md", "Deploy").split("\n### ")[0]))
    assert deployments() == [{}, {}, {"AlarmEmail": "me@example.com", "CorsOrigins": "https://app.example.com"}, {}]
    run(commands(section("OPERATIONS.md", "Alarms", "Publisher stalled")))
    assert deployments()[-1].keys() == {"MaxCnacAge"}


def ingest_function():
    found = boto3.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId="IngestFunction")
    return found["StackResourceDetail"]["PhysicalResourceId"]


def test_the_first_import_key_and_overlay(stack):
    [bucket] = [each["Name"] for each in boto3.client("s3").list_buckets()["Buckets"] if "databucket" in each["Name"]]
    Path("carriers.csv").write_text("ocn\n")
    run(commands(section("OPERATIONS.md", "First import and first key")), INGEST_FUNCTION=ingest_function(), DATA_BUCKET=bucket)
    assert current_version() and list(states().values()) == ["active"]
    assert boto3.client("s3").get_object(Bucket=bucket, Key="carriers.csv")["Body"].read() == b"ocn\n"
    assert deployments() == [{"CarriersSource": f"s3://{bucket}/carriers.csv"}]


def test_keys_are_created_listed_rotated_revoked_and_deleted(stack):
    key = make_key()
    create, show, *change = commands(section("OPERATIONS.md", "Keys"))
    run([create, show, *change], tnr_live_AbC123=key)
    rows = tnr("keys", "list")
    # The deleted key is not listed; its replacement and the new client's key work.
    assert key not in states() and list(states().values()) == ["active", "active"]
    assert "a client" in rows and "100,000" in rows


def test_a_history_that_lacks_an_import_gets_it_from_the_next(stack):
    run(commands(section("OPERATIONS.md", "Alarms", "History incomplete")))
    assert current_version()


def test_the_busiest_addresses_are_in_the_log(stack):
    logs = boto3.client("logs")
    group = f"/aws/vendedlogs/apis/{STACK}"
    logs.create_log_stream(logGroupName=group, logStreamName=STREAM)
    line = json.dumps({"source_address": "192.0.2.1", "route": "ANY /v1/lookup", "status": "401"})
    logs.put_log_events(logGroupName=group, logStreamName=STREAM, logEvents=[{"timestamp": int(time.time() * 1000), "message": line}])
    find, show = commands(section("OPERATIONS.md", "Abuse"))
    printed = run([find, show.replace("sleep 10", "sleep 1")])
    # The stand-in does not run queries.
    assert json.loads(printed)["status"] == "Complete"


def test_images_move_to_a_bucket(programs):
    boto3.client("s3").create_bucket(Bucket="images")
    write, *publish = commands(section("OPERATIONS.md", "Flag images"))
    [version] = re.findall(r"\(version (\w+)\)", run([write]))
    run(publish, BUCKET="images", VERSION=version)
    boto3.client("s3").head_object(Bucket="images", Key=f"flags/{version}/countries/US.svg")
    assert deployments() == [{"FlagsBaseUrl": f"https://cdn.example.com/flags/{version}"}]


def test_a_deployment_is_examined(programs):
    drift, drifts, subscriptions, *doctor = commands(section("OPERATIONS.md", "Examine a deployment"))
    topic = boto3.client("sns").create_topic(Name="alarms")["TopicArn"]
    run([drift, drifts, subscriptions], TOPIC=topic)
    assert doctor == ["tnr doctor --stack STACK", "tnr doctor --stack STACK --key KEY --json"]


def test_a_request_is_found_in_the_log_and_the_probe_runs(stack):
    log("format", '{"request_id":"0190a1b2"}')
    printed = run(commands(section("OPERATIONS.md", "Logs and metrics")), ID="0190a1b2")
    assert "0190a1b2" in printed
    run(commands(section("OPERATIONS.md", "The probe")))
    assert Path("check.json").read_text() == "{}"


def test_the_last_release_comes_back_without_a_build(programs):
    """The templates of deployments are in SAM's bucket. The real `sam` puts them there
    (test_first_deployment.py)."""
    cloud, storage = boto3.client("cloudformation"), boto3.client("s3")
    bucket = cloud.describe_stacks(StackName="aws-sam-cli-managed-default")["Stacks"][0]["Outputs"][0]["OutputValue"]
    for hash_ in ["aaaa", "bbbb"]:
        storage.put_object(Bucket=bucket, Key=f"{STACK}/{hash_}.template", Body=hash_.encode())
        storage.put_object(Bucket=bucket, Key=f"{STACK}/{hash_}", Body=b"package")
        time.sleep(1.1)
    find, show, *back = commands(section("OPERATIONS.md", "Upgrade and roll back code", "Go back to the last release"))
    listed = [key for _, _, key in json.loads(run([find, show]))]
    assert listed == [f"{STACK}/bbbb.template", f"{STACK}/aaaa.template"]
    run([find, *back], HASH="aaaa")
    assert Path("previous.yaml").read_text() == "aaaa"
    assert deployments() == [{"DeploymentStyle": "AllAtOnce"}]


def test_a_fix_is_deployed_during_an_alarm_and_the_style_is_restored(programs):
    text = section("OPERATIONS.md", "Upgrade and roll back code").split("\n### ")[0]
    run(commands(text))
    assert [each["DeploymentStyle"] for each in deployments()] == ["AllAtOnce", defaults(source())["DeploymentStyle"]]


def test_an_import_prepares_a_release_with_a_different_layout(stack):
    text = section("OPERATIONS.md", "Upgrade and roll back code", "Upgrade across snapshot layouts")
    printed = run(commands(text), INGEST_FUNCTION=ingest_function())
    assert current_version() in printed


def test_tearing_down_deletes_the_stack_and_data_but_keeps_keys(stack):
    make_key()
    delete_stack, delete_data = commands(section("OPERATIONS.md", "Tear down"))
    assert delete_stack == "sam delete --no-prompts"
    deleted = sam(*delete_stack.split()[1:])
    assert deleted.returncode == 0, deleted.stdout + deleted.stderr
    assert STACK not in [each["StackName"] for each in stack.describe_stacks()["Stacks"]]
    assert boto3.client("lambda").list_functions()["Functions"] == []
    assert tables() == {"carriers", "exchanges", "dataset", "history", "api_keys", "usage"}
    assert any("databucket" in bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"])
    run([delete_data])
    assert tables() == {"api_keys"}


def tables():
    return {name.removeprefix(f"{STACK}-") for name in boto3.client("dynamodb").list_tables()["TableNames"]}
