//! Imports other countries' ranges. Each country is optional, and fails or is refused on its own.
//!
//! [`description`] says how a country's [`files`] look, [`table`] reads them, [`overlaps`] makes the ranges disjoint, and
//! [`gates`] may refuse them. One conditional write of the manifest then publishes all countries that were read.

mod description;
mod files;
mod gates;
mod overlaps;
mod row;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::civil::Date;
use numbering::{ranges::CountryRanges, records::Version, time::date_of};
use serde::Serialize;
use store::{Countries, CountryData, DatasetError, ImportedReport, Manifest, Piece, Store};

use crate::{
    IngestError, Mirror, Options, Outcome, Progress, Source,
    gates::{GateResult, Refusal},
    import::{MAX_WAIT, restart_while_overtaken},
    notes::Warning,
    options::{before_deadline, share_of_time},
    publish,
    sources::{published_source, sha256},
};
use description::Description;
pub use description::SupportedCountry;
use files::NamedFile;
use rows::Rows;
use table::read_files;

/// The files or URLs of each country to import.
pub type CountrySources = BTreeMap<SupportedCountry, Vec<Source>>;

/// Returns the sources of countries: the published files, or their copies on a mirror, unless `files` has others.
pub fn country_sources(
    countries: impl IntoIterator<Item = SupportedCountry>,
    files: impl IntoIterator<Item = (SupportedCountry, Source)>,
    mirror: Option<&Mirror>,
) -> CountrySources {
    let mut sources = CountrySources::new();
    for (country, file) in files {
        sources.entry(country).or_default().push(file);
    }
    for country in countries {
        let published = country.addresses().iter();
        let published = published.map(|address| published_source(mirror, address));
        sources.entry(country).or_insert_with(|| published.collect());
    }
    sources
}

/// A country's part of the import report.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CountryReport {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The number of ranges, after joining neighbors; 0 if the files were not read.
    pub ranges: usize,
    pub holders: usize,
    /// The date of the newest entry.
    pub date: Option<Date>,
    pub rows: u32,
    pub skipped: BTreeMap<String, u32>,
    pub warnings: BTreeMap<String, Warning>,
}

/// A country's ranges as read, before the gates.
struct ParsedCountry {
    ranges: CountryRanges,
    rows: Rows,
    imported: ImportedReport,
}

