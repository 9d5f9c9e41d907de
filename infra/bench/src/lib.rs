//! The services that benchmarks start, their requests, and the tables they print.

pub mod cold_start;
pub mod lambda;
pub mod load;
pub mod programs;
pub mod requests;

/// An error that ends a benchmark, for its user to read.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A Markdown table with names in the first column and figures in the others.
fn table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let rows = rows.into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let rule = "---:|".repeat(COLUMNS - 1);
    format!("| {} |\n|---|{rule}\n{}", headings.join(" | "), rows.collect::<String>())
}
