"""Tries an installed program in an empty folder: a number without data, then the server, whose sample a request and a
lookup show.

Usage: try_program.py COMMAND [ARGUMENT...]: the command that runs `tnr`
"""

import json
import re
import subprocess
import sys
import urllib.request

NUMBER = "+1 305 234 5678"
PORT = "23000"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(*tnr):
    assert "+13052345678" in output(*tnr, NUMBER)
    server = subprocess.Popen([*tnr, "serve", "--port", PORT, "--drain", "0"], stdout=subprocess.PIPE, text=True)
    try:
        key = next(match[1] for line in server.stdout if (match := re.search(r"API key +(\S+)", line)))
        request = urllib.request.Request(
            f"http://127.0.0.1:{PORT}/v1/format/+13052345678", headers={"Authorization": f"Bearer {key}"}
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            assert json.load(response)["carrier"]["name"] == "SAMPLE MOBILE USA, INC."
        assert "PERRINE" in output(*tnr, "lookup", NUMBER)
    finally:
        server.terminate()
    status = server.wait(timeout=60)
    assert status == 0, f"the server exited with {status}"
    print(output(*tnr, "--version").strip(), "works")


if __name__ == "__main__":
    main(*sys.argv[1:])
