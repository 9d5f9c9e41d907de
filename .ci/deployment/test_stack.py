"""The stack on the AWS stand-in: tables and their keys, functions, logs, alarms."""

import boto3
import pytest

from stand_in import aws, supported_part, stack_template
from template import STACK, resources_of_type, source, transform, resources_with

KEYS = {
    "carriers": ["ocn"], "exchanges": ["npa_nxx"], "dataset": ["id"], "history": ["code", "entry"],
    "api_keys": ["key_hash"], "usage": ["id"],
}
# Only checked against AWS's schemas, by cfn-lint.
UNSUPPORTED_TYPES = {
    "AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName",
    "AWS::ApiGatewayV2::Stage", "AWS::CloudFormation::Stack", "AWS::CodeDeploy::Application",
    "AWS::CodeDeploy::DeploymentGroup", "AWS::IAM::Policy", "AWS::Lambda::Alias", "AWS::Lambda::EventInvokeConfig",
    "AWS::S3::BucketPolicy", "AWS::SNS::Subscription",
}


@pytest.fixture(scope="module")
def stack():
    with aws():
        cloud = boto3.client("cloudformation")
        cloud.create_stack(StackName=STACK, TemplateBody=stack_template(), Capabilities=["CAPABILITY_IAM"])
        yield cloud


def test_moto_skips_only_the_listed_resource_types(stack):
    template = transform(source())
    kinds = {resource["Type"] for resource in template["Resources"].values()}
    created = {resource["Type"] for resource in supported_part(template)["Resources"].values()}
    assert kinds - created == UNSUPPORTED_TYPES
    # CloudFormation's limit.
    assert len(template["Resources"]) <= 500


def test_every_table_has_its_keys_and_on_demand_billing(stack):
    database = boto3.client("dynamodb")
    assert set(database.list_tables()["TableNames"]) == {f"{STACK}-{table}" for table in KEYS}
    for name, keys in KEYS.items():
        table = database.describe_table(TableName=f"{STACK}-{name}")["Table"]
        schema = zip(keys, ["HASH", "RANGE"])
        assert table["KeySchema"] == [{"AttributeName": key, "KeyType": kind} for key, kind in schema]
        assert table["AttributeDefinitions"] == [{"AttributeName": key, "AttributeType": "S"} for key in keys]
        assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_the_functions_find_the_tables(stack):
    tables = set(boto3.client("dynamodb").list_tables()["TableNames"])
    functions = boto3.client("lambda").list_functions()["Functions"]
    assert len(functions) == len(resources_of_type(source()["Resources"], "AWS::Serverless::Function"))
    for function in functions:
        variables = function["Environment"]["Variables"]
        assert {value for name, value in variables.items() if name.endswith("_TABLE")} == tables


def test_log_groups_expire_after_30_days(stack):
    groups = boto3.client("logs").describe_log_groups()["logGroups"]
    assert len(groups) == len(resources_of_type(source()["Resources"], "AWS::Logs::LogGroup"))
    assert {group["retentionInDays"] for group in groups} == {30}


def test_cloudwatch_accepts_every_alarm(stack):
    watch = boto3.client("cloudwatch")
    for name, alarm in resources_of_type(resources_with(), "AWS::CloudWatch::Alarm").items():
        properties = dict(alarm["Properties"])
        for field in ["EvaluationPeriods", "DatapointsToAlarm", "Period"]:
            if field in properties:
                properties[field] = int(properties[field])
        watch.put_metric_alarm(**properties | {"Threshold": float(properties["Threshold"])})
        [created] = watch.describe_alarms(AlarmNames=[f"{STACK}-{name}"])["MetricAlarms"]
        assert created["TreatMissingData"] == properties["TreatMissingData"] and created["ActionsEnabled"]


def test_every_alarm_watches_resources_in_the_stack():
    resources = resources_with()
    names = {table["Properties"]["TableName"] for table in resources_of_type(resources, "AWS::DynamoDB::Table").values()} | resources.keys()
    for name, alarm in resources_of_type(resources, "AWS::CloudWatch::Alarm").items():
        queries = [query["MetricStat"]["Metric"] for query in alarm["Properties"].get("Metrics", []) if "MetricStat" in query]
        for metric in queries or [alarm["Properties"]]:
            if metric["Namespace"] == f"TelephoneNumberReference/{STACK}":
                continue
            references = [dimension["Value"] for dimension in metric["Dimensions"] if dimension["Name"] != "Operation"]
            assert references and all(reference.strip("<>") in names for reference in references), name
