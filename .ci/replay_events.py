"""Sends every sample request and requests with awkward characters through the gateway of `cargo lambda watch`, and
every complete event through `cargo lambda invoke`. Each response must match the local server's, byte for byte.

Usage: replay_events.py TNR CARGO_LAMBDA, from the root of the project.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

KEY = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn"
DYNAMODB, S3, LOCAL, WATCH = 8000, 8001, 3999, 9000
EVENTS = Path("events")
# Makes links to images the same on both ports.
os.environ["FLAGS_BASE_URL"] = "http://localhost:9000/flags"
HEADERS = [
    "content-type", "cache-control", "etag", "link", "allow", "www-authenticate", "retry-after", "vary",
    "x-content-type-options", "access-control-allow-origin", "access-control-allow-methods", "content-disposition",
]
NUMBERS = [
    "+13052345678", "%2B13052345678", "(305)%20234-5678", "305%2F234%2F5678", "305%3F2345678",
    "305%23234%235678", "305%252345678", "1+305+234+5678", "tel:%2B1-305-234-5678;ext=5",
    "%EF%BC%8B1%20305%20234%205678", "1-800-FLOWERS", "%FF305",
]


class AnyStatus(urllib.request.HTTPErrorProcessor):
    """Accepts a response with any status."""

    def http_response(self, request, response):
        return response


def request_until_ready(send):
    """The first response other than 503: on a busy machine a database may be too slow for a starting function."""
    for _ in range(5):
        status, found, body = send()
        if status != 503:
            break
        time.sleep(5)
    return status, found, body


def http(port, method, target, headers, body=None):
    """A response's status, significant headers and body."""
    return request_until_ready(lambda: http_once(port, method, target, headers, body))


def http_once(port, method, target, headers, body):
    """Sends a request with its target unchanged."""
    data = None if body is None else body.encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{target}", data, headers, method=method)
    with urllib.request.build_opener(AnyStatus).open(request, timeout=600) as response:
        found = {name: response.headers[name] for name in HEADERS if response.headers[name]}
        return without_address(response.status, found, response.read().decode(errors="backslashreplace"))


# The addresses of the local servers, and of API Gateway in the events.
ADDRESS = re.compile(r"https?://(localhost|127\.0\.0\.1:[0-9]+|\w+\.execute-api\.us-east-1\.amazonaws\.com)")


def without_address(status, found, body):
    """Removes what depends on the address of a request: links in feeds, problem details and API descriptions, which their
    entity tags cover, and how long a description may be cached. Also removes the request id of problem details."""
    is_description = body.startswith('{"openapi"')
    if is_description:
        body = re.sub(r'"servers":\[.*?\],"paths"', '"paths"', body).replace("{address}", "")
    elif found.get("content-type") == "application/problem+json":
        body = re.sub(r'"request_id":"[^"]+"', '"request_id":"…"', body)
    elif found.get("content-type") != "application/atom+xml":
        return status, found, body
    omitted = {"etag", "cache-control"} if is_description else {"etag"}
    found = {name: value for name, value in found.items() if name not in omitted}
    return status, found, ADDRESS.sub("", body)


def wait_for(port, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} exited; see target/replay_events.log")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    sys.exit(f"nothing is listening on port {port}")


def target_of(event):
    """The URL that would cause the event."""
    parameters = event.get("pathParameters") or {}
    quote = lambda text: urllib.parse.quote(text, safe="")
    _, _, route = event["routeKey"].partition(" ")
    path = "/".join(
        quote(parameters[segment.strip("{}+")]) if segment.startswith("{") else segment
        for segment in (route or urllib.parse.quote(event["rawPath"])).split("/")
    )
    return f"{path}?{event['rawQueryString']}" if event.get("rawQueryString") else path


