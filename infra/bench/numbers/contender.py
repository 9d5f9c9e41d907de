"""Runs the PyPI package `phonenumbers` as a contender in the numbers benchmark.

Prints how many nanoseconds the package took to load, then how many each line took. A line is a JSON array: the number
of passes, and the inputs to describe in each.
"""

import json
import sys
from time import perf_counter_ns

DEFAULT_COUNTRY = "US"

started = perf_counter_ns()
import phonenumbers  # noqa: E402
from phonenumbers import PhoneNumberFormat  # noqa: E402

print(perf_counter_ns() - started, flush=True)


def describe(text):
    try:
        number = phonenumbers.parse(text, DEFAULT_COUNTRY)
    except phonenumbers.NumberParseException:
        return None
    return (
        phonenumbers.is_valid_number(number),
        phonenumbers.is_possible_number(number),
        phonenumbers.number_type(number),
        phonenumbers.region_code_for_number(number),
        phonenumbers.format_number(number, PhoneNumberFormat.E164),
        phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL),
        phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL),
        phonenumbers.format_number(number, PhoneNumberFormat.RFC3966),
    )


for line in sys.stdin:
    passes, inputs = json.loads(line)
    start = perf_counter_ns()
    for _ in range(passes):
        for text in inputs:
            describe(text)
    print(perf_counter_ns() - start, flush=True)
