"""Prints a description in which bodies of requests are JSON alone. The generator of Python clients leaves out every
other, with a warning, and a warning may also mean that it left out an operation.

Usage: with_json_bodies.py DESCRIPTION
"""

import json
import sys

with open(sys.argv[1]) as file:
    description = json.load(file)
for item in description["paths"].values():
    for operation in item.values():
        if body := operation.get("requestBody"):
            body["content"] = {"application/json": body["content"]["application/json"]}
json.dump(description, sys.stdout)
