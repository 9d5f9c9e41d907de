"""Settings reach the alias: any change to a function publishes a new version."""

import copy

import pytest

from template import resources_of_type, resources_in, source, resources_with

PARAMETERS = source()["Parameters"]
# Properties of the function itself; changing them publishes no version.
UNVERSIONED_PROPERTIES = {"Tags", "ReservedConcurrentExecutions"}


def other_value(name):
    """A different value for a parameter."""
    parameter = PARAMETERS[name]
    default = parameter.get("Default", "")
    if "AllowedValues" in parameter:
        return next(str(value) for value in parameter["AllowedValues"] if value != default)
    return str(default + 1) if parameter["Type"] == "Number" else "another-value"


def versions(resources):
    """Each aliased function's version. A different logical ID or properties mean a different version."""
    return {
        resource["Properties"]["FunctionName"].strip("<>"): (name, resource["Properties"].get("Description"))
        for name, resource in resources_of_type(resources, "AWS::Lambda::Version").items()
    }


def functions(resources):
    return {
        name: {field: value for field, value in resource["Properties"].items() if field not in UNVERSIONED_PROPERTIES}
        for name, resource in resources_of_type(resources, "AWS::Lambda::Function").items()
    }


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_changed_parameter_publishes_only_the_functions_that_use_it(name):
    before, after = resources_with(), resources_with(**{name: other_value(name)})
    functions_before, functions_after = functions(before), functions(after)
    affected = {function for function in versions(before) if functions_before[function] != functions_after[function]}
    published = {function for function, version in versions(after).items() if version != versions(before)[function]}
    assert published == affected


def test_every_function_parameter_is_tested():
    used = set()
    for name in PARAMETERS:
        after = functions(resources_with(**{name: other_value(name)}))
        if any(after[function] != before for function, before in functions(resources_with()).items()):
            used.add(name)
    assert {"FlagsBaseUrl", "CorsOrigins", "LogLevel", "Architecture", "Monitoring", "Tracing", "TracesEndpoint"} <= used


def test_every_function_behind_the_api_has_an_alias():
    assert set(versions(resources_with())) == {
        name
        for name, resource in resources_of_type(source()["Resources"], "AWS::Serverless::Function").items()
        if any(event["Type"] == "HttpApi" for event in resource["Properties"].get("Events", {}).values())
    }


def test_a_changed_template_publishes_a_version():
    before = versions(resources_with())
    edited = copy.deepcopy(source())
    edited["Globals"]["Function"]["Timeout"] += 1
    after = versions(resources_in(edited))
    assert all(after[function] != version for function, version in before.items())


def longest_value(name):
    parameter = PARAMETERS[name]
    if "AllowedValues" in parameter:
        return max(map(str, parameter["AllowedValues"]), key=len)
    return "x" * parameter.get("MaxLength", 1000) if parameter["Type"] == "String" else "1"


def test_version_descriptions_stay_within_lambdas_limit():
    resources = resources_with(**{name: longest_value(name) for name in PARAMETERS})
    for function, (_, description) in versions(resources).items():
        assert len(description) <= 256, function
