//! Lists of phone numbers, of any length: read, described and written without a server.
//!
//! Data flows one way: [`decoding`] makes UTF-8 of a file or pipe, [`layout`] finds its columns,
//! [`rows`] gives its rows some at a time, [`answers`] describes their numbers and [`output`] writes the
//! [`fields`] that are wanted, on all processors at once by [`pipeline`]; [`duplicates`] are found in the
//! order of the list, and [`summary`] counts what became of the numbers.

mod answers;
mod decoding;
mod duplicates;
mod fields;
mod form;
mod layout;
mod output;
mod pipeline;
mod reason;
mod rows;
mod summary;
mod times;

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    sync::Arc,
    time::Instant,
};

use formatting::DefaultCountry;
use numbering::{dataset::Dataset, time::today};

pub use duplicates::Duplicates;
pub use fields::ListFields;
pub use form::OutputForm;
pub use output::{OutputOptions, RowFilter};

use self::{
    answers::Answers,
    decoding::{Text, text_of},
    duplicates::{Deduplication, WrittenRow},
    layout::{Layout, LayoutError, Request},
    output::{AnsweredRow, Output},
    rows::{Row, RowError, Rows},
    summary::Summary,
    times::Times,
};

/// The choices that are made before a list is read.
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// Whether it is a CSV, if that is known.
    pub is_csv: Option<bool>,
    /// Whether it is a CSV without names of columns.
    pub has_no_header: bool,
    /// The columns of numbers, by their names or numbers.
    pub columns: Vec<String>,
    /// The column of countries, by its name or number.
    pub country_column: Option<String>,
    /// The country of a number without a country code.
    pub default_country: DefaultCountry,
    /// The form of the output; that of the list if it is not given.
    pub form: Option<OutputForm>,
    pub output: OutputOptions,
}

/// A list that was described to its end.
#[derive(Debug)]
pub struct Described {
    /// The number of rejected numbers.
    pub rejected: u64,
    /// Counts, reasons and times for a person.
    pub report: String,
}

/// A part of the output, and what it holds.
struct Part {
    text: Vec<u8>,
    rows: Vec<WrittenRow>,
    summary: Summary,
}

/// Why a list cannot be described.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("the list cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the list cannot be read to its end")]
    CutOff(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It has to be said which column has the numbers.
    #[error("{0}")]
    Layout(String),
    #[error("the output cannot be written")]
    Unwritable(#[source] io::Error),
}

impl From<LayoutError> for ListError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error.to_string())
    }
}

impl From<RowError> for ListError {
    fn from(error: RowError) -> Self {
        Self::CutOff(error.into())
    }
}

/// Describes every number of a list, in its order, with place and carrier from `dataset` if there is
/// one. `done` is told how many numbers have been written.
pub fn describe(
    list: impl Read + Send + 'static,
    options: ListOptions,
    dataset: Option<Arc<Dataset>>,
    writer: &mut impl Write,
    done: impl Fn(u64),
) -> Result<Described, ListError> {
    let start = Instant::now();
    let text = Text::of(list).map_err(ListError::Unreadable)?;
    let request = Request {
        is_csv: options.is_csv,
        has_no_header: options.has_no_header,
        columns: options.columns,
        country_column: options.country_column,
    };
    let layout = Arc::new(Layout::of(&text.head, &request)?);
    let form_of_list = match layout.delimiter {
        Some(_) => OutputForm::Csv,
        None => OutputForm::JsonLines,
    };
    let form = options.form.unwrap_or(form_of_list);
    let mut rows = Rows::of(text.reader, &layout)?;
    let answers = Answers {
        layout: Arc::clone(&layout),
        default_country: options.default_country,
        dataset,
        today: today(),
    };
    let duplicates = options.output.duplicates;
    let mut deduplication = duplicates.map(|duplicates| Deduplication::new(duplicates, form));
    let names = layout.names_of_numbers();
    let output = Output { layout, form, has_mark: text.has_mark, options: options.output };
    if let Some(name) = output.column_that_is_added() {
        return Err(LayoutError::AddedColumn(name).into());
    }
    let unwritable = ListError::Unwritable;
    writer.write_all(&output.header().map_err(unwritable)?).map_err(unwritable)?;
    let mut summary = Summary::default();
    let times = Arc::new(Times::default());
    let [reading, describing] = [Arc::clone(&times), Arc::clone(&times)];
    pipeline::in_order(
        move || reading.reading.time(|| rows.next_part().map_err(ListError::from)),
        move |rows: Vec<Row>| describing.describing.time(|| Part::new(&rows, &answers, &output)),
        |part: io::Result<Part>| {
            let Part { text, rows, summary: of_part } = part.map_err(unwritable)?;
            summary.add(of_part);
            times
                .writing
                .time(|| match &mut deduplication {
                    Some(deduplication) => {
                        let repeated = deduplication.write(&text, &rows, writer)?;
                        summary.count_repeated(&repeated);
                        Ok(())
                    }
                    None => writer.write_all(&text),
                })
                .map_err(unwritable)?;
            done(summary.total());
            Ok(())
        },
    )?;
    times.writing.time(|| writer.flush()).map_err(unwritable)?;
    let report = summary.report(&names) + &times.report(summary.rows(), start.elapsed());
    Ok(Described { rejected: summary.rejected(), report })
}

impl Part {
    fn new(rows: &[Row], answers: &Answers, output: &Output) -> io::Result<Self> {
        let mut summary = Summary::default();
        let mut text = output.rows();
        for Row { line, cells } in rows {
            let cells: Vec<Cow<'_, str>> = cells.iter().map(text_of).collect();
            let answers = answers.answer_row(&cells);
            summary.count_row(*line, &answers);
            text.add(&AnsweredRow { line: *line, cells: &cells, answers: &answers })?;
        }
        let (text, rows, left_out) = text.finish()?;
        summary.count_left_out(left_out);
        Ok(Self { text, rows, summary })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_column_of_the_output_has_the_name_of_another() {
        let describe_as = |form| {
            let options = ListOptions {
                is_csv: Some(true),
                has_no_header: false,
                columns: vec!["phone".to_owned()],
                country_column: None,
                default_country: DefaultCountry::default(),
                form: Some(form),
                output: OutputOptions {
                    fields: ListFields::default(),
                    prefix: "tn_".to_owned(),
                    filter: None,
                    duplicates: None,
                    excel_safe: false,
                },
            };
            let list = &b"phone,tn_verdict\n3052345678,valid\n"[..];
            describe(list, options, None, &mut Vec::new(), |_| ())
        };
        assert_eq!(
            describe_as(OutputForm::Csv).unwrap_err().to_string(),
            "the list already has a column 'tn_verdict', which the output adds; choose another --prefix"
        );
        assert!(describe_as(OutputForm::JsonLines).is_ok());
    }
}
