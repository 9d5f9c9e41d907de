"""Prints an OpenAPI document with only JSON request bodies. The Python client generator drops all others with a
warning, and a warning may also mean that it dropped an operation.

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
