#!/usr/bin/env python3
"""Shows what a program's bytes are: its sections, and its code by origin. Needs a program with symbols:

    cargo rustc --release -p format --bin format -- -C strip=none
    infra/bench/binary_sizes.py target/release/format
"""

import re
import subprocess
import sys
from collections import Counter

# The first match counts. A symbol's crate is the first in its name; for generic code of the standard library, the first of
# its type arguments.
ORIGINS = {
    "AWS SDK and Smithy": r"aws_\w+|serde_dynamo",
    "HTTP": r"hyper\w*|h2|http\w*|axum\w*|tower\w*|matchit|percent_encoding|form_urlencoded|url|httparse",
    "TLS": r"rustls\w*|ring|webpki|untrusted",
    "Lambda": r"lambda_\w+",
    "phone number rules": r"rlibphonenumber|regex\w*|aho_corasick|prost|memchr|fst",
    "this project": r"carriers|npa|format|search|status|site|mcp|shared|store|numbering|formatting|number_lists|logging|otlp|flags",
    "JSON, CSV and dates": r"serde\w*|ryu|itoa|csv\w*|jiff\w*|utoipa\w*",
    "tokio and tracing": r"tokio\w*|tracing\w*|mio|futures\w*",
    "caches and compression": r"moka|crossbeam\w*|parking_lot\w*|zlib_rs|zstd\w*|crc32fast|flate2|hashbrown",
    "standard library": r"core|alloc|std|gimli|addr2line|rustc_demangle|miniz_oxide",
}
SECTIONS = {
    "code": {".text", ".plt", ".init", ".fini"},
    "constants and tables": {".rodata"},
    "unwinding after a panic": {".eh_frame", ".eh_frame_hdr", ".gcc_except_table"},
    "addresses": {".rela.dyn", ".data.rel.ro", ".got", ".data"},
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def origin(symbol):
    crates = re.findall(r"\b([a-z][a-z0-9_]*)::", symbol)
    named = [name for crate in crates for name, crate_pattern in ORIGINS.items() if re.fullmatch(crate_pattern, crate)]
    foreign = [name for name in named if name != "standard library"]
    return (foreign or named or ["C and other"])[0]


def main(program):
    sections, code = Counter(), Counter()
    for line in output("size", "--format=sysv", program):
        name, size = (line.split() + ["", ""])[:2]
        sections.update({kind: int(size) for kind, names in SECTIONS.items() if name in names})
    for line in output("nm", "--print-size", "--demangle", program):
        fields = line.split(None, 3)
        if len(fields) == 4 and fields[2] in "tTwW":
            code[origin(fields[3])] += int(fields[1], 16)
    for title, counts in [("Sections", sections), ("Code", code)]:
        print(title)
        for name, size in counts.most_common():
            print(f"{size / 1e6:6.2f} MB  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
