//! The page docs/COSTS.md: text from `page.txt`, and computed tables.

use indicatif::HumanCount;

use super::{
    Bill, Line, PRICES, Price, REGION, REQUESTS, Request, Usage, YEAR, checks_of_container, cost,
    measures::{ITEM_BYTES, ITEMS, REQUEST_MS, SNAPSHOT_BYTES, START_MS, UNKNOWN_KEY_UNITS},
    throttling_rate, units_of_snapshot,
};

/// Monthly requests in the document.
const MONTHS: [f64; 3] = [1e6, 1e7, 1e8];
const MONTHS_HEADING: &str = "| A month with so many requests | 1 million | 10 million | 100 million |\n|---|---:|---:|---:|";
/// The share of requests that start a container in those months.
const COLD_SHARE: f64 = 0.01;
const GB: f64 = 1_073_741_824.0;

/// The whole document.
pub fn document() -> String {
    let day = Usage::worst_day(COLD_SHARE);
    let writes_of_import = f64::from(ITEMS) * f64::from(ITEM_BYTES.div_ceil(1024));
    let values = [
        ("region", REGION.to_owned()),
        ("year", YEAR.to_string()),
        ("months", months()),
        ("requests", requests()),
        ("request_ms", REQUEST_MS.to_string()),
        ("start_ms", START_MS.to_string()),
        ("cold_share", (COLD_SHARE * 100.0).to_string()),
        ("snapshot_mb", dollars(f64::from(SNAPSHOT_BYTES) / 1e6)),
        ("snapshot_units", units_of_snapshot(SNAPSHOT_BYTES).to_string()),
        ("options", options()),
        ("rate", count(throttling_rate())),
        ("unknown_key_units", UNKNOWN_KEY_UNITS.to_string()),
        ("day_requests", (day.requests / 1e6).round().to_string()),
        ("day_gb", count(day.requests * day.request.response_bytes / GB)),
        ("costliest", costliest()),
        ("day", bill_of(&day)),
        ("writes", dollars(cost("write_units", 1e6))),
        ("more_writes", dollars(cost("write_units", 2e6))),
        ("items", count(ITEMS.into())),
        ("first_import", dollars(cost("write_units", writes_of_import))),
        ("checks_of_container", dollars(checks_of_container())),
        ("prices", PRICES.iter().map(price).collect::<Vec<_>>().join("\n")),
    ];
    values.iter().fold(include_str!("page.txt").to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

fn dollars(dollars: f64) -> String {
    format!("{dollars:.2}")
}

fn count(count: f64) -> String {
    HumanCount(count as u64).to_string()
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | "))
}

fn months() -> String {
    let bills = MONTHS.map(|requests| Bill::new(&Usage::month(requests, COLD_SHARE)));
    let mut rows = vec![MONTHS_HEADING.to_owned()];
    let mut add = |of: fn(&Bill) -> &[Line]| {
        for (place, line) in of(&bills[0]).iter().enumerate() {
            let cells = bills.iter().map(|bill| dollars(of(bill)[place].dollars));
            rows.push(row([line.what.clone()].into_iter().chain(cells)));
        }
    };
    let sum = |what: &str, of: fn(&Bill) -> f64| {
        let cells = bills.iter().map(|bill| format!("**{:.2}**", of(bill)));
        row([format!("**{what}**")].into_iter().chain(cells))
    };
    add(|bill| &bill.of_requests);
    add(|bill| &bill.fixed);
    let fixed = rows.len() - bills[0].fixed.len();
    rows.insert(fixed, sum("Requests together", |bill| Bill::sum(&bill.of_requests)));
    rows.push(sum("Together", Bill::total));
    rows.join("\n")
}

fn requests() -> String {
    let heading = "| Request | Share | Response, bytes | Log line, bytes | Read units |\n\
                   |---|---:|---:|---:|---:|";
    let usual = REQUESTS.iter().filter(|kind| kind.share > 0.0);
    let rows = usual.map(|kind| {
        let numbers = [kind.response_bytes, kind.log_bytes, kind.read_units];
        let numbers = numbers.map(|number| number.to_string());
        row([kind.name.clone(), format!("{} %", kind.share)].into_iter().chain(numbers))
    });
    let Request { response_bytes, log_bytes, read_units, .. } = Request::usual();
    let average =
        format!("| **on average** | | {response_bytes:.0} | {log_bytes:.0} | {read_units:.2} |");
    [heading.to_owned()].into_iter().chain(rows).chain([average]).collect::<Vec<_>>().join("\n")
}

fn options() -> String {
    let usual = |requests| Usage::month(requests, COLD_SHARE);
    let with = |what: &str, change: fn(Usage) -> Usage| {
        let more = MONTHS.map(|requests| {
            let more = Bill::new(&change(usual(requests))).total();
            format!("{:+.2}", more - Bill::new(&usual(requests)).total())
        });
        row([what.to_owned()].into_iter().chain(more))
    };
    let rows = [
        with("Traces (`Tracing`, off by default)", |usage| Usage { tracing: true, ..usage }),
        with("CloudFront and a firewall (`--edge`)", |usage| Usage { edge: true, ..usage }),
        with("No cold starts", |usage| Usage { cold_share: 0.0, ..usage }),
        with("Ten times as many cold starts", |usage| Usage {
            cold_share: 10.0 * COLD_SHARE,
            ..usage
        }),
    ];
    [MONTHS_HEADING.to_owned()].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// A row for each route's most expensive request.
fn costliest() -> String {
    let heading = "| Route | Its most expensive request | Requests a second | Response, bytes | \
                   Read units | ms |\n|---|---|---:|---:|---:|---:|";
    let rows = REQUESTS.iter().filter(|kind| kind.rate > 0.0).map(|kind| {
        let route = match kind.route.as_str() {
            "others" => "all others together".to_owned(),
            route => format!("`{route}`"),
        };
        let (units, ms) = (kind.read_units.to_string(), kind.ms.to_string());
        row([route, kind.name.clone(), count(kind.rate), count(kind.response_bytes), units, ms])
    });
    [heading.to_owned()].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn bill_of(day: &Usage) -> String {
    let lines = Bill::new(day).of_requests;
    let mut rows = vec!["| A day | Dollars |\n|---|---:|".to_owned()];
    rows.extend(lines.iter().map(|line| row([line.what.clone(), dollars(line.dollars)])));
    rows.push(format!("| **Requests together** | **{:.2}** |", Bill::sum(&lines)));
    rows.join("\n")
}

fn price(Price { what, unit, dollars, source, .. }: &Price) -> String {
    let path = source.trim_start_matches("https://aws.amazon.com/");
    let page = path.split('/').next().unwrap_or(path);
    row([what.clone(), dollars.clone(), unit.clone(), format!("[{page}]({source})")])
}
