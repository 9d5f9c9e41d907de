//! Describes phone number lists of any length.
//!
//! Data flows one way: [`decoding`] produces UTF-8, [`layout`] finds columns and rows, [`describe`]
//! describes the numbers, and [`output`] writes the selected [`fields`]. [`pipeline`] uses all
//! processors. [`duplicates`] are detected in list order, and [`summary`] counts the outcomes. [`times`] shows where
//! a slow list spends its time.

mod decoding;
mod describe;
mod duplicates;
mod fields;
mod json_array;
mod layout;
mod options;
mod output;
mod summary;
mod times;

use std::{
    io::{self, Read, Write},
    iter::{self, Peekable},
    sync::Arc,
};

use format::extras::Extra;
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
    json_array::JsonArray,
    layout::Layout,
    options::OutputFormat,
    output::{Output, Part},
    summary::Summary,
    times::Times,
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
pub fn describe_list(
    list: impl Read + Send + 'static,
    options: ListOptions,
    dataset: Option<Arc<Dataset>>,
    writer: &mut impl Write,
) -> Result<ListReport, ListError> {
    let times = Times::start();
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
    let describer = Describer {
        columns: &layout.columns,
        include: fields.include.clone().without(Extra::Reason),
        default_country: options.country.unwrap_or_default(),
        languages: options.lang.clone().unwrap_or_default(),
        dataset,
        now: Timestamp::now(),
    };
    let has_bom = (has_bom || options.bom) && !format.is_json();
    let output = Output { layout: &layout, format, has_bom, fields, options };
    output.check()?;
    let summary = if format == OutputFormat::Json {
        let mut array = JsonArray::new(writer);
        let summary = write_list(rows, &describer, &output, &mut array, &times)?;
        array.finish().map_err(ListError::Unwritable)?;
        summary
    } else {
        write_list(rows, &describer, &output, writer, &times)?
    };
    let has_windows_1252 = layout.has_windows_1252 || summary.has_windows_1252;
    let note = encoding_note(is_utf_16, has_windows_1252, has_bom || format.is_json());
    let report = summary.report(&layout.number_columns()) + &times.report(summary.rows) + note;
    Ok(ListReport { rejected: summary.count(Outcome::Rejected), text: report })
}

/// Describes and writes rows, in parallel.
fn write_list<R: Read>(
    rows: Rows<R>,
    describer: &Describer<'_>,
    output: &Output<'_>,
    writer: &mut impl Write,
    times: &Times,
) -> Result<Summary, ListError> {
    let unwritable = ListError::Unwritable;
    let mut rows = rows.peekable();
    let mut summary = Summary::default();
    let dedupe = output.options.dedupe;
    let mut deduplication = dedupe.map(|duplicates| Deduplication::new(duplicates, output.format));
    writer.write_all(&output.header().map_err(unwritable)?).map_err(unwritable)?;
    process_in_order(
        iter::from_fn(|| times.reading.time(|| next_part(&mut rows)).transpose()),
        |rows: Vec<Row>| {
            let describe = || output.part(rows.iter().map(|row| describer.describe_row(row)));
            times.describing.time(describe)
        },
        |part: io::Result<Part>| {
            let Part { text, rows, summary: part_summary } = part.map_err(unwritable)?;
            summary.add(part_summary);
            let write = || match &mut deduplication {
                Some(deduplication) => deduplication.write(&text, &rows, writer, &mut summary),
                None => writer.write_all(&text),
            };
            times.writing.time(write).map_err(unwritable)?;
            Ok(())
        },
    )?;
    times.writing.time(|| writer.flush()).map_err(unwritable)?;
    Ok(summary)
}

