//! Ingest: the NANPA and CNAC reports become records, and the records the service's data.
//!
//! Data flows one way: [`sources`] opens a file, [`table`] finds its columns, one module of
//! [`reports`] reads its rows, [`assemble`] makes them a dataset, [`difference`] compares it with the
//! current one, [`quality`] measures how complete it is, [`gates`] may refuse it, and [`publish`] writes
//! what changed. [`verify`] compares the items with the snapshot afterwards.

mod assemble;
mod changes;
mod difference;
mod gates;
mod lambda;
mod publish;
mod quality;
mod report;
mod reports;
mod sources;
mod table;
mod verify;

use std::{
    io::Read,
    time::{Duration, Instant},
};

use jiff::{Timestamp, civil::Date};
use numbering::dataset::{DamagedSnapshot, Dataset};
use numbering::records::Version;
use numbering::time::this_second;
use store::{DatasetError, load};
use store::{FileDates, Snapshot, Store, StoreError};

use self::{
    assemble::Rows,
    gates::Counted,
    publish::{Candidate, Start},
    report::Notes,
    reports::{cnac, nanpa, npa_report, overlay, thousands_blocks},
};

pub use changes::{ChangeKind, Changes, FieldChange, MOST_LISTED, RecordChange, RecordKind};
pub use difference::{Delta, Differences};
pub use gates::{NoPercent, Percent, Refusal};
pub use lambda::{Event, RequestError, handle};
pub use quality::{
    AreaCodeCoverage, BeforeAfter, CarrierCoverage, Column, Coverage, Figures, Quality,
    QualityReport, Values,
};
pub use report::{Items, Outcome, Report, Warning};
pub use sources::{
    CNAC_ADDRESS, NANPA_ADDRESS, NPA_REPORT_ADDRESS, NoSource, RemoteSource, Source, Sources,
};
pub use verify::{Drift, Repair, Verification, verify};

