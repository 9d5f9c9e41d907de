//! Describes phone number lists of any length.
//!
//! Data flows one way: [`decoding`] produces UTF-8, [`layout`] finds columns and rows, [`describe`]
//! describes the numbers, and [`output`] writes the selected [`fields`]. [`pipeline`] uses all
//! processors. [`duplicates`] are detected in list order, and [`summary`] counts the outcomes.

mod decoding;
mod describe;
mod duplicates;
mod fields;
mod layout;
mod options;
mod output;
mod summary;

use std::{
    fmt,
    io::{self, Read, Write},
    iter::Peekable,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use format::extras::Extra;
use indicatif::HumanCount;
use jiff::Timestamp;
use number_lists::{Row, RowError, Rows};
use numbering::dataset::Dataset;

use crate::numbers::pipeline::process_in_order;
pub use options::ListOptions;

use self::{
    decoding::Text,
    describe::{Describer, Outcome},
    duplicates::Deduplication,
    fields::ListFields,
    layout::Layout,
    options::OutputFormat,
    output::{Output, Part},
    summary::Summary,
};

/// A part is full once it has this many rows or bytes.
const MAX_PART_ROWS: usize = 1000;
const MAX_PART_BYTES: usize = 256 * 1024;

/// A report on a described list.
#[derive(Debug)]
pub struct ListReport {
    /// The count of rejected numbers.
    pub rejected: u64,
    /// Counts, reasons and times.
    pub text: String,
}

/// A failure to read, describe or write a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("the list cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the list cannot be read to the end")]
    Incomplete(#[from] RowError),
    /// Ambiguous or conflicting columns.
    #[error("{0}")]
    Layout(String),
    #[error("the output cannot be written")]
    Unwritable(#[source] io::Error),
}

/// Describes every number in a list, in order, with location and carrier from `dataset`, if any.
/// Calls `progress` with the count of numbers so far.
pub fn describe_list(
    list: impl Read + Send + 'static,
    options: ListOptions,
    dataset: Option<Arc<Dataset>>,
    writer: &mut impl Write,
    progress: impl Fn(u64),
) -> Result<ListReport, ListError> {
    let start = Instant::now();
    let Text { reader, head, has_bom } = Text::decode(list).map_err(ListError::Unreadable)?;
    let layout = Layout::detect(&head, &options)?;
    let mut rows = layout.rows(reader)?.peekable();
    let fields = options.fields.clone();
    let fields =
        fields.unwrap_or_else(|| ListFields::with(options.include.clone().unwrap_or_default()));
    let describer = Describer {
        columns: &layout.columns,
        include: fields.include.clone().without(Extra::Reason),
        default_country: options.country.unwrap_or_default(),
        languages: options.lang.clone().unwrap_or_default(),
        dataset,
        now: Timestamp::now(),
    };
    let format = match (options.to, layout.csv) {
        (Some(format), _) => format,
        (None, Some(_)) => OutputFormat::Csv,
        (None, None) => OutputFormat::JsonLines,
    };
    let mut deduplication = options.dedupe.map(|duplicates| Deduplication::new(duplicates, format));
    let output = Output { layout: &layout, format, has_bom, fields, options };
    if let Some(name) = output.conflicting_column() {
        return Err(ListError::Layout(format!(
            "the list already has a column '{name}'; choose another prefix with --prefix"
        )));
    }
    let unwritable = ListError::Unwritable;
    writer.write_all(&output.header().map_err(unwritable)?).map_err(unwritable)?;
    let mut summary = Summary::default();
    let [reading, describing, writing]: [Stopwatch; 3] = Default::default();
    process_in_order(
        std::iter::from_fn(|| reading.time(|| next_part(&mut rows)).transpose()),
        |rows: Vec<Row>| {
            describing.time(|| output.part(rows.iter().map(|row| describer.describe_row(row))))
        },
        |part: io::Result<Part>| {
            let Part { text, rows, summary: part_summary } = part.map_err(unwritable)?;
            summary.add(part_summary);
            let write = || match &mut deduplication {
                Some(deduplication) => deduplication.write(&text, &rows, writer, &mut summary),
                None => writer.write_all(&text),
            };
            writing.time(write).map_err(unwritable)?;
            progress(summary.total());
            Ok(())
        },
    )?;
    writing.time(|| writer.flush()).map_err(unwritable)?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = HumanCount((summary.rows as f64 / seconds.max(1e-6)) as u64);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let times = format!(
        "{seconds:.1} s, {rate} rows/s: reading {reading}, describing {describing} on {threads} \
         threads, writing {writing}\n"
    );
    let rejected = summary.count(Outcome::Rejected);
    Ok(ListReport { rejected, text: summary.report(&layout.number_columns()) + &times })
}

/// The time spent on one kind of work, in microseconds summed across threads. Reading includes waiting
/// for a pipe.
#[derive(Default)]
struct Stopwatch(AtomicU64);

impl Stopwatch {
    /// Runs `work` and adds its duration.
    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        result
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.0.load(Ordering::Relaxed) as f64 / 1e6)
    }
}

/// The next rows; `None` at the end. An error comes after all rows before it.
fn next_part<R: Read>(rows: &mut Peekable<Rows<R>>) -> Result<Option<Vec<Row>>, ListError> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    while part.len() < MAX_PART_ROWS
        && bytes < MAX_PART_BYTES
        && let Some(Ok(row)) = rows.next_if(Result::is_ok)
    {
        bytes += row.cells.as_slice().len();
        part.push(row);
    }
    if part.is_empty()
        && let Some(Err(error)) = rows.next()
    {
        return Err(error.into());
    }
    Ok(Some(part).filter(|part| !part.is_empty()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        options: ListOptions,
    }

    pub fn options(arguments: &[&str]) -> ListOptions {
        TestCli::parse_from([&["format"], arguments].concat()).options
    }

    #[test]
    fn added_columns_must_not_exist_in_the_list() {
        let describe_as = |format| {
            let options = options(&["--column", "phone", "--to", format]);
            let list = &b"phone,tn_verdict\n3052345678,valid\n"[..];
            describe_list(list, options, None, &mut Vec::new(), |_| ())
        };
        assert_eq!(
            describe_as("csv").unwrap_err().to_string(),
            "the list already has a column 'tn_verdict'; choose another prefix with --prefix"
        );
        assert!(describe_as("jsonl").is_ok());
    }
}
