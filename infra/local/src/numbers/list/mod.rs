//! Lists of phone numbers of any length, processed without a server.
//!
//! Data flows one way: [`decoding`] produces UTF-8, [`layout`] finds columns and rows, [`answers`]
//! describes the numbers, and [`output`] writes the selected [`fields`]. [`pipeline`] uses all
//! processors. [`duplicates`] are found in list order, and [`summary`] counts the outcomes.

mod answer;
mod answers;
mod decoding;
mod duplicates;
mod fields;
mod layout;
mod options;
mod output;
mod pipeline;
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
    time::{Duration, Instant},
};

use indicatif::HumanCount;
use number_lists::{Row, RowError, Rows};
use numbering::{dataset::Dataset, time::today};

pub use options::ListOptions;

use self::{
    answer::Outcome,
    answers::Answers,
    decoding::Text,
    duplicates::Deduplication,
    layout::Layout,
    options::OutputForm,
    output::{Output, Part},
    summary::Summary,
};

/// The number of rows, or of bytes, that fills a part.
const PART_ROWS: usize = 1000;
const PART_BYTES: usize = 256 * 1024;

/// The result of describing a list.
#[derive(Debug)]
pub struct Described {
    /// The number of rejected numbers.
    pub rejected: u64,
    /// Counts, reasons and times as text.
    pub report: String,
}

/// The error for a list that cannot be described.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("the list cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the list cannot be read to its end")]
    CutOff(#[from] RowError),
    /// Options must specify the columns.
    #[error("{0}")]
    Layout(String),
    #[error("the output cannot be written")]
    Unwritable(#[source] io::Error),
}

/// Describes every number of a list in order, with location and carrier from `dataset`, if any.
/// `done` receives the number of numbers written.
pub fn describe(
    list: impl Read + Send + 'static,
    options: ListOptions,
    dataset: Option<Arc<Dataset>>,
    writer: &mut impl Write,
    done: impl Fn(u64),
) -> Result<Described, ListError> {
    let start = Instant::now();
    let Text { reader, head, has_mark } = Text::decode(list).map_err(ListError::Unreadable)?;
    let layout = Layout::detect(&head, &options)?;
    let mut rows = layout.rows(reader)?.peekable();
    let answers = Answers {
        layout: &layout,
        default_country: options.country.unwrap_or_default(),
        dataset,
        today: today(),
    };
    let form_of_list = if layout.csv.is_some() { OutputForm::Csv } else { OutputForm::JsonLines };
    let form = options.to.unwrap_or(form_of_list);
    let mut deduplication = options.dedupe.map(|duplicates| Deduplication::new(duplicates, form));
    let fields = options.fields.clone().unwrap_or_default();
    let output = Output { layout: &layout, form, has_mark, fields, options };
    if let Some(name) = output.column_that_is_added() {
        return Err(ListError::Layout(format!(
            "the list already has a column '{name}', which the output adds; choose another --prefix"
        )));
    }
    let unwritable = ListError::Unwritable;
    writer.write_all(&output.header().map_err(unwritable)?).map_err(unwritable)?;
    let mut summary = Summary::default();
    let [reading, describing, writing]: [Stopwatch; 3] = Default::default();
    pipeline::in_order(
        std::iter::from_fn(|| reading.time(|| next_part(&mut rows)).transpose()),
        |rows: Vec<Row>| {
            let answered = rows.iter().map(|row| answers.answer_row(row));
            describing.time(|| output.part(answered))
        },
        |part: io::Result<Part>| {
            let Part { text, rows, summary: of_part } = part.map_err(unwritable)?;
            summary.add(of_part);
            let write = || match &mut deduplication {
                Some(deduplication) => deduplication.write(&text, &rows, writer, &mut summary),
                None => writer.write_all(&text),
            };
            writing.time(write).map_err(unwritable)?;
            done(summary.total());
            Ok(())
        },
    )?;
    writing.time(|| writer.flush()).map_err(unwritable)?;
    let rejected = summary.count(Outcome::Rejected);
    let times = times(start, summary.rows, [&reading, &describing, &writing]);
    Ok(Described { rejected, report: summary.report(&layout.names_of_numbers()) + &times })
}

fn times(start: Instant, rows: u64, [reading, describing, writing]: [&Stopwatch; 3]) -> String {
    let seconds = start.elapsed().as_secs_f64();
    let rate = HumanCount((rows as f64 / seconds.max(1e-6)) as u64);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    format!(
        "{seconds:.1} s, {rate} rows/s: reading {reading}, describing {describing} on {threads} \
         threads, writing {writing}\n"
    )
}

/// The time spent on one kind of work, in microseconds summed over threads. Reading includes waiting
/// for a pipe.
#[derive(Default)]
struct Stopwatch(AtomicU64);

impl Stopwatch {
    /// Runs `work` and adds the time it takes.
    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let microseconds = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(microseconds, Ordering::Relaxed);
        done
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = Duration::from_micros(self.0.load(Ordering::Relaxed));
        write!(f, "{:.1} s", taken.as_secs_f64())
    }
}

/// The next rows; `None` after the last one. An error follows all rows before it.
fn next_part<R: Read>(rows: &mut Peekable<Rows<R>>) -> Result<Option<Vec<Row>>, ListError> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    while part.len() < PART_ROWS
        && bytes < PART_BYTES
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
    struct Line {
        #[command(flatten)]
        options: ListOptions,
    }

    /// Parses options.
    pub fn options(typed: &[&str]) -> ListOptions {
        Line::parse_from([&["format"], typed].concat()).options
    }

    #[test]
    fn output_columns_have_distinct_names() {
        let describe_as = |form| {
            let options = options(&["--column", "phone", "--to", form]);
            let list = &b"phone,tn_verdict\n3052345678,valid\n"[..];
            describe(list, options, None, &mut Vec::new(), |_| ())
        };
        assert_eq!(
            describe_as("csv").unwrap_err().to_string(),
            "the list already has a column 'tn_verdict', which the output adds; choose another --prefix"
        );
        assert!(describe_as("jsonl").is_ok());
    }
}
