"""Calls each of the service's operations with a generated Python client, once to succeed and once to fail, and reads
typed fields from the responses.

Usage: python_client.py PACKAGE, with the package's folder in PYTHONPATH, through with_server.py.
"""

import importlib
import os
import pkgutil
import sys
from datetime import datetime, timezone

import attrs

PACKAGE = importlib.import_module(sys.argv[1])
URL, KEY = os.environ["TNR_URL"], os.environ["TNR_KEY"]
WITH_KEY = PACKAGE.AuthenticatedClient(URL, token=KEY, raise_on_unexpected_status=True)
WITHOUT_KEY = PACKAGE.Client(URL, raise_on_unexpected_status=True)
models = importlib.import_module(f"{PACKAGE.__name__}.models")
UNSET = importlib.import_module(f"{PACKAGE.__name__}.types").UNSET

# Each operation's name and module, whatever its tag.
OPERATIONS = {
    module.name.rpartition(".")[2]: importlib.import_module(module.name)
    for module in pkgutil.walk_packages(PACKAGE.__path__, f"{PACKAGE.__name__}.")
    if f"{PACKAGE.__name__}.api." in module.name and not module.ispkg
}
# A successful request per operation: its parameters and response model.
SUCCESSES = {
    "list_carriers": ({"country": models.Country.CA, "limit": 2}, models.CarrierList),
    "get_carrier": ({"ocn": "908K"}, models.CarrierDetail),
    "get_carrier_by_query": ({"ocn": "908K"}, models.CarrierDetail),
    "get_area_code": ({"npa": "305", "limit": 2}, models.AreaCodeResult),
    "get_area_code_by_query": ({"npa": "305", "nxx": "234"}, models.AreaCodeResult),
    "get_exchange": ({"npa": "305", "nxx": "234"}, models.AreaCodeResult),
    "list_blocks": ({"npa": "305", "nxx": "234"}, models.ExchangeBlocks),
    "list_area_codes": ({"country": "JM"}, models.AreaCodeList),
    "get_area_code_plan": ({"npa": "800"}, models.AreaCodeDetail),
    "list_holders": ({"npa": "305"}, models.HolderList),
    "list_countries": ({"country": models.CountryCode.GB}, models.CountryList),
    "list_ranges": ({"code": models.CountryCode.GB, "prefix": "20"}, models.RangeList),
    "format_number": ({"tn": "+13052345678"}, models.FormatResult),
    "format_number_by_query": ({"tn": "+13052345678"}, models.FormatResult),
    "format_numbers": ({"body": ["+13052345678"]}, models.FormattedNumbers),
    "find_numbers": ({"body": models.TextToSearch(text="Call 305-234-5678 x9")}, models.FoundNumbers),
    "look_up_block": ({"tn": "+13052345678"}, models.LookupResult),
    "look_up_block_by_query": ({"tn": "(305) 234-5678"}, models.LookupResult),
    "search_exchanges": ({"q": "sample", "rate_center": "perrine"}, models.SearchResult),
    "list_changes": ({"npa": "305", "limit": 2}, models.ChangeList),
    "list_exchange_history": ({"npa": "305", "nxx": "234"}, models.ChangeList),
    "list_carrier_history": ({"ocn": "6015"}, models.ChangeList),
    "get_health": ({}, models.Health),
    "get_health_unversioned": ({}, models.Health),
    "get_stats": ({}, models.Stats),
    "get_stats_unversioned": ({}, models.Stats),
    "get_sources": ({}, models.Sources),
}


class Misspelled(str):
    """A value outside an enum, which the client sends unchecked."""

    @property
    def value(self):
        return str(self)


