//! Describes phone number lists of any length.
//!
//! Data flows one way: [`decoding`] produces UTF-8, [`layout`] finds columns and rows, [`describe`]
//! describes the numbers, and [`output`] writes the selected [`fields`]. [`pipeline`] runs this on all
//! processors. Duplicates are detected in list order, and a [`Summary`] counts the outcomes.

mod decoding;
mod describe;
mod fields;
mod layout;
mod options;
mod output;

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    io::{self, Read, Write},
    iter::{self, Peekable},
};

use format::{Assembler, include::VERDICT};
use formatting::{Reason as NumberReason, Verdict};
use indicatif::HumanCount;
use jiff::Timestamp;
use number_lists::{Row, RowError, Rows};

use crate::{
    data::numbering_data::NumberingData, error::pluralize, numbers::pipeline::process_in_order,
};
pub use options::ListOptions;

use self::{
    decoding::Text,
    describe::{DescribedNumber, DescribedRow, Describer, FirstLines, Reason, all_are_duplicates},
    fields::ListFields,
    layout::Layout,
    options::{Duplicates, OutputFormat},
    output::Output,
};

/// The maximum number of rows and bytes in a part.
const MAX_PART_ROWS: usize = 1000;
const MAX_PART_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub struct ListReport {
    pub rejected: u64,
    pub text: String,
}

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

/// Describes every number in a list, in order. With `data`, adds location and carrier.
pub fn describe_list(
    list: impl Read + Send + 'static,
    options: ListOptions,
    data: Option<&NumberingData>,
    writer: &mut impl Write,
) -> Result<ListReport, ListError> {
    let Text { reader, head, is_utf_16, has_bom } =
        Text::decode(list).map_err(ListError::Unreadable)?;
    let layout = Layout::detect(&head, &options)?;
    let rows = layout.rows(reader)?;
    let format = options.to.unwrap_or(match layout.csv {
        Some(_) => OutputFormat::Csv,
        None => OutputFormat::JsonLines,
    });
    let include = options.include.clone().unwrap_or_default();
    let fields = options
        .fields
        .clone()
        .unwrap_or_else(|| ListFields::default_for(format.is_json(), include));
    // A list always needs the verdicts for its counts.
    let include = fields.include.clone().without(VERDICT);
    let languages = options.lang.clone().unwrap_or_default();
    let describer = Describer {
        columns: &layout.columns,
        assembler: Assembler {
            include: &include,
            languages: &languages,
            flags_base_url: None,
            now: Timestamp::now(),
            countries: data.map_or(&[], |data| &data.countries),
        },
        default_country: options.country.unwrap_or_default(),
        dataset: data.map(|data| &*data.dataset),
        has_keys: options.dedupe.is_some(),
    };
    let has_bom = (has_bom || options.bom) && !format.is_json();
    let output = Output { layout: &layout, format, has_bom, fields, options };
    output.check()?;
    let summary = write_list(rows, &describer, &output, writer)?;
    let has_windows_1252 = layout.has_windows_1252 || summary.has_windows_1252;
    let note = encoding_note(is_utf_16, has_windows_1252, has_bom || format.is_json());
    let report = summary.report(&layout.number_columns()) + note;
    Ok(ListReport { rejected: summary.count(Verdict::Rejected), text: report })
}

/// Describes rows in parallel, and writes them in order. If `--dedupe` is off, also formats the output in parallel.
fn write_list<R: Read>(
    rows: Rows<R>,
    describer: &Describer<'_>,
    output: &Output<'_>,
    writer: &mut impl Write,
) -> Result<Summary, ListError> {
    let unwritable = ListError::Unwritable;
    let dedupe = output.options.dedupe;
    let mut rows = rows.peekable();
    let mut first_lines = FirstLines::default();
    let (mut summary, mut has_rows) = (Summary::default(), false);
    writer.write_all(&output.header().map_err(unwritable)?).map_err(unwritable)?;
    process_in_order(
        iter::from_fn(|| next_part(&mut rows).transpose()),
        |rows: Vec<Row>| {
            let mut rows: Vec<_> =
                rows.into_iter().map(|row| describer.describe_row(row)).collect();
            let mut summary = Summary::default();
            rows.iter().for_each(|row| summary.count_row(row));
            summary.omitted += output.retain(&mut rows, |numbers| output.selects(numbers));
            match dedupe {
                // Only the text is needed later, and it takes less memory than the rows.
                None => (Vec::new(), Some(output.text(&rows)), summary),
                Some(_) => (rows, None, summary),
            }
        },
        |(mut rows, text, part): (Vec<DescribedRow>, Option<io::Result<Vec<u8>>>, Summary)| {
            summary.add(part);
            if let Some(duplicates) = dedupe {
                summary.duplicates += first_lines.mark(&mut rows);
                if duplicates == Duplicates::Drop {
                    summary.omitted +=
                        output.retain(&mut rows, |numbers| !all_are_duplicates(numbers));
                }
            }
            let text = text.unwrap_or_else(|| output.text(&rows)).map_err(unwritable)?;
            // In an array, the first item has no comma before it.
            let text = if has_rows { &*text } else { text.strip_prefix(b",").unwrap_or(&text) };
            has_rows |= !text.is_empty();
            writer.write_all(text).map_err(unwritable)
        },
    )?;
    writer.write_all(output.footer(has_rows)).map_err(unwritable)?;
    writer.flush().map_err(unwritable)?;
    Ok(summary)
}

