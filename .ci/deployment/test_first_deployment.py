"""The first deployment asks no questions, a failed one does not block the next, and settings persist."""

import json
import tomllib

import boto3
import pytest

from stand_in import aws, sam, stack_template, updatable_template
from template import ROOT, Values, resources_of_type, source, resources_with

STACK = "telephone-numbers"
TABLES = {f"{STACK}-{table}" for table in ["carriers", "exchanges", "dataset", "history", "api_keys", "usage"]}


@pytest.fixture
def cloud():
    with aws():
        yield boto3.client("cloudformation")


@pytest.fixture
def deploy(tmp_path):
    """Deploys the template's supported parts, like `sam deploy` in the project's folder."""

    def deploy(*arguments, template=stack_template()):
        file = tmp_path / "template.json"
        file.write_text(template)
        return sam("deploy", "--template-file", str(file), *arguments)

    return deploy


def parameters(cloud):
    [stack] = cloud.describe_stacks(StackName=STACK)["Stacks"]
    return {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in stack["Parameters"]}


def tables():
    return set(boto3.client("dynamodb").list_tables()["TableNames"])


def test_deploying_asks_nothing_and_keeps_parameters(cloud, deploy):
    template = updatable_template()
    first = deploy("--parameter-overrides", "LogLevel=debug", "AlarmEmail=me@example.com", template=template)
    assert first.returncode == 0, first.stdout + first.stderr
    assert parameters(cloud)["LogLevel"] == "debug" and tables() == TABLES

    second = deploy("--parameter-overrides", "MaxDataAge=5", template=template)
    assert second.returncode == 0, second.stdout + second.stderr
    # A release that changes the template, deployed without parameters.
    changed = json.loads(template)
    changed["Description"] = "Another release"
    release = deploy(template=json.dumps(changed))
    assert release.returncode == 0, release.stdout + release.stderr
    # The last release can be deployed again: 'Go back to the last release' in docs/OPERATIONS.md.
    [bucket] = [output["OutputValue"] for output in cloud.describe_stacks(StackName="aws-sam-cli-managed-default")["Stacks"][0]["Outputs"]]
    storage = boto3.client("s3")
    keys = [each["Key"] for each in storage.list_objects_v2(Bucket=bucket, Prefix=f"{STACK}/")["Contents"]]
    templates = [storage.get_object(Bucket=bucket, Key=key)["Body"].read().decode() for key in keys if key.endswith(".template")]
    [before] = [text for text in templates if "Another release" not in text]
    again = deploy(template=before)
    assert again.returncode == 0 and len(templates) == 2, again.stdout + again.stderr
    expected = {"LogLevel": "debug", "AlarmEmail": "me@example.com", "MaxDataAge": "5", "Stage": "production"}
    assert parameters(cloud).items() >= expected.items()
    # As in docs/OPERATIONS.md; SAM ignores an empty value without its own quotes.
    cleared = deploy("--parameter-overrides", 'AlarmEmail=""', template=json.dumps(changed))
    assert cleared.returncode == 0, cleared.stdout + cleared.stderr
    assert parameters(cloud)["AlarmEmail"] == "" and parameters(cloud)["LogLevel"] == "debug"


def test_a_failed_first_deployment_does_not_block_the_next(cloud, deploy):
    logs = boto3.client("logs")
    conflicting_group = "/aws/lambda/telephone-numbers-npa"
    logs.create_log_group(logGroupName=conflicting_group)
    failed = deploy()
    assert failed.returncode != 0 and "ROLLBACK_COMPLETE" in failed.stdout
    assert tables() == set()
    assert not [stack for stack in cloud.describe_stacks()["Stacks"] if stack["StackName"] == STACK]

    logs.delete_log_group(logGroupName=conflicting_group)
    retried = deploy()
    assert retried.returncode == 0, retried.stdout + retried.stderr
    assert tables() == TABLES


def test_a_failed_update_keeps_the_stack(cloud, deploy):
    assert deploy(template=updatable_template()).returncode == 0
    broken = json.loads(updatable_template())
    broken["Resources"]["Broken"] = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "taken"}}
    boto3.client("logs").create_log_group(logGroupName="taken")
    failed = deploy(template=json.dumps(broken))
    assert failed.returncode != 0 and "UPDATE_ROLLBACK_COMPLETE" in failed.stderr, failed.stderr
    assert parameters(cloud) and tables() == TABLES


def test_samconfig_answers_every_prompt_and_sets_no_parameter():
    configuration = tomllib.loads((ROOT / "samconfig.toml").read_text())["default"]
    values = [value for command in configuration.values() for value in command["parameters"].values()]
    assert "" not in values
    deploy = configuration["deploy"]["parameters"]
    assert not deploy["confirm_changeset"] and not deploy["fail_on_empty_changeset"]
    assert not {"region", "parameter_overrides", "s3_bucket", "guided"} & deploy.keys()
    assert configuration["build"]["parameters"] == {"beta_features": True}


def test_retained_resources_are_deleted_if_creation_fails():
    resources = resources_with()
    retained = {name for name, resource in resources.items() if resource.get("DeletionPolicy", "").startswith("Retain")}
    for name in retained:
        assert resources[name]["DeletionPolicy"] == "RetainExceptOnCreate", name
        assert resources[name]["UpdateReplacePolicy"] == "Retain", name
    # Lambda refuses to republish an existing version, so retrying an update would fail.
    for name, version in resources_of_type(resources, "AWS::Lambda::Version").items():
        assert version["DeletionPolicy"] == "Delete", name
    # Rolling back could not delete a protected table.
    for name, table in resources_of_type(resources, "AWS::DynamoDB::Table").items():
        assert name in retained and "DeletionProtectionEnabled" not in table["Properties"], name


def test_the_commands_in_the_outputs_are_complete():
    outputs = Values(source()).resolve(source()["Outputs"])
    assert outputs["FirstKey"]["Value"].endswith("keys create --name first --stack numbers")
    assert "--function-name <IngestFunction>" in outputs["FirstImport"]["Value"]
