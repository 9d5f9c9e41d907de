"""Starts the server with a collector, sends requests with and without a trace, and checks the exported spans,
the headers of database calls, and the log. Then checks that the server does not need the collector.

Usage: check_export.py TNR
"""

import gzip
import http.server
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import rotel
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

KEY = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
UNSAMPLED = "aaf92f3577b34da6a3ce929d0e0e4736"
NUMBER = "3052345678"
# A trace id that may be a phone number.
DECIMAL = NUMBER.zfill(32)
LIST = "/v1/carriers?limit=2"
TIMEOUT_SECONDS = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(handle):
    """Serves POST requests on a free port, and returns its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            status, kind, body = handle(self, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def get(url, target, headers={}, key=True, method="GET"):
    """The response's status and `traceparent`."""
    request = urllib.request.Request(url + target, headers=headers | ({"X-API-Key": KEY} if key else {}), method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers["traceparent"]
    except urllib.error.HTTPError as error:
        return error.code, error.headers["traceparent"]


def wait_until(condition, what):
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"timed out: {what}")
        time.sleep(0.1)


def is_up(url, target="/live"):
    try:
        return get(url, target)[0] == 200
    except OSError:
        return False


def is_open(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def traceparent(trace, flags="01"):
    return {"traceparent": f"00-{trace}-{PARENT}-{flags}", "tracestate": "vendor=opaque"}


def attributes(item):
    return {it.key: it.value.int_value if it.value.HasField("int_value") else it.value.string_value
            for it in item.attributes}


class Service:
    """A server whose database calls are recorded."""

    def __init__(self, tnr, folder, settings, log):
        port, endpoint = free_port(), serve(self.forward)
        self.calls, self.url = [], f"http://127.0.0.1:{port}"
        credentials = (Path(folder) / "dynamodb.env").read_text()
        environment = os.environ | dict(re.findall(r"^(\w+)=(.*)$", credentials, re.M))
        self.database = environment["AWS_ENDPOINT_URL_DYNAMODB"]
        environment |= {"RUST_LOG": "info"} | settings
        command = [tnr, "serve", "--port", str(port), "--endpoint-url", endpoint, "--drain", "0"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=log)
        wait_until(lambda: is_up(self.url, LIST), "the server starts")

    def forward(self, request, body):
        self.calls.append(request.headers)
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.database, body, headers)) as response:
                return response.status, response.headers["content-type"], response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["content-type"], error.read()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(TIMEOUT_SECONDS) == 0, "the server did not stop cleanly"


def check_export(tnr, folder):
    bodies = []

    def receive(request, body):
        is_gzip = request.headers["content-encoding"] == "gzip"
        bodies.append(gzip.decompress(body) if is_gzip else body)
        return 200, "application/x-protobuf", b""

    grpc, port = free_port(), free_port()
    agent = Path(rotel.__file__).parent / "rotel-agent"
    agent.chmod(0o755)
    collector = subprocess.Popen(
        [agent, "start", f"--otlp-grpc-endpoint=127.0.0.1:{grpc}", f"--otlp-http-endpoint=127.0.0.1:{port}",
         "--exporter=otlp", f"--otlp-exporter-endpoint={serve(receive)}", "--otlp-exporter-protocol=http",
         "--disable-batching"],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: is_open(port), "the collector starts")
        settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=ci%20run",
        }
        with open(f"{folder}/log", "w") as log:
            service = Service(tnr, folder, settings, log)
            service.calls.clear()
            status, listed = get(service.url, LIST, traceparent(TRACE))
            assert status == 200 and re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", listed), listed
            assert PARENT not in listed, "the response has the server's span"
            looked_up = get(service.url, "/v1/npa/305/nxx/234")
            assert looked_up[0] == 200
            # The call has the span's id, and a proxy may replace it without breaking the signature.
            call = service.calls[-1]
            assert call["traceparent"].split("-")[1] == looked_up[1].split("-")[1] and call["tracestate"] is None
            assert "traceparent" not in call["authorization"], call["authorization"]
            get(service.url, "/v1/npa/212/nxx/234", traceparent(UNSAMPLED, "00"))
            unsampled = service.calls[-1]
            assert unsampled["traceparent"].split("-")[1::2] == [UNSAMPLED, "00"], unsampled["traceparent"]
            assert unsampled["tracestate"] == "vendor=opaque"
            statuses = [
                get(service.url, target, headers, has_key)[0]
                for target, headers, has_key in [
                    (f"/v1/format/+1{NUMBER}?apiKey={KEY}", {}, False),
                    (f"/v1/format?tn={NUMBER}", {"traceparent": f"00-{DECIMAL}-{PARENT}-01"}, True),
                    (f"/v1/format/{NUMBER}", {"X-API-Key": KEY[:-1] + "x"}, False),
                    (f"/v1/{NUMBER}", {"traceparent": "00-no"}, True),
                    ("/health", {}, False),
                ]
            ]
            statuses.append(get(service.url, LIST, method="BREW")[0])
            assert statuses == [200, 200, 401, 404, 200, 405], statuses
            service.stop()
        wait_until(lambda: bodies, "the collector passes it on")
        time.sleep(1)
    finally:
        collector.terminate()
        collector.wait()
    log = Path(f"{folder}/log").read_text()
    assert log.count(f"trace_id={TRACE}") == 1 or log.count(f'trace_id="{TRACE}"') == 1, log
    check_privacy(bodies, log)
    check_traces(bodies, looked_up[1].split("-"), listed.split("-"), call["traceparent"])


