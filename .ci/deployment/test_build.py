"""`sam build` finds each function's program. SAM and cargo-lambda are the real ones, but the compiler is not: the
programs were compiled for the tests, and compiling one again for Lambda's target takes minutes."""

import os
import subprocess

from stand_in import PROGRAMS, SAM
from template import ROOT, resources_of_type, source

CARGO = """#!/bin/sh
case "$1" in lambda) exec cargo-lambda "$@" ;; build) ;; *) exec {cargo} "$@" ;; esac
while [ "$1" != --bin ]; do shift; done
folder=$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/debug
mkdir -p "$folder" && ln -f "{programs}/$2" "$folder/$2"
"""


def test_sam_builds_every_function_with_its_own_program(tmp_path):
    cargo = tmp_path / "cargo"
    real = subprocess.run(["sh", "-c", "command -v cargo"], check=True, capture_output=True, text=True).stdout.strip()
    cargo.write_text(CARGO.format(cargo=real, programs=PROGRAMS))
    cargo.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}:{SAM.parent}:{os.environ['PATH']}", "CARGO": str(cargo), "CARGO_LAMBDA_COMPILER": "cargo", "SAM_BUILD_MODE": "debug",
        "CARGO_TARGET_DIR": str(tmp_path / "target"), "SAM_CLI_TELEMETRY": "0",
    }
    command = [SAM, "build", "--build-dir", tmp_path / "built", "--parameter-overrides", "Architecture=x86_64"]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    for name, function in resources_of_type(source()["Resources"], "AWS::Serverless::Function").items():
        program = PROGRAMS / function["Metadata"]["BuildProperties"]["Binary"]
        assert (tmp_path / "built" / name / "bootstrap").stat().st_size == program.stat().st_size, name
    assert {path.name for path in (tmp_path / "built").iterdir()} >= {"template.yaml", "Alarms", "ErrorsAlarms"}
