"""Rules that schemathesis cannot learn from the OpenAPI document. SCHEMATHESIS_HOOKS names this module."""

import re

import schemathesis

# Rules that no schema can express, by the response message that states them.
UNSTATED_RULES = [
    # The available data versions change with each import, and patterns do not know calendars.
    r"version ('.*' is no longer available|must be a data version)",
    # Dates and times in the past, from the first import on.
    r"(as_of|since) must (be|not be) ",
    # Each regulator has its own words for the status of a range.
    r"status must be one of ASSIGNED, UNASSIGNED, RESERVED, ",
    # Parameters that exclude each other.
    r"(as_of and version|country) cannot be combined",
    # All search parameters are optional, but at least one is required.
    r"At least one of .* is required",
    # Unicode letters, which JSON Schema patterns do not match consistently.
    r"(q|company|rate_center) must contain a letter or digit",
    r"q must have at most 10 different words",
    # A number may be in any format.
    r"tn must be a 10-digit North American telephone number",
    # An empty value counts as missing.
    r"(tn|ocn|npa) is required",
    # The numbers in a body, and the columns in a CSV.
    r"The body must (be UTF-8|contain at least one number)|Each row must have as many cells",
    r"(No|There is no|The) column|Columns .* look like|Several columns are named|The first row",
    r"(column|countryColumn) requires a text/csv body",
]


@schemathesis.check
def valid_data_is_rejected_only_by_unstated_rules(ctx, response, case):
    """Narrows positive_data_acceptance, which allows every 400."""
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_valid and response.status_code == 400:
        if not any(re.search(rule, response.text, re.DOTALL) for rule in UNSTATED_RULES):
            raise AssertionError(f"Valid data should have been accepted: {response.text}")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Drops a header that no operation documents as a parameter: schemathesis derives it from the response header
    and a number's `id`, with characters that headers do not allow. Examples are not filtered, so `fields` is dropped
    here: a partial response lacks required fields. Most times are dropped, too: the history begins with the test, so they
    would be rejected, and other parameters would not be tested."""
    if case.headers:
        case.headers.pop("X-Request-Id", None)
    if case.query:
        case.query.pop("fields", None)
        for name in ["as_of", "since"]:
            if sum(map(ord, str(case.query.get(name, "")))) % 4:
                del case.query[name]


# The parameters that the document restricts to a pattern, an enum or numbers.
RESTRICTED = [
    "change", "country", "defaultCountry", "flags", "format", "in_service_on", "include", "kind", "limit", "npa", "nxx",
    "ocn", "offset", "overlay_of", "service", "state", "status", "type", "version",
]


@schemathesis.hook
def filter_case(context, case):
    """Drops requests that violate the document but are accepted on purpose, and those with `fields`."""
    return not values_of(case.query, "fields") and not any(
        is_accepted_on_purpose(name, str(value))
        for name in RESTRICTED
        for value in values_of(case.query, name)
    )


def values_of(query, name):
    value = (query or {}).get(name, [])
    return value if isinstance(value, list) else [value]


def is_accepted_on_purpose(name, value):
    # An empty value counts as missing.
    if value == "":
        return True
    # The service accepts any case, but the document only shows the case used in responses. This matters only for
    # OCNs: values that schemathesis sends for non-strings, such as `true` and `None`, have four letters.
    return name == "ocn" and bool(re.fullmatch("(?=.*[a-z])[0-9A-Za-z]{4}", value))
