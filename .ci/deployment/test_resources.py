"""Each resource refers to the right others: tables, variables, log groups, metrics, schedules and outputs."""

import json
import re

import pytest

from stand_in import references
from template import ROOT, Values, resources_of_type, resources_with, source, transform

RESOURCES = resources_with()
ALARMS = {name: alarm["Properties"] for name, alarm in resources_of_type(RESOURCES, "AWS::CloudWatch::Alarm").items()}
API_FUNCTIONS = ["Carriers", "Npa", "Format", "Search", "Status", "Site", "Mcp"]
FUNCTIONS = [*API_FUNCTIONS, "Ingest", "Probe"]
TABLES = ["Carriers", "Exchanges", "Dataset", "History", "ApiKeys", "Usage"]


def properties(name):
    return RESOURCES[name]["Properties"]


def metrics(alarm):
    """An alarm's metrics by ID, each as `namespace metric resource statistic period`."""
    queries = alarm.get("Metrics", [{"Id": "metric", "MetricStat": {"Metric": alarm, "Period": alarm.get("Period")}}])
    found = {}
    for query in queries:
        if "MetricStat" not in query:
            continue
        stat = query["MetricStat"]
        metric = stat["Metric"]
        values = " ".join(dimension["Value"].strip("<>") for dimension in metric.get("Dimensions", []))
        statistic = stat.get("Stat") or alarm.get("Statistic") or alarm.get("ExtendedStatistic")
        found[query["Id"]] = f"{metric['Namespace']} {metric['MetricName']} {values} {statistic} {stat['Period']}".replace("  ", " ")
    return found


OWN = "TelephoneNumberReference"
METRICS = {
    "ErrorRateAlarm": {
        "errors": "AWS/ApiGateway 5xx Api Sum 300", "requests": "AWS/ApiGateway Count Api Sum 300",
    },
    "SustainedErrorsAlarm": {
        "errors": "AWS/ApiGateway 5xx Api Sum 3600", "requests": "AWS/ApiGateway Count Api Sum 3600",
    },
    "SlowAlarm": {"metric": "AWS/ApiGateway Latency Api p99 300"},
    "ThrottledAlarm": {
        name.lower(): f"AWS/Lambda Throttles {name}Function Sum 300" for name in API_FUNCTIONS
    },
    "GatewayRefusesAlarm": {
        "refused": f"{OWN}/numbers RefusedByGateway Sum 300", "requests": "AWS/ApiGateway Count Api Sum 300",
    },
    "DatabaseAlarm": {
        **{name.lower(): f"{OWN} FailedDatabaseCalls {name}Function Sum 300" for name in API_FUNCTIONS if name != "Site"},
        "counts": "AWS/DynamoDB SystemErrors numbers-usage UpdateItem Sum 300",
        "countreads": "AWS/DynamoDB SystemErrors numbers-usage GetItem Sum 300",
        "requests": "AWS/ApiGateway Count Api Sum 300",
    },
    "DatabaseThrottledAlarm": {
        "carriers": "AWS/DynamoDB ReadThrottleEvents numbers-carriers Sum 300",
        "exchanges": "AWS/DynamoDB ReadThrottleEvents numbers-exchanges Sum 300",
        "dataset": "AWS/DynamoDB ReadThrottleEvents numbers-dataset Sum 300",
        "keys": "AWS/DynamoDB ReadThrottleEvents numbers-api_keys Sum 300",
        "history": "AWS/DynamoDB ReadThrottleEvents numbers-history Sum 300",
        "countreads": "AWS/DynamoDB ReadThrottleEvents numbers-usage Sum 300",
        "counts": "AWS/DynamoDB WriteThrottleEvents numbers-usage Sum 300",
    },
    "ImportFailedAlarm": {
        "dropped": "AWS/Lambda AsyncEventsDropped IngestFunction Sum 300",
        "succeeded": f"{OWN} ImportSucceeded IngestFunction Sum 300",
    },
    "BlockReportUnreadAlarm": {"metric": f"{OWN} UnreadBlockReports IngestFunction Maximum 300"},
    "CountryUnreadAlarm": {"metric": f"{OWN} UnreadCountries IngestFunction Maximum 300"},
    "HistoryIncompleteAlarm": {"metric": f"{OWN} UnrecordedPublications IngestFunction Maximum 300"},
    "DataTooOldAlarm": {"hours": f"{OWN} DataAge ProbeFunction Maximum 300"},
    "NanpaStalledAlarm": {"metric": f"{OWN} NanpaReportAge ProbeFunction Maximum 300"},
    "CnacStalledAlarm": {"metric": f"{OWN} CnacReportAge ProbeFunction Maximum 300"},
    "AreaCodeStalledAlarm": {"metric": f"{OWN} AreaCodeReportAge ProbeFunction Maximum 300"},
    "NoDataAlarm": {"metric": f"{OWN} NoData ProbeFunction Maximum 300"},
    "ChecksFailedAlarm": {"metric": f"{OWN} ChecksFailed ProbeFunction Maximum 300"},
} | {
    f"{name}ErrorsAlarm": {
        "error_responses": f"{OWN} ServerErrors {name}Function Sum 60",
        "crashes": f"AWS/Lambda Errors {name}Function Sum 60",
        "invocations": f"AWS/Lambda Invocations {name}Function Sum 60",
    }
    for name in API_FUNCTIONS
}


