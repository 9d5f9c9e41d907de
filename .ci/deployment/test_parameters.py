"""Invalid parameters are rejected before anything is created."""

import re

import pytest

from template import EDGE, TEMPLATE, Values, source

CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/1"
INVALID_VALUES = [
    ("CertificateArn", "api.example.com"), ("DomainName", "https://api.example.com"), ("AlarmEmail", "me"),
    ("ImportSchedule", "0 9 * * ? *"), ("FlagsBaseUrl", "flags.example.com"), ("FlagsBaseUrl", "https://a.example/?b"), ("CorsOrigins", "app.example.com"),
    ("NanpaSource", "report.zip"), ("ClientCertificates", "https://a.example/ca.pem"), ("PublicUrl", "api.example.com"),
    ("PublicUrl", "https://api.example.com/"), ("Stage", "My stage"), ("Countries", "gb"), ("Countries", "GB, FR"), ("Countries", "GB,"),
    ("OnFailure", "failed-imports"), ("OnFailure", "arn:aws:s3:::bucket"), ("TracesEndpoint", "collector:4318"), ("PermissionsBoundary", "required"),
]


def violated_rules(**parameters):
    """The failed assertions in the template's rules."""
    values = Values(source(), **parameters)
    matching = [rule for rule in source()["Rules"].values() if values.is_true(rule["RuleCondition"])]
    assertions = [assertion for rule in matching for assertion in rule["Assertions"]]
    return [assertion["AssertDescription"] for assertion in assertions if not values.is_true(assertion["Assert"])]


def test_a_domain_requires_a_certificate():
    assert violated_rules() == []
    assert violated_rules(DomainName="api.example.com", CertificateArn=CERTIFICATE) == []
    assert violated_rules(DomainName="api.example.com") and violated_rules(CertificateArn=CERTIFICATE)


def test_a_locked_api_needs_a_domain_and_its_public_addresses():
    """API Gateway's own URL is disabled then, so neither links nor checks may use it."""
    domain = {"DomainName": "origin.example.com", "CertificateArn": CERTIFICATE}
    locked = {"ClientCertificates": "s3://bucket/ca.pem", "PublicUrl": "https://api.example.com", "FlagsBaseUrl": "https://api.example.com/flags"}
    assert violated_rules(**domain, **locked) == []
    for name, value in locked.items():
        assert re.fullmatch(source()["Parameters"][name]["AllowedPattern"], value)
    assert [name in rule for name, rule in zip(["DomainName"], violated_rules(**locked), strict=True)] == [True]
    for name in ["PublicUrl", "FlagsBaseUrl"]:
        [rule] = violated_rules(**domain, **locked | {name: ""})
        assert name in rule


@pytest.mark.parametrize("name, value", INVALID_VALUES)
def test_invalid_values_do_not_match_their_parameters_pattern(name, value):
    assert not re.fullmatch(source()["Parameters"][name]["AllowedPattern"], value)


@pytest.mark.parametrize("path", [TEMPLATE, EDGE], ids=["template", "edge"])
def test_every_default_is_allowed_and_every_parameter_is_described(path):
    for name, parameter in source(path)["Parameters"].items():
        assert parameter["Description"], name
        if "Default" in parameter and "AllowedPattern" in parameter:
            assert re.fullmatch(parameter["AllowedPattern"], parameter["Default"]), name
        if "AllowedValues" in parameter:
                assert parameter["Default"] in parameter["AllowedValues"], name


def test_no_parameter_is_required():
    assert all("Default" in parameter for parameter in source()["Parameters"].values())
