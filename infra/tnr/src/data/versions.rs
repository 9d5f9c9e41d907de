//! The `versions` command.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use jiff::Timestamp;
use logging::with_causes;
use serde::Serialize;
use store::{DatasetError, FileDates, Manifest, Store, load};

use crate::{
    CliError,
    data::args::ReportArgs,
    data::report,
    database::{Access, on_database},
    terminal::{HEADING, NextCommands, styled, width, wrap},
};

#[derive(Debug, Serialize)]
struct ListedVersion {
    version: String,
    is_current: bool,
    /// `true` for the newest readable version, which responses come from.
    is_answering: bool,
    /// The reason why the version is unreadable; `None` if it is readable.
    unreadable: Option<String>,
    ingested_at: Timestamp,
    file_dates: FileDates,
    records: u32,
    /// `None` if the version is unreadable.
    carriers: Option<usize>,
}

pub async fn list(args: ReportArgs) -> Result<(), CliError> {
    let versions = on_database(&args.data, Access::Read, load_versions).await??;
    report::print(args.json, &versions, |table, list| write(table, list, &args.data.next()))
}

async fn load_versions(store: &Store) -> Result<Vec<ListedVersion>, CliError> {
    let manifest = store.manifest().await?;
    let mut versions: Vec<ListedVersion> = Vec::new();
    for snapshot in manifest.iter().flat_map(Manifest::snapshots) {
        let (dataset, unreadable) = match load(store, snapshot).await {
            Ok(dataset) => (Some(dataset), None),
            Err(DatasetError::Unreadable { source, .. }) => {
                (None, Some(with_causes(source.as_ref())))
            }
            Err(error) => return Err(error.into()),
        };
        let is_answering = dataset.is_some() && !versions.iter().any(|newer| newer.is_answering);
        versions.push(ListedVersion {
            version: snapshot.version.to_string(),
            is_current: versions.is_empty(),
            is_answering,
            unreadable,
            ingested_at: snapshot.ingested_at,
            file_dates: snapshot.reports.file_dates(),
            records: snapshot.statistics.total_records,
            carriers: dataset.as_ref().map(|dataset| dataset.carriers().len()),
        });
    }
    Ok(versions)
}

fn write(table: &mut String, versions: &[ListedVersion], next: &NextCommands) -> fmt::Result {
    let import = next.tnr("import --fetch");
    if versions.is_empty() {
        return writeln!(table, "No data yet; import the published reports with '{import}'");
    }
    for version in versions {
        write_version(table, version)?;
    }
    match versions.iter().position(|version| version.is_answering) {
        Some(position) if position + 1 < versions.len() => {
            writeln!(table, "* is being served. To roll back to the version below:")?;
            writeln!(table, "  {}", next.tnr("rollback"))?;
        }
        Some(_) => (),
        None => writeln!(table, "No version is being served.")?,
    }
    if versions.iter().any(|version| version.unreadable.is_some()) {
        writeln!(table, "! cannot be read. To replace it with the published reports:")?;
        writeln!(table, "  {import}")?;
    }
    Ok(())
}

fn write_version(table: &mut String, version: &ListedVersion) -> fmt::Result {
    let ListedVersion { is_answering, unreadable, ingested_at, carriers, .. } = version;
    let marker = match (is_answering, unreadable) {
        (true, _) => "*",
        (false, Some(_)) => "!",
        (false, None) => " ",
    };
    let name = styled(HEADING, &version.version);
    writeln!(table, "{marker} {name}  imported {ingested_at}")?;
    if let Some(reason) = unreadable {
        let line = format!("    problem  unreadable: {reason}");
        writeln!(table, "{}", wrap(&line, width(), 13))?;
    }
    let FileDates { nanpa, cnac, npa_report, .. } = version.file_dates;
    let dates = [("NANPA", nanpa), ("CNAC", cnac), ("area codes", npa_report)];
    let dates = dates.into_iter().filter_map(|(file, date)| Some(format!("{file} {}", date?)));
    let dates = dates.collect::<Vec<_>>().join(", ");
    writeln!(table, "    files    {}", if dates.is_empty() { "without dates" } else { &dates })?;
    let records = HumanCount(version.records.into());
    let carriers = carriers.map(|count| format!(", {} carriers", HumanCount(count as u64)));
    writeln!(table, "    records  {records} exchanges{}", carriers.unwrap_or_default())?;
    Ok(())
}
