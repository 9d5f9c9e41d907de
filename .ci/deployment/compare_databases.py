"""Serves the sample from three implementations of DynamoDB: the embedded one, moto and dynalite. Each gets its own
import. Every sample request and every awkward number must be answered alike, byte for byte, except for the version
of the data, which is its import time.

Usage: compare_databases.py TNR TOOLS, from the root of the project.
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from openapi.with_server import free_port, wait_until_it_answers
from replay_events import EVENTS, HEADERS, KEY, NUMBERS, http, requests_in

SAMPLE = Path("infra/local/sample")
REPORTS = [
    "--nanpa", SAMPLE / "nanpa_utilized_codes.txt", "--cnac", SAMPLE / "cnac_co_code_status.csv",
    "--npa-report", SAMPLE / "npa_report.csv", "--carriers", SAMPLE / "carriers.csv",
]
LOG = Path("target/compare_databases.log")
# Data versions and their import times.
TIMES = re.compile(r"\d{8}T\d{6}Z-\w{16}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*Z")
ENVIRONMENT = os.environ | {
    "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "RUST_LOG": "warn",
}


@contextlib.contextmanager
def running(*command):
    with LOG.open("a") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(port, process):
    for _ in range(300):
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), timeout=5).close()
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"{process.args[0]} does not answer; {LOG} says why")


@contextlib.contextmanager
def database(name, tools, folder):
    """Runs a database, and yields the arguments by which the program finds it."""
    if name == "embedded":
        yield ["--data-dir", folder]
        return
    port = str(free_port())
    commands = {
        "moto": [tools / "bin/moto_server", "-H", "127.0.0.1", "-p", port],
        "dynalite": [tools / "node_modules/.bin/dynalite", "--host", "127.0.0.1", "--port", port, "--createTableMs", "0"],
    }
    with running(*commands[name]) as process:
        wait_for(int(port), process)
        yield ["--endpoint-url", f"http://127.0.0.1:{port}"]


def run(tnr, *arguments):
    """Runs a command of the program, which must succeed, and returns its output."""
    done = subprocess.run([tnr, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout


def requests():
    for file in sorted(EVENTS.glob("*/requests.txt")):
        for name, *request in requests_in(file):
            yield f"{file.parent.name}/{name}", *request
    for number in NUMBERS:
        for target in [f"/v1/format/{number}", f"/v1/lookup/{number}", f"/v1/format?tn={number}"]:
            yield target, "GET", target, {"X-API-Key": KEY}


def answers(tnr, where):
    """The program's answers from a database, by request name."""
    port = free_port()
    with running(tnr, "serve", "--port", str(port), "--key", KEY, *where) as server:
        wait_until_it_answers(f"http://127.0.0.1:{port}", server, LOG)
        return {name: without_version(http(port, *request)) for name, *request in requests()}


def without_version(answer):
    status, headers, body = answer
    # An entity tag depends on the version.
    headers = {name: "…" if name == "etag" else TIMES.sub("…", headers[name]) for name in HEADERS if name in headers}
    return status, headers, TIMES.sub("…", body)


def main(tnr, tools):
    LOG.unlink(missing_ok=True)
    found = {}
    for name in ["embedded", "moto", "dynalite"]:
        with tempfile.TemporaryDirectory() as folder, database(name, Path(tools), folder) as where:
            run(tnr, "import", *REPORTS, *where)
            again = run(tnr, "import", "--json", *REPORTS, *where)
            found[name] = answers(tnr, where) | {"second import": TIMES.sub("…", again)}
            # On a busy machine moto scans a table longer than the program waits: 3.5 s alone, dynalite 0.3.
            if name != "moto":
                found[name]["verify"] = TIMES.sub("…", run(tnr, "verify", "--json", *where))
    expected = found["embedded"]
    differing = [
        f"{name}, {request}:\n  embedded {expected[request]}\n  {name} {answer}"
        for name in ["moto", "dynalite"] for request, answer in found[name].items() if answer != expected[request]
    ]
    print(*differing[:20], sep="\n")
    print(f"{len(expected)} answers from each of {len(found)} databases, {len(differing)} differ")
    return 1 if differing or len(expected) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
