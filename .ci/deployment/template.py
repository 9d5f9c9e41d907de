"""The templates as CloudFormation gets them: with loops, SAM's resources and parameter values applied."""

import copy
import json
import os
import re
from functools import cache
from pathlib import Path

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
ERRORS_ALARMS, MONITORING = ROOT / "errors-alarms.yaml", ROOT / "monitoring.yaml"
EDGE = ROOT / "edge.yaml"
STACK, REGION, ACCOUNT = "numbers", "us-east-1", "123456789012"
PSEUDO_PARAMETERS = {
    "AWS::StackName": STACK, "AWS::Region": REGION, "AWS::AccountId": ACCOUNT, "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
NO_VALUE = object()
# Required by the translator and stand-ins; no test may reach a real account.
os.environ |= {"AWS_DEFAULT_REGION": REGION, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
os.environ.pop("AWS_PROFILE", None)


@cache
def source(path=TEMPLATE):
    """A template as written."""
    return yaml_parse(path.read_text())


def expand(value):
    """Expands each Fn::ForEach, as the transform AWS::LanguageExtensions does."""
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    expanded = {}
    for name, field in value.items():
        if not name.startswith("Fn::ForEach::"):
            expanded[name] = expand(field)
            continue
        variable, items, body = field
        for item in items:
            text = json.dumps(body).replace(f"${{{variable}}}", item).replace(f'{{"Ref": "{variable}"}}', f'"{item}"')
            expanded |= expand(json.loads(text))
    return expanded


def defaults(template):
    return {name: str(parameter["Default"]) for name, parameter in template["Parameters"].items() if "Default" in parameter}


def transform(template, **parameters):
    """Applies SAM's transform to a template. Parameters are resolved only where SAM resolves them."""
    template = copy.deepcopy(template)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"].setdefault("CodeUri", "s3://packages/function.zip")
    template["Globals"]["Function"].pop("CodeUri", None)
    values = defaults(template) | parameters
    # The managed policies the translator may attach, which it would otherwise fetch from AWS.
    policies = dict.fromkeys(["AWSXrayWriteOnlyAccess", "AWSXRayDaemonWriteAccess"], "arn:aws:iam::aws:policy/xray")
    translator = Translator(policies, Parser())
    return translator.translate(template, values)


class Values:
    """Resolves parameters in a template. References to resources become `<name>`."""

    def __init__(self, template, **parameters):
        self.parameters = PSEUDO_PARAMETERS | defaults(template) | parameters
        self.conditions, self.mappings = template.get("Conditions", {}), template.get("Mappings", {})

    def resolve(self, value):
        if isinstance(value, list):
            items = [self.resolve(item) for item in value]
            return [item for item in items if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            [(name, argument)] = value.items()
            if name == "Ref" or name.startswith("Fn::") or name == "Condition" and isinstance(argument, str):
                return self.function(name, argument)
        fields = {name: self.resolve(field) for name, field in value.items()}
        return {name: field for name, field in fields.items() if field is not NO_VALUE}

    def function(self, name, argument):
        match name:
            case "Ref" if argument == "AWS::NoValue":
                return NO_VALUE
            case "Ref" if isinstance(argument, dict):
                return self.function("Ref", self.resolve(argument))
            case "Ref":
                return self.parameters.get(argument, f"<{argument}>")
            case "Fn::GetAtt":
                return f"<{'.'.join(argument) if isinstance(argument, list) else argument}>"
            case "Fn::Sub":
                return self.substitute(argument)
            case "Fn::If":
                condition, then, otherwise = argument
                return self.resolve(then if self.is_true({"Condition": condition}) else otherwise)
            case "Fn::Join":
                return argument[0].join(map(str, self.resolve(argument[1])))
            case "Fn::Split":
                return self.resolve(argument[1]).split(argument[0])
            case "Fn::Select":
                return self.resolve(argument[1])[int(argument[0])]
            case "Fn::FindInMap":
                first, second, third = argument
                return self.mappings[first][second][third]
            case "Fn::Equals" | "Fn::Not" | "Fn::And" | "Fn::Or" | "Condition":
                return self.is_true({name: argument})
        raise NotImplementedError(f"unsupported function {name}: {argument}")

    def substitute(self, argument):
        text, variables = argument if isinstance(argument, list) else (argument, {})
        def value(match):
            name = match[1]
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            return str(self.resolve(variables[name]) if name in variables else self.function("Ref", name))
        return re.sub(r"\$\{([^}]+)\}", value, text)

    def is_true(self, condition):
        [(name, argument)] = condition.items()
        match name:
            case "Condition":
                return self.is_true(self.conditions[argument])
            case "Fn::Equals":
                first, second = (str(self.resolve(side)) for side in argument)
                return first == second
            case "Fn::Not":
                return not self.is_true(argument[0])
            case "Fn::And":
                return all(self.is_true(each) for each in argument)
            case "Fn::Or":
                return any(self.is_true(each) for each in argument)
        raise NotImplementedError(f"unsupported condition {name}")


def resources_of_type(resources, kind):
    return {name: resource for name, resource in resources.items() if resource["Type"] == kind}


@cache
def resources_with(**parameters):
    """The resources of the stack and its nested stacks with these parameters."""
    resources = resources_in(source(), **parameters)
    for nested in resources_of_type(resources, "AWS::CloudFormation::Stack").values():
        resources |= nested_resources(**nested["Properties"])
    return resources


def nested_resources(TemplateURL, Parameters):
    return created_in(expand(source(ROOT / TemplateURL)), **Parameters)


def resources_in(template, **parameters):
    return created_in(transform(template, **parameters), **parameters)


def created_in(template, **parameters):
    values = Values(template, **parameters)
    created = {
        name: resource
        for name, resource in template["Resources"].items()
        if "Condition" not in resource or values.is_true({"Condition": resource["Condition"]})
    }
    return {name: {**resource, "Properties": values.resolve(resource.get("Properties", {}))} for name, resource in created.items()}
