//! The services that benchmarks start, the requests that they send, and the tables that they print.

pub mod cold_start;
pub mod lambda;
pub mod load;
pub mod programs;
pub mod requests;

/// An error that ends a benchmark, to be read by who started it.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A Markdown table of names in the first column and figures in the others.
fn table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let rows = rows.into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let rule = "---:|".repeat(COLUMNS - 1);
    format!("| {} |\n|---|{rule}\n{}", headings.join(" | "), rows.collect::<String>())
}
