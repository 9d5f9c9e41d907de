#!/usr/bin/env python3
"""Checks the CycloneDX files from list_crates against cargo's own view: each lists every crate that is compiled into
the program or, for this system, runs during its build, with the checksum in Cargo.lock and a license.

Usage: check_crate_lists.py TARGET FOLDER, from the root of the project
"""

import json
import pathlib
import subprocess
import sys
import tomllib


def program_crates(program, target):
    """A program's crates as (name, version), from `cargo tree`."""
    # Programs for other systems are built there, but `cargo tree` shows what a build on this system runs.
    edges = "normal,build" if sys.platform in target else "normal"
    command = ["cargo", "tree", "--locked", "--package", program, "--edges", edges,
               "--target", target, "--prefix", "none", "--format", "{p}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    # A line is `name v1.2.3`; the rest says that it is a macro, in the workspace, or already listed.
    return {(words[0], words[1].removeprefix("v")) for words in map(str.split, lines)}


def checksums():
    """The SHA-256 of each registry crate, by (name, version)."""
    packages = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}


def list_errors(name, listed, expected, checksum_of):
    """The errors in one program's file, one sentence each."""
    components = {(entry["name"], entry["version"]): entry for entry in listed["components"]}
    own = listed["metadata"]["component"]
    for crate in sorted(expected - components.keys() - {(own["name"], own["version"])}):
        yield f"{name}: is missing {crate[0]} {crate[1]}, which is in `cargo tree`"
    for crate, entry in components.items():
        hashes = {entry["content"] for entry in entry.get("hashes", [])}
        if crate not in checksum_of:
            yield f"{name}: lists {crate[0]} {crate[1]}, which is not in Cargo.lock"
        elif checksum_of[crate] and hashes != {checksum_of[crate]}:
            yield f"{name}: {crate[0]} {crate[1]} has a different checksum than Cargo.lock"
        if not entry.get("licenses"):
            yield f"{name}: {crate[0]} {crate[1]} has no license"


def programs():
    """The names of everything deployed or released: every function, and the local program."""
    functions = [manifest.parent.name for manifest in pathlib.Path("functions").glob("*/Cargo.toml")]
    return sorted(functions) + ["tnr"]


def main(target, folder):
    found, count = [], 0
    checksum_of = checksums()
    for program in programs():
        listed = json.loads((pathlib.Path(folder) / f"{program}.cdx.json").read_text())
        expected = program_crates(program, target)
        found += list_errors(program, listed, expected, checksum_of)
        count += len(expected)
    if found:
        sys.exit("\n".join(found))
    print(f"{count} crates in {len(programs())} programs are listed with a checksum and a license")


if __name__ == "__main__":
    main(*sys.argv[1:])
