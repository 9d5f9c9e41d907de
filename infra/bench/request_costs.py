#!/usr/bin/env python3
"""Measures the CPU time that the worst requests take from `tnr serve`, per request and per request charged. Prints
Markdown. `worst_targets.txt` lists requests without a body, `worst_bodies.jsonl` requests that repeat text.

    cargo build --release --bin tnr
    infra/bench/request_costs.py
"""

import argparse
import http.client
import itertools
import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

BENCH = Path(__file__).parent
SAMPLE = BENCH.parent / "tnr/sample"
COMMON = {"--npa-report": "npa_report.csv", "--carriers": "carriers.csv"}
SAMPLE_REPORTS = {"--nanpa": "nanpa_utilized_codes.txt", "--cnac": "cnac_co_code_status.csv"}
PUBLISHED_REPORTS = {"--nanpa": "CoCodeAssignment_Utilized_AllStates_Public.zip", "--cnac": "COCodeStatus_ALL.zip"}
WORLDWIDE = """+442079460958 +8613123456789 +4930123456 +5491123456789 +912212345678 +390612345678 +525512345678
    +81312345678 +5511961234567 +12122345678""".split()
WARM_UP = 3
# A measurement ends after this much CPU time or time, in seconds.
MAX_CPU_TIME = 0.5
MAX_TIME = 4


class Request(NamedTuple):
    # As in the API description.
    endpoint: str
    name: str
    target: str
    body: bytes | None = None
    headers: dict[str, str] = {}


class Cost(NamedTuple):
    status: int
    # In microseconds.
    request: float
    # The requests charged for it; None for a public endpoint.
    charged: float | None

    @property
    def unit(self):
        return self.request / (self.charged or 1)


class Server:
    """`tnr serve` with two versions of the sample or, if TNR_FULL_SCALE_DATA is a folder with the published reports, of
    those."""

    def __init__(self, program, folder):
        published = os.environ.get("TNR_FULL_SCALE_DATA")
        self.has_published_data = published is not None
        self.program, self.environment = program, os.environ | {"TNR_DATA_DIR": folder}
        reports = (PUBLISHED_REPORTS if published else SAMPLE_REPORTS) | COMMON
        options = [[option, Path(published or SAMPLE) / file] for option, file in reports.items()]
        countries = sorted(Path(published, "world").glob("*.zip")) if published else []
        options += [["--ranges", f"{file.name[:2]}={file}"] for file in countries]
        # The first import omits the carriers file, so the second one changes many records.
        self.run_import(options[:3])
        time.sleep(1)
        self.past = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        time.sleep(2)
        self.run_import(options)
        self.key = self.run("keys", "create", "--name", "bench", "--per-day", "4000000000").strip()
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0"], env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        url = next(line.split("base URL")[1] for line in self.process.stdout if "base URL" in line)
        next(line for line in self.process.stdout if "Ctrl-C" in line)
        self.connection = http.client.HTTPConnection(urlsplit(url.strip()).netloc)

    def run(self, *arguments):
        command = [self.program, *arguments]
        return subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def run_import(self, options):
        self.run("import", *itertools.chain(*options), "--allow", "changes,losses,suspect,dates")

    def cpu_time(self):
        """The CPU time in seconds that the server has taken so far, including its embedded database."""
        # The name before the parenthesis may contain spaces.
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")

    def send(self, request):
        """Returns the response's status and the requests left in the daily quota. Repeats a request whose connection is
        closed."""
        method = "GET" if request.body is None else "POST"
        headers = {"X-API-Key": self.key, "Accept-Encoding": "gzip"} | request.headers
        while True:
            try:
                self.connection.request(method, request.target, request.body, headers)
                response = self.connection.getresponse()
                response.read()
                remaining = response.headers.get("X-RateLimit-Remaining")
                return response.status, remaining and int(remaining)
            except (OSError, http.client.HTTPException):
                self.connection.close()

    def measure(self, request):
        for _ in range(WARM_UP):
            _, before = self.send(request)
        started, cpu_before = time.monotonic(), self.cpu_time()
        for requests in itertools.count(1):
            status, after = self.send(request)
            assert status < 500, (status, request)
            is_done = requests % 8 == 0 and self.cpu_time() - cpu_before >= MAX_CPU_TIME
            if is_done or time.monotonic() - started >= MAX_TIME:
                break
        charged = None if before is None else (before - after) / requests
        return Cost(status, (self.cpu_time() - cpu_before) / requests * 1e6, charged)


