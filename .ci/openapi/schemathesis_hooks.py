"""What schemathesis cannot learn from the description. SCHEMATHESIS_HOOKS names this module."""

import re

import schemathesis

# The rules that no schema can state, by the message of the response that tells of them.
UNSTATED_RULES = [
    # Which versions of the data are still available changes with each import, and a pattern knows no calendar.
    r"version ('.*' is no longer available|must be a version of the data)",
    # The parameters of a search are all optional, and one is needed.
    r"at least one of .* is required",
    # Letters are those of Unicode, which the patterns of JSON Schema do not name alike everywhere.
    r"(q|company|rate_center) must contain a letter or digit",
    r"q must have at most 10 different words",
    # Any notation of a number is accepted.
    r"tn must be a 10-digit North American telephone number",
    # An empty value counts as absent.
    r"(tn|ocn|npa) is required",
    # The numbers of a body, and the columns of a CSV.
    r"The body must (be UTF-8|have at least one number)|Each row must have as many cells",
    r"(No|There is no|The) column|Columns .* look like|Several columns are named|The first row",
    r"(column|countryColumn) is only for a body of text/csv",
]


@schemathesis.check
def valid_data_is_refused_only_by_unstated_rules(ctx, response, case):
    """Narrows positive_data_acceptance, which allows every 400."""
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_valid and response.status_code == 400:
        if not any(re.search(rule, response.text, re.DOTALL) for rule in UNSTATED_RULES):
            raise AssertionError(f"Valid data should have been accepted: {response.text}")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leaves out a header that no operation describes as a parameter: schemathesis makes it up from the one of the
    responses and from the `id` of a number, with characters that no header may have. Examples are not filtered, so
    `fields` is left out here: an answer with some fields lacks others that the description requires."""
    if case.headers:
        case.headers.pop("X-Request-Id", None)
    if case.query:
        case.query.pop("fields", None)


# The parameters that the description restricts to a pattern, an enum or numbers.
RESTRICTED = [
    "country", "defaultCountry", "flags", "format", "include", "limit", "npa", "nxx", "ocn", "offset", "state", "status",
    "type", "version",
]


@schemathesis.hook
def filter_case(context, case):
    """Leaves out the requests that break the description and are accepted on purpose, and those with `fields`."""
    return not values_of(case.query, "fields") and not any(
        is_accepted_on_purpose(name, str(value))
        for name in RESTRICTED
        for value in values_of(case.query, name)
    )


def values_of(query, name):
    value = (query or {}).get(name, [])
    return value if isinstance(value, list) else [value]


def is_accepted_on_purpose(name, value):
    # An empty value counts as absent.
    if value == "":
        return True
    # A larger limit is taken as 100, which the description has as the maximum.
    if name == "limit":
        return bool(re.fullmatch("[0-9]{3,}", value))
    # The service takes any case, and the description has the one that responses show. This matters for OCNs alone:
    # what schemathesis sends for what is no string, such as `true` and `None`, has four letters.
    return name == "ocn" and bool(re.fullmatch("(?=.*[a-z])[0-9A-Za-z]{4}", value))
