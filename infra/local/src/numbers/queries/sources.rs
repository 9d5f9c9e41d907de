//! The reports behind the data.

use std::process::ExitCode;

use indicatif::{HumanBytes, HumanCount};
use serde_json::Value;

use super::{display_text, line, print_response, text};
use crate::{
    CliError,
    data::report::format_percentage,
    numbers::args::QueryArgs,
    terminal::{HEADING, styled},
};

pub async fn sources(args: QueryArgs) -> Result<ExitCode, CliError> {
    print_response(&args, "/v1/sources", &Vec::new(), render).await?;
    Ok(ExitCode::SUCCESS)
}

fn render(sources: &Value) -> String {
    let reports = sources["reports"].as_array().into_iter().flatten().map(report);
    let [version, imported_at] =
        ["version", "imported_at"].map(|field| display_text(&sources[field]));
    let first = format!("Version {version}, imported {imported_at}\n");
    [first].into_iter().chain(reports).collect()
}

fn report(report: &Value) -> String {
    let heading = format!("{}: {}", text(&report["publisher"]), text(&report["title"]));
    let count = |field: &str| report[field].as_u64().unwrap_or_default();
    let rows = HumanCount(count("rows"));
    let counted = |field: &str| {
        let counts = figures(&report[field], Value::as_u64);
        join(counts.map(|(name, count)| format!("{} {}", words(&name), HumanCount(count))))
    };
    let unknown = figures(&report["unknown_values"], Value::as_u64)
        .map(|(column, rows)| format!("{} in {column}", HumanCount(rows)));
    let shares = figures(&report["percentages"], Value::as_f64)
        .map(|(name, share)| format!("{} {}", words(&name), format_percentage(share)));
    let limits = report["cannot_tell"].as_array().into_iter().flatten().map(text);
    [
        format!("\n{}\n", styled(HEADING, &heading)),
        line("address", text(&report["address"])),
        line("date", display_text(&report["date"])),
        line("read at", text(&report["read_at"])),
        line("size", HumanBytes(count("bytes")).to_string()),
        // Aligned, a hash would not fit in 80 columns.
        format!("  SHA-256 {}\n", display_text(&report["sha256"])),
        line("rows", rows.to_string()),
        line("skipped", counted("skipped")),
        line("unknown values", join(unknown)),
        line("counts", counted("counts")),
        line("shares", join(shares)),
        line("cannot tell", limits.collect::<Vec<_>>().join("; ")),
    ]
    .concat()
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Figures by name.
fn figures<T>(
    figures: &Value,
    figure: fn(&Value) -> Option<T>,
) -> impl Iterator<Item = (String, T)> {
    let figures = figures.as_object().into_iter().flatten();
    figures.filter_map(move |(name, value)| Some((name.clone(), figure(value)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_and_counts_are_in_words() {
        let sources = json!({ "version": "v", "imported_at": "now", "reports": [{
            "publisher": "CNAC", "title": "Codes", "address": "a\u{1b}.zip", "date": null, "read_at": "now",
            "sha256": "0f", "bytes": 2048, "rows": 1200, "skipped": { "blank rows": 3 },
            "unknown_values": { "Use": 1 }, "counts": { "distinct_ocns": 1234 },
            "percentages": { "rate_center": 97.25 }, "cannot_tell": ["this", "that"],
        }]});
        let expected = format!(
            "Version v, imported now\n\n{}\n  address        a\\u001b.zip\n  date           -\n  \
             read at        now\n  size           2.00 KiB\n  SHA-256 0f\n  rows           \
             1,200\n  skipped        blank rows 3\n  \
             unknown values 1 in Use\n  counts         distinct ocns 1,234\n  shares         rate center 97.2%\n  cannot tell    this; that\n",
            styled(HEADING, "CNAC: Codes"),
        );
        assert_eq!(render(&sources), expected);
    }
}