def check_privacy(bodies, log):
    exported = b"".join(bodies).decode(errors="replace") + log
    for secret in [NUMBER, KEY, KEY[9:20], KEY[-6:], DECIMAL, "opaque"]:
        assert secret not in exported, f"{secret} was exported or logged"


def check_traces(bodies, looked_up, listed, call):
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    resources = [attributes(it.resource) for request in requests for it in request.resource_spans]
    assert all(it["service.name"] == "tnr" for it in resources), resources
    assert resources[0]["deployment.environment.name"] == "ci run", resources[0]
    spans = [span for request in requests for it in request.resource_spans for scope in it.scope_spans
             for span in scope.spans]
    assert not any(span.trace_id.hex() == UNSAMPLED for span in spans)

    def trace(trace_id):
        return {span.name: span for span in spans if span.trace_id.hex() == trace_id}

    given = trace(TRACE)
    assert list(sorted(given)) == ["GET /v1/carriers", "check key", "render"], list(given)
    server = given["GET /v1/carriers"]
    assert (server.parent_span_id.hex(), server.span_id.hex()) == (PARENT, listed[2])
    assert server.kind == Span.SPAN_KIND_SERVER and server.end_time_unix_nano > server.start_time_unix_nano
    assert all(span.parent_span_id == server.span_id for span in given.values() if span is not server)
    described = attributes(server)
    assert re.fullmatch("[0-9A-Za-z]{16}", described.pop("tnr.request_id"))
    assert described == {
        "http.request.method": "GET", "url.scheme": "http", "http.response.status_code": 200,
        "http.route": "/v1/carriers", "url.path": "/v1/carriers",
    }, described

    started = trace(looked_up[1])
    assert list(sorted(started)) == ["GET /v1/npa/{npa}/nxx/{nxx}", "GetItem exchanges", "check key", "render"], started
    root, read = started["GET /v1/npa/{npa}/nxx/{nxx}"], started["GetItem exchanges"]
    assert not root.parent_span_id and read.parent_span_id == root.span_id
    assert read.kind == Span.SPAN_KIND_CLIENT and read.span_id.hex() == call.split("-")[2]
    assert attributes(read) == {
        "db.system.name": "aws.dynamodb", "db.operation.name": "GetItem", "db.collection.name": "exchanges",
    }, attributes(read)

    names = {span.name for span in spans}
    # The last one has the conventions' name for an invented method.
    expected = {"GET /v1/format/{*tn}", "GET /v1/format", "GET", "GET /health", "_OTHER /v1/carriers"}
    assert expected <= names, names
    assert not any(span.status.code == Status.STATUS_CODE_ERROR for span in spans if span.kind == Span.SPAN_KIND_SERVER)
    print(f"{len(spans)} spans: {', '.join(sorted(names))}")


def check_outages(tnr, folder):
    """Neither a collector that refuses connections nor one that never responds slows requests down."""
    with socket.socket() as hanging:
        hanging.bind(("127.0.0.1", 0))
        hanging.listen()
        for port in [free_port(), hanging.getsockname()[1]]:
            settings = {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{port}",
                # Longer than `get` waits.
                "OTEL_EXPORTER_OTLP_TIMEOUT": "10000",
                "OTEL_BSP_SCHEDULE_DELAY": "10",
            }
            with open(f"{folder}/log", "w") as log:
                service = Service(tnr, folder, settings, log)
                text = Path(f"{folder}/log").read_text
                for _ in range(20):
                    assert get(service.url, LIST)[0] == 200
                wait_until(lambda: "failed to export telemetry" in text(), "the export fails")
                assert get(service.url, LIST)[0] == 200
                service.stop()
            assert text().count("failed to export telemetry") == 1, text()


def main(tnr):
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        database = subprocess.Popen(
            [tnr, "dynamodb", "--data-dir", folder, "--port", str(port), "--key", KEY], stdout=subprocess.DEVNULL
        )
        try:
            wait_until(lambda: is_open(port) and (Path(folder) / "dynamodb.env").exists(), "the database starts")
            check_export(tnr, folder)
            check_outages(tnr, folder)
        finally:
            database.terminate()
            database.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
