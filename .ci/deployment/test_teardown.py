"""Runs the teardown in docs/OPERATIONS.md on the stand-in."""

import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from stand_in import aws, stack_template
from template import ROOT

STACK = "telephone-numbers"


@pytest.fixture
def stack():
    with aws():
        cloud = boto3.client("cloudformation")
        cloud.create_stack(StackName=STACK, TemplateBody=stack_template(), Capabilities=["CAPABILITY_IAM"])
        # Like the command that creates the first key.
        database = boto3.client("dynamodb")
        for table in database.list_tables()["TableNames"]:
            database.update_table(TableName=table, DeletionProtectionEnabled=True)
        yield cloud


def commands():
    """The section's code blocks, each as a script."""
    operations = (ROOT / "docs/OPERATIONS.md").read_text()
    section = operations.split("\n## Tear down\n")[1].split("\n## ")[0]
    return [block.replace("STACK", STACK) for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


def run(script):
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    assert result.returncode == 0, result.stdout + result.stderr


def tables():
    return {name.removeprefix(f"{STACK}-") for name in boto3.client("dynamodb").list_tables()["TableNames"]}


def test_tearing_down_deletes_the_stack_and_data_but_keeps_keys(stack):
    delete_stack, delete_data = commands()
    run(delete_stack)
    assert STACK not in [each["StackName"] for each in stack.describe_stacks()["Stacks"]]
    assert boto3.client("lambda").list_functions()["Functions"] == []
    assert tables() == {"carriers", "exchanges", "dataset", "history", "api_keys", "usage"}
    assert any("databucket" in bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"])

    run(delete_data)
    assert tables() == {"api_keys"}