def test_every_alarm_reads_the_intended_metrics():
    assert {name: metrics(alarm) for name, alarm in ALARMS.items()} == METRICS


def test_age_alarms_use_the_configured_limits():
    resources = resources_with(MaxDataAge="7", MaxNanpaAge="1", MaxCnacAge="2", MaxAreaCodeAge="3")
    alarms = ["DataTooOldAlarm", "NanpaStalledAlarm", "CnacStalledAlarm", "AreaCodeStalledAlarm"]
    assert [resources[name]["Properties"]["Threshold"] for name in alarms] == ["7", "1", "2", "3"]


def test_alarms_reach_the_configured_address():
    assert "AlarmSubscription" not in RESOURCES
    subscription = resources_with(AlarmEmail="oncall@example.com")["AlarmSubscription"]["Properties"]
    assert subscription == {"TopicArn": "<AlarmTopic>", "Protocol": "email", "Endpoint": "oncall@example.com"}


def test_errors_alarms_differ_only_in_their_function():
    alarms = {json.dumps(ALARMS[f"{name}ErrorsAlarm"]).lower().replace(name.lower(), "…") for name in API_FUNCTIONS}
    assert len(alarms) == 1, alarms


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_encrypted_recoverable_and_outlive_the_stack(name):
    table = RESOURCES[f"{name}Table"]
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["Properties"]["SSESpecification"] == {"SSEEnabled": True}


def test_only_usage_and_history_items_expire():
    expiring = {name: table["Properties"].get("TimeToLiveSpecification") for name, table in resources_of_type(RESOURCES, "AWS::DynamoDB::Table").items()}
    attribute = "expires_at"
    for table, source in [("UsageTable", "usage"), ("HistoryTable", "history_items")]:
        assert expiring.pop(table) == {"AttributeName": attribute, "Enabled": True}
        # Functions and the embedded database use the same attribute.
        assert attribute in (ROOT / f"shared/store/src/{source}.rs").read_text()
    assert set(expiring.values()) == {None}