PUBLIC = {"get_health", "get_health_unversioned", "get_sources", "get_stats", "get_stats_unversioned"}
# A version that is no longer retained.
GONE = "20200101T000000Z-0123456789abcdef"
# Rejected requests, with the status, error and part of the message.
REJECTIONS = [
    ("list_carriers", {"version": GONE}, 400, "invalid_request", "no longer available"),
    ("get_carrier", {"ocn": "ZZZZ"}, 404, "not_found", "ZZZZ"),
    ("get_carrier_by_query", {"ocn": "12345"}, 400, "invalid_request", "exactly 4"),
    ("get_area_code", {"npa": "999"}, 404, "not_found", "999"),
    ("get_area_code_by_query", {"npa": "1"}, 400, "invalid_request", "exactly 3 digits"),
    ("get_exchange", {"npa": "305", "nxx": "x"}, 400, "invalid_request", "exactly 3 digits"),
    ("list_blocks", {"npa": "305", "nxx": "x"}, 400, "invalid_request", "exactly 3 digits"),
    ("list_area_codes", {"country": "Jamaica"}, 400, "invalid_request", "two-letter"),
    ("get_area_code_plan", {"npa": "222"}, 404, "not_found", "222"),
    ("list_holders", {"state": Misspelled("XX")}, 400, "invalid_request", "must be the two-letter"),
    ("list_countries", {"country": Misspelled("ZZ")}, 400, "invalid_request", "ISO 3166-1"),
    ("list_ranges", {"code": models.CountryCode.FR}, 404, "not_found", "FR"),
    ("find_numbers", {"body": models.TextToSearch(text="1"), "leniency": Misspelled("x")}, 400, "invalid_request", "leniency must be"),
    ("format_numbers", {"body": []}, 400, "invalid_request", "at least one number"),
    ("look_up_block", {"tn": "8005551234"}, 404, "not_found", "800"),
    ("look_up_block_by_query", {"tn": "1"}, 400, "invalid_request", "10-digit"),
    ("search_exchanges", {}, 400, "invalid_request", "At least one of"),
    ("list_changes", {"since": "2000-01-01"}, 400, "invalid_request", "when the history begins"),
    ("list_exchange_history", {"npa": "999", "nxx": "999"}, 404, "not_found", "999-999"),
    ("list_carrier_history", {"ocn": "ZZZZ"}, 404, "not_found", "ZZZZ"),
]


def call(operation, status, model, parameters, client=WITH_KEY):
    """Sends the request; returns the response as `model`, with every field documented."""
    response = OPERATIONS[operation].sync_detailed(client=client, **parameters)
    found = f"{operation} {parameters}: {response.status_code} {response.content.decode()}"
    assert response.status_code == status, found
    assert type(response.parsed) is model, f"{found} is {type(response.parsed)}, not {model}"
    assert not undocumented_fields(response.parsed), f"{found} has {undocumented_fields(response.parsed)}"
    return response.parsed


def undocumented_fields(value):
    """The undocumented fields. A map, such as the counts by state, has none."""
    if isinstance(value, list):
        return [field for item in value for field in undocumented_fields(item)]
    if not attrs.has(type(value)):
        return []
    fields = attrs.asdict(value, recurse=False)
    undocumented = list(fields.pop("additional_properties", ()))
    nested = [field for own in fields.values() for field in undocumented_fields(own)]
    return nested + undocumented if fields else []


def ok(operation, client=WITH_KEY, **parameters):
    return call(operation, 200, SUCCESSES[operation][1], parameters, client)


def check_every_operation():
    assert OPERATIONS.keys() == SUCCESSES.keys(), OPERATIONS.keys() ^ SUCCESSES.keys()
    for operation, (parameters, model) in SUCCESSES.items():
        call(operation, 200, model, parameters)
        if operation in PUBLIC:
            call(operation, 200, model, parameters, WITHOUT_KEY)
        else:
            rejected = call(operation, 401, models.ErrorBody, parameters, WITHOUT_KEY)
            assert rejected.error == "unauthorized" and "API key" in rejected.message, rejected
    for operation, parameters, status, error, message in REJECTIONS:
        rejected = call(operation, status, models.ErrorBody, parameters)
        assert rejected.error == error and message in rejected.message, rejected
    for operation in ["format_number", "format_number_by_query"]:
        rejected = OPERATIONS[operation].sync_detailed(
            client=WITH_KEY, tn="0", default_country=Misspelled("ZZ")
        )
        assert rejected.status_code == 400 and rejected.parsed.error == "Bad Request", rejected


