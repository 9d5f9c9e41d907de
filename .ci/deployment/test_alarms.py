"""Alarms fire and clear: each is evaluated while the service works, fails and recovers, at high and low traffic."""

import re
from itertools import product

import pytest

from metric_math import states
from template import ROOT, resources_of_type, resources_with

ALARMS = {
    name: alarm["Properties"] for monitoring in ["Full", "Essential"]
    for name, alarm in resources_of_type(resources_with(Monitoring=monitoring), "AWS::CloudWatch::Alarm").items()
}
NOTHING = {}


class Series:
    """Values for an alarm's metrics in one period, by ID; omitted metrics have no value."""

    def __init__(
        self, healthy, failing, *, quiet=NOTHING, missing="OK", fires_within=4, clears_within=6, fires_at_once=False
    ):
        # Lists with one entry per traffic level.
        self.healthy, self.failing = healthy, failing
        # With no requests, and with no data.
        self.quiet, self.missing = quiet, missing
        self.fires_within, self.clears_within = fires_within, clears_within
        # True if one bad period is enough.
        self.fires_at_once = fires_at_once


def requests(invocations, failed, crashes=0):
    return {"error_responses": failed, "crashes": crashes, "invocations": invocations}


ERRORS = Series(
    # One minute for a function at 1,000 requests a second, one a second, and one a minute.
    healthy=[
        requests(60_000, 0), requests(60_000, 5), requests(60_000, 59), requests(60, 0), requests(60, 1), requests(60, 4),
        requests(5, 1), requests(4, 0), requests(1, 0),
    ],
    failing=[
        requests(60_000, 60), requests(60_000, 500), requests(60_000, 0, crashes=60_000), requests(60, 5), requests(60, 60),
        # One failure in four requests, at four requests a minute.
        requests(4, 1), requests(1, 1),
        # One request a minute, and the function exits before it counts its response.
        {"crashes": 1, "invocations": 1},
    ],
)
ONLY_WHILE_FAILING = dict(healthy=[NOTHING], fires_within=3, clears_within=8)
SERIES = {
    "CarriersErrorsAlarm": ERRORS,
    "NpaErrorsAlarm": ERRORS,
    "FormatErrorsAlarm": ERRORS,
    "SearchErrorsAlarm": ERRORS,
    "StatusErrorsAlarm": ERRORS,
    "McpErrorsAlarm": ERRORS,
    "SiteErrorsAlarm": ERRORS,
    "ErrorRateAlarm": Series(
        # Five minutes at 1,000 requests a second, one a second, and four and one a minute. Two failures are too few.
        healthy=[
            {"requests": 300_000, "errors": 3_000}, {"requests": 300, "errors": 3}, {"requests": 20, "errors": 2},
            {"requests": 5, "errors": 2}, {"requests": 300},
        ],
        failing=[
            {"requests": 300_000, "errors": 3_001}, {"requests": 300, "errors": 4}, {"requests": 20, "errors": 5},
            {"requests": 3, "errors": 3},
        ],
    ),
    "SustainedErrorsAlarm": Series(
        # An hour at 1,000 requests a second, one a second, one a minute, and three an hour.
        healthy=[
            {"requests": 3_600_000, "errors": 36_000}, {"requests": 3_600, "errors": 36}, {"requests": 60, "errors": 2},
            {"requests": 3, "errors": 2}, {"requests": 3_600},
        ],
        failing=[
            {"requests": 3_600_000, "errors": 36_001}, {"requests": 3_600, "errors": 37}, {"requests": 60, "errors": 15},
            {"requests": 3, "errors": 3},
        ],
    ),
    "SlowAlarm": Series(healthy=[{"metric": 40}, {"metric": 2_000}], failing=[{"metric": 2_001}], fires_within=5),
    "ThrottledAlarm": Series(
        failing=[{"carriers": 1, "npa": 0}, {"format": 10_000, "search": 1}], quiet={"carriers": 0}, **ONLY_WHILE_FAILING
    ),
    "GatewayRefusesAlarm": Series(
        # The metric exists only while requests are throttled.
        healthy=[
            {"requests": 300_000, "refused": 3_000}, {"requests": 300, "refused": 9}, {"requests": 5, "refused": 5},
            {"requests": 300_000},
        ],
        failing=[
            {"requests": 300_000, "refused": 3_001}, {"requests": 300, "refused": 10}, {"requests": 10, "refused": 10},
        ],
    ),
    "DatabaseAlarm": Series(
        # Functions report their counts with every request, DynamoDB only while something fails.
        healthy=[
            {"requests": 300_000, "npa": 299}, {"requests": 300_000, "npa": 0, "counts": 200}, {"requests": 300, "format": 2},
            {"requests": 5, "npa": 1, "search": 1},
        ],
        failing=[
            {"requests": 300_000, "npa": 301}, {"requests": 300_000, "carriers": 200, "npa": 200}, {"requests": 300, "search": 3},
            # One request a minute, and only the probe's.
            {"requests": 5, "format": 5}, {"npa": 3, "status": 2}, {"countreads": 500},
        ],
        fires_within=3, clears_within=8,
    ),
    "DatabaseThrottledAlarm": Series(
        healthy=[NOTHING, {"dataset": 10}, {"exchanges": 5, "keys": 5}],
        failing=[{"dataset": 11}, {"history": 11}, {"counts": 11}, {"exchanges": 6, "keys": 6}], fires_within=3, clears_within=8,
    ),
    # An import counts once its last attempt has ended. Nothing else changes the state.
    "ImportFailedAlarm": Series(
        healthy=[{"succeeded": 1}, {"succeeded": 2, "dropped": 0}],
        failing=[{"dropped": 1}, {"dropped": 1, "succeeded": 0}], missing="as before", fires_at_once=True,
    ),
    "ImportDroppedAlarm": Series(healthy=[NOTHING, {"metric": 0}], failing=[{"metric": 1}], fires_at_once=True),
    "BlockReportUnreadAlarm": Series(
        healthy=[{"metric": 0}], failing=[{"metric": 1}, {"metric": 2}], missing="as before", fires_at_once=True,
    ),
    "CountryUnreadAlarm": Series(
        healthy=[{"metric": 0}], failing=[{"metric": 1}, {"metric": 2}], missing="as before", fires_at_once=True,
    ),
    "HistoryIncompleteAlarm": Series(
        healthy=[{"metric": 0}], failing=[{"metric": 1}, {"metric": 2}], missing="as before", fires_at_once=True,
    ),
    **{
        # A report that is as old as its publishing schedule allows is fine.
        name: Series(healthy=[{"metric": 0}, {"metric": days}], failing=[{"metric": days + 1}, {"metric": 440}], missing="as before")
        for name, days in [("NanpaStalledAlarm", 7), ("CnacStalledAlarm", 7), ("AreaCodeStalledAlarm", 62)]
    },
    "NoDataAlarm": Series(healthy=[{"metric": 0}], failing=[{"metric": 1}], fires_within=6),
    "DataTooOldAlarm": Series(
        # The data cannot appear newer while the probe does not run.
        healthy=[{"hours": 2}, {"hours": 72}], failing=[{"hours": 72.1}, {"hours": 2_000}], missing="as before",
    ),
    "ChecksFailedAlarm": Series(
        healthy=[{"metric": 0}], failing=[{"metric": 1}, {"metric": 14}], quiet={"metric": 0}, missing="ALARM",
    ),
}
PERIODS = 14
# Details that CloudWatch does not specify, or that vary between evaluations, must not matter.
CIRCUMSTANCES = [
    dict(further_periods=further, newest=newest, fill_fills_empty=fills)
    for further, newest, fills in product([2, 5], [True, False], [True, False])
]