def variables(name, **parameters):
    return resources_with(**parameters)[f"{name}Function"]["Properties"]["Environment"]["Variables"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_get_their_variables(name):
    sources = {parameter: f"https://{parameter}" for parameter in source()["Parameters"] if parameter.endswith("Source")}
    assert "NpaReportSource" in sources
    own = {
        "Ingest": {
            **{re.sub("(?<=[a-z])(?=[A-Z])", "_", parameter).upper(): url for parameter, url in sources.items()},
            "COUNTRIES": "GB,FR", "ALLOWED_GATES": "suspect", "HISTORY_DAYS": "90",
        },
        "Probe": {f"{function.upper()}_VERSION": f"<{function}Function.Version>" for function in API_FUNCTIONS},
    }
    parameters = {
        **sources, "Countries": "GB,FR", "AllowedGates": "suspect", "HistoryDays": "90", "FlagsBaseUrl": "https://f", "CorsOrigins": "https://g",
        "LogLevel": "debug", "TracesEndpoint": "https://t/v1/traces",
    }
    tables = {"CARRIERS": "Carriers", "EXCHANGES": "Exchanges", "DATASET": "Dataset", "HISTORY": "History", "API_KEYS": "ApiKeys", "USAGE": "Usage"}
    found = {
        variable: "<" + value["Ref"] + ">" if isinstance(value, dict) else value
        for variable, value in variables(name, **parameters).items()
    }
    # SAM replaces a version with its own resource.
    found = {variable: re.sub(r"<(\w+Function)Version\w+>", r"<\1.Version>", value) for variable, value in found.items()}
    assert found == {
        **{f"{table}_TABLE": f"<{resource}Table>" for table, resource in tables.items()},
        "CORS_ORIGINS": "https://g", "FLAGS_BASE_URL": "https://f", "RUST_LOG": "debug",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t/v1/traces", **own.get(name, {}),
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_enough_time_and_memory(name):
    found = properties(f"{name}Function")
    # Lookups fail after 11.5 s, imports stop cleanly before the timeout, and the probe's checks take 50 s at most.
    limits = {"Ingest": (900, 1024), "Probe": (60, 256)}.get(name, (15, 512))
    assert (found["Timeout"], found["MemorySize"]) == limits


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_log_to_their_own_group_with_the_configured_retention(name):
    assert properties(f"{name}Function")["LoggingConfig"] == {
        # Lambda itself logs nothing for successful requests. The functions write their own lines.
        "LogFormat": "JSON", "SystemLogLevel": "WARN", "LogGroup": f"<{name}Logs>",
    }
    group = resources_with(LogRetention="7")[f"{name}Logs"]
    assert group["Properties"] == {"LogGroupName": f"/aws/lambda/numbers-{name.lower()}", "RetentionInDays": "7"}
    assert (group["DeletionPolicy"], group["UpdateReplacePolicy"]) == ("Delete", "Delete")


def test_imports_and_checks_run_on_schedule():
    rules = {
        rule["Properties"]["Targets"][0]["Arn"]: rule["Properties"]["ScheduleExpression"]
        for rule in resources_of_type(RESOURCES, "AWS::Events::Rule").values() if "ScheduleExpression" in rule["Properties"]
    }
    assert rules == {"<IngestFunction.Arn>": "cron(0 9 * * ? *)", "<ProbeFunction.Arn>": "rate(5 minutes)"}


def test_the_scheduled_check_gets_the_api_url():
    targets = [target for rule in resources_of_type(RESOURCES, "AWS::Events::Rule").values() for target in rule["Properties"]["Targets"]]
    [target] = [target for target in targets if target["Arn"] == "<ProbeFunction.Arn>"]
    assert json.loads(target["Input"]) == {"base_url": Values(source()).resolve(source()["Outputs"])["BaseUrl"]["Value"]}


def test_the_probe_checks_every_new_version_before_traffic_shifts():
    assert properties("ProbeFunction")["FunctionName"] == "CodeDeployHook_numbers"
    for style, hook in [("Canary10Percent5Minutes", "<ProbeFunction>"), ("AllAtOnce", None)]:
        aliases = resources_of_type(resources_with(DeploymentStyle=style), "AWS::Lambda::Alias").values()
        assert {alias["Properties"]["Name"] for alias in aliases} == {"live"}
        policies = Values(source(), DeploymentStyle=style).resolve([alias["UpdatePolicy"] for alias in aliases])
        hooks = [policy["CodeDeployLambdaAliasUpdate"].get("BeforeAllowTrafficHook") for policy in policies]
        assert hooks == [hook] * len(API_FUNCTIONS)


def test_an_uploaded_object_starts_an_import():
    [rule] = [rule["Properties"] for rule in resources_of_type(RESOURCES, "AWS::Events::Rule").values() if "EventPattern" in rule["Properties"]]
    assert rule["EventPattern"] == {
        "source": ["aws.s3"], "detail-type": ["Object Created"], "detail": {"bucket": {"name": ["<DataBucket>"]}},
    }
    assert rule["Targets"][0]["Arn"] == "<IngestFunction.Arn>"
    notifications = properties("DataBucket")["NotificationConfiguration"]
    assert notifications == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}


def test_the_probe_is_not_retried():
    [config] = [
        config["Properties"] for config in resources_of_type(RESOURCES, "AWS::Lambda::EventInvokeConfig").values()
        if config["Properties"]["FunctionName"] == "<ProbeFunction>"
    ]
    assert config["MaximumRetryAttempts"] == 0


def test_the_data_bucket_is_private_and_keeps_old_versions_for_90_days():
    bucket = properties("DataBucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    [rule] = [rule for rule in bucket["LifecycleConfiguration"]["Rules"] if "NoncurrentVersionExpiration" in rule]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}


def test_a_custom_domain_is_mapped_to_the_api():
    certificate = "arn:aws:acm:us-east-1:123456789012:certificate/1"
    resources = resources_with(DomainName="api.example.com", CertificateArn=certificate)
    domain = resources["Domain"]["Properties"]
    assert domain["DomainName"] == "api.example.com"
    assert domain["DomainNameConfigurations"] == [
        {"CertificateArn": certificate, "EndpointType": "REGIONAL", "SecurityPolicy": "TLS_1_2"}
    ]
    assert resources["DomainMapping"]["Properties"] == {
        "DomainName": "<Domain>", "ApiId": "<Api>", "Stage": "<ApiApiGatewayDefaultStage>",
    }
    assert not {"Domain", "DomainMapping"} & RESOURCES.keys()


LOCKED = {
    "DomainName": "origin.example.com", "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1",
    "ClientCertificates": "s3://bucket/ca.pem", "PublicUrl": "https://api.example.com",
    "FlagsBaseUrl": "https://api.example.com/flags",
}


def test_only_clients_with_a_certificate_reach_a_locked_api():
    def api(**parameters):
        resources = resources_with(**parameters)
        [gateway] = resources_of_type(resources, "AWS::ApiGatewayV2::Api").values()
        [server] = gateway["Properties"]["Body"]["servers"]
        settings = server["x-amazon-apigateway-endpoint-configuration"]
        return settings["disableExecuteApiEndpoint"], resources["Domain"]["Properties"].get("MutualTlsAuthentication")

    assert api(**LOCKED) == (True, {"TruststoreUri": "s3://bucket/ca.pem"})
    assert api(**LOCKED | {"ClientCertificates": ""}) == (False, None)
    # Mappings of other domains to the API would be a way around it.
    for kind in ["AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::Stage"]:
        assert len(resources_of_type(resources_with(**LOCKED), kind)) == 1


def test_a_locked_api_is_checked_and_printed_at_its_public_url():
    outputs = Values(source(), **LOCKED).resolve(source()["Outputs"])
    assert outputs["BaseUrl"]["Value"] == "https://api.example.com"
    assert '"base_url": "https://api.example.com"' in outputs["Check"]["Value"]
    rules = resources_of_type(resources_with(**LOCKED), "AWS::Events::Rule").values()
    inputs = [target["Input"] for rule in rules for target in rule["Properties"]["Targets"] if "Input" in target]
    assert [json.loads(text) for text in inputs] == [{"base_url": "https://api.example.com"}]


def test_logs_are_kept_for_30_days_by_default():
    assert source()["Parameters"]["LogRetention"]["Default"] == 30


def test_outputs_refer_to_the_right_resources():
    outputs = {name: output["Value"] for name, output in Values(source()).resolve(source()["Outputs"]).items()}
    url = "https://<Api>.execute-api.us-east-1.amazonaws.com"
    assert outputs["BaseUrl"] == url
    assert outputs["DomainTarget"] == "<Domain.RegionalDomainName>"
    assert outputs["DataBucketName"] == "<DataBucket>"
    assert outputs["IngestFunctionName"] == "<IngestFunction>"
    assert "--function-name <ProbeFunction>" in outputs["Check"] and f'"base_url": "{url}"' in outputs["Check"]


def test_functions_rather_than_the_api_handle_cors():
    # Otherwise, responses would differ from the local server's.
    assert "CorsConfiguration" not in source()["Resources"]["Api"]["Properties"]
    assert source()["Parameters"]["CorsOrigins"]["Default"] == "*"


def test_the_probe_does_not_depend_on_the_api_or_an_alias():
    """CloudFormation rejects circular dependencies: the API depends on the aliases, and they on the probe, their hook.
    Linters miss the second dependency."""
    resources = transform(source())["Resources"]
    found, new = set(), {"ProbeFunction"}
    while new:
        found |= new
        new = set().union(*(references(resources[name]["Properties"]) for name in new)) & resources.keys() - found
    kinds = {resources[name]["Type"] for name in found}
    assert "AWS::Lambda::Function" in kinds
    assert not kinds & {"AWS::Lambda::Alias", "AWS::ApiGatewayV2::Api", "AWS::CloudWatch::Alarm", "AWS::ApiGatewayV2::ApiMapping"}


def test_the_dashboard_plots_the_intended_metrics():
    body = json.loads(properties("Dashboard")["DashboardBody"])
    plotted = {}
    for widget in body["widgets"]:
        settings = widget["properties"]
        names = [
            re.search(r'MetricName="(\w+)"', metric[0]["expression"])[1] if isinstance(metric[0], dict) else metric[1]
            for metric in settings["metrics"]
        ]
        plotted[settings["title"]] = (names, settings["stat"])
    assert plotted == {
        "Requests, 4xx and 5xx": (["Count", "4xx", "5xx"], "Sum"),
        "Latency (ms)": (["Latency", "Latency"], "p99"),
        "Requests by function": (["Requests"], "Sum"),
        "Errors by function": (["ServerErrors"], "Sum"),
        "Capacity units read": (["ConsumedCapacity"], "Sum"),
        "Exchange cache": (["CacheHits", "CacheMisses"], "Sum"),
        "Active containers": (["ConcurrentExecutions"], "Maximum"),
        "Imports": (["ImportSucceeded", "ImportFailed"], "Sum"),
        "Records": (["Records", "ItemsWritten"], "Maximum"),
        # The search finds every table by the stack's name, including the history.
        "Capacity units read by table": (["ConsumedReadCapacityUnits"], "Sum"),
        "Throttled reads by table": (["ReadThrottleEvents"], "Sum"),
        "Age of the reports (days)": (["NanpaReportAge", "CnacReportAge", "AreaCodeReportAge"], "Maximum"),
    }