/// A note that the output's encoding differs from the list's. `is_recognized` if programs recognize it as UTF-8.
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
    use serde_json::Value;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        options: ListOptions,
    }

    pub fn options(arguments: &[&str]) -> ListOptions {
        TestCli::parse_from([&["format"], arguments].concat()).options
    }

    /// The output and the report, without times.
    fn describe(list: impl AsRef<[u8]>, arguments: &[&str]) -> Result<(String, String), ListError> {
        let mut output = Vec::new();
        let list = io::Cursor::new(list.as_ref().to_vec());
        let report = describe_list(list, options(arguments), None, &mut output)?;
        let lines = report.text.lines().filter(|line| !line.contains(" rows/s: "));
        let report = lines.map(|line| format!("{line}\n")).collect();
        Ok((String::from_utf8(output).unwrap(), report))
    }

    #[test]
    fn added_columns_must_not_exist_in_the_list() {
        let list = "phone,tn_verdict\n3052345678,valid\n";
        assert_eq!(
            describe(list, &["--column", "phone"]).unwrap_err().to_string(),
            "the list already has a column 'tn_verdict'; choose another prefix with --prefix"
        );
        assert!(describe(list, &["--column", "phone", "--to", "jsonl"]).is_ok());
        assert!(describe(list, &["--column", "phone", "--prefix", "x_"]).is_ok());
    }

    #[test]
    fn a_csv_gains_ten_columns_by_default() {
        let (output, _) = describe("phone\n3052345678\n", &[]).unwrap();
        assert_eq!(
            output,
            "phone,tn_verdict,tn_reason,tn_e164,tn_national,tn_country,tn_type,tn_line_type,tn_place_name,tn_state,\
             tn_carrier_name\n3052345678,valid,,+13052345678,(305) 234-5678,US,FIXED_LINE_OR_MOBILE,,\
             \"Miami, FL\",,\n"
        );
    }

    #[test]
    fn empty_cells_are_empty_and_not_rejected() {
        let list =
            "name,phone,country\na,3052345678,\nb,,XX\nc,\" \"\nd\ne,none,\nf,3052345678,XX\n";
        let options = ["--fields", "verdict,tn_reason", "--country-column", "country"];
        let (output, report) = describe(list, &options).unwrap();
        assert_eq!(
            output,
            "name,phone,country,tn_verdict,tn_reason\na,3052345678,,valid,\nb,,XX,empty,EMPTY\n\
             c, ,,empty,EMPTY\nd,,,empty,EMPTY\ne,none,,rejected,NOT_A_NUMBER\n\
             f,3052345678,XX,rejected,UNKNOWN_COUNTRY\n"
        );
        assert_eq!(
            report,
            "Column 'phone': 3 numbers: 1 valid, 0 repaired, 2 rejected; 3 empty cells\n\
             \x20          1  NOT_A_NUMBER         is not a phone number (first on line 6)\n\
             \x20          1  UNKNOWN_COUNTRY      has a country that is not an ISO 3166-1 alpha-2 code \
             (first on line 7)\n"
        );
        let (output, report) = describe("305 234 5678\n\n", &["--fields", "verdict"]).unwrap();
        assert!(output.ends_with("{\"tn\":\"\",\"verdict\":\"empty\"}\n"), "{output}");
        assert_eq!(report, "1 number: 1 valid, 0 repaired, 0 rejected; 1 empty line\n");
    }

    #[test]
    fn counts_in_the_report_have_thousands_separators() {
        let list = "phone\n".to_owned() + &"3052345678\nnone\n\" \"\n".repeat(2_001);
        let options = ["--dedupe", "--only", "rejected", "--fields", "e164"];
        let (_, report) = describe(list, &options).unwrap();
        assert_eq!(
            report,
            "Column 'phone': 4,002 numbers: 2,001 valid, 0 repaired, 2,001 rejected; 2,001 empty cells\n\
             \x20      2,001  NOT_A_NUMBER         is not a phone number (first on line 3)\n\
             4,002 rows omitted from the output\n"
        );
    }

    #[test]
    fn filters_divide_a_list_into_valid_rejected_and_empty_rows() {
        let list = "phone,fax\n3052345678,\n,907·217·1234\nnone,\n,none\nnone,3052345678\n,\n";
        let rows = |only: &str| {
            let options =
                ["--column", "phone", "--column", "fax", "--fields", "line_number", "--only", only];
            let (output, report) = describe(list, &options).unwrap();
            let lines = output.lines().skip(1).filter_map(|row| row.rsplit(',').next());
            let lines: Vec<u64> = lines.map(|line| line.parse().unwrap()).collect();
            assert!(report.contains(&format!("{} rows omitted", 6 - lines.len())), "{report}");
            lines
        };
        assert_eq!(rows("valid"), [2, 3, 6]);
        assert_eq!(rows("rejected"), [4, 5]);
        assert_eq!(rows("empty"), [7]);
    }

    #[test]
    fn json_is_an_array_of_the_json_lines() {
        let list = "phone\n3052345678\nnone\n3052345678\n";
        for options in
            [&["--fields", "e164"][..], &["--dedupe"], &["--dedupe=drop"], &["--only", "empty"]]
        {
            let to = |format| describe(list, &[options, &["--to", format]].concat()).unwrap();
            let ((lines, lines_report), (array, report)) = (to("jsonl"), to("json"));
            let lines: Vec<Value> =
                lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(serde_json::from_str::<Vec<Value>>(&array).unwrap(), lines, "{options:?}");
            assert_eq!(report, lines_report);
        }
    }

    #[test]
    fn tsv_is_separated_by_tabs_even_if_the_list_is_not() {
        let list = "sep=;\nname;phone\na\tb;3052345678\n";
        let (output, _) =
            describe(list, &["--to", "tsv", "--fields", "e164,line_number", "--dedupe"]).unwrap();
        assert_eq!(
            output,
            "sep=\t\nname\tphone\ttn_e164\ttn_line_number\ttn_duplicate_of\n\
             \"a\tb\"\t3052345678\t+13052345678\t3\t\n"
        );
    }

    #[test]
    fn another_encoding_is_converted_to_utf_8_with_a_note() {
        let windows = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
        let utf_16 =
            |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let ascii = "name,phone\nJose,3052345678\n";
        let (in_row, in_header) =
            ("name,phone\nJosé,3052345678\n", "naïve,phone\nJose,3052345678\n");
        let is_windows = "note: the list is in Windows-1252, and the output in UTF-8";
        let advice = "; pass --bom if you open it in Excel";
        let is_utf_16 = "note: the list is in UTF-16, and the output in UTF-8";
        for (list, options, note, has_bom) in [
            (in_row.into(), &[][..], String::new(), false),
            (ascii.into(), &["--bom"], String::new(), true),
            (windows(in_row), &[], format!("{is_windows}{advice}"), false),
            (windows(in_header), &[], format!("{is_windows}{advice}"), false),
            (windows(in_row), &["--bom"], is_windows.to_owned(), true),
            (windows(in_row), &["--to", "jsonl"], is_windows.to_owned(), false),
            (utf_16(in_row), &[], is_utf_16.to_owned(), true),
            (utf_16(in_row), &["--to", "jsonl"], is_utf_16.to_owned(), false),
        ] {
            let (output, report) = describe(&list, options).unwrap();
            let noted = report.lines().find(|line| line.starts_with("note:")).unwrap_or_default();
            assert_eq!(noted, note, "{options:?}");
            assert_eq!(output.starts_with('\u{feff}'), has_bom, "{options:?}");
            let has_accent = output.contains("José") || output.contains("naïve");
            assert_eq!(has_accent, list != ascii.as_bytes(), "{output}");
        }
        let error = describe(ascii, &["--bom", "--to", "json"]).unwrap_err().to_string();
        assert_eq!(error, "--bom requires CSV output; pass --to csv");
    }
}
