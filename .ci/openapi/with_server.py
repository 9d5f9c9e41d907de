"""Runs a command while the local server serves the sample data. The command finds the server's URL in TNR_URL, its
key in TNR_KEY and its folder in TNR_FOLDER. Exits with the command's exit code.

Usage: with_server.py TNR COMMAND [ARGUMENT...]
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# A key in the service's format, with a valid checksum.
KEY = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn"
START_TIMEOUT_SECONDS = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_ready(url, server, log):
    """Waits until the sample is stored and served."""
    request = urllib.request.Request(f"{url}/v1/carriers?limit=1", headers={"X-API-Key": KEY})
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            sys.exit(f"the server exited; see {log}")
        try:
            urllib.request.urlopen(request, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    sys.exit(f"the server did not respond within {START_TIMEOUT_SECONDS} s; see {log}")


def main(tnr, *command):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    # Several of these may run at once.
    log = f"target/{os.path.basename(command[0])}_server.log"
    with tempfile.TemporaryDirectory() as folder, open(log, "w") as output:
        server = subprocess.Popen(
            [tnr, "serve", "--port", str(port), "--key", KEY, "--data-dir", folder],
            stdout=output, stderr=subprocess.STDOUT,
        )
        try:
            wait_until_ready(url, server, log)
            environment = os.environ | {"TNR_URL": url, "TNR_KEY": KEY, "TNR_FOLDER": folder}
            return subprocess.run(command, env=environment).returncode
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