def ids(alarm):
    queries = alarm.get("Metrics", [{"Id": "metric", "MetricStat": None}])
    return [query["Id"] for query in queries if "MetricStat" in query]


def timeline(alarm, *stretches):
    """Each metric's series over stretches of `PERIODS` identical periods."""
    periods = [period for period in stretches for _ in range(PERIODS)]
    return {metric: [period.get(metric) for period in periods] for metric in ids(alarm)}


def run(alarm, *stretches):
    for circumstances in CIRCUMSTANCES:
        found = states(alarm, timeline(alarm, *stretches), **circumstances)
        yield [found[start:start + PERIODS] for start in range(0, len(found), PERIODS)]


def test_every_alarm_has_series_for_all_its_metrics():
    assert set(ALARMS) == set(SERIES)
    for name, series in SERIES.items():
        known = set(ids(ALARMS[name]))
        assert all(set(period) <= known for period in [*series.healthy, *series.failing, series.quiet]), name
        assert len(known) <= 10, f"{name}: an alarm can read at most ten metrics"


cases = pytest.mark.parametrize("name", ALARMS)


@cases
def test_an_alarm_is_silent_without_failures_or_requests(name):
    alarm, series = ALARMS[name], SERIES[name]
    for healthy in [*series.healthy, series.quiet]:
        # The first periods lack earlier data.
        for [first, second] in run(alarm, healthy, healthy):
            assert "ALARM" not in first[5:] + second, healthy


