"""Limits on abuse, and the logs for investigating it."""

import json
import re

from template import EDGE, ROOT, defaults, resources_of_type, resources_with, source

PUBLIC = {
    "/health", "/v1/health", "/stats", "/v1/stats", "/v1/sources",
    "/", "/docs", "/openapi.json", "/openapi-3.0.json", "/flags/{path+}",
}


def routes():
    events = [
        event["Properties"]
        for function in resources_of_type(source()["Resources"], "AWS::Serverless::Function").values()
        for event in function["Properties"].get("Events", {}).values()
        if event["Type"] == "HttpApi"
    ]
    return {f"{event['Method']} {event['Path']}" if "Path" in event else "$default" for event in events}


def stage(**parameters):
    [stage] = resources_of_type(resources_with(**parameters), "AWS::ApiGatewayV2::Stage").values()
    return stage["Properties"]


def test_every_route_has_its_own_limit():
    limits = {"ThrottlingRate": "1", "ThrottlingBurst": "2", "PublicThrottlingRate": "3", "PublicThrottlingBurst": "4"}
    settings = stage(**limits)["RouteSettings"]
    assert settings.keys() == routes()
    for route, setting in settings.items():
        is_public = route == "$default" or route.split()[1] in PUBLIC
        expected = ("3", "4") if is_public else ("1", "2")
        assert (setting["ThrottlingRateLimit"], setting["ThrottlingBurstLimit"]) == expected, route


def test_what_a_stranger_can_do_is_documented_with_the_templates_limits():
    """Tests of the mechanisms: test_edge.py, test_resources.py and `test_every_route_has_its_own_limit`."""
    section = (ROOT / "docs/OPERATIONS.md").read_text().split("\n## Abuse\n")[1].split("\n## ")[0]
    rows = {row.split("|")[1].strip(): [cell.strip() for cell in row.split("|")[2:4]] for row in section.splitlines() if row.startswith("| ")}
    service, edge = defaults(source()), defaults(source(EDGE))
    per_second = {name: int(edge[name]) // 60 for name in ["KeylessRequestsPerAddress", "KeylessRequests"]}
    without, with_edge = rows["Shut out clients"]
    assert re.findall(r"(\d+) ", without) == [service["ThrottlingRate"], service["PublicThrottlingRate"]]
    assert re.findall(r"(\d+) (?:per|in)", with_edge) == [str(count) for count in per_second.values()]
    assert per_second["KeylessRequests"] * 4 == int(service["ThrottlingRate"])
    _, made_up = rows["Shut out clients with made-up keys"]
    assert re.findall(r"\d+", made_up) == [str(int(edge["RequestsPerAddress"]) // 60)]
    assert int(edge["RequestsPerAddress"]) // 60 * 2 == int(service["ThrottlingRate"])
    for row in ["Run up the bill", "Download large files"]:
        assert f"{per_second['KeylessRequests']} " in rows[row][1], row


def test_the_access_log_contains_the_source_address_but_no_key_or_number():
    settings = stage()["AccessLogSettings"]
    assert settings["DestinationArn"] == "<ApiLogs.Arn>"
    line = settings["Format"]
    assert "\n" not in line
    assert all(value.startswith("$context.") for value in json.loads(line).values())
    assert set(re.findall(r"\$context\.([\w.]+)", line)) == {
        "requestTime", "requestId", "identity.sourceIp", "routeKey", "protocol", "status", "error.responseType",
        "integrationStatus", "integrationErrorMessage", "responseLatency", "integrationLatency", "responseLength",
    }


def test_the_access_log_has_the_configured_retention():
    group = resources_with(LogRetention="7")["ApiLogs"]["Properties"]
    assert group["RetentionInDays"] == "7"
    # Other names must be listed in an account's resource policy, which has a size limit.
    assert group["LogGroupName"].startswith("/aws/vendedlogs/")


def test_concurrency_is_reserved_only_on_request():
    def reserved(**parameters):
        functions = resources_of_type(resources_with(**parameters), "AWS::Lambda::Function")
        return {name: function["Properties"].get("ReservedConcurrentExecutions") for name, function in functions.items()}

    behind_api = {name for name in reserved() if name not in {"IngestFunction", "ProbeFunction"}}
    assert set(reserved().values()) == {None}
    for limit in ["0", "50"]:
        limited = reserved(ReservedConcurrency=limit)
        assert {limited[name] for name in behind_api} == {limit}
        # The API can be stopped even in an account without concurrency to reserve, and imports continue.
        assert limited["IngestFunction"] == (2 if limit != "0" else None)
        # Deployments wait for the probe.
        assert limited["ProbeFunction"] is None


def test_tracing_is_off_by_default():
    for parameters, config in [({}, None), ({"Tracing": "Active"}, {"Mode": "Active"})]:
        resources = resources_with(**parameters)
        for name, function in resources_of_type(resources, "AWS::Lambda::Function").items():
            assert function["Properties"].get("TracingConfig") == config, name
        may_trace = ["xray" in str(role).lower() for role in resources_of_type(resources, "AWS::IAM::Role").values()]
        assert any(may_trace) == (config is not None)


def test_the_data_bucket_requires_tls_and_expires_old_versions():
    resources = resources_with()
    [statement] = resources["DataBucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Effect"] == "Deny" and statement["Principal"] == "*" and statement["Action"] == "s3:*"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statement["Resource"] == ["<DataBucket.Arn>", "<DataBucket.Arn>/*"]
    rules = resources["DataBucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    assert any("NoncurrentVersionExpiration" in rule for rule in rules)
    assert any("AbortIncompleteMultipartUpload" in rule for rule in rules)
    # Current objects may be sources in use.
    assert not any("ExpirationInDays" in rule for rule in rules)


def test_imports_have_a_limited_number_of_retries():
    resources = resources_with()
    configs = [config["Properties"] for config in resources_of_type(resources, "AWS::Lambda::EventInvokeConfig").values()]
    [properties] = [config for config in configs if config["FunctionName"] == "<IngestFunction>"]
    assert properties["MaximumRetryAttempts"] == 2 and properties["MaximumEventAgeInSeconds"] == 3600
