"""A stand-in for AWS (moto), and the part of the stack it supports."""

import contextlib
import io
import json
import logging
import os
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from unittest import mock

import boto3
from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.parsing import ResourceMap, get_model_map
from moto.server import ThreadedMotoServer
from samtranslator.yaml_helper import yaml_parse

from template import REGION, ROOT, Values, source, transform

PACKAGES = "packages"
logging.getLogger("werkzeug").setLevel(logging.ERROR)
SAM = Path(sys.executable).parent / "sam"
PROGRAMS = Path(os.environ.get("TNR_PROGRAM", ROOT / "target/debug/tnr")).absolute().parent
# SAM creates this stack once per account for `resolve_s3`. The tests create it, since the stand-in loses the tags
# that SAM looks for.
SAM_BUCKET_STACK = {
    "StackName": "aws-sam-cli-managed-default",
    "Tags": [{"Key": "ManagedStackSource", "Value": "AwsSamCli"}],
    "TemplateBody": json.dumps({
        "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {"SourceBucket": {"Value": {"Ref": "Bucket"}}},
    }),
}


# moto can create nested stacks, but not what these contain.
def supported_part(template, is_supported=lambda kind: kind in get_model_map() and kind != "AWS::CloudFormation::Stack"):
    """The template without the resources that moto does not support, or that refer to such resources."""
    resources = dict(template["Resources"])
    unsupported = {name for name, resource in resources.items() if not is_supported(resource["Type"])}
    while unsupported:
        for name in unsupported:
            del resources[name]
        unsupported = {
            name for name, resource in resources.items()
            if references(resource.get("Properties", {})) & (template["Resources"].keys() - resources.keys())
        }
    outputs = {
        name: output for name, output in template["Outputs"].items()
        if not references(output) & (template["Resources"].keys() - resources.keys())
    }
    return {**template, "Resources": resources, "Outputs": outputs}


def references(value):
    """The names of the resources and parameters a value refers to."""
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return {part.split("}")[0].split(".")[0] for part in value.split("${")[1:]} if isinstance(value, str) else set()
    found = set().union(*map(references, value.values()))
    if isinstance(value.get("Ref"), str):
        found.add(value["Ref"])
    if "Fn::GetAtt" in value:
        attribute = value["Fn::GetAtt"]
        found.add(attribute[0] if isinstance(attribute, list) else attribute.split(".")[0])
    return found


def stack_template(template=source()):
    """The parts of a stack that moto supports, as JSON. The default is the project's stack."""
    values = Values(template)
    # moto does not support CodeDeploy applications. Only a policy refers to this one.
    text = json.dumps(transform(template)).replace("${ServerlessDeploymentApplication}", "application")
    template = without_optional_items(json.loads(text))
    # SAM replaces references to versions with objects.
    variables = template["Resources"]["ProbeFunction"]["Properties"]["Environment"]["Variables"]
    variables.update({name: "version" for name in variables if name.endswith("_VERSION")})
    template = supported_part(template)
    # moto fails to describe a stack with resources that were not created.
    template["Resources"] = {
        name: resource for name, resource in template["Resources"].items()
        if "Condition" not in resource or values.is_true({"Condition": resource["Condition"]})
    }
    return json.dumps(template)


def without_optional_items(value):
    """Removes list items that exist only with a parameter, since moto does not."""
    if isinstance(value, list):
        return [without_optional_items(item) for item in value if not is_optional(item)]
    return {name: without_optional_items(field) for name, field in value.items()} if isinstance(value, dict) else value


def is_optional(item):
    return isinstance(item, dict) and item.get("Fn::If", [None])[-1] == {"Ref": "AWS::NoValue"}


def updatable_template():
    """The parts that moto can also update: no functions or their roles."""
    kinds = {"AWS::DynamoDB::Table", "AWS::SNS::Topic", "AWS::S3::Bucket"}
    return json.dumps(supported_part(transform(source()), lambda kind: kind in kinds))


CREATE, EXECUTE, DELETE = CloudFormationBackend.create_change_set, CloudFormationBackend.execute_change_set, ResourceMap.delete


def delete(resources):
    """Deletes a stack. Treats RetainExceptOnCreate, which the stand-in does not support, as Retain."""
    replace_policy(resources, "Retain")
    DELETE(resources)


def create_change_set(backend, *arguments, template, **named):
    """Applies SAM's transform, which the stand-in does not support."""
    parsed = yaml_parse(template)
    if "Transform" in parsed:
        template = stack_template(parsed)
    return CREATE(backend, *arguments, template=template, **named)


def execute_change_set(backend, change_set_name, stack_name=None):
    """Adds rollback: a failed creation deletes what was created, except retained resources. A failed update restores the
    previous state."""
    change_set = backend.describe_change_set(change_set_name)
    try:
        EXECUTE(backend, change_set_name, stack_name)
    except Exception as error:
        stack = change_set.stack
        if change_set.change_set_type != "CREATE":
            stack.status = "UPDATE_ROLLBACK_COMPLETE"
            stack._add_stack_event(stack.status, str(error))
            return
        replace_policy(stack.resource_map, "Delete")
        try:
            DELETE(stack.resource_map)
            stack.status = "ROLLBACK_COMPLETE"
        except Exception:
            stack.status = "ROLLBACK_FAILED"
        stack._add_stack_event(stack.status, str(error))


def replace_policy(resources, replacement):
    for resource in resources._resource_json_map.values():
        if resource.get("DeletionPolicy") == "RetainExceptOnCreate":
            resource["DeletionPolicy"] = replacement


PATCHES = [
    mock.patch.object(CloudFormationBackend, "create_change_set", create_change_set),
    mock.patch.object(CloudFormationBackend, "execute_change_set", execute_change_set),
    mock.patch.object(ResourceMap, "delete", delete),
]


@contextlib.contextmanager
def aws():
    """Runs the stand-in, with a function package in its S3, and points every AWS program at it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    for patch in PATCHES:
        patch.start()
    server.start()
    _, port = server.get_host_and_port()
    before = dict(os.environ)
    # The stand-in recognizes SAM's bucket in its own URLs only under this host name.
    os.environ |= {"AWS_ENDPOINT_URL": f"http://localhost:{port}", "AWS_REGION": REGION, "SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "1"}
    try:
        # Clears state from an earlier run.
        urllib.request.urlopen(f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset", data=b"").close()
        boto3.client("s3").create_bucket(Bucket=PACKAGES)
        boto3.client("s3").put_object(Bucket=PACKAGES, Key="function.zip", Body=package())
        boto3.client("cloudformation").create_stack(**SAM_BUCKET_STACK)
        yield os.environ["AWS_ENDPOINT_URL"]
    finally:
        os.environ.clear()
        os.environ |= before
        server.stop()
        for patch in PATCHES:
            patch.stop()


def package():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("bootstrap", "")
    return content.getvalue()


def sam(*arguments):
    """Runs SAM with the project's configuration, non-interactively."""
    command = [SAM, *arguments, "--config-file", str(ROOT / "samconfig.toml")]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
