"""CloudFront in front of the API: what it caches, forwards, and never logs."""

import re

from template import EDGE, ROOT, Values, defaults, resources_of_type, source

SECRET = "0" * 8 + "-" + "1" * 40
PARAMETERS = {
    "ApiDomain": "abc.execute-api.us-east-1.amazonaws.com", "OriginSecret": SECRET, "DomainName": "api.example.com",
    "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1",
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
    # The page depends on `Accept`, and the response for an unknown path depends on the client.
    paths = set(routes) - {None, "/"}
    assert set(cached) == {re.sub(r"\{.*\}", "*", path) for path in paths}
    assert {behavior["CachePolicyId"] for behavior in cached.values()} == {"<PublicCache>"}
    policy = RESOURCES["PublicCache"]["CachePolicyConfig"]
    assert policy["MinTTL"] == policy["DefaultTTL"] == 0 and policy["MaxTTL"] >= 86_400
    key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
    assert key["QueryStringsConfig"] == {"QueryStringBehavior": "none"}
    assert key["HeadersConfig"]["Headers"] == ["Origin"]


def test_cached_paths_forward_preflights_and_request_ids():
    for behavior in DISTRIBUTION["CacheBehaviors"]:
        assert behavior["OriginRequestPolicyId"] == "<PublicRequests>"
    forwarded = set(RESOURCES["PublicRequests"]["OriginRequestPolicyConfig"]["HeadersConfig"]["Headers"])
    cors = (ROOT / "shared/src/http/cors.rs").read_text()
    assert "ACCESS_CONTROL_REQUEST_METHOD" in cors
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


def test_requests_carry_the_origin_secret():
    [origin] = DISTRIBUTION["Origins"]
    assert origin["OriginCustomHeaders"] == [{"HeaderName": "x-origin-secret", "HeaderValue": SECRET}]
    both = [template["Parameters"]["OriginSecret"] for template in [source(), source(EDGE)]]
    assert all(parameter["NoEcho"] for parameter in both)
    assert both[0]["AllowedPattern"] == f"({both[1]['AllowedPattern']})?"


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


def test_an_address_over_its_limit_gets_a_standard_error():
    rule = RESOURCES["Firewall"]["Rules"][0]
    assert rule["Statement"]["RateBasedStatement"]["AggregateKeyType"] == "IP"
    assert rule["Action"]["Block"]["CustomResponse"]["ResponseCode"] == 429
    body = RESOURCES["Firewall"]["CustomResponseBodies"]["rate"]
    assert body["ContentType"] == "APPLICATION_JSON" and '"error":"rate_limited"' in body["Content"]


def test_the_limit_per_address_is_below_the_limit_per_route():
    per_second = int(defaults(source(EDGE))["RequestsPerAddress"]) / 300
    assert 50 <= per_second <= int(defaults(source())["ThrottlingRate"]) / 2


def test_the_stack_must_be_in_us_east_1():
    rule = source(EDGE)["Rules"]["OnlyInUsEast1"]
    assert all(VALUES.is_true(assertion["Assert"]) for assertion in rule["Assertions"])
    elsewhere = Values(source(EDGE), **PARAMETERS | {"AWS::Region": "eu-west-1"})
    assert not any(elsewhere.is_true(assertion["Assert"]) for assertion in rule["Assertions"])
