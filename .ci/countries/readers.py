"""Reads the regulators' published files, independently of the service: its reader and its descriptions are not used.

Each function yields rows of first and last national number, use, status, holder and date, in the order of the files, and
the precedence of the status. `Plan` finds the row that applies to a number."""

import csv
import io
import re
import zipfile
from bisect import bisect, bisect_left
from datetime import datetime

ASSIGNED, RESERVED, UNASSIGNED = "ASSIGNED", "RESERVED_RANGE", "UNASSIGNED_RANGE"
CALLING_CODES = {"GB": "44", "FR": "33", "RE": "262", "ES": "34", "RU": "7"}
FILES = {"GB": "GB-ofcom-2025-09.zip", "FR": "FR-arcep-2026-04.zip", "RE": "FR-arcep-2026-04.zip",
         "ES": "ES-cnmc-2025-10-bd-num.zip", "RU": "RU-DEF-9xx-2026.zip"}


def tables(archive, encoding, delimiter):
    """The rows of each file in a zip, by name."""
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            yield name.lower(), csv.reader(io.StringIO(files.read(name).decode(encoding), newline=""), delimiter=delimiter)


def date(text):
    return datetime.strptime(text, "%d/%m/%Y").date() if text.strip() else None


def block(prefix, length):
    return prefix.ljust(length, "0"), prefix.ljust(length, "9")


def gb(archive):
    uses = {"Allocated": (ASSIGNED, 0), "Allocated(Closed Range)": (ASSIGNED, 1), "Protected": (RESERVED, 2), "Quarantined": (RESERVED, 3),
            "Reserved": (RESERVED, 4), "Designated": (RESERVED, 5), "Free": (UNASSIGNED, 6)}
    for name, rows in tables(archive, "utf-8-sig", ","):
        next(rows)
        for number, status, holder, length, day, *_ in rows:
            for plan in length.split("&"):
                digits = sum(int(part) for part in re.findall(r"\d+", plan))
                yield *block("".join(number.split()), digits), *uses[status], status, holder, date(day)


def fr(archive, places=("Métropole", "National")):
    files = dict(tables(archive, "cp1252", ";"))
    names = {row[1]: row[0] for row in files["identifiants_ce.csv"]}
    rows = files["majnum.csv"]
    next(rows)
    for _, first, last, code, place, day in rows:
        # Other places have other calling codes.
        if first.startswith("0") and place in places:
            yield first[1:], last[1:], ASSIGNED, 0, "", names.get(code, code), date(day)


def re_(archive):
    yield from fr(archive, ("La Réunion", "La Réunion - Océan indien", "Mayotte"))


def es(archive):
    # The columns of status, holder and date after the block's.
    layouts = {"geograficos": (2, 3, 4, 5), "svn_geo": (2, 3, 4, 5), "moviles": (3, 3, 4, 5), "tarifasespeciales": (2, 4, 2, 3),
               "personal": (2, 4, 2, 3), "svn_nogeo": (2, 4, 2, 3), "ai": (2, 4, 2, 3)}
    uses = {"Asignado": (ASSIGNED, 0), "Subasignado": (ASSIGNED, 1), "Compartido": (ASSIGNED, 2), "Tarea en curso": (RESERVED, 3),
            "Libre con Portados": (UNASSIGNED, 4), "Libre": (UNASSIGNED, 5)}
    files = {name.removesuffix(".txt"): rows for name, rows in tables(archive, "cp1252", "#")}
    for name in ["geograficos", "moviles", "tarifasespeciales", "ai", "personal", "svn_nogeo", "svn_geo"]:
        width, *columns = layouts[name]
        for row in files[name]:
            words, holder, day = (row[column].strip() for column in columns)
            status, more = re.fullmatch(r"(.*?)\s*(\d*)", words).groups()
            yield *block("".join("".join(row[:width]).split()) + more, 9), *uses[status], status, holder, date(day)


def ru(archive):
    for _, rows in tables(archive, "utf-8-sig", ";"):
        next(rows)
        for code, first, last, _, holder, *_ in rows:
            yield code + first, code + last, ASSIGNED, 0, "", holder, None


READERS = {"GB": gb, "FR": fr, "RE": re_, "ES": es, "RU": ru}


def key(digits):
    """Encodes digits as an integer, preserving leading zeros."""
    return int("1" + digits)


class Plan:
    """Finds the row that applies to a number. If rows overlap, the narrowest wins, then the first status, then the first row."""

    def __init__(self, rows):
        self.rows = [(key(first), key(last), *facts) for first, last, *facts in rows]
        self.starts = sorted({edge for first, last, *_ in self.rows for edge in (first, last + 1)})
        self.owners = [None] * len(self.starts)
        order = sorted(range(len(self.rows)), key=lambda at: (self.rows[at][1] - self.rows[at][0], self.rows[at][3], at))
        for at in reversed(order):
            first, last, *_ = self.rows[at]
            start, end = bisect_left(self.starts, first), bisect_left(self.starts, last + 1)
            self.owners[start:end] = [at] * (end - start)

    def find(self, digits):
        at = bisect(self.starts, key(digits)) - 1
        owner = self.owners[at] if at >= 0 else None
        return None if owner is None else self.rows[owner]