def requests_in(file):
    """A file's requests as name, method, target, headers and body; see sample_requests.rs."""
    requests = []
    for line in file.read_text().replace("{key}", KEY).splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith(" ") and line.lstrip().startswith(">"):
            text = line.lstrip()[1:].removeprefix(" ")
            requests[-1][4] = f"{requests[-1][4] or ''}{text}\n"
            continue
        name, _, value = (part.strip() for part in line.partition(":"))
        if line.startswith(" "):
            headers = requests[-1][3]
            headers.pop(name, None)
            headers.update({name: value} if value else {})
        else:
            method, target = value.split()
            requests.append([name, method, target, {"authorization": f"Bearer {KEY}"}, None])
    return requests


def compare(name, from_lambda, from_local, failures):
    if from_lambda != from_local:
        failures.append(f"{name}:\n  lambda {from_lambda}\n  local  {from_local}")


def invoke(cargo_lambda, function, file):
    command = [cargo_lambda, "lambda", "invoke", function, "--data-file", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if result.returncode != 0:
        sys.exit(f"{file}: {result.stderr}")
    return json.loads(result.stdout)


def invoke_api(cargo_lambda, function, file):
    response = invoke(cargo_lambda, function, file)
    found = {name: response["headers"][name] for name in HEADERS if name in response["headers"]}
    return without_address(response["statusCode"], found, response.get("body") or "")


def replay(cargo_lambda):
    failures, count = [], 0
    for requests in sorted(EVENTS.glob("*/requests.txt")):
        function = requests.parent.name
        for name, *request in requests_in(requests):
            compare(f"{function}/{name}", http(WATCH, *request), http(LOCAL, *request), failures)
            count += 1
        for file in sorted(requests.parent.glob("*.json")):
            event = json.loads(file.read_text())
            method = event["requestContext"]["http"]["method"]
            from_lambda = request_until_ready(lambda: invoke_api(cargo_lambda, function, file))
            from_local = http(LOCAL, method, target_of(event), event["headers"], event.get("body"))
            compare(file, from_lambda, from_local, failures)
            count += 1
    for number in NUMBERS:
        for target in [f"/v1/format/{number}", f"/v1/format?tn={number}"]:
            key = {"X-API-Key": KEY}
            compare(target, http(WATCH, "GET", target, key), http(LOCAL, "GET", target, key), failures)
            count += 1
    for file in sorted((EVENTS / "ingest").glob("*.json")):
        report = invoke(cargo_lambda, "ingest", file)
        if report["outcome"] != "unchanged":
            failures.append(f"{file}: {report}")
        count += 1
    return failures, count


def main(tnr, cargo_lambda):
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        log = open("target/replay_events.log", "w")

        def start(*command):
            processes.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))

        try:
            start(tnr, "dynamodb", "--port", str(DYNAMODB), "--key", KEY, "--data-dir", folder)
            wait_for(DYNAMODB, processes[-1])
            endpoint = f"http://127.0.0.1:{DYNAMODB}"
            # The server writes this once the tables exist.
            credential = Path(folder, "dynamodb.env")
            while not credential.exists():
                time.sleep(0.1)
            variables = credential.read_text().splitlines()
            os.environ.update(line.split("=", 1) for line in variables)
            start(tnr, "serve", "--port", str(LOCAL), "--key", KEY, "--endpoint-url", endpoint)
            wait_for(LOCAL, processes[-1])
            # The server responds once data and the key are stored; until then, a function would reject the key.
            http(LOCAL, "GET", "/v1/carriers?limit=1", {"X-API-Key": KEY})
            # The import reads no local files, so this folder acts as S3, and its subfolder sample as a bucket.
            start(sys.executable, "-m", "http.server", str(S3), "--bind", "127.0.0.1",
                  "--directory", "infra/tnr")
            wait_for(S3, processes[-1])
            # Leaves CORS to the functions, instead of cargo lambda.
            start(cargo_lambda, "lambda", "watch", "--invoke-port", str(WATCH), "--disable-cors",
                  "--env-file", "infra/tnr/watch.env")
            wait_for(WATCH, processes[-1])
            failures, count = replay(cargo_lambda)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
    if failures:
        sys.exit("\n".join(failures) + f"\n{len(failures)} of {count} responses differ")
    print(f"{count} requests and events: the functions and the local server agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