#[derive(Debug, Default)]
struct Summary {
    /// CSV rows or JSON lines that were left out.
    omitted: u64,
    duplicates: u64,
    has_windows_1252: bool,
    outcomes: [u64; 4],
    /// For each reason, the count and the first line.
    reasons: BTreeMap<Reason, (u64, u64)>,
}

impl Summary {
    fn count_row(&mut self, row: &DescribedRow) {
        let DescribedRow { row: Row { line, .. }, has_windows_1252, numbers } = row;
        self.has_windows_1252 |= has_windows_1252;
        for DescribedNumber { outcome, reason, .. } in numbers {
            self.outcomes[*outcome as usize] += 1;
            if let Some(reason) = reason.filter(|_| *outcome != Verdict::Empty) {
                self.reasons.entry(reason).or_insert((0, *line)).0 += 1;
            }
        }
    }

    /// Adds the counts of a later part.
    fn add(&mut self, later: Self) {
        self.omitted += later.omitted;
        self.has_windows_1252 |= later.has_windows_1252;
        for (count, more) in self.outcomes.iter_mut().zip(later.outcomes) {
            *count += more;
        }
        for (reason, (count, first_line)) in later.reasons {
            self.reasons.entry(reason).or_insert((0, first_line)).0 += count;
        }
    }

    fn count(&self, outcome: Verdict) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The number of cells or lines that are not empty.
    fn total(&self) -> u64 {
        self.outcomes.iter().sum::<u64>() - self.count(Verdict::Empty)
    }

    /// The report for a list with these number columns. The most frequent reasons come first.
    fn report(&self, columns: &[String]) -> String {
        let (start, blank) = match columns {
            [] => (String::new(), "empty line"),
            [only] => (format!("Column '{only}': "), "empty cell"),
            several => (format!("Columns '{}': ", several.join("', '")), "empty cell"),
        };
        let [valid, repaired, rejected, empty] = self.outcomes.map(HumanCount);
        let total = pluralize(self.total() as usize, "number");
        let counts = format!("{total}: {valid} valid, {repaired} repaired, {rejected} rejected");
        let mut lines = vec![start + &counts];
        if empty.0 > 0 {
            lines[0] += &format!("; {}", pluralize(empty.0 as usize, blank));
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (count, _))| Reverse(*count));
        lines.extend(reasons.into_iter().map(|(reason, (count, first_line))| {
            let (count, code) = (HumanCount(*count).to_string(), reason.code());
            let is_valid = *reason == Reason::Number(NumberReason::TwoNumbers);
            let valid = if is_valid { "valid, but " } else { "" };
            format!("{count:>12}  {code:<20} {valid}{reason} (first on line {first_line})")
        }));
        if self.duplicates > 0 {
            let distinct = self.total() - self.count(Verdict::Rejected) - self.duplicates;
            let distinct = pluralize(distinct as usize, "distinct number");
            lines.push(format!("{}, {distinct}", pluralize(self.duplicates as usize, "duplicate")));
        }
        if self.omitted > 0 {
            lines.push(format!(
                "{} omitted from the output",
                pluralize(self.omitted as usize, "row")
            ));
        }
        lines.join("\n") + "\n"
    }
}

/// A note that the output's encoding differs from the list's. `is_recognized` if programs detect the output as UTF-8.
fn encoding_note(is_utf_16: bool, has_windows_1252: bool, is_recognized: bool) -> &'static str {
    match (is_utf_16, has_windows_1252, is_recognized) {
        (true, ..) => "note: the list is in UTF-16, and the output in UTF-8\n",
        (_, true, true) => "note: the list is in Windows-1252, and the output in UTF-8\n",
        (_, true, false) => {
            "note: the list is in Windows-1252, and the output in UTF-8; pass --bom if you open it in Excel\n"
        }
        _ => "",
    }
}

/// The next rows; `None` at the end. Returns all rows before an error first.
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
mod tests;
