//! Requests that are cheap to send and expensive to serve, at least one for each endpoint.

use crate::{client::Request, server::Server};

pub const JSON: &str = "application/json";
pub const TEXT: &str = "text/plain";
const CSV: &str = "text/csv";

/// An expensive request to an endpoint.
pub struct Worst {
    /// As in the API description.
    pub endpoint: &'static str,
    pub name: &'static str,
    pub request: Request,
}

pub fn worst_requests(server: &Server) -> Vec<Worst> {
    let ocn = if server.has_published_data { "6010" } else { "4070" };
    let past = past(ocn, &server.past);
    let worst = [gets(ocn), past, batches(), texts(), messages()].into_iter().flatten();
    // Compression comes on top.
    worst.map(|it| Worst { request: it.request.with("accept-encoding", "gzip"), ..it }).collect()
}

fn gets(ocn: &str) -> Vec<Worst> {
    let words = "q=a%20b%20c%20d%20e%20f%20g%20h%20i%20j&limit=100";
    let long = |repeated: &str| repeated.repeat(30_000 / repeated.len());
    [
        ("GET /v1/health", "any", "/v1/health".to_owned()),
        ("GET /v1/stats", "any", "/v1/stats".to_owned()),
        ("GET /v1/sources", "any", "/v1/sources".to_owned()),
        ("GET /v1/carriers", "ten letters", format!("/v1/carriers?{words}")),
        ("GET /v1/carriers", "a page", "/v1/carriers?limit=100&offset=400".to_owned()),
        ("GET /v1/carrier/{ocn}", "any", format!("/v1/carrier/{ocn}")),
        ("GET /v1/carrier/{ocn}/history", "any", format!("/v1/carrier/{ocn}/history?limit=100")),
        ("GET /v1/holders", "all", "/v1/holders?limit=100".to_owned()),
        ("GET /v1/holders", "a state", "/v1/holders?state=CA&limit=100".to_owned()),
        ("GET /v1/area-codes", "a page", "/v1/area-codes?limit=100".to_owned()),
        ("GET /v1/area-codes/{npa}", "any", "/v1/area-codes/212".to_owned()),
        ("GET /v1/npa/{npa}", "a page", "/v1/npa/415?limit=100".to_owned()),
        ("GET /v1/npa/{npa}", "CSV", "/v1/npa/415?limit=100&format=csv".to_owned()),
        ("GET /v1/npa/{npa}/nxx/{nxx}", "any", "/v1/npa/212/nxx/234".to_owned()),
        ("GET /v1/npa/{npa}/nxx/{nxx}/blocks", "any", "/v1/npa/212/nxx/234/blocks".to_owned()),
        ("GET /v1/npa/{npa}/nxx/{nxx}/history", "any", "/v1/npa/212/nxx/234/history".to_owned()),
        ("GET /v1/search", "ten letters", format!("/v1/search?{words}")),
        ("GET /v1/search", "one letter", "/v1/search?q=a&limit=100".to_owned()),
        ("GET /v1/search", "a type", "/v1/search?type=WIRELESS&q=c&limit=100".to_owned()),
        ("GET /v1/changes", "a page", "/v1/changes?limit=100".to_owned()),
        ("GET /v1/changes", "a feed", "/v1/changes?format=atom".to_owned()),
        ("GET /v1/lookup", "any", "/v1/lookup?tn=%2B12122345678".to_owned()),
        ("GET /v1/lookup", "30 KB of digits", format!("/v1/lookup?tn={}", long("1-"))),
        (
            "GET /v1/format/{tn}",
            "everything",
            "/v1/format/+12122345678?include=all&cache=false&lang=de".to_owned(),
        ),
        (
            "GET /v1/format/{tn}",
            "everything, abroad",
            "/v1/format/+8613123456789?include=all&lang=zh".to_owned(),
        ),
        (
            "GET /v1/format/{tn}",
            "two numbers",
            "/v1/format/call%20305-234-5678%20or%20212-234-5678%20ext.%205?include=all".to_owned(),
        ),
        (
            "GET /v1/format/{tn}",
            "250 characters",
            format!("/v1/format/{}?include=all", "1-(2".repeat(62)),
        ),
        ("GET /v1/format", "30 KB of digits", format!("/v1/format?tn={}&include=all", long("1-"))),
        (
            "GET /v1/format",
            "30 KB of numbers",
            format!("/v1/format?tn={}&include=all", long("305-234-5678,")),
        ),
        (
            "GET /v1/format",
            "30 KB of plus signs",
            format!("/v1/format?tn={}&include=all", long("+1+")),
        ),
        (
            "GET /v1/format",
            "30 KB of words",
            format!("/v1/format?tn={}&include=all", long("tel%20")),
        ),
    ]
    .map(|(endpoint, name, target)| Worst { endpoint, name, request: Request::get(target) })
    .into()
}

/// Records as they were at a time.
fn past(ocn: &str, time: &str) -> Vec<Worst> {
    [
        ("GET /v1/carrier/{ocn}", format!("/v1/carrier/{ocn}?")),
        ("GET /v1/area-codes/{npa}", "/v1/area-codes/212?".to_owned()),
        ("GET /v1/npa/{npa}", "/v1/npa/415?limit=100&".to_owned()),
        ("GET /v1/npa/{npa}/nxx/{nxx}", "/v1/npa/212/nxx/234?".to_owned()),
        ("GET /v1/npa/{npa}/nxx/{nxx}/blocks", "/v1/npa/212/nxx/234/blocks?".to_owned()),
        ("GET /v1/lookup", "/v1/lookup?tn=2122345678&".to_owned()),
        ("GET /v1/format", "/v1/format?tn=2122345678&include=all&".to_owned()),
    ]
    .map(|(endpoint, target)| {
        let request = Request::get(format!("{target}as_of={time}"));
        Worst { endpoint, name: "as_of", request }
    })
    .into()
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
        ("1,000 texts of 250 characters", ALL, TEXT, lines(&"1-(2".repeat(62), 1000)),
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
        let request =
            Request::post(target, content_type, body).with("accept", "text/csv, */*;q=0.5");
        Worst { endpoint: "POST /v1/format", name, request }
    })
    .into()
}

fn texts() -> Vec<Worst> {
    const MAX: usize = 100 * 1024;
    let fill = |repeated: &str| repeated.repeat(MAX / repeated.len());
    [
        ("999 numbers", "", "305-234-5678\n".repeat(999)),
        ("999 numbers, everything", "include=all&lang=de", "+44 20 7946 0958, ".repeat(999)),
        ("one number, everything", "include=all", "305-234-5678".to_owned()),
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
        Worst { endpoint: "POST /v1/find", name, request }
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
        ("a long number", call("format_number", &format!("{{\"tn\":\"{}\"}}", &long[..20_000]))),
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
        let request = Request::post("/mcp", JSON, body).with("accept", "application/json");
        Worst { endpoint: "POST /mcp", name, request }
    })
    .into()
}