/// Why an import was given up; what was in force still is, and the next import completes.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{source_name} cannot be read: {detail}")]
    Unreadable { source_name: String, detail: String },
    #[error("{source_name}: {error}")]
    InSource { source_name: String, error: Box<IngestError> },
    #[error("{file} is not the report it was given as: {detail}")]
    Foreign { file: &'static str, detail: String },
    #[error(
        "{file} is not the report it was given as: \
         no header names the columns {lacking}; line {line} has '{found}'"
    )]
    NoHeader { file: &'static str, lacking: String, line: u64, found: String },
    #[error("{file}, line {line}, column {column}: '{value}' {rule}")]
    Cell { file: &'static str, line: u64, column: &'static str, value: String, rule: String },
    #[error(
        "{file}, line {line}: has {found} cells, its header {expected}; \
         is the file cut off, or a cell not quoted?"
    )]
    Ragged { file: &'static str, line: u64, found: usize, expected: usize },
    #[error(
        "{file}, line {line}: a quote is not closed in the rows before it, or a cell has a line break"
    )]
    OpenQuote { file: &'static str, line: u64 },
    #[error(
        "{file}, line {line}: the header names the column {column} twice, in cells {first} and \
         {second}; take out the one that is not meant"
    )]
    RepeatedColumn {
        file: &'static str,
        line: u64,
        column: &'static str,
        first: usize,
        second: usize,
    },
    #[error("{file} has more than {most} rows")]
    TooLong { file: &'static str, most: u64 },
    #[error("{file} holds no rows")]
    Empty { file: &'static str },
    #[error("{file}: none of its rows can be taken in")]
    Unusable { file: &'static str },
    #[error("{file} says that it is of {date}; the date of a report is of 1990 or later")]
    ImplausibleDate { file: &'static str, date: Date },
    #[error("the time for the import is running out; it stopped, and nothing of it takes effect")]
    OutOfTime,
    #[error("nothing has been imported yet; run an import first")]
    NothingImported,
    #[error("there is no version to go back to")]
    NothingBefore,
    #[error("the current data cannot be read: {0}")]
    Current(#[from] DatasetError),
    #[error("the snapshot cannot be packed: {0}")]
    Snapshot(#[from] DamagedSnapshot),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IngestError {
    /// The message without a word of what a file holds, for callers who may not read the files.
    pub(crate) fn without_contents(&self) -> String {
        let not_the_report = "is not the report it was given as";
        match self {
            Self::InSource { source_name, error } => {
                format!("{source_name}: {}", error.without_contents())
            }
            Self::Cell { file, line, column, value: _, rule } => {
                format!("{file}, line {line}, column {column}: the cell {rule}")
            }
            Self::NoHeader { file, lacking, line: _, found: _ } => {
                format!("{file} {not_the_report}: no header names the columns {lacking}")
            }
            other => other.to_string(),
        }
    }
}

/// How an import may change the data.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Most, in percent, that may vanish at once of a country's records, of the carriers, of the
    /// carriers of known type, or of the area codes.
    pub max_shrink: Percent,
    /// Raises how much may move, where the gates would allow less: the coverage of a column in
    /// points, and the share of the records that change.
    pub max_change: Option<Percent>,
    /// Raises the share of rows that may look wrong by themselves, where the gates would allow less.
    pub max_suspect: Option<Percent>,
    /// Whether files may be older than those in force.
    pub allow_older: bool,
    /// Whether to stop before anything is written.
    pub dry_run: bool,
    /// When the process will be ended; the import stops cleanly before that.
    pub deadline: Option<Instant>,
    /// When the data is said to have been ingested.
    pub now: Timestamp,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_shrink: Percent::of(2),
            max_change: None,
            max_suspect: None,
            allow_older: false,
            dry_run: false,
            deadline: None,
            now: this_second(),
        }
    }
}

/// Time reserved before the deadline to replace the manifest, or to report.
const TO_STOP: Duration = Duration::from_secs(15);

/// Does `work`, unless it would end too near the deadline.
async fn within<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, IngestError> {
    let Some(deadline) = deadline else { return Ok(work.await) };
    let end = deadline.checked_sub(TO_STOP).unwrap_or_else(Instant::now);
    tokio::time::timeout_at(end.into(), work).await.map_err(|_| IngestError::OutOfTime)
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A source is being read.
    Reading(&'static str),
    /// What is read is being compared with what is in force.
    Comparing,
    /// So many writes will be made.
    Planned(usize),
    /// So many writes more have been made.
    Written(usize),
    /// The items are written; the version is being published.
    Publishing,
    /// The items are being compared with the snapshot.
    Verifying,
}

/// Imports `sources` and puts them in force, all or nothing; what a gate refuses is reported as
/// [`Outcome::Refused`].
///
/// # Errors
/// Where a source cannot be read or is not the report it should be, another import is running, or
/// DynamoDB refuses. What was in force stays so.
pub async fn ingest(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<Report, IngestError> {
    let mut notes = Notes::default();
    let reading = read(sources, &mut notes, &progress);
    let (rows, file_dates) = within(options.deadline, reading).await??;
    progress(Progress::Comparing);
    let dataset = assemble::assemble(rows, &mut notes);
    let start = Start::load(store, &mut notes).await?;
    let differences = Differences::between(&start.dataset, &dataset);
    let is_unchanged = differences.total() == 0;
    let version = Version::new(options.now);
    let dataset = dataset.following(&start.dataset, version.clone());
    let bytes = dataset.pack()?;
    let snapshot = Snapshot::of(version, &bytes, dataset.statistics(), file_dates, options.now);
    let current = start.version();

    let quality = Quality::of(&dataset);
    let quality_before = Quality::of(&start.dataset);
    let before = start.snapshot.as_ref().map(|snapshot| Counted {
        file_dates: snapshot.file_dates,
        dataset: &start.dataset,
        quality: &quality_before,
    });
    let next = Counted { file_dates, dataset: &dataset, quality: &quality };
    let refusals = gates::check(before.as_ref(), &next, &notes, &options);
    let compared = QualityReport::between(before.map(|before| before.quality), &quality);
    let report = Report::on(&snapshot, &dataset, differences, compared, notes);
    if !refusals.is_empty() {
        let reasons: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
        let outcome = Outcome::Refused { reason: reasons.join("\n") };
        let changes = report.changes(start.dataset, dataset);
        return Ok(Report { outcome, version: current, changes, ..report });
    }
    if options.dry_run {
        let changes = report.changes(start.dataset, dataset);
        return Ok(Report { version: current, changes, ..report });
    }
    let same = start.manifest_of_dataset().filter(|_| is_unchanged);
    let (outcome, manifest, items) = match same {
        Some(same) => {
            let manifest = same.reimported(options.now, file_dates);
            publish::replace_manifest(store, &manifest, &same.revision, &progress).await?;
            (Outcome::Unchanged, manifest, Items::default())
        }
        None => {
            let manifest = start.followed_by(snapshot);
            let next = Candidate {
                manifest: manifest.clone(),
                dataset: &dataset,
                bytes,
                quality: &quality,
            };
            let items = publish::publish(store, &start, next, options.deadline, &progress).await?;
            (Outcome::Published, manifest, items)
        }
    };
    publish::sweep(store, options.now).await;
    let version = Some(manifest.current.version);
    let changes = report.changes(start.dataset, dataset);
    Ok(Report { outcome, version, items, changes, ..report })
}

/// Makes the version before the current one current again: one write.
///
/// # Errors
/// [`IngestError::NothingBefore`] if none is retained; otherwise as [`ingest`].
pub async fn rollback(
    store: &Store,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<Report, IngestError> {
    let current = store.manifest().await?.ok_or(IngestError::NothingBefore)?;
    let manifest = current.rolled_back().ok_or(IngestError::NothingBefore)?;
    let dataset = load(store, &manifest.current).await?;
    let mut notes = Notes::default();
    // A rollback may be how an operator gets away from a damaged version.
    let left = match load(store, &current.current).await {
        Ok(left) => left,
        Err(error) if error.is_damage() => {
            notes.warn("the current version cannot be read, and all counts as changed", error);
            Dataset::default()
        }
        Err(error) => return Err(error.into()),
    };
    let differences = Differences::between(&left, &dataset);
    let compared = QualityReport::between(Some(&Quality::of(&left)), &Quality::of(&dataset));
    let report = Report::on(&manifest.current, &dataset, differences, compared, notes);
    let changes = report.changes(left, dataset);
    if options.dry_run {
        return Ok(Report { version: Some(current.current.version), changes, ..report });
    }
    publish::replace_manifest(store, &manifest, &current.revision, &progress).await?;
    let version = Some(manifest.current.version);
    Ok(Report { outcome: Outcome::RolledBack, version, changes, ..report })
}

/// Reads every source.
async fn read(
    sources: &Sources,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(Rows, FileDates), IngestError> {
    let Sources { nanpa, cnac, npa_report, carriers, thousands_blocks } = sources;
    let (us, us_date) = one(nanpa, nanpa::FILE, nanpa::parse, notes, progress).await?;
    let (canada, canada_date) = one(cnac, cnac::FILE, cnac::parse, notes, progress).await?;
    let (area_codes, area_codes_date) =
        one(npa_report, npa_report::FILE, npa_report::parse, notes, progress).await?;
    let overlay = match carriers {
        Some(source) => one(source, overlay::FILE, overlay::parse, notes, progress).await?.0,
        None => Vec::new(),
    };
    let blocks = match thousands_blocks {
        Some(source) => {
            one(source, thousands_blocks::FILE, thousands_blocks::parse, notes, progress).await?.0
        }
        None => Vec::new(),
    };
    let dates =
        [(nanpa::FILE, us_date), (cnac::FILE, canada_date), (npa_report::FILE, area_codes_date)];
    for (file, _) in dates.into_iter().filter(|(_, date)| date.is_none()) {
        notes.warn("a report states no date", file);
    }
    let mut codes = us;
    codes.extend(canada);
    let dates = FileDates { nanpa: us_date, cnac: canada_date, npa_report: area_codes_date };
    Ok((Rows { codes, area_codes, overlay, blocks }, dates))
}

async fn one<T>(
    source: &Source,
    file: &'static str,
    parse: impl FnOnce(&mut dyn Read, &mut Notes) -> Result<T, IngestError>,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<T, IngestError> {
    progress(Progress::Reading(file));
    source.open().await?.read(|reader| parse(reader, notes))
}
