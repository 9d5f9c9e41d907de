"""Invalid parameters are rejected before anything is created."""

import re

import pytest

from template import EDGE, TEMPLATE, Values, source

CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/1"
INVALID_VALUES = [
    ("CertificateArn", "api.example.com"), ("DomainName", "https://api.example.com"), ("AlarmEmail", "me"),
    ("ImportSchedule", "0 9 * * ? *"), ("FlagsBaseUrl", "flags.example.com"), ("FlagsBaseUrl", "https://a.example/?b"), ("CorsOrigins", "app.example.com"),
    ("NanpaSource", "report.zip"), ("OriginSecret", "secret"), ("Stage", "My stage"),
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


def test_opening_the_api_requires_clearing_the_previous_secret():
    secret = {"OriginSecret": "0" * 8 + "-" + "1" * 40, "FlagsBaseUrl": "https://api.example.com/flags"}
    before = {"OriginSecretBefore": secret["OriginSecret"]}
    assert violated_rules(**secret) == violated_rules(**secret, **before) == []
    assert violated_rules(**before)


def test_image_links_use_the_published_address():
    secret = "0" * 8 + "-" + "1" * 40
    assert any("FlagsBaseUrl" in rule for rule in violated_rules(OriginSecret=secret))


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
