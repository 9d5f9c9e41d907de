"""The features that the parameter Monitoring includes, and their costs."""

import os
import re
import subprocess

import pytest

from stand_in import references
from template import ERRORS_ALARMS, ROOT, STACK, TEMPLATE, expand, resources_of_type, resources_with, source, transform

PROGRAM = os.environ.get("TNR_PROGRAM", str(ROOT / "target/debug/tnr"))
OWN = "TelephoneNumberReference"
MODES = ["Full", "Essential", "None"]


def alarms(monitoring):
    found = resources_of_type(resources_with(Monitoring=monitoring), "AWS::CloudWatch::Alarm")
    return {name: alarm["Properties"] for name, alarm in found.items()}


def metrics(alarm):
    """An alarm's metrics, each with a namespace, a name and dimensions."""
    return [query["MetricStat"]["Metric"] for query in alarm.get("Metrics", []) if "MetricStat" in query] or [alarm]


def sent(monitoring):
    """The variable with the metrics that CloudWatch extracts from each function's log."""
    functions = resources_of_type(resources_with(Monitoring=monitoring), "AWS::Lambda::Function").values()
    [names] = {function["Properties"]["Environment"]["Variables"].get("METRICS") for function in functions}
    return names


def test_essential_alarms_cover_an_outage_a_bad_deployment_and_a_failed_import():
    others = alarms("Essential").keys() - expand(source(ERRORS_ALARMS))["Resources"].keys()
    assert others == {"ErrorRateAlarm", "ChecksFailedAlarm", "ImportDroppedAlarm"}
    operations = (ROOT / "docs/OPERATIONS.md").read_text()
    assert set(re.findall(r"^\| `(\w+)`\*", operations, re.MULTILINE)) == others
    assert alarms("None") == {}
    for monitoring in ["Essential", "None"]:
        resources = resources_with(Monitoring=monitoring)
        for kind in ["AWS::CloudWatch::Dashboard", "AWS::Logs::MetricFilter"]:
            assert not resources_of_type(resources, kind)


def test_functions_send_exactly_the_metrics_that_essential_alarms_read():
    read = {metric["MetricName"] for alarm in alarms("Essential").values() for metric in metrics(alarm) if metric["Namespace"] == OWN}
    assert set(sent("Essential").split(",")) == read
    assert sent("None") == "" and sent("Full") is None
    assert 'env::var("METRICS")' in (ROOT / "shared/logging/src/metrics.rs").read_text()


@pytest.mark.parametrize("monitoring", MODES)
def test_costs_count_what_is_deployed(monitoring):
    command = [PROGRAM, "costs", "--monitoring", monitoring.lower()]
    bill = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counted = {"alarms": len(alarms(monitoring)), "read": sum(len(metrics(alarm)) for alarm in alarms(monitoring).values())}
    found = re.search(r"(\d+) alarms on (\d+) metrics", bill)
    assert [int(count) for count in found.groups()] == [*counted.values()] if found else counted["alarms"] == 0
    has_dashboard = bool(resources_of_type(resources_with(Monitoring=monitoring), "AWS::CloudWatch::Dashboard"))
    assert ("Dashboard" in bill) == has_dashboard
    own = {str(metric) for alarm in alarms(monitoring).values() for metric in metrics(alarm) if metric["Namespace"] == OWN}
    number = re.search(r"(\d+) metrics  ", bill)
    if monitoring != "Full":
        assert (int(number[1]) if number else 0) == len(own)


def test_the_parameters_description_has_the_costs():
    description = source()["Parameters"]["Monitoring"]["Description"]
    page = (ROOT / "docs/COSTS.md").read_text()
    dollars = [re.search(rf"^\| `{monitoring}` \|.* ([\d.]+) \|$", page, re.MULTILINE)[1] for monitoring in MODES]
    assert re.findall(r"[\d.]+(?= USD)", description) == dollars[:2]
    assert float(dollars[1]) <= 5 and float(dollars[2]) == 0


def test_alarms_are_named_after_the_stack_without_further_hyphens():
    """Doctor finds them by this name."""
    for monitoring in MODES:
        for name, alarm in alarms(monitoring).items():
            assert alarm["AlarmName"] == f"{STACK}-{name}"
            assert "-" not in name


def test_errors_alarms_do_not_depend_on_the_api():
    """CloudFormation rejects circular dependencies: the API depends on the aliases, and their deployments on these alarms."""
    resources = transform(source())["Resources"]
    found, new = set(), {"ErrorsAlarms"}
    while new:
        found |= new
        new = set().union(*(references(resources[name]["Properties"]) for name in new)) & resources.keys() - found
    assert not {resources[name]["Type"] for name in found} & {"AWS::Lambda::Alias", "AWS::ApiGatewayV2::Api"}
    assert set(expand(source(ERRORS_ALARMS))["Outputs"]) == {
        name.removesuffix("FunctionDeploymentGroup") for name in resources_of_type(resources, "AWS::CodeDeploy::DeploymentGroup")
    }


def test_the_service_is_one_read():
    assert len(TEMPLATE.read_text().splitlines()) <= 900
