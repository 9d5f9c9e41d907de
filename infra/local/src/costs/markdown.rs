//! The document docs/COSTS.md.

use std::fmt::{self, Write};

use indicatif::HumanCount;

use super::{
    Bill, Deployment, Line, Request, Usage,
    costliest::COSTLIEST,
    first_import, in_gb,
    measures::{
        ITEMS, KINDS, REQUEST_MS, SNAPSHOT_BYTES, START_MS, UNKNOWN_KEY_UNITS, units_of_snapshot,
    },
    prices::{self, Price},
};

/// The requests of the months that the document has.
const MONTHS: [f64; 3] = [1e6, 1e7, 1e8];
/// The share of requests that start a container in these months.
const COLD_SHARE: f64 = 0.01;
const MILLION: f64 = 1e6;

/// The whole document.
pub fn document(deployment: &Deployment) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let usages = MONTHS.map(|requests| Usage::month(requests, COLD_SHARE));
    writeln!(
        text,
        "# Costs\n\n\
         `tnr costs --markdown` writes this page, and a test holds the two together. It is computed from what the \
         tests\nmeasure, from what `template.yaml` deploys, and from AWS's list prices of {}, in US dollars, as they \
         were in {},\nwithout the free tier but for the first 100 GB of data out in a month. Another month, or one with traces or CloudFront:\n\n\
         ```sh\n\
         cargo run -- costs --requests 25000000 --cold 0.5\n\
         cargo run -- costs --requests 25000000 --tracing --edge\n\
         cargo run -- costs --worst-case\n\
         ```\n",
        prices::REGION,
        prices::YEAR,
    )?;
    let bills = usages.map(|usage| Bill::of(deployment, &usage));
    write_bills(&mut text, &["1 million", "10 million", "100 million"], &bills)?;
    write_assumptions(&mut text)?;
    write_options(&mut text, deployment)?;
    write_worst_case(&mut text, deployment)?;
    write_notes(&mut text)?;
    write_prices(&mut text)?;
    Ok(text)
}

/// A table of bills with the same lines.
fn write_bills(text: &mut String, columns: &[&str], bills: &[Bill]) -> fmt::Result {
    writeln!(text, "| A month with so many requests | {} |", columns.join(" | "))?;
    writeln!(text, "|---|{}", "---:|".repeat(columns.len()))?;
    write_lines(text, bills, |bill| &bill.of_requests)?;
    write_sums(text, "Requests together", bills, |bill| Bill::sum(&bill.of_requests))?;
    write_lines(text, bills, |bill| &bill.fixed)?;
    write_sums(text, "Together", bills, Bill::total)?;
    writeln!(text)
}

