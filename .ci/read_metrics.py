"""Starts the server, sends requests, and reads its metrics with Prometheus' own parser.

Usage: read_metrics.py TNR
"""

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

START_TIMEOUT_SECONDS = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url):
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return response.read().decode()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main(tnr):
    api, operations = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-sample", "--port", str(api), "--ops-address", f"127.0.0.1:{operations}", "--data-dir", folder]
        server = subprocess.Popen([tnr, "serve", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            get(f"http://127.0.0.1:{api}/health")
            families = list(text_string_to_metric_families(get(f"http://127.0.0.1:{operations}/metrics")))
        finally:
            server.terminate()
            if server.wait() != 0:
                sys.exit("the server did not stop cleanly")
    counted = [
        sample
        for family in families
        for sample in family.samples
        if sample.name == "tnr_http_requests_total" and sample.labels["route"] == "/health"
    ]
    if [sample.value for sample in counted] != [1.0]:
        sys.exit(f"one request to /health was counted as {counted}")
    for family in families:
        if not family.documentation or family.type not in ("counter", "gauge", "histogram"):
            sys.exit(f"{family.name} has no type or help text")
    print(f"{len(families)} metrics")


if __name__ == "__main__":
    main(*sys.argv[1:])
