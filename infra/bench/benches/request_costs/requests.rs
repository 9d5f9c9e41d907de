//! Requests that are cheap to send and expensive to serve, at least one for each endpoint.

use crate::server::{Request, Server};

pub const JSON: &str = "application/json";
pub const TEXT: &str = "text/plain";
const CSV: &str = "text/csv";

/// An expensive request to an endpoint.
pub struct Worst {
    /// As in the API description.
    pub endpoint: &'static str,
    pub name: String,
    pub request: Request,
}

pub fn worst_requests(server: &Server) -> Vec<Worst> {
    let ocn = if server.has_published_data { "6010" } else { "4070" };
    let gets = gets(ocn, &server.past).into_iter().map(|(endpoint, target)| {
        let name = format!("`{target:.60}`");
        Worst { endpoint, name, request: Request::get(target) }
    });
    gets.chain(batches()).chain(texts()).chain(messages()).collect()
}

/// Endpoints and targets.
fn gets(ocn: &str, past: &str) -> Vec<(&'static str, String)> {
    let targets = include_str!("targets.txt").lines().filter(|line| !line.starts_with('#'));
    let targets = targets.map(|line| {
        let (endpoint, target) = line.split_once(' ').unwrap();
        (endpoint, target.replace("OCN", ocn).replace("PAST", past))
    });
    let long = ["1-", "305-234-5678,", "+1+", "tel%20"].map(|repeated| {
        let tn = repeated.repeat(30_000 / repeated.len());
        ("/v1/format", format!("/v1/format?include=all&tn={tn}"))
    });
    let long_path = format!("/v1/format/{}?include=all", "1-(2".repeat(62));
    let long_lookup = format!("/v1/lookup?tn={}", "1-".repeat(15_000));
    targets
        .chain(long)
        .chain([("/v1/format/{tn}", long_path), ("/v1/lookup", long_lookup)])
        .collect()
}

/// Numbers in many countries.
const WORLDWIDE: [&str; 10] = [
    "+442079460958",
    "+8613123456789",
    "+4930123456",
    "+5491123456789",
    "+912212345678",
    "+390612345678",
    "+525512345678",
    "+81312345678",
    "+5511961234567",
    "+12122345678",
];

pub fn numbers_as_json(count: usize) -> String {
    let numbers = WORLDWIDE.iter().cycle().take(count).map(|number| format!("\"{number}\""));
    format!("[{}]", numbers.collect::<Vec<_>>().join(","))
}

fn batches() -> Vec<Worst> {
    const ALL: &str = "/v1/format?include=all&cache=false&lang=de";
    let lines = |line: &str, count: usize| (line.to_owned() + "\n").repeat(count);
    let long_line = |repeated: &str| repeated.repeat(512 * 1024 / repeated.len());
    let nearly = |number: &str| format!("{number:>500}");
    [
        ("1,000 numbers abroad", ALL, JSON, numbers_as_json(1000)),
        (
            "1,000 North American numbers",
            ALL,
            TEXT,
            (0..1000).map(|n| format!("212 234 {n:04}\n")).collect(),
        ),
        (
            "1,000 numbers in words",
            ALL,
            TEXT,
            lines("call 305-234-5678 or 212-234-5678 ext. 5", 1000),
        ),
        ("1,000 texts of 500 digits", ALL, TEXT, lines(&"1-(2".repeat(125), 1000)),
        ("1,000 padded numbers", ALL, TEXT, lines(&nearly("305 234 5678"), 1000)),
        ("one number", ALL, TEXT, "+12122345678".to_owned()),
        ("1,001 numbers", ALL, TEXT, lines("1", 1001)),
        ("250,000 empty lines", ALL, TEXT, lines("", 250_000)),
        ("one line of 512 KB", ALL, TEXT, long_line("1-(2")),
        ("33 lines of 15 KB", ALL, TEXT, lines(&"1 (2".repeat(3900), 33)),
        ("33 lines of words", ALL, TEXT, lines(&"305-234-5678 call ".repeat(860), 33)),
        ("512 KB of brackets", ALL, JSON, long_line("[")),
        ("170,000 JSON numbers", ALL, JSON, format!("[{}0]", "0,".repeat(170_000))),
        ("escaped JSON", ALL, JSON, format!("[\"{}\"]", long_line("\\u0031").split_at(500_004).0)),
        (
            "a table of 1,000 columns",
            "/v1/format?column=1",
            CSV,
            lines(&format!("305{}", ",".repeat(999)), 500),
        ),
        ("quoted cells", "/v1/format?column=1", CSV, lines("\"305\",\"\"\"\"\"\"\"\"", 26_000)),
    ]
    .map(|(name, target, content_type, body)| {
        let request = Request::post(target, content_type, body).accept("text/csv, */*;q=0.5");
        Worst { endpoint: "POST /v1/format", name: name.to_owned(), request }
    })
    .into()
}

