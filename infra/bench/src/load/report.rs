//! The figures as Markdown.

use std::fmt::Write;

use super::{Load, Measured};
use crate::{machine, table::Table};

/// Everything that was measured, as a part of a Markdown document.
pub fn report(measured: &Measured) -> String {
    let mut report = format!("{}\n{}\n\n", machine::description(), measured.description);
    let mut table = Table::new([
        "",
        "at a time",
        "requests/s",
        "p50, ms",
        "p99, ms",
        "p99.9, ms",
        "memory, MiB",
        "errors",
    ]);
    for load in &measured.loads {
        table.add(cells(load));
    }
    _ = writeln!(report, "{table}");
    for note in &measured.left_out {
        _ = writeln!(report, "{note}");
    }
    report
}

fn cells(load: &Load) -> [String; 8] {
    let Load { service, request, concurrency, answers, seconds, memory } = load;
    let [before, after] = memory.map(|bytes| bytes as f64 / 1024.0 / 1024.0);
    let milliseconds = |share| format!("{:.2}", answers.quantile(share));
    [
        format!("{service}, {request}"),
        concurrency.to_string(),
        format!("{:.0}", answers.latencies.len() as f64 / seconds),
        milliseconds(0.5),
        milliseconds(0.99),
        milliseconds(0.999),
        format!("{before:.0} → {after:.0}"),
        answers.failures.to_string(),
    ]
}
