"""The archive of functions is complete: unpacked in an empty folder, SAM deploys it to the stand-in without the checkout.
Its programs are those compiled for the tests, without symbols."""

import os
import re
import subprocess
import zipfile

import boto3
import pytest

from stand_in import PROGRAMS, SAM, aws
from template import EDGE, ERRORS_ALARMS, MONITORING, ROOT, TEMPLATE, resources_of_type, source

FUNCTIONS = {
    function["Metadata"]["BuildProperties"]["Binary"]: name
    for name, function in resources_of_type(source()["Resources"], "AWS::Serverless::Function").items()
}
# Lambda's limit for an unpacked function (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html).
MAX_BYTES = 250 * 1024 * 1024


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The unpacked archive."""
    functions, extras, output, unpacked = (tmp_path_factory.mktemp(name) for name in ["functions", "extras", "output", "unpacked"])
    for name in FUNCTIONS:
        (functions / name).mkdir()
        subprocess.run(["strip", "-o", functions / name / "bootstrap", PROGRAMS / name], check=True)
    for name in ["THIRD-PARTY-NOTICES.txt", "format.cdx.json", "tnr.cdx.json"]:
        (extras / name).write_text(name)
    pack = [ROOT / ".ci/release/pack_functions", "x86_64", functions, extras, output]
    subprocess.run(pack, check=True, env=os.environ | {"ZIPOPT": "-1"})
    [packed] = output.iterdir()
    assert re.fullmatch(r"functions-\d+\.\d+\.\d+-x86_64\.zip", packed.name)
    subprocess.run(["unzip", "-q", packed, "-d", unpacked], check=True)
    return unpacked


def test_the_archive_has_functions_templates_settings_and_notices(archive):
    functions = [f"{name}.zip" for name in FUNCTIONS]
    templates = [path.name for path in [TEMPLATE, ERRORS_ALARMS, MONITORING, EDGE]]
    notices = ["LICENSE", "NOTICE", "THIRD-PARTY-NOTICES.txt", "format.cdx.json"]
    assert {path.name for path in archive.iterdir()} == {*functions, *templates, *notices, "samconfig.toml"}
    for name in functions:
        [program] = zipfile.ZipFile(archive / name).infolist()
        assert program.filename == "bootstrap" and program.external_attr >> 16 & 0o111
        assert program.file_size < MAX_BYTES


def test_the_packed_template_differs_only_in_where_the_functions_are(archive):
    packed = source(archive / "template.yaml")
    assert packed["Parameters"]["Architecture"].pop("Default") == "x86_64"
    original = {**source(), "Parameters": {**source()["Parameters"], "Architecture": packed["Parameters"]["Architecture"]}}
    for name, logical_id in FUNCTIONS.items():
        function = original["Resources"][logical_id]
        moved = {"Type": function["Type"], "Properties": {**function["Properties"], "CodeUri": f"{name}.zip"}}
        assert packed["Resources"][logical_id] == moved
        original["Resources"] = {**original["Resources"], logical_id: moved}
    common = original["Globals"]["Function"]
    original["Globals"] = {"Function": {name: value for name, value in common.items() if name != "CodeUri"}}
    assert packed == original


def test_sam_deploys_the_archive(archive):
    with aws():
        result = subprocess.run([SAM, "deploy"], cwd=archive, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        assert result.returncode == 0, result.stdout + result.stderr
        deployed = {function["FunctionName"] for function in boto3.client("lambda").list_functions()["Functions"]}
        assert len(deployed) == len(FUNCTIONS) and "CodeDeployHook_telephone-numbers" in deployed
        [bucket] = [each["Name"] for each in boto3.client("s3").list_buckets()["Buckets"] if "sam" in each["Name"]]
        storage = boto3.resource("s3").Bucket(bucket)
        uploaded = {each.key: each.get()["Body"].read() for each in storage.objects.filter(Prefix="telephone-numbers/")}
    packages = [content for key, content in uploaded.items() if not key.endswith(".template")]
    assert sorted(packages) == sorted((archive / f"{name}.zip").read_bytes() for name in FUNCTIONS)
    templates = b"".join(content for key, content in uploaded.items() if key.endswith(".template"))
    assert b"ErrorRateAlarm" in templates and b"${Name}ErrorsAlarm" in templates