fn texts() -> Vec<Worst> {
    const MAX: usize = 100 * 1024;
    let fill = |repeated: &str| repeated.repeat(MAX / repeated.len());
    [
        ("999 numbers", "", "305-234-5678\n".repeat(999)),
        ("999 numbers, everything", "include=all&lang=de", "+44 20 7946 0958, ".repeat(999)),
        ("9,000 numbers", "", fill("3052345678\n")),
        ("no number", "", fill("no number here ")),
        ("brackets", "", fill("(((((")),
        ("near-numbers", "", fill("305 155 5678 ")),
        ("near-numbers, strict grouping", "leniency=strict_grouping", fill("305 155 5678\n")),
        ("near-numbers, exact grouping", "leniency=exact_grouping", fill("305 155 5678\n")),
        ("digits in parentheses", "", fill("(1) ")),
        (
            "digits in mixed punctuation",
            "defaultCountry=DE&leniency=exact_grouping",
            fill(" 4[.658]5/1\u{2013}58-56 */ :4\u{ff0d}[5&0.2~-2~-"),
        ),
        (
            "groups in odd punctuation",
            "leniency=exact_grouping",
            fill(" -23&(\u{ff11}7\u{2013}.1/"),
        ),
        ("leading plus signs", "", fill("+(+(+(1")),
        ("dotted numbers", "leniency=strict_grouping", fill("305.155.5678, ")),
        ("20-digit groups", "leniency=strict_grouping", fill("11111111111111111111 ")),
        ("possible numbers", "leniency=possible&include=all", fill("1 2 3 4 5 6 7 a ")),
        ("99 digits", "leniency=strict_grouping", "305 155 5678\n".repeat(9)),
        ("one digit in every 40 characters", "", fill("(1 this text is without any more digits. ")),
    ]
    .map(|(name, query, body)| {
        let request = Request::post(&format!("/v1/find?{query}"), TEXT, body);
        Worst { endpoint: "POST /v1/find", name: name.to_owned(), request }
    })
    .into()
}

fn messages() -> Vec<Worst> {
    let call = |tool: &str, arguments: &str| {
        let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}");
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}")
    };
    let numbers = format!("{{\"numbers\":{},\"include\":\"all\"}}", numbers_as_json(25));
    let long = "1-(2".repeat(16_000);
    [
        ("tools/list", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}".to_owned()),
        ("25 numbers", call("format_numbers", &numbers)),
        ("a search", call("search_exchanges", "{\"q\":\"a b c d e f g h i j\",\"limit\":100}")),
        (
            "a long number in a batch",
            call("format_numbers", &format!("{{\"numbers\":[\"{}\"]}}", &long[..60_000])),
        ),
        (
            "many arguments",
            call(
                "format_number",
                &format!(
                    "{{\"tn\":\"1\"{}}}",
                    (0..4000).map(|n| format!(",\"a{n}\":[1]")).collect::<String>()
                ),
            ),
        ),
    ]
    .map(|(name, body)| {
        let request = Request::post("/mcp", JSON, body).accept(JSON);
        Worst { endpoint: "POST /mcp", name: name.to_owned(), request }
    })
    .into()
}
