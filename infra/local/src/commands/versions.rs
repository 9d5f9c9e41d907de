//! Lists the current version of the data and the retained ones, and how complete each is.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{Figures, Quality, QualityReport};
use jiff::Timestamp;
use numbering::dataset::LAYOUT;
use serde::Serialize;
use store::{FileDates, Manifest, Snapshot, Store};

use crate::{
    LocalError,
    args::VersionsArgs,
    database::{Access, on_database},
    next_commands::NextCommands,
    report::{self, is_share, ordered, share},
    terminal::{HEADING, NO_BREAK, styled, width, wrapped},
};

/// A version as it is listed.
#[derive(Debug, Serialize)]
struct Listed {
    version: String,
    is_current: bool,
    /// The layout of its snapshot; `None` if the release that imported it did not state it.
    layout: Option<u8>,
    /// Whether it has another layout than this release reads.
    is_foreign: bool,
    ingested_at: Timestamp,
    file_dates: FileDates,
    records: u32,
    /// `None` if no quality was stored with the version; so are the two fields below.
    carriers: Option<u32>,
    quality: Option<Quality>,
    /// Against the version before it.
    compared: Option<QualityReport>,
}

/// Prints the current version and the retained ones, the newest first.
///
/// # Errors
/// Returns an error if the database does not answer, or holds what this program cannot read.
pub async fn list(args: VersionsArgs) -> Result<(), LocalError> {
    let listed = on_database(&args.data, Access::Read, listed).await??;
    report::print(args.json, &listed, |table, listed| write(table, listed, &args.data.next()))
}

async fn listed(store: &Store) -> Result<Vec<Listed>, LocalError> {
    let manifest = store.manifest().await?;
    let snapshots: Vec<Snapshot> = manifest.iter().flat_map(Manifest::snapshots).cloned().collect();
    let mut qualities: Vec<Option<Quality>> = Vec::new();
    for snapshot in &snapshots {
        qualities.push(store.quality(&snapshot.version).await?);
    }
    let numbered = snapshots.into_iter().enumerate();
    let listed = numbered.map(|(place, snapshot)| {
        let quality = qualities[place].clone();
        let before = qualities.get(place + 1).and_then(Option::as_ref);
        let both = quality.as_ref().zip(before);
        Listed {
            version: snapshot.version.to_string(),
            is_current: place == 0,
            layout: snapshot.layout,
            is_foreign: snapshot.is_foreign(),
            ingested_at: snapshot.ingested_at,
            file_dates: snapshot.file_dates,
            records: snapshot.statistics.total_records,
            carriers: quality.as_ref().map(|quality| quality.carriers.total),
            compared: both.map(|(after, before)| QualityReport::between(Some(before), after)),
            quality,
        }
    });
    Ok(listed.collect())
}

fn write(table: &mut String, listed: &[Listed], next: &NextCommands) -> fmt::Result {
    if listed.is_empty() {
        let import = next.tnr("import --fetch");
        return writeln!(table, "No version yet; '{import}' fetches the published reports");
    }
    for version in listed {
        write_version(table, version)?;
    }
    if listed.len() > 1 {
        writeln!(table, "* is current; to go back to the one below it:")?;
        writeln!(table, "  {}", next.tnr("rollback"))?;
    }
    if listed.iter().any(|version| version.is_foreign) {
        writeln!(
            table,
            "! has another layout than this release reads, which is {LAYOUT};\n  another release \
             answers from it, and 'rollback' passes over it"
        )?;
    }
    Ok(())
}

fn write_version(table: &mut String, version: &Listed) -> fmt::Result {
    let Listed { is_current, is_foreign, ingested_at, carriers, .. } = version;
    let current = if *is_current { "*" } else { " " };
    let foreign = if *is_foreign { "!" } else { " " };
    let name = styled(HEADING, &version.version);
    writeln!(table, "{current}{foreign}{name}  ingested {ingested_at}")?;
    let FileDates { nanpa, cnac, npa_report, .. } = version.file_dates;
    let dates = [("NANPA", nanpa), ("CNAC", cnac), ("area codes", npa_report)];
    let dates = dates.into_iter().filter_map(|(file, date)| Some(format!("{file} {}", date?)));
    let dates = dates.collect::<Vec<_>>().join(", ");
    writeln!(table, "    files    {}", if dates.is_empty() { "without dates" } else { &dates })?;
    let records = HumanCount(version.records.into());
    let carriers = carriers.map(|count| format!(", {} carriers", HumanCount(count.into())));
    writeln!(table, "    records  {records}{}", carriers.unwrap_or_default())?;
    let alone = version.quality.as_ref().map(|quality| QualityReport::between(None, quality));
    for (country, figures) in version.compared.iter().chain(&alone).take(1).flat_map(by_country) {
        let line = format!("    {country:<7}  {}", coverage(figures));
        writeln!(table, "{}", wrapped(&line, width(), 13))?;
    }
    Ok(())
}

fn by_country(report: &QualityReport) -> impl Iterator<Item = (String, &Figures)> {
    report.countries.iter().map(|(country, figures)| (country.to_string(), figures))
}

/// The share of each column, and how far it has moved since the version before.
fn coverage(figures: &Figures) -> String {
    let shares = ordered(figures).into_iter().filter(|(name, _)| is_share(name));
    let shown = shares.map(|(name, figure)| {
        let now = figure.after.map_or("-".to_owned(), share);
        match (figure.before, figure.after) {
            (Some(before), Some(after)) if (after - before).abs() >= 0.05 => {
                format!("{name} {now} ({:+.1})", after - before)
            }
            _ => format!("{name} {now}"),
        }
    });
    let shown = shown.map(|share| share.replace(' ', &NO_BREAK.to_string()));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use ingest::BeforeAfter;

    use super::*;

    #[test]
    fn a_share_that_moved_says_by_how_much() {
        let figure = |before, after| BeforeAfter { before, after: Some(after) };
        let figures = Figures::from([
            ("ocn", figure(Some(97.3), 96.0)),
            ("state", figure(Some(50.0), 50.01)),
            ("holder", figure(None, 99.0)),
            ("records", figure(Some(5.0), 6.0)),
        ]);
        let coverage = coverage(&figures).replace(NO_BREAK, " ");
        assert_eq!(coverage, "holder 99.0 %, ocn 96.0 % (-1.3), state 50.0 %");
    }
}
