#!/usr/bin/env python3
"""Runs each example against the service at TNR_URL with the key in TNR_KEY, and compares its output with
docs/examples/expected.txt. A proxy in between rejects requests as the service does when a quota is exhausted, to
catch an example that does not wait for `Retry-After`.

Usage: run_examples.py TOOLS, through with_server.py, from the root of the project
"""

import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL = os.environ["TNR_URL"]
KEY = os.environ["TNR_KEY"]
UNKNOWN_KEY = "tnr_live_0000000000000000000000000000000000"
EXAMPLES = pathlib.Path("docs/examples")
RUN_TIMEOUT_SECONDS = 60
ENTITY_HEADERS = ["Authorization", "Content-Type", "Link", "Retry-After", "WWW-Authenticate"]


def commands(tools):
    return {
        "Python": [sys.executable, str(EXAMPLES / "python" / "numbers_api.py")],
        "TypeScript": ["node", f"{tools}/typescript/out/numbers_api.js"],
        "Go": [f"{tools}/numbers"],
        "Rust": [f"{tools}/rust/debug/numbers-api-example"],
    }


class Proxy(http.server.ThreadingHTTPServer):
    """Rejects each request the first time, and forwards it the second time."""

    def __init__(self, retry_after):
        super().__init__(("127.0.0.1", 0), Handler)
        self.retry_after = retry_after
        self.rejected_at = {}
        self.faults = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        first, now = self.server.rejected_at.get((self.command, self.path)), time.monotonic()
        if first is None:
            self.server.rejected_at[self.command, self.path] = now
            self.reject()
        elif now - first < self.server.retry_after:
            self.server.faults.append(f"{self.path} was retried after {now - first:.1f} s")
            self.reject()
        else:
            self.forward(body)

    do_GET = do_POST = respond

    def reject(self):
        reset = int(time.time()) + self.server.retry_after
        details = {"limit_type": "minute", "limit": 1, "remaining": 0, "reset": reset}
        body = {"error": "rate_limited", "message": "Per-minute quota exhausted", "details": details}
        headers = {"Content-Type": "application/json", "Retry-After": str(self.server.retry_after)}
        self.respond(429, headers, json.dumps(body).encode())

    def forward(self, body):
        headers = {name: self.headers[name] for name in ENTITY_HEADERS if name in self.headers}
        request = urllib.request.Request(
            URL + self.path, method=self.command, headers=headers, data=body or None
        )
        try:
            response = urllib.request.urlopen(request, timeout=RUN_TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            kept = {name: response.headers[name] for name in ENTITY_HEADERS if name in response.headers}
            self.respond(response.status, kept, response.read())

    def respond(self, status, headers, body):
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def proxy(retry_after):
    server = Proxy(retry_after)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def run(command, url, key):
    environment = os.environ | {"TNR_URL": url, "TNR_KEY": key}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=RUN_TIMEOUT_SECONDS)


def check_rejection(command, url, key, expected):
    """The error if a program does not report a rejected request."""
    result = run(command, url, key)
    # If the program is a script, other lines contain its name and a line number.
    if result.returncode == 0 or expected not in result.stderr or result.stdout:
        return [f"must fail with '{expected}', got {result.returncode} {result.stdout}{result.stderr}"]
    return []


def check_example(command):
    """The errors in one example, one sentence each."""
    expected = (EXAMPLES / "expected.txt").read_text()
    with proxy(retry_after=1) as busy:
        result = run(command, busy.url, KEY)
        found = list(busy.faults)
    if (result.returncode, result.stdout) != (0, expected):
        found.append(f"must print\n{expected}got {result.returncode}\n{result.stdout}{result.stderr}")
    if len(busy.rejected_at) != 5:
        found.append(f"must send exactly five requests, got {sorted(busy.rejected_at)}")
    found += check_rejection(command, URL, UNKNOWN_KEY, "request failed: 401 unauthorized: ")
    with proxy(retry_after=3600) as exhausted:
        found += check_rejection(command, exhausted.url, KEY, "request failed: 429 rate_limited: ")
    return found


def main(tools):
    by_language = commands(tools)
    with ThreadPoolExecutor() as pool:
        errors = dict(zip(by_language, pool.map(check_example, by_language.values())))
    wrong = [f"{language}: {error}" for language, found in errors.items() for error in found]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{', '.join(by_language)}: each prints the expected output, waits when told to, and reports errors")


if __name__ == "__main__":
    main(*sys.argv[1:])
