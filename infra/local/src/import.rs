//! The published reports, or the embedded sample, into the database.

use indicatif::{ProgressBar, ProgressStyle};
use ingest::{Options, Progress, Report, Source, Sources};
use shared::store::Store;

use crate::{LocalError, cli::ImportArgs, database::Database};

/// Loads the reports named on the command line and prints what was loaded.
///
/// # Errors
/// Where a report is refused or the database cannot be written; the data stays as it was.
pub async fn import(args: ImportArgs) -> Result<(), LocalError> {
    let ImportArgs { nanpa, cnac, npa_report, carriers, max_shrink, database } = args;
    let sources = Sources { nanpa, cnac, npa_report, carriers };
    let database = Database::open(&database).await?;
    let bar = ProgressBar::no_length();
    let report = ingest::ingest(&database.store(), &sources, Options { max_shrink }, |step| {
        show(&bar, step)
    })
    .await;
    bar.finish_and_clear();
    print(&report?);
    database.close().await;
    Ok(())
}

/// Loads the sample the program brings along, unless there is data already.
///
/// # Errors
/// Where the database cannot be read or written.
pub async fn import_sample_if_empty(store: &Store) -> Result<(), LocalError> {
    if store.manifest().await?.is_none() {
        ingest::ingest(store, &sample(), Options::default(), |_| ()).await?;
    }
    Ok(())
}

/// Made-up codes and carriers in the formats of the published reports.
pub fn sample() -> Sources {
    Sources {
        nanpa: Source::Embedded(include_bytes!("../sample/nanpa_utilized_codes.txt")),
        cnac: Source::Embedded(include_bytes!("../sample/cnac_co_code_status.csv")),
        npa_report: Source::Embedded(include_bytes!("../sample/npa_report.csv")),
        carriers: Some(Source::Embedded(include_bytes!("../sample/carriers.csv"))),
    }
}

const STYLE: &str = "{msg:<32} {wide_bar} {human_pos}/{human_len} {eta}";

fn show(bar: &ProgressBar, step: Progress) {
    match step {
        Progress::Reading(file) => bar.set_message(format!("Reading {file}")),
        Progress::Planned(items) => {
            if let Ok(style) = ProgressStyle::with_template(STYLE) {
                bar.set_style(style);
            }
            bar.set_message("Writing");
            bar.set_length(items as u64);
        }
        Progress::Written(items) => bar.inc(items as u64),
        Progress::Publishing => bar.set_message("Publishing"),
    }
}

fn print(report: &Report) {
    let Report { version, records, by_country, by_status, carriers, area_codes, changes, warnings } =
        report;
    println!("Version {version} is current");
    println!("  records     {}", grouped(u64::from(*records)));
    for (country, count) in by_country {
        println!("    {:<10}{:>10}", country.to_string(), grouped(u64::from(*count)));
    }
    for (status, count) in by_status {
        println!("    {:<10}{:>10}", status.to_string(), grouped(u64::from(*count)));
    }
    println!("  carriers    {}", grouped(*carriers as u64));
    println!("  area codes  {}", grouped(*area_codes as u64));
    println!(
        "  items       {} written, {} deleted",
        grouped(changes.written as u64),
        grouped(changes.deleted as u64)
    );
    println!("Warnings: {}", grouped(warnings.values().map(|&count| u64::from(count)).sum()));
    for (warning, count) in warnings {
        println!("{:>8}  {warning}", grouped(u64::from(*count)));
    }
}

fn grouped(count: u64) -> String {
    indicatif::HumanCount(count).to_string()
}