@cases
def test_an_alarm_fires_and_stays_on_during_failures(name):
    alarm, series = ALARMS[name], SERIES[name]
    for before, failing in product([*series.healthy, series.quiet], series.failing):
        for [_, during] in run(alarm, before, failing):
            assert set(during[series.fires_within:]) == {"ALARM"}, (before, failing, during)


@cases
def test_an_alarm_clears_after_recovery(name):
    alarm, series = ALARMS[name], SERIES[name]
    for failing, after in product(series.failing, [*series.healthy, series.quiet]):
        if series.missing == "as before" and after is NOTHING:
            continue
        for [_, recovered] in run(alarm, failing, after):
            assert set(recovered[series.clears_within:]) == {"OK"}, (failing, after, recovered)


@cases
def test_an_alarm_treats_missing_metrics_as_documented(name):
    alarm, series = ALARMS[name], SERIES[name]
    for before, expected in [(series.healthy[0], "OK"), (series.failing[0], "ALARM")]:
        for [first, vanished] in run(alarm, before, NOTHING):
            if series.missing == "as before":
                assert set(vanished[8:]) == {first[-1]} == {expected}
            else:
                assert set(vanished[8:]) == {series.missing}


@cases
def test_a_single_bad_period_fires_only_import_alarms(name):
    alarm, series = ALARMS[name], SERIES[name]
    if series.fires_at_once:
        return
    for healthy, failing in product(series.healthy, series.failing):
        metrics = timeline(alarm, healthy, healthy)
        for metric, points in metrics.items():
            points[PERIODS] = failing.get(metric)
        for circumstances in CIRCUMSTANCES:
            assert "ALARM" not in states(alarm, metrics, **circumstances)[5:], (healthy, failing)


def test_every_metric_can_fire_its_alarm_alone():
    for name in ["ThrottledAlarm", "DatabaseAlarm", "DatabaseThrottledAlarm"]:
        alarm = ALARMS[name]
        for metric in set(ids(alarm)) - {"requests"}:
            for [_, during] in run(alarm, NOTHING, {metric: 1_000}):
                assert set(during[3:]) == {"ALARM"}, (name, metric)


def test_a_failure_counted_before_its_request_fires_no_alarm_at_high_traffic():
    """The newest minute may have its errors but not its invocations yet, so errors are the majority."""
    alarm = ALARMS["FormatErrorsAlarm"]
    metrics = timeline(alarm, requests(60_000, 1), requests(60_000, 1))
    for end in range(8, 2 * PERIODS):
        until = {metric: points[:end] for metric, points in metrics.items()}
        until["invocations"][-1] = None
        assert states(alarm, until)[-1] == "OK"


def test_every_alarm_sends_email_when_it_clears():
    for name, alarm in ALARMS.items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == ["<AlarmTopic>"], name


def test_a_failed_import_sends_email_after_the_last_attempt_and_after_a_success():
    """Two nights with three failed attempts each, then a success, with nothing in between."""
    alarm = ALARMS["ImportFailedAlarm"]
    attempt, given_up, success, idle = {"succeeded": 0}, {"succeeded": 0, "dropped": 1}, {"succeeded": 1}, NOTHING
    night = [attempt, idle, attempt, *[idle] * 5, given_up, *[idle] * 20]
    periods = [success, *[idle] * 20, *night, *night, success, *[idle] * 20]
    metrics = {metric: [period.get(metric) for period in periods] for metric in ids(alarm)}
    for circumstances in CIRCUMSTANCES:
        found = [state for state in states(alarm, metrics, **circumstances) if state]
        changes = [state for before, state in zip([None, *found], found) if state != before]
        assert changes == ["OK", "ALARM", "OK"], circumstances
    # Nothing else sends email for failed imports.
    [config] = [
        config["Properties"] for config in resources_of_type(resources_with(), "AWS::Lambda::EventInvokeConfig").values()
        if config["Properties"]["FunctionName"] == "<IngestFunction>"
    ]
    assert config["MaximumRetryAttempts"] == 2 and not config.get("DestinationConfig")


