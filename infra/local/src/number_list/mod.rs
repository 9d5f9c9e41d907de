//! Lists of phone numbers, of any length: read, described and written without a server.
//!
//! Data flows one way: [`decoding`] makes UTF-8 of a file or pipe, [`layout`] finds its columns,
//! [`rows`] gives its rows some at a time, [`answers`] describes them, on all processors at once by
//! [`pipeline`], and [`summary`] counts what became of them.

mod answers;
mod decoding;
mod layout;
mod pipeline;
mod reason;
mod rows;
mod summary;

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use formatting::DefaultCountry;
use numbering::{dataset::Dataset, time::today};

pub use answers::OutputForm;
pub use summary::Summary;

use self::{
    answers::{Answers, Part},
    decoding::Text,
    layout::{Layout, LayoutError, Request},
    rows::{RowError, Rows},
};

/// What is known of a list before it is read.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Whether it is a CSV, if that is known.
    pub is_csv: Option<bool>,
    /// Whether it is a CSV without names of columns.
    pub has_no_header: bool,
    /// The column of numbers, by its name or number.
    pub column: Option<String>,
    /// The column of countries, by its name or number.
    pub country_column: Option<String>,
    /// The country of a number without a country code.
    pub default_country: DefaultCountry,
    /// The form of the output; that of the list if it is not given.
    pub form: Option<OutputForm>,
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
/// one. `done` is told how many rows have been written.
///
/// # Errors
/// Returns an error if the list cannot be read, it is not certain which column has the numbers, or the
/// output cannot be written.
pub fn describe(
    list: impl Read + Send + 'static,
    options: &ListOptions,
    dataset: Option<Arc<Dataset>>,
    output: &mut impl Write,
    done: impl Fn(u64),
) -> Result<Summary, ListError> {
    let text = Text::of(list).map_err(ListError::Unreadable)?;
    let request = Request {
        is_csv: options.is_csv,
        has_no_header: options.has_no_header,
        column: options.column.clone(),
        country_column: options.country_column.clone(),
    };
    let layout = Layout::of(&text.head, &request)?;
    let form_of_list = match layout.delimiter {
        Some(_) => OutputForm::Csv,
        None => OutputForm::JsonLines,
    };
    let mut rows = Rows::of(text.reader, &layout)?;
    let answers = Answers {
        layout,
        form: options.form.unwrap_or(form_of_list),
        has_mark: text.has_mark,
        default_country: options.default_country,
        dataset,
        today: today(),
    };
    if let Some(name) = answers.column_that_is_added() {
        return Err(LayoutError::AddedColumn(name.to_owned()).into());
    }
    let unwritable = ListError::Unwritable;
    output.write_all(&answers.header().map_err(unwritable)?).map_err(unwritable)?;
    let mut summary = Summary::default();
    pipeline::in_order(
        move || rows.next_part().map_err(ListError::from),
        move |rows| answers.part(&rows),
        |part: io::Result<Part>| {
            let Part { text, summary: of_part } = part.map_err(unwritable)?;
            output.write_all(&text).map_err(unwritable)?;
            summary.add(of_part);
            done(summary.total());
            Ok(())
        },
    )?;
    output.flush().map_err(unwritable)?;
    Ok(summary)
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
                column: Some("phone".to_owned()),
                country_column: None,
                default_country: DefaultCountry::default(),
                form: Some(form),
            };
            let list = &b"phone,tn_verdict\n3052345678,valid\n"[..];
            describe(list, &options, None, &mut Vec::new(), |_| ())
        };
        assert_eq!(
            describe_as(OutputForm::Csv).unwrap_err().to_string(),
            "the column 'tn_verdict' is one that the output adds; rename it or leave it out"
        );
        assert!(describe_as(OutputForm::JsonLines).is_ok());
    }
}
