//! Ingest: the NANPA and CNAC reports become records, and the records the service's data.
//!
//! Data flows one way: [`source`] fetches a file, [`table`] finds its columns, one module per
//! report reads its rows, [`assemble`] makes them a dataset, and [`publish`] writes what changed.

mod assemble;
mod cnac;
mod lambda;
mod nanpa;
mod npa_report;
mod overlay;
mod publish;
mod report;
mod source;
mod table;

use shared::{
    dataset::{DamagedSnapshot, DatasetError},
    records::Country,
    store::{Store, StoreError},
    time::this_second,
};

pub use lambda::{Request, handle};
pub use report::{Changes, Report, Warnings};
pub use source::{Source, Sources};

/// Why an import was refused or given up; the data that was current still is.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{source_name} cannot be read: {detail}")]
    Unreadable { source_name: String, detail: String },
    #[error("{file} is not the report it was given as: {detail}")]
    Foreign { file: &'static str, detail: String },
    #[error("{file}, line {line}, column {column}: '{value}' {rule}")]
    Cell { file: &'static str, line: u64, column: &'static str, value: String, rule: String },
    #[error("{file}, line {line}: has {found} of {expected} cells; is the file cut off?")]
    CutOff { file: &'static str, line: u64, found: usize, expected: usize },
    #[error("{file} holds no rows")]
    Empty { file: &'static str },
    #[error(
        "{country} would shrink from {before} to {after} records, by more than {most_percent} %; \
         is a file cut off? Raise --max-shrink if it is right"
    )]
    Shrunk { country: Country, before: u32, after: u32, most_percent: f64 },
    #[error("the current data cannot be compared with: {0}")]
    Current(#[from] DatasetError),
    #[error("the snapshot cannot be packed: {0}")]
    Snapshot(#[from] DamagedSnapshot),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How an import may change the data.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Most of a country's records, in percent, that may vanish at once.
    pub max_shrink: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_shrink: 2.0 }
    }
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A source is being read.
    Reading(&'static str),
    /// The reports are read and compared; so many items will be written.
    Planned(usize),
    /// So many items more have been written.
    Written(usize),
    /// The items are written; the new version is being made the current one.
    Publishing,
}

/// Imports `sources` and makes them the current data, all or nothing.
///
/// # Errors
/// Where a source cannot be read or is not the report it should be, where the data would shrink
/// too much, or where DynamoDB refuses. The data that was current stays so.
pub async fn ingest(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<Report, IngestError> {
    let mut warnings = Warnings::default();
    let read = async |file: &'static str, source: &Source| {
        progress(Progress::Reading(file));
        source.read().await
    };
    let nanpa = nanpa::parse(&read(nanpa::FILE, &sources.nanpa).await?, &mut warnings)?;
    let cnac = cnac::parse(&read(cnac::FILE, &sources.cnac).await?, &mut warnings)?;
    let npa_report =
        npa_report::parse(&read(npa_report::FILE, &sources.npa_report).await?, &mut warnings)?;
    let overlay = match &sources.carriers {
        Some(carriers) => overlay::parse(&read(overlay::FILE, carriers).await?, &mut warnings)?,
        None => Vec::new(),
    };
    let codes = [nanpa, cnac].concat();
    let dataset = assemble::assemble(codes, npa_report, overlay, &mut warnings);
    let (published, changes) =
        publish::publish(store, &dataset, options, this_second(), &progress).await?;
    Ok(Report::new(&dataset, published, changes, warnings))
}