def post(target, name, content_type, body):
    endpoint = urlsplit(target).path
    accept = {"/v1/format": "text/csv, */*;q=0.5", "/mcp": "application/json"}.get(endpoint, "*/*")
    headers = {"Content-Type": content_type, "Accept": accept}
    return Request(f"POST {endpoint}", name, target, body.encode(), headers)


def repeated(name, type="", start="", repeat="", times=1, then="", count=1, end="", get=None, post_to=None):
    """A request whose `count` pieces consist of text, repeated, and what follows `then`."""
    body = start + (repeat * times + then) * count + end
    if get is None:
        return post(post_to, name, type, body)
    endpoint = "/v1/format/{tn}" if get == "/v1/format/" else urlsplit(get).path
    return Request(endpoint, name, get + body)


def numbers(count):
    return list(itertools.islice(itertools.cycle(WORLDWIDE), count))


def call(tool, arguments):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return json.dumps(call)


def worst_requests(server):
    """Requests that are cheap to send and expensive to serve, at least one for each endpoint."""
    ocn = "6010" if server.has_published_data else "4070"
    for line in (BENCH / "worst_targets.txt").read_text().splitlines():
        if not line.startswith("#"):
            endpoint, target = line.split(" ")
            name = f"`{target.removeprefix('/v1')[:48]}`"
            yield Request(endpoint, name, target.replace("OCN", ocn).replace("PAST", server.past))
    for line in (BENCH / "worst_bodies.jsonl").read_text().splitlines():
        yield repeated(**json.loads(line))
    target = "/v1/format?include=all&cache=false&lang=de"
    yield post(target, "1,000 numbers abroad", "application/json", json.dumps(numbers(1000)))
    arguments = {"tn": "1"} | {f"a{n}": [1] for n in range(4000)}
    for name, body in [
        ("25 numbers", call("format_number", {"numbers": numbers(25)})),
        ("many arguments", call("format_number", arguments)),
    ]:
        yield post("/mcp", name, "application/json", body)


def print_row(endpoint, name, cost, single):
    endpoint = endpoint if endpoint.startswith("POST") else f"GET {endpoint}"
    status = "" if cost.status == 200 else f" ({cost.status})"
    charged = "public" if cost.charged is None else f"{cost.charged:.0f}"
    ratio = cost.unit / single.unit
    print(f"| `{endpoint}` | {name}{status} | {cost.request / 1000:.2f} | {charged} | {cost.unit:.0f} | {ratio:.1f} |")


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.program, folder)
        try:
            print_costs(server, options)
        finally:
            server.process.terminate()
            server.process.wait()


def print_costs(server, options):
    single_number = Request("/v1/format/{tn}", "a single number", "/v1/format/+12122345678")
    single = server.measure(single_number)
    print("| Endpoint | Worst request | CPU, ms | Charged | CPU per charged request, µs | x a single number |")
    print("|---|---|---:|---:|---:|---:|")
    print_row(*single_number[:2], single, single)
    costs = defaultdict(list)
    for request in worst_requests(server):
        if options.only in request.endpoint:
            costs[request.endpoint].append((server.measure(request), request.name))
    for endpoint, rows in sorted(costs.items()):
        rows.sort(key=lambda row: row[0].unit, reverse=True)
        for cost, name in rows if options.all else rows[:1]:
            print_row(endpoint, name, cost, single)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measures the cost of the worst requests.")
    parser.add_argument("--program", default="target/release/tnr", help="the program to measure")
    parser.add_argument("--only", default="", metavar="TEXT", help="only endpoints that contain this text")
    parser.add_argument("--all", action="store_true", help="every request, not only each endpoint's worst")
    main(parser.parse_args())
