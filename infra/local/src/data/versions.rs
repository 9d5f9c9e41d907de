//! The `versions` command.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{Figures, Quality, QualityReport};
use jiff::Timestamp;
use logging::with_causes;
use serde::Serialize;
use store::{DatasetError, FileDates, Manifest, Store, load};

use crate::{
    CliError,
    data::args::VersionsArgs,
    data::report::{self, share, shares},
    database::{Access, on_database},
    terminal::{HEADING, NO_BREAK_SPACE, next_commands::NextCommands, styled, width, wrapped},
};

/// A listed version.
#[derive(Debug, Serialize)]
struct Listed {
    version: String,
    is_current: bool,
    /// `true` for the newest readable version, which answers requests.
    is_answering: bool,
    /// The reason if it is unreadable.
    unreadable: Option<String>,
    ingested_at: Timestamp,
    file_dates: FileDates,
    records: u32,
    /// `None`, like the next two fields, if the version is unreadable.
    carriers: Option<usize>,
    quality: Option<Quality>,
    /// Compared with the previous version.
    compared: Option<QualityReport>,
}

/// Prints the current and retained versions, newest first.
pub async fn list(args: VersionsArgs) -> Result<(), CliError> {
    let listed = on_database(&args.data, Access::Read, listed).await??;
    report::print(args.json, &listed, |table, listed| write(table, listed, &args.data.next()))
}

async fn listed(store: &Store) -> Result<Vec<Listed>, CliError> {
    let manifest = store.manifest().await?;
    let mut listed: Vec<Listed> = Vec::new();
    for snapshot in manifest.iter().flat_map(Manifest::snapshots) {
        let (dataset, unreadable) = match load(store, snapshot).await {
            Ok(dataset) => (Some(dataset), None),
            Err(DatasetError::Unreadable { source, .. }) => (None, Some(with_causes(&source))),
            Err(error) => return Err(error.into()),
        };
        let is_answering = dataset.is_some() && !listed.iter().any(|newer| newer.is_answering);
        listed.push(Listed {
            version: snapshot.version.to_string(),
            is_current: listed.is_empty(),
            is_answering,
            unreadable,
            ingested_at: snapshot.ingested_at,
            file_dates: snapshot.file_dates,
            records: snapshot.statistics.total_records,
            carriers: dataset.as_ref().map(|dataset| dataset.carriers().len()),
            quality: dataset.as_ref().map(Quality::new),
            compared: None,
        });
    }
    for place in 1..listed.len() {
        let before = listed[place].quality.clone();
        let both = listed[place - 1].quality.as_ref().zip(before.as_ref());
        listed[place - 1].compared =
            both.map(|(after, before)| QualityReport::between(Some(before), after));
    }
    Ok(listed)
}

fn write(table: &mut String, listed: &[Listed], next: &NextCommands) -> fmt::Result {
    if listed.is_empty() {
        let import = next.tnr("import --fetch");
        return writeln!(table, "No version yet; '{import}' fetches the published reports");
    }
    for version in listed {
        write_version(table, version)?;
    }
    let answering = listed.iter().position(|version| version.is_answering);
    match answering {
        Some(place) if place + 1 < listed.len() => {
            writeln!(table, "* answers requests; to go back to the one below it:")?;
            writeln!(table, "  {}", next.tnr("rollback"))?;
        }
        Some(_) => (),
        None => writeln!(table, "No version answers requests.")?,
    }
    if listed.iter().any(|version| version.unreadable.is_some()) {
        let import = next.tnr("import --fetch");
        writeln!(table, "! cannot be read; this imports the published reports and drops it:")?;
        writeln!(table, "  {import}")?;
    }
    Ok(())
}

fn write_version(table: &mut String, version: &Listed) -> fmt::Result {
    let Listed { is_answering, unreadable, ingested_at, carriers, .. } = version;
    let mark = match (is_answering, unreadable) {
        (true, _) => "*",
        (false, Some(_)) => "!",
        (false, None) => " ",
    };
    let name = styled(HEADING, &version.version);
    writeln!(table, "{mark} {name}  ingested {ingested_at}")?;
    if let Some(reason) = unreadable {
        let line = format!("    problem  it cannot be read: {reason}");
        writeln!(table, "{}", wrapped(&line, width(), 13))?;
    }
    let FileDates { nanpa, cnac, npa_report, .. } = version.file_dates;
    let dates = [("NANPA", nanpa), ("CNAC", cnac), ("area codes", npa_report)];
    let dates = dates.into_iter().filter_map(|(file, date)| Some(format!("{file} {}", date?)));
    let dates = dates.collect::<Vec<_>>().join(", ");
    writeln!(table, "    files    {}", if dates.is_empty() { "without dates" } else { &dates })?;
    let records = HumanCount(version.records.into());
    let carriers = carriers.map(|count| format!(", {} carriers", HumanCount(count as u64)));
    writeln!(table, "    records  {records}{}", carriers.unwrap_or_default())?;
    let alone = version.quality.as_ref().map(|quality| QualityReport::between(None, quality));
    let report = version.compared.as_ref().or(alone.as_ref());
    for (country, figures) in report.iter().flat_map(|report| &report.countries) {
        let line = format!("    {:<7}  {}", country.to_string(), coverage(figures));
        writeln!(table, "{}", wrapped(&line, width(), 13))?;
    }
    Ok(())
}

/// Each column's percentage, with the change since the previous version.
fn coverage(figures: &Figures) -> String {
    let shown = shares(figures).map(|(name, figure)| {
        let now = figure.after.map_or("-".to_owned(), share);
        match (figure.before, figure.after) {
            (Some(before), Some(after)) if (after - before).abs() >= 0.05 => {
                format!("{name} {now} ({:+.1})", after - before)
            }
            _ => format!("{name} {now}"),
        }
    });
    let shown = shown.map(|share| share.replace(' ', &NO_BREAK_SPACE.to_string()));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use ingest::BeforeAfter;

    use super::*;

    #[test]
    fn changed_percentages_show_the_difference() {
        let figure = |before, after| BeforeAfter { before, after: Some(after) };
        let figures = Figures::from([
            ("ocn", figure(Some(97.3), 96.0)),
            ("state", figure(Some(50.0), 50.01)),
            ("holder", figure(None, 99.0)),
            ("records", figure(Some(5.0), 6.0)),
        ]);
        let coverage = coverage(&figures).replace(NO_BREAK_SPACE, " ");
        assert_eq!(coverage, "holder 99.0 %, ocn 96.0 % (-1.3), state 50.0 %");
    }
}
