//! The figures as Markdown.

use std::fmt::Write;

use super::{Figures, Measured, goals::goals};
use crate::{machine, table::Table};

/// Everything that was measured, as a part of a Markdown document.
pub fn report(measured: &Measured) -> String {
    let mut report = format!("{}\n{}\n", machine::description(), measured.description);
    let all = || [&measured.hello, &measured.hello_dynamodb].into_iter().chain(&measured.functions);
    let mut absolute = Table::new([
        "",
        "init, ms",
        "first answer, ms",
        "warm answer, ms",
        "memory, MiB",
        "binary, MB",
    ]);
    for Figures { name, init, first, warm, memory, size } in all() {
        absolute.add([
            (*name).to_owned(),
            format!("{init:.1}"),
            format!("{first:.2}"),
            format!("{warm:.2}"),
            format!("{memory:.1}"),
            format!("{size:.1}"),
        ]);
    }
    _ = write!(report, "\n{absolute}");
    for baseline in [&measured.hello, &measured.hello_dynamodb] {
        _ = write!(report, "\n{}", ratios(baseline, all()));
    }
    let mut reached = Table::new(["goal", "measured", "at most"]);
    for goal in goals(measured) {
        let figure = |value: f64| format!("{value:.1} {}", goal.unit);
        reached.add([goal.text.to_owned(), figure(goal.measured), figure(goal.at_most)]);
    }
    _ = write!(report, "\n{reached}");
    report
}

/// How many times as much as the baseline each function needs.
fn ratios<'a>(baseline: &Figures, all: impl Iterator<Item = &'a Figures>) -> Table {
    let heading = format!("as a multiple of {}", baseline.name);
    let mut table =
        Table::new([&heading, "init", "first answer", "warm answer", "memory", "binary"]);
    for figures in all {
        let ratio = |value: fn(&Figures) -> f64| format!("{:.1}", value(figures) / value(baseline));
        table.add([
            figures.name.to_owned(),
            ratio(|figures| figures.init),
            ratio(|figures| figures.first),
            ratio(|figures| figures.warm),
            ratio(|figures| figures.memory),
            ratio(|figures| figures.size),
        ]);
    }
    table
}
