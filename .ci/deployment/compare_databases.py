"""Serves the sample from three implementations of DynamoDB: the embedded one, moto and dynalite. Each gets its own
import. Every sample request and every unusual number must get the same response, byte for byte, except for the data
version, which is the import time.

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
from openapi.with_server import free_port, wait_until_ready
from replay_events import EVENTS, HEADERS, KEY, NUMBERS, http, requests_in

SAMPLE = Path("infra/tnr/sample")
REPORTS = [
    "--nanpa", SAMPLE / "nanpa_utilized_codes.txt", "--cnac", SAMPLE / "cnac_co_code_status.csv",
    "--npa-report", SAMPLE / "npa_report.csv", "--carriers", SAMPLE / "carriers.csv",
]
LOG = Path("target/compare_databases.log")
# Data versions and their import times.
TIMES = re.compile(r"\d{8}T\d{6}Z-\w{16}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|\+00:00)")
ENVIRONMENT = os.environ | {
    "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "RUST_LOG": "warn",
}


@contextlib.contextmanager
def run_in_background(*command):
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
    sys.exit(f"{process.args[0]} is not responding; see {LOG}")


@contextlib.contextmanager
def database(name, tools, folder):
    """Runs a database, and yields the program's options for it."""
    if name == "embedded":
        yield ["--data-dir", folder]
        return
    port = str(free_port())
    commands = {
        "moto": [tools / "bin/moto_server", "-H", "127.0.0.1", "-p", port],
        "dynalite": [tools / "node_modules/.bin/dynalite", "--host", "127.0.0.1", "--port", port, "--createTableMs", "0"],
    }
    with run_in_background(*commands[name]) as process:
        wait_for(int(port), process)
        yield ["--endpoint-url", f"http://127.0.0.1:{port}"]


def run(tnr, *arguments):
    """Runs one of the program's commands, which must succeed, and returns its output."""
    result = subprocess.run([tnr, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{arguments}: {result.stderr}")
    return result.stdout


def requests():
    for file in sorted(EVENTS.glob("*/requests.txt")):
        for name, *request in requests_in(file):
            yield f"{file.parent.name}/{name}", *request
    for number in NUMBERS:
        for target in [f"/v1/format/{number}", f"/v1/lookup/{number}", f"/v1/format?tn={number}"]:
            yield target, "GET", target, {"X-API-Key": KEY}


def responses_from(tnr, options):
    """The program's responses when it uses a database, by request name."""
    port = free_port()
    with run_in_background(tnr, "serve", "--port", str(port), "--key", KEY, *options) as server:
        wait_until_ready(f"http://127.0.0.1:{port}", server, LOG)
        return {name: remove_versions(http(port, *request)) for name, *request in requests()}


def remove_versions(response):
    status, headers, body = response
    # An entity tag depends on the version.
    headers = {name: "…" if name == "etag" else TIMES.sub("…", headers[name]) for name in HEADERS if name in headers}
    return status, headers, TIMES.sub("…", body)


def main(tnr, tools):
    LOG.unlink(missing_ok=True)
    results = {}
    for name in ["embedded", "moto", "dynalite"]:
        with tempfile.TemporaryDirectory() as folder, database(name, Path(tools), folder) as options:
            run(tnr, "import", *REPORTS, *options)
            again = run(tnr, "import", "--json", *REPORTS, *options)
            results[name] = responses_from(tnr, options) | {"second import": TIMES.sub("…", again)}
            # On a busy machine, moto takes longer to scan a table than the program waits (idle: 3.5 s, dynalite: 0.3 s).
            if name != "moto":
                results[name]["verify"] = TIMES.sub("…", run(tnr, "verify", "--json", *options))
    expected = results["embedded"]
    differences = [
        f"{name}, {request}:\n  embedded {expected[request]}\n  {name} {response}"
        for name in ["moto", "dynalite"] for request, response in results[name].items() if response != expected[request]
    ]
    print(*differences[:20], sep="\n")
    print(f"{len(expected)} responses from each of {len(results)} databases, {len(differences)} differ")
    return 1 if differences or len(expected) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
