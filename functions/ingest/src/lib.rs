//! Ingest: the NANPA and CNAC reports become records, and the records the service's data.
//!
//! Data flows one way: [`sources`] opens a file, [`table`] finds its columns, one module of
//! [`reports`] reads its rows, [`assemble`] makes them a dataset, [`difference`] compares it with the
//! one in force, [`gates`] may refuse it, and [`publish`] writes what changed under a [`hold`].

mod assemble;
mod difference;
mod gates;
mod hold;
mod lambda;
mod publish;
mod report;
mod reports;
mod sources;
mod table;

use std::{io::Read, time::Duration, time::Instant};

use jiff::{Timestamp, civil::Date};
use shared::{
    dataset::{DamagedSnapshot, Dataset, DatasetError, load},
    store::{FileDates, Manifest, Snapshot, Store, StoreError},
    time::this_second,
};

use self::{
    assemble::Rows,
    gates::Counted,
    publish::{Current, Limits, Next},
    report::Notes,
    reports::{cnac, nanpa, npa_report, overlay, thousands_blocks},
};

pub use difference::{Delta, Differences};
pub use gates::{NoPercent, Percent, Refusal};
pub use lambda::{Event, RequestError, handle};
pub use report::{Items, Outcome, Report, Warning};
pub use sources::{
    CNAC_ADDRESS, NANPA_ADDRESS, NPA_REPORT_ADDRESS, NoSource, RemoteSource, Source, Sources,
};

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
    #[error("{file} has more than {most} rows")]
    TooLong { file: &'static str, most: u64 },
    #[error("{file} holds no rows")]
    Empty { file: &'static str },
    #[error("{file}: none of its rows can be taken in")]
    Unusable { file: &'static str },
    #[error("{file} says that it is of {date}; the date of a report is of 1990 or later")]
    ImplausibleDate { file: &'static str, date: Date },
    #[error("another import is running; its hold on the data lasts until {until}")]
    Running { until: Timestamp },
    #[error("the time for the import is running out; it stopped cleanly and the next completes it")]
    OutOfTime,
    #[error("there is no version to go back to")]
    NothingBefore,
    #[error("the data in force cannot be compared with: {0}")]
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
    /// Whether files may be older than those in force.
    pub allow_older: bool,
    /// Whether to stop before anything is written.
    pub dry_run: bool,
    /// When the process will be ended; the import stops cleanly before that.
    pub deadline: Option<Instant>,
    /// When the data is said to have been ingested.
    pub now: Timestamp,
    /// How long the hold of this import outlasts its death.
    pub hold_lasts: Duration,
    /// Whether to take the hold of an import that is known to have died, without waiting.
    pub take_over: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_shrink: Percent::of(2),
            allow_older: false,
            dry_run: false,
            deadline: None,
            now: this_second(),
            hold_lasts: hold::LASTS,
            take_over: false,
        }
    }
}

impl Options {
    fn limits(&self) -> Limits {
        let Self { deadline, hold_lasts, take_over, .. } = *self;
        Limits { deadline, hold_lasts, take_over }
    }
}

/// What giving up the hold may take when time runs out.
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
    /// Another import may be running; if it has died, its hold ends then.
    Waiting(Timestamp),
    /// So many writes will be made.
    Planned(usize),
    /// So many writes more have been made.
    Written(usize),
    /// The items are written; the version is being put in force.
    Publishing,
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
    let bytes = dataset.pack()?;
    let snapshot = Snapshot::of(&bytes, dataset.statistics(), file_dates, options.now);
    let current = Current::load(store).await?;
    let differences = Differences::between(&current.dataset, &dataset);
    let report = Report::on(&snapshot, &dataset, differences, notes);
    let in_force = current.manifest.as_ref().map(|manifest| manifest.current.version.clone());

    let before = current.manifest.as_ref();
    let before = before
        .map(|Manifest { current: snapshot, .. }| Counted { snapshot, dataset: &current.dataset });
    let next = Counted { snapshot: &snapshot, dataset: &dataset };
    if let Err(refusal) = gates::check(before, &next, &options) {
        let outcome = Outcome::Refused { reason: refusal.to_string() };
        return Ok(Report { outcome, version: in_force, ..report });
    }
    if options.dry_run {
        return Ok(Report { version: in_force, ..report });
    }
    let (outcome, next) = match current.manifest.as_ref().filter(|_| current.dataset == dataset) {
        Some(manifest) => (Outcome::Unchanged, renewed(manifest, snapshot, &dataset)),
        None => (Outcome::Published, following(&current, snapshot, &dataset, bytes)),
    };
    let version = Some(next.manifest.current.version.clone());
    let items = publish::publish(store, &current, next, options.limits(), &progress).await?;
    Ok(Report { outcome, version, items, ..report })
}

/// The version in force, ingested once more.
fn renewed<'a>(manifest: &Manifest, again: Snapshot, dataset: &'a Dataset) -> Next<'a> {
    let Snapshot { ingested_at, file_dates, .. } = again;
    let current = Snapshot { ingested_at, file_dates, ..manifest.current.clone() };
    let manifest = Manifest { current, ..manifest.clone() };
    Next { manifest, dataset, bytes: None, dropped: Vec::new() }
}

fn following<'a>(
    current: &Current,
    snapshot: Snapshot,
    dataset: &'a Dataset,
    bytes: Vec<u8>,
) -> Next<'a> {
    let (manifest, dropped) = Manifest::following(current.manifest.as_ref(), snapshot);
    Next { manifest, dataset, bytes: Some(bytes), dropped }
}

/// Puts the version before the one in force in force again, with its items.
///
/// # Errors
/// [`IngestError::NothingBefore`] where none is retained; otherwise as [`ingest`].
pub async fn rollback(
    store: &Store,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<Report, IngestError> {
    let current = Current::load(store).await?;
    let rolled_back = current.manifest.as_ref().and_then(Manifest::rolled_back);
    let (manifest, dropped) = rolled_back.ok_or(IngestError::NothingBefore)?;
    let dataset = load(store, &manifest).await?;
    let differences = Differences::between(&current.dataset, &dataset);
    let report = Report::on(&manifest.current, &dataset, differences, Notes::default());
    if options.dry_run {
        let in_force = current.manifest.map(|manifest| manifest.current.version);
        return Ok(Report { version: in_force, ..report });
    }
    let version = Some(manifest.current.version.clone());
    let next = Next { manifest, dataset: &dataset, bytes: None, dropped: vec![dropped] };
    let items = publish::publish(store, &current, next, options.limits(), &progress).await?;
    Ok(Report { outcome: Outcome::RolledBack, version, items, ..report })
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