fn write_lines(text: &mut String, bills: &[Bill], of: impl Fn(&Bill) -> &[Line]) -> fmt::Result {
    for (place, line) in of(&bills[0]).iter().enumerate() {
        let dollars = bills.iter().map(|bill| format!("{:.2}", of(bill)[place].dollars));
        writeln!(text, "| {} | {} |", line.what, dollars.collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}

fn write_sums(
    text: &mut String,
    what: &str,
    bills: &[Bill],
    sum: impl Fn(&Bill) -> f64,
) -> fmt::Result {
    let dollars = bills.iter().map(|bill| format!("**{:.2}**", sum(bill)));
    writeln!(text, "| **{what}** | {} |", dollars.collect::<Vec<_>>().join(" | "))
}

fn write_assumptions(text: &mut String) -> fmt::Result {
    let Request { response_bytes, log_bytes, read_units, .. } = Request::usual();
    writeln!(
        text,
        "## What a request takes\n\n\
         The shares are an assumption; the rest is measured on the sample, in a warm container, and a test fails if \
         it moves.\nResponses are counted without compression, which makes lists about a fifth.\n"
    )?;
    writeln!(text, "| Request | Share | Response, bytes | Log line, bytes | Read units |")?;
    writeln!(text, "|---|---:|---:|---:|---:|")?;
    for kind in KINDS {
        writeln!(
            text,
            "| {} | {} % | {} | {} | {} |",
            kind.name, kind.share, kind.response_bytes, kind.log_bytes, kind.read_units
        )?;
    }
    writeln!(
        text,
        "| **on average** | | {response_bytes:.0} | {log_bytes:.0} | {read_units:.2} |\n\n\
         Lambda bills {REQUEST_MS} ms for a request and {START_MS} ms more for one that starts a container, of which \
         there are {} %\nhere. Both are upper limits: with the full data a request takes 0.4 to 1 ms and a start 15 to \
         20 ms on a\ndevelopment machine ([BENCHMARKS.md](BENCHMARKS.md)), to which the network and a fraction of a \
         processor come. A start\nreads the snapshot, {:.2} MB for {} units.\n\n\
         Many numbers in one request take the bytes of as many results and, for each exchange among them, the units of \
         one\nnumber. The request to API Gateway and Lambda, its lines of logs and the key are paid once.\n",
        COLD_SHARE * 100.0,
        f64::from(SNAPSHOT_BYTES) / 1e6,
        units_of_snapshot(SNAPSHOT_BYTES),
    )
}

fn write_options(text: &mut String, deployment: &Deployment) -> fmt::Result {
    writeln!(
        text,
        "## Options\n\n\
         | A month with so many requests | 1 million | 10 million | 100 million |\n|---|---:|---:|---:|"
    )?;
    let without = MONTHS.map(|requests| Usage::month(requests, COLD_SHARE));
    let mut write_row = |what: &str, change: fn(Usage) -> Usage| {
        let more = without.map(|usage| {
            let total = |usage| Bill::of(deployment, &usage).total();
            format!("{:+.2}", total(change(usage)) - total(usage))
        });
        writeln!(text, "| {what} | {} |", more.join(" | "))
    };
    write_row("Traces (`Tracing`, off by default)", |usage| Usage { tracing: true, ..usage })?;
    write_row("CloudFront and a firewall (`--edge`)", |usage| Usage { edge: true, ..usage })?;
    write_row("No cold starts", |usage| Usage { cold_share: 0.0, ..usage })?;
    write_row("Ten times as many cold starts", |usage| Usage {
        cold_share: 10.0 * COLD_SHARE,
        ..usage
    })?;
    writeln!(text)
}

fn write_worst_case(text: &mut String, deployment: &Deployment) -> fmt::Result {
    let day = Usage::worst_day(deployment, COLD_SHARE);
    let bill = Bill::of(deployment, &day);
    writeln!(
        text,
        "## The worst day\n\n\
         API Gateway refuses what goes beyond {} requests a second on all routes together (the defaults of \
         `template.yaml`).\nIf somebody sends as many for a whole day, to each route its most expensive request, and \
         each with a key that the\nservice has to look up ({UNKNOWN_KEY_UNITS} read unit more), that is {} million \
         requests and {} GB. Lambda's time is an upper\nlimit; a test measures the rest.\n",
        HumanCount(deployment.throttling_rate() as u64),
        (day.requests / MILLION).round(),
        HumanCount(in_gb(day.requests * day.request.response_bytes) as u64),
    )?;
    write_costliest(text, deployment)?;
    writeln!(text, "| A day | Dollars |\n|---|---:|")?;
    for line in &bill.of_requests {
        writeln!(text, "| {} | {:.2} |", line.what, line.dollars)?;
    }
    writeln!(
        text,
        "| **Requests together** | **{:.2}** |\n\n\
         A key with quotas adds the writes of its counts, about one a second and container. Lower `ThrottlingRate`, \
         or give\nkeys quotas, to lower the limit. It does not hold for what stands in front: a distribution and its \
         firewall (`edge.yaml`)\nare billed for each request, also for one that API Gateway or the firewall refuses.\n",
        Bill::sum(&bill.of_requests)
    )
}

/// A row for each most expensive request.
fn write_costliest(text: &mut String, deployment: &Deployment) -> fmt::Result {
    writeln!(
        text,
        "| Route | Its most expensive request | Requests a second | Response, bytes | Read units | ms |\n\
         |---|---|---:|---:|---:|---:|"
    )?;
    for costliest in &COSTLIEST {
        let route = match costliest.routes {
            [route] => format!("`{}`", route.trim_start_matches("ANY ")),
            routes => format!("{} others together", routes.len()),
        };
        let limits = deployment.limits.iter().filter(|limit| limit.costliest == costliest);
        writeln!(
            text,
            "| {route} | {} | {} | {} | {} | {} |",
            costliest.kind.name,
            HumanCount(limits.map(|limit| limit.rate).sum::<f64>() as u64),
            HumanCount(costliest.kind.response_bytes.into()),
            costliest.kind.read_units,
            costliest.ms,
        )?;
    }
    writeln!(text)
}

fn write_notes(text: &mut String) -> fmt::Result {
    writeln!(
        text,
        "## What is not in the tables\n\n\
         - A quota costs at most one write for each request if there are few, and about one write a second and \
         container\n  under load. A write costs a unit for each KB of the hour's item, which holds some 12 containers: \
         with few\n  requests, {:.2} a million up to 12 containers and {:.2} up to 24. Lambda bills the 5 to 20 ms of a \
         write, which comes\n  after the response. Once an hour, a container reads the 23 hours before for each key, \
         which costs 12 units. Keys\n  without quotas cost none of this.\n\
         - The first import writes {} items, for {:.2}; so does the first import of a release with another layout of \
         snapshots.\n\
         - The check of key and manifest is that of one container for each function; under load there are more, and \
         each\n  costs {:.2} a month if it is always busy.\n\
         - A 304 costs what its 200 does, except for the data. A page in a browser sends a preflight for each URL, which \
         browsers\n  remember for hours: a request to API Gateway and Lambda without a read.\n\
         - Logs are billed when they are taken in; `LogRetention` changes little. A custom domain, the topic of the alarms \
         and\n  the data bucket cost cents.\n",
        prices::WRITE_UNITS.of(MILLION),
        prices::WRITE_UNITS.of(2.0 * MILLION),
        HumanCount(ITEMS.into()),
        first_import(),
        prices::READ_UNITS.of(2.0 * 43_200.0),
    )
}

fn write_prices(text: &mut String) -> fmt::Result {
    writeln!(text, "## Prices\n\n| What | Dollars | For a | From |\n|---|---|---|---|")?;
    for Price { what, unit, tiers, source, .. } in prices::ALL {
        let tiers = tiers.iter().map(|(end, dollars)| {
            if end.is_infinite() {
                format!("{dollars}")
            } else {
                format!("{dollars} up to {}", HumanCount(*end as u64))
            }
        });
        let (dollars, page) = (tiers.collect::<Vec<_>>().join(", then "), page(source));
        writeln!(text, "| {what} | {dollars} | {unit} | [{page}]({source}) |")?;
    }
    Ok(())
}

/// The name of a price page, which its address ends with.
fn page(source: &str) -> &str {
    let path = source.trim_start_matches("https://aws.amazon.com/");
    path.split('/').next().unwrap_or(path)
}