def test_only_gateway_throttling_fires_the_gateway_alarm():
    """A function returns 429 for an exceeded quota; the integration status in the log distinguishes the two."""
    [metric] = resources_of_type(resources_with(), "AWS::Logs::MetricFilter").values()
    assert metric["Properties"]["FilterPattern"] == '{ ($.status = "429") && ($.integration_status = "-") }'
    assert metric["Properties"]["LogGroupName"] == "<ApiLogs>"
    [transformation] = metric["Properties"]["MetricTransformations"]
    [read] = [query["MetricStat"]["Metric"] for query in ALARMS["GatewayRefusesAlarm"]["Metrics"] if query["Id"] == "refused"]
    names = {"Namespace": transformation["MetricNamespace"], "MetricName": transformation["MetricName"]}
    assert read == names
    logs = next(iter(resources_of_type(resources_with(), "AWS::ApiGatewayV2::Stage").values()))["Properties"]
    for field in ['"status":"$context.status"', '"integration_status":"$context.integrationStatus"']:
        assert field in logs["AccessLogSettings"]["Format"]


def test_deployments_watch_their_alarms_unless_all_at_once_or_without_alarms():
    canary = "Canary10Percent5Minutes"
    for style, monitoring, watched in [(canary, "Full", True), (canary, "Essential", True), (canary, "None", False), ("AllAtOnce", "Full", False)]:
        resources = resources_with(DeploymentStyle=style, Monitoring=monitoring)
        groups = resources_of_type(resources, "AWS::CodeDeploy::DeploymentGroup")
        assert len(groups) >= 5
        for name, group in groups.items():
            alarms = group["Properties"]["AlarmConfiguration"]
            expected = [{"Name": f"<ErrorsAlarms.Outputs.{name.removesuffix('FunctionDeploymentGroup')}>"}]
            assert alarms == ({"Enabled": True, "Alarms": expected} if watched else {}), name


def test_every_errors_alarm_watches_its_own_function():
    for name, alarm in ALARMS.items():
        if name.endswith("ErrorsAlarm") and name != "SustainedErrorsAlarm":
            functions = set(re.findall(r"<(\w+)>", str(alarm["Metrics"])))
            assert functions == {name.removesuffix("ErrorsAlarm") + "Function"}, name


def test_a_stalled_publisher_fires_its_alarm_at_the_age_that_doctor_reports():
    rust = (ROOT / "shared/store/src/imported_reports.rs").read_text()
    for alarm, report in [("NanpaStalledAlarm", "Nanpa"), ("CnacStalledAlarm", "Cnac"), ("AreaCodeStalledAlarm", "NpaReport")]:
        [days] = re.findall(rf"Self::{report} =>[^)]*?Some\((\d+)\)", rust)
        assert ALARMS[alarm]["Threshold"] == days


def test_every_alarm_is_documented():
    operations = (ROOT / "docs/OPERATIONS.md").read_text()
    rows = [line for line in operations.splitlines() if line.startswith("| `")]
    for name in ALARMS:
        is_per_function = name.endswith("ErrorsAlarm") and name != "SustainedErrorsAlarm"
        documented_name = "…ErrorsAlarm" if is_per_function else name
        assert any(row.startswith(f"| `{documented_name}`") and row.count("](#") == 1 for row in rows), name


def test_every_alarm_description_refers_to_a_section_of_the_document():
    operations = (ROOT / "docs/OPERATIONS.md").read_text()
    for name, alarm in ALARMS.items():
        heading = alarm["AlarmDescription"].split("see '")[1].removesuffix("' in OPERATIONS.md")
        assert f"### {heading}\n" in operations, name