/// Imports the countries. A country that cannot be read or is refused leaves the others unaffected.
pub async fn import_countries(
    store: &Store,
    sources: &CountrySources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<BTreeMap<String, CountryReport>, IngestError> {
    if sources.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut read = Vec::new();
    for (index, (country, files)) in sources.iter().enumerate() {
        // The last share is for publishing, so one slow publisher does not stop the other countries.
        let deadline = share_of_time(options.deadline, sources.len() + 1 - index);
        let (description, options) = (country.description(), Options { deadline, ..options });
        read.push((description, read_country(description, files, options, &progress).await));
    }
    progress(Progress::Publishing);
    let publish = async |options| publish_countries(store, &read, options).await;
    let reports = restart_while_overtaken(publish, options, MAX_WAIT).await?;
    if !options.dry_run {
        publish::sweep(store, options.now).await;
    }
    Ok(reports)
}

async fn read_country(
    description: &'static Description,
    sources: &[Source],
    Options { deadline, now, .. }: Options,
    progress: &impl Fn(Progress),
) -> Result<ParsedCountry, IngestError> {
    let file = description.title.as_str();
    let mut files: Vec<NamedFile> = Vec::new();
    let (mut imported, mut hashes) =
        (ImportedReport { read_at: now, ..ImportedReport::default() }, Vec::new());
    for source in sources {
        let on_received = |bytes, total| progress(Progress::Fetching { file, bytes, total });
        let content = source.open(file, deadline, on_received).await?;
        imported.bytes += content.size;
        hashes.push(content.sha256);
        files.extend(content.files);
        if imported.address.is_empty() {
            imported.address = source.public_address();
        }
    }
    imported.sha256 = match &hashes[..] {
        [hash] => hash.clone(),
        hashes => sha256(hashes.concat().as_bytes()),
    };
    progress(Progress::Reading { file, rows: 0 });
    let report = |source| IngestError::Report { source_name: imported.address.clone(), source };
    let mut rows = read_files(description, &files).map_err(report)?;
    if !description.is_verified {
        let example = format!("compare the result with {}", description.publisher);
        rows.warn("the description was never tried with published files", example);
    }
    let today = date_of(now);
    let dates = rows.ranges.iter().filter_map(|published| published.range.facts.effective_from);
    imported.date = dates.filter(|date| *date <= today).max();
    let ranges = overlaps::resolve(&mut rows);
    let ranges = CountryRanges::new(std::mem::take(&mut rows.covered), ranges);
    imported.rows = rows.count;
    imported.skipped = rows.skipped.clone();
    imported.unknown_values = rows.unknown_values.clone();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    imported.counts =
        [("ranges", count(ranges.iter().count())), ("holders", count(ranges.holders().len()))]
            .map(|(name, count)| (name.to_owned(), count))
            .into();
    imported.percentages = gates::shares(&ranges).collect();
    Ok(ParsedCountry { ranges, rows, imported })
}

/// Publishes the countries that were read and pass the gates.
async fn publish_countries(
    store: &Store,
    read: &[(&Description, Result<ParsedCountry, IngestError>)],
    options: Options,
) -> Result<BTreeMap<String, CountryReport>, IngestError> {
    let manifest = store.manifest().await?.ok_or(IngestError::NothingImported)?;
    let (mut reports, mut accepted) = (BTreeMap::new(), Countries::default());
    for (description, country) in read {
        let report = match country {
            Ok(country) => {
                accept(store, &manifest, (description, country), options, &mut accepted).await?
            }
            Err(error) => CountryReport::failed(error),
        };
        reports.insert(description.country.clone(), report);
    }
    if !options.dry_run && !accepted.0.is_empty() {
        store.publish(&manifest.with_countries(accepted), &manifest.revision).await?;
    }
    Ok(reports)
}

/// Runs the gates, and writes the country's piece if it changed. Adds it to `accepted` unless a gate refuses.
async fn accept(
    store: &Store,
    manifest: &Manifest,
    (description, country): (&Description, &ParsedCountry),
    options: Options,
    accepted: &mut Countries,
) -> Result<CountryReport, IngestError> {
    let ParsedCountry { ranges, rows, imported } = country;
    let code = &description.country;
    let current = match manifest.countries.0.get(code) {
        None => None,
        Some(data) => match store.country(code, data).await {
            Err(DatasetError::Unreadable { .. }) => None,
            current => Some(current?),
        },
    };
    let compared = current.as_ref().filter(|current| !current.data.is_sample());
    let compared = compared.map(|current| (&*current.ranges, &current.data.imported));
    let refusals: Vec<Refusal> =
        gates::run_gates(compared, ranges, rows, imported.date, options.strict);
    let report = |outcome| CountryReport::new(outcome, country);
    let gates = GateResult::new(refusals, options.allow);
    if let Some(outcome) = gates.unpublished(options.dry_run) {
        return Ok(report(outcome));
    }
    let bytes = ranges.pack()?;
    let unchanged = current.filter(|current| current.data.piece.has_bytes(&bytes));
    let (outcome, piece) = match unchanged {
        Some(current) => (Outcome::Unchanged, current.data.piece),
        None => {
            let piece = Piece::new(Version::new(options.now), &bytes);
            let write = store.write_snapshot(&piece.version, &bytes, &manifest.revision);
            before_deadline(options.deadline, write).await??;
            (Outcome::Published, piece)
        }
    };
    accepted.0.insert(code.clone(), description.data(piece, imported.clone()));
    Ok(report(outcome))
}

impl CountryReport {
    fn new(outcome: Outcome, ParsedCountry { ranges, rows, imported }: &ParsedCountry) -> Self {
        Self {
            outcome,
            ranges: ranges.iter().count(),
            holders: ranges.holders().len(),
            date: imported.date,
            rows: rows.count,
            skipped: rows.skipped.clone(),
            warnings: rows.warnings.clone(),
        }
    }

    pub(crate) fn failed(error: &IngestError) -> Self {
        Self { outcome: Outcome::failed(error), ..Self::default() }
    }
}

impl Description {
    /// The manifest's entry for ranges that were imported.
    fn data(&self, piece: Piece, imported: ImportedReport) -> CountryData {
        CountryData {
            piece,
            calling_codes: self.calling_codes.clone(),
            place_calling_codes: self.place_calling_codes.clone(),
            publisher: self.publisher.clone(),
            title: self.title.clone(),
            license: self.license.clone(),
            max_age_days: self.max_age_days,
            cannot_tell: self.cannot_tell.clone(),
            example_statuses: self.example_statuses.clone(),
            replaced: None,
            imported,
        }
    }
}
