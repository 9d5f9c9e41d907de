#!/usr/bin/env python3
"""Calls the Telephone Number Reference Service for one number, a batch of numbers, and all pages of a search.

Usage: TNR_URL=http://127.0.0.1:3000 TNR_KEY=tnr_live_... python3 numbers_api.py
Needs Python 3.9 or newer, and no packages.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ATTEMPTS = 4
TIMEOUT_SECONDS = 10
# A daily quota may reset hours from now; let the caller decide what to do.
MAX_WAIT_SECONDS = 60


class ApiError(Exception):
    """An error response. `status` is the HTTP status, and `error` a stable name such as `not_found`."""

    def __init__(self, status, error, message):
        super().__init__(f"{status} {error}: {message}")
        self.status = status
        self.error = error


class Client:
    """Calls one service with one key."""

    def __init__(self, url, key):
        self.url = url.rstrip("/")
        self.key = key

    def format(self, number, **options):
        """Validates and formats a phone number."""
        return self._send("GET", self._build_url(f"/v1/format/{urllib.parse.quote(number, safe='')}", options))[0]

    def format_many(self, numbers, **options):
        """Validates and formats up to 1,000 numbers, in order: each as sent (`tn`), with its `result` or `error`."""
        return self._send("POST", self._build_url("/v1/format", options), numbers)[0]["results"]

    def search(self, **filters):
        """Yields the exchanges that match all filters, page by page."""
        url = self._build_url("/v1/search", filters)
        while url:
            page, headers = self._send("GET", url)
            yield from page["results"]
            url = next_page(url, headers)

    def _build_url(self, path, query):
        return f"{self.url}{path}?{urllib.parse.urlencode(query)}"

    def _send(self, method, url, body=None):
        """Returns the JSON and headers of a successful response. Waits and retries if the service says so."""
        request = urllib.request.Request(url, method=method)
        request.add_header("Authorization", f"Bearer {self.key}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                    return json.load(response), response.headers
            except urllib.error.HTTPError as error:
                with error:
                    wait = seconds_to_wait(error.code, error.headers)
                    if wait is None or attempt == ATTEMPTS:
                        raise parse_error(error) from None
                time.sleep(wait)


def seconds_to_wait(status, headers):
    """The wait before a retry; `None` if a retry would not help."""
    after = headers.get("Retry-After", "")
    if status in (429, 503) and after.isdigit() and int(after) <= MAX_WAIT_SECONDS:
        return int(after)
    return None


def parse_error(response):
    """Parses an error response. A proxy may have sent something other than JSON."""
    try:
        body = json.load(response)
        return ApiError(response.code, body["error"], body["message"])
    except (ValueError, KeyError, TypeError):
        return ApiError(response.code, "unknown", response.reason)


def next_page(url, headers):
    """The URL in the `Link` header with `rel="next"`; `None` on the last page."""
    match = re.search(r'<([^>]*)>; rel="next"', headers.get("Link", ""))
    return urllib.parse.urljoin(url, match[1]) if match else None


def format_line(result):
    """Formats a result on one line."""
    if not result["valid"]:
        return "not a valid number"
    location = result.get("location", {})
    place = [location.get("rateCenter"), location.get("state"), location.get("countryName")]
    holder = result.get("carrier", {}).get("name")
    # The holder as assigned; the number may have been ported since.
    parts = [result["formats"]["e164"], ", ".join(filter(None, place)), holder and f"assigned to {holder}"]
    return "; ".join(filter(None, parts))


def main():
    client = Client(os.environ["TNR_URL"], os.environ["TNR_KEY"])

    number = "(305) 234-5678"
    print(f"{number}: {format_line(client.format(number))}")

    numbers = ["+44 20 7946 0958", "no number", "", "212-397-5678"]
    for item in client.format_many(numbers, defaultCountry="US"):
        print(f"{item['tn']}: {format_line(item['result']) if 'result' in item else item['error']['message']}")

    count = 0
    for exchange in client.search(q="wireless", state="NY", limit=4):
        print(f"{exchange['npa']}-{exchange['nxx']}: {exchange['company_name']}")
        count += 1
    print(f"{count} exchanges")


if __name__ == "__main__":
    try:
        main()
    except ApiError as error:
        sys.exit(f"request failed: {error}")
