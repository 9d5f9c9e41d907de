"""Runs `tnr` under the package's name, which is what `uvx` and `pipx run` look for."""

import os
import subprocess
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "tnr")
    if os.name == "nt":
        # There, `execv` returns to the shell before the program ends.
        sys.exit(subprocess.call([f"{program}.exe", *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])