def check_formats():
    london = ok("format_number", tn="+442079460958")
    assert (london.valid, london.possible, london.input_) == (True, True, "+442079460958"), london
    assert (london.country_code, london.country_calling_code) == ("44", "+44"), london
    assert london.formats.national == "020 7946 0958" and london.npa is UNSET, london
    assert london.type_ == "FIXED_LINE", london
    assert london.location.country_name == "United Kingdom" and london.carrier is UNSET, london
    assert london.flags.country.png.small.endswith("GB-48x32.png"), london
    assert ok("format_number_by_query", tn="+442079460958") == london

    unparseable = ok("format_number", tn="no number/at all")
    assert unparseable.to_dict() == {"valid": False, "possible": False, "input": "no number/at all"}

    miami = ok("format_number", tn="(305) 234-5678")
    assert (miami.npa, miami.nxx, miami.nxxx) == ("305", "234", "5678"), miami
    assert miami.location.rate_center == "PERRINE" and miami.location.state == "FL", miami
    assert miami.carrier.ocn == "5927" and miami.carrier.type_ == models.CarrierType.WIRELESS, miami
    assert miami.flags.state.abbreviation == "FL" and not miami.is_non_geographic, miami


def check_many_numbers():
    london = models.NumberWithOptions(tn="020 7946 0958", default_country=models.CountryCode.GB, id="london")
    results = ok("format_numbers", body=["+13052345678", london, "no number"]).results
    assert [result.tn for result in results] == ["+13052345678", "020 7946 0958", "no number"], results
    assert results[0].result == ok("format_number", tn="+13052345678"), results
    assert results[1].id == "london" and results[1].result.country == models.CountryCode.GB, results
    assert results[2].result.valid is False and results[2].id is results[2].error is UNSET, results
    london.default_country = Misspelled("ZZ")
    rejected = ok("format_numbers", body=[london]).results[0]
    assert rejected.error.error == "Bad Request" and rejected.result is UNSET, rejected


def check_numbers_in_text():
    text = models.TextToSearch(text="Grüße! Call (305) 234-5678 x9 or 020 7946 0958.")
    found = ok("find_numbers", body=text, default_country=models.CountryCode.GB).results
    assert [(it.start, it.end, it.tn) for it in found] == [(33, 46, "020 7946 0958")], found
    found = ok("find_numbers", body=text).results
    assert found[0].result.formats.e164 == "+13052345678" and found[0].result.extension == "9", found


def check_lists():
    carriers = {}
    total, offset = None, 0
    while total is None or offset < total:
        page = ok("list_carriers", limit=60, offset=offset)
        assert (page.pagination.limit, page.pagination.offset) == (60, offset), page.pagination
        total = page.pagination.total
        carriers |= {carrier.ocn: carrier for carrier in page.carriers}
        offset += 60
    assert len(carriers) == total > 100, f"{len(carriers)} of {total}"
    # A null becomes None, not a missing field.
    assert carriers["950G"].carrier_type is None and carriers["908K"].common_name is None

    exchange = ok("get_exchange", npa="305", nxx="234")
    assert exchange.total_exchanges > exchange.pagination.total == 1, exchange
    assert exchange.exchanges[0].status == models.Status.ASSIGNED, exchange
    unassigned = ok("get_area_code", npa="305", limit=1).exchanges[0]
    assert unassigned.ocn is None and unassigned.status == models.Status.RESERVED, unassigned

    found = ok("search_exchanges", q="sample wire", state=models.StateCode.NY, limit=1)
    assert found.results[0].company_name == "SAMPLE WIRELESS, LLC", found
    assert found.pagination.total > 1, found


def check_single_records():
    carrier = ok("get_carrier", ocn="908k")
    assert carrier.ocn == "908K" and carrier.state == "NY", carrier
    assert carrier.exchanges.total == carrier.exchanges.by_state["NY"], carrier
    block = ok("look_up_block_by_query", tn="305-234-5678")
    assert block.carrier.name == "SAMPLE MOBILE USA, INC.", block
    assert block.status == models.Status.ASSIGNED and block.location.state_name == "Florida", block


def check_public_operations():
    health = ok("get_health", client=WITHOUT_KEY)
    assert health.status == "healthy" and health.database == "connected", health
    assert health.last_ingestion <= datetime.now(timezone.utc), health
    sources = ok("get_sources", client=WITHOUT_KEY)
    assert [it.report for it in sources.reports] == ["nanpa", "cnac", "npa_report", "carriers", "ranges_gb"], sources
    stats = ok("get_stats", client=WITHOUT_KEY)
    assert stats.total_records == stats.by_country["US"] + stats.by_country["CA"], stats
    assert stats.coverage.area_codes > 400 and stats.last_updated.nanpa, stats


check_every_operation()
check_formats()
check_many_numbers()
check_numbers_in_text()
check_lists()
check_single_records()
check_public_operations()
print(f"{PACKAGE.__name__}: all {len(OPERATIONS)} operations match the document")
