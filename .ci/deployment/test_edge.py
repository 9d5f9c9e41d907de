"""CloudFront in front of the API: the only way to it, what it caches, forwards, limits, and never logs."""

import json
import re
import subprocess

import pytest

from template import EDGE, ROOT, Values, defaults, resources_of_type, source

PARAMETERS = {
    "ApiDomain": "origin.example.com", "ClientCertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/2",
    "DomainName": "api.example.com", "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1",
}
VALUES = Values(source(EDGE), **PARAMETERS)
RESOURCES = {name: VALUES.resolve(resource["Properties"]) for name, resource in source(EDGE)["Resources"].items()}
DISTRIBUTION = RESOURCES["Distribution"]["DistributionConfig"]
ALL_METHODS = {"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"


def test_only_public_paths_are_cached_and_follow_cache_control():
    cached = {behavior["PathPattern"]: behavior for behavior in DISTRIBUTION["CacheBehaviors"]}
    functions = [source()["Resources"][name]["Properties"] for name in ["StatusFunction", "SiteFunction"]]
    routes = [event["Properties"].get("Path") for function in functions for event in function["Events"].values()]
    # The response for an unknown path depends on the client.
    assert set(cached) == {re.sub(r"\{.*\}", "*", path) for path in set(routes) - {None}}
    policies = {behavior["CachePolicyId"] for path, behavior in cached.items() if path != "/"}
    assert policies == {"<PublicCache>"} and cached["/"]["CachePolicyId"] == "<PageCache>"
    for name, headers in [("PublicCache", ["Origin"]), ("PageCache", ["Accept", "Origin"])]:
        policy = RESOURCES[name]["CachePolicyConfig"]
        assert policy["MinTTL"] == policy["DefaultTTL"] == 0 and policy["MaxTTL"] >= 86_400
        key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
        assert key["QueryStringsConfig"] == {"QueryStringBehavior": "none"}
        assert key["HeadersConfig"]["Headers"] == headers


def test_large_public_files_are_compressed_at_the_edge():
    for behavior in DISTRIBUTION["CacheBehaviors"]:
        assert behavior["Compress"] is True, behavior["PathPattern"]
    for name in ["PublicCache", "PageCache"]:
        key = RESOURCES[name]["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"]
        assert key["EnableAcceptEncodingGzip"] is key["EnableAcceptEncodingBrotli"] is True


@pytest.mark.parametrize("accept, variant", [
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"), ("application/json, Text/HTML", "text/html"),
    ("*/*", "application/json"), ("application/json", "application/json"), ("application/problem+json", "application/json"),
    ("text/html;q=0.1, */*", "application/json"), ("text/html;charset=utf-8", "text/html"), ("text/htmlx", "application/json"), (None, "application/json"),
])
def test_the_page_has_two_cached_variants(accept, variant):
    """As the service chooses between them: `browsers_get_the_page_and_other_clients_get_an_index`."""
    [page] = [behavior for behavior in DISTRIBUTION["CacheBehaviors"] if "FunctionAssociations" in behavior]
    assert page["PathPattern"] == "/"
    assert page["FunctionAssociations"] == [
        {"EventType": "viewer-request", "FunctionARN": "<PageVariant.FunctionMetadata.FunctionARN>"}
    ]
    assert RESOURCES["PageVariant"]["AutoPublish"] is True
    headers = {} if accept is None else {"accept": {"value": accept}}
    event = json.dumps({"request": {"method": "GET", "uri": "/", "headers": headers}})
    script = f"{RESOURCES['PageVariant']['FunctionCode']}\nconsole.log(JSON.stringify(handler({event})))"
    request = json.loads(subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout)
    assert request == {"method": "GET", "uri": "/", "headers": {"accept": {"value": variant}}}


def test_cached_paths_forward_preflights_and_request_ids():
    for behavior in DISTRIBUTION["CacheBehaviors"]:
        assert behavior["OriginRequestPolicyId"] == "<PublicRequests>"
    forwarded = set(RESOURCES["PublicRequests"]["OriginRequestPolicyConfig"]["HeadersConfig"]["Headers"])
    respond = (ROOT / "shared/src/respond.rs").read_text()
    assert "ACCESS_CONTROL_REQUEST_METHOD" in respond
    assert forwarded == {"Access-Control-Request-Method", "Access-Control-Request-Headers", "X-Request-Id"}


def test_other_paths_are_forwarded_unchanged():
    behavior = DISTRIBUTION["DefaultCacheBehavior"]
    assert behavior["CachePolicyId"] == CACHING_DISABLED
    assert behavior["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST


def test_every_method_is_forwarded_and_errors_are_not_cached():
    for behavior in [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]:
        assert set(behavior["AllowedMethods"]) == ALL_METHODS
    errors = {error["ErrorCode"]: error["ErrorCachingMinTTL"] for error in DISTRIBUTION["CustomErrorResponses"]}
    # Those that CloudFront caches by default.
    assert errors == dict.fromkeys([400, 403, 404, 405, 414, 500, 501, 502, 503, 504], 0)


def test_http_2_and_3_are_on_and_old_tls_is_off():
    assert DISTRIBUTION["HttpVersion"] == "http2and3"
    assert DISTRIBUTION["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    [origin] = DISTRIBUTION["Origins"]
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert origin["CustomOriginConfig"]["OriginSSLProtocols"] == ["TLSv1.2"]
    for behavior in [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]:
        # A redirect would come too late: the request has already sent its key unencrypted.
        assert behavior["ViewerProtocolPolicy"] == "https-only"


def test_cloudfront_presents_a_client_certificate_to_the_api():
    """API Gateway accepts nothing else: `test_only_clients_with_a_certificate_reach_a_locked_api`."""
    [origin] = DISTRIBUTION["Origins"]
    assert origin["DomainName"] == "origin.example.com"
    assert origin["CustomOriginConfig"]["OriginMtlsConfig"] == {"ClientCertificateArn": PARAMETERS["ClientCertificateArn"]}
    assert {behavior["TargetOriginId"] for behavior in [DISTRIBUTION["DefaultCacheBehavior"], *DISTRIBUTION["CacheBehaviors"]]} == {origin["Id"]}
    # The service's own domain, not the URL that it disables.
    assert re.fullmatch(source(EDGE)["Parameters"]["ApiDomain"]["AllowedPattern"], "origin.example.com")


def test_no_log_contains_paths_queries_keys_or_user_agents():
    fields = set(RESOURCES["AccessLogDelivery"]["RecordFields"])
    assert "c-ip" in fields
    assert not fields & {"cs-uri-stem", "cs-uri-query", "cs(User-Agent)", "cs(Referer)", "cs(Cookie)", "x-forwarded-for"}
    redacted = RESOURCES["FirewallLogging"]["RedactedFields"]
    assert {"UriPath": {}} in redacted and {"QueryString": {}} in redacted
    headers = {field["SingleHeader"]["Name"] for field in redacted if "SingleHeader" in field}
    assert headers >= {"authorization", "x-api-key", "user-agent", "cookie"}
    firewall = RESOURCES["Firewall"]
    for visible in [firewall, *firewall["Rules"]]:
        assert visible["VisibilityConfig"]["SampledRequestsEnabled"] is False


def test_both_logs_expire():
    groups = resources_of_type(source(EDGE)["Resources"], "AWS::Logs::LogGroup")
    assert len(groups) == 2
    for name, group in groups.items():
        assert group["Properties"]["RetentionInDays"] == {"Ref": "LogRetention"}, name


RULES = {rule["Name"]: rule for rule in RESOURCES["Firewall"]["Rules"]}
RATES = {name: rule["Statement"]["RateBasedStatement"] for name, rule in RULES.items() if "RateBasedStatement" in rule["Statement"]}
KEY = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn"


@pytest.mark.parametrize("name, body, seconds", [
    ("rate-per-address", "rate", "60"), ("keyless-per-address", "keyless", "60"), ("keyless", "keyless", "60"),
])
def test_a_client_over_a_limit_gets_a_standard_error(name, body, seconds):
    response = RULES[name]["Action"]["Block"]["CustomResponse"]
    assert (response["ResponseCode"], response["CustomResponseBodyKey"]) == (429, body)
    headers = {header["Name"]: header["Value"] for header in response["ResponseHeaders"]}
    assert headers == {"retry-after": seconds, "cache-control": "no-store"}
    content = RESOURCES["Firewall"]["CustomResponseBodies"][body]
    assert content["ContentType"] == "APPLICATION_JSON"
    assert json.loads(content["Content"]).keys() == {"error", "message"} and json.loads(content["Content"])["error"] == "rate_limited"


def test_keyless_floods_are_limited_per_address_and_in_total():
    per_address, in_total = RATES["keyless-per-address"], RATES["keyless"]
    assert (per_address["AggregateKeyType"], in_total["AggregateKeyType"]) == ("IP", "CONSTANT")
    # An earlier rule sets the labels.
    assert [RULES[name]["Priority"] for name in ["keyless-label", "keyless-per-address", "keyless"]] == [0, 2, 3]
    assert RULES["keyless-label"]["RuleLabels"] == [{"Name": "keyless"}] and RULES["keyless-label"]["Action"] == {"Count": {}}
    for statement in [per_address, in_total]:
        assert statement["ScopeDownStatement"] == {"LabelMatchStatement": {"Scope": "LABEL", "Key": "keyless"}}


def test_keyless_requests_are_those_without_a_well_formed_key():
    _, keyless = RULES["keyless-label"]["Statement"]["OrStatement"]["Statements"]
    found = keyless["NotStatement"]["Statement"]["OrStatement"]["Statements"]
    fields = [statement["RegexMatchStatement"]["FieldToMatch"] for statement in found]
    assert fields == [
        {"SingleHeader": {"Name": "authorization"}}, {"SingleHeader": {"Name": "x-api-key"}}, {"SingleQueryArgument": {"Name": "apikey"}},
    ]
    [pattern] = {statement["RegexMatchStatement"]["RegexString"] for statement in found}
    for text, is_key in [(f"Bearer {KEY}", True), (KEY, True), ("", False), ("Bearer x", False), (KEY[:-1], False), (KEY.upper(), False)]:
        assert bool(re.search(pattern, text)) is is_key, text


def test_a_made_up_key_does_not_lift_the_limits_for_public_content():
    public, _ = RULES["keyless-label"]["Statement"]["OrStatement"]["Statements"]
    assert public["RegexMatchStatement"]["FieldToMatch"] == {"UriPath": {}}
    pattern = public["RegexMatchStatement"]["RegexString"]
    # API Gateway decodes a path before it looks for a route.
    transformations = [each["Type"] for each in public["RegexMatchStatement"]["TextTransformations"]]
    assert transformations == ["URL_DECODE", "NORMALIZE_PATH"]
    for behavior in DISTRIBUTION["CacheBehaviors"]:
        path = behavior["PathPattern"].replace("*", "faf1d8a4/countries/US.svg")
        assert re.search(pattern, path), path
    # Clients with keys call these.
    functions = [source()["Resources"][f"{name}Function"]["Properties"] for name in ["Carriers", "Npa", "Format", "Search", "Mcp"]]
    paths = [event["Properties"]["Path"] for function in functions for event in function["Events"].values()]
    assert len(paths) >= 20 and not [path for path in paths if re.search(pattern, path)]


def test_keyless_floods_leave_the_shared_limits_to_clients_with_keys():
    """Requests per second: from one address, from one address without a key, and from everyone without a key."""
    limits, service = defaults(source(EDGE)), defaults(source())
    address, keyless_address, keyless = (
        int(limits[name]) / 60 for name in ["RequestsPerAddress", "KeylessRequestsPerAddress", "KeylessRequests"]
    )
    # A longer window would let an address send more than a route's limit for a while.
    assert {statement["EvaluationWindowSec"] for statement in RATES.values()} == {60}
    assert (address, keyless_address, keyless) == (100, 5, 50)
    assert address <= int(service["ThrottlingRate"]) / 2
    assert keyless <= int(service["ThrottlingRate"]) / 4 and keyless <= int(service["PublicThrottlingRate"])
    # Each limit is a parameter.
    changed = Values(source(EDGE), **PARAMETERS, RequestsPerAddress="11", KeylessRequestsPerAddress="12", KeylessRequests="13")
    rules = changed.resolve(source(EDGE)["Resources"]["Firewall"]["Properties"]["Rules"])
    found = [rule["Statement"]["RateBasedStatement"]["Limit"] for rule in rules if "RateBasedStatement" in rule["Statement"]]
    assert found == ["11", "12", "13"]


def test_the_firewall_never_judges_what_a_client_posts():
    """Text for `/v1/find` may contain log lines with attacks, paths and markup."""
    groups = {rule["Statement"]["ManagedRuleGroupStatement"]["Name"]: rule["Statement"]["ManagedRuleGroupStatement"]
              for rule in RULES.values() if "ManagedRuleGroupStatement" in rule["Statement"]}
    assert groups.keys() == {"AWSManagedRulesAmazonIpReputationList", "AWSManagedRulesKnownBadInputsRuleSet", "AWSManagedRulesCommonRuleSet"}
    del groups["AWSManagedRulesAmazonIpReputationList"]
    for name, group in groups.items():
        method = group["ScopeDownStatement"]["NotStatement"]["Statement"]["ByteMatchStatement"]
        assert (method["FieldToMatch"], method["PositionalConstraint"], method["SearchString"]) == ({"Method": {}}, "EXACTLY", "POST"), name


def test_the_stack_must_be_in_us_east_1():
    rule = source(EDGE)["Rules"]["OnlyInUsEast1"]
    assert all(VALUES.is_true(assertion["Assert"]) for assertion in rule["Assertions"])
    elsewhere = Values(source(EDGE), **PARAMETERS | {"AWS::Region": "eu-west-1"})
    assert not any(elsewhere.is_true(assertion["Assert"]) for assertion in rule["Assertions"])
