use proptest::prelude::*;

use super::*;
use crate::IngestError;

type ReadReport = (Vec<[String; 3]>, Option<Date>, Notes);

const REPORT: Report<3, [String; 3]> = Report {
    file: "a report",
    delimiter: b',',
    columns: [
        Column::required(&["OCN"]),
        Column::required(&["Company", "Company Name"]),
        Column::optional(&["RateCenter"]),
    ],
    unused: &["Use"],
    max_rows: 4,
    parse_row: |row, _| Ok(Some(row.cells.clone().map(Cow::into_owned))),
    is_usable: |_| true,
};

fn read_as(delimiter: u8, mut text: &[u8]) -> Result<ReadReport, ReportError> {
    let mut notes = Notes::default();
    let (rows, date) = Report { delimiter, ..REPORT }.read(&mut text, &mut notes)?;
    Ok((rows, date, notes))
}

fn rows(text: &str) -> Vec<[String; 3]> {
    read_as(b',', text.as_bytes()).unwrap().0
}

fn read_error(text: &str) -> String {
    read_as(b',', text.as_bytes()).err().unwrap().to_string()
}

#[test]
fn columns_are_found_by_name_in_any_position() {
    let text = "File Date,01/05/2026\nRATE CENTER,company_name, ocn ,x\nR,\"A, B\",0051,\n";
    let (rows, date, _) = read_as(b',', text.as_bytes()).unwrap();
    assert_eq!(rows, [["0051", "A, B", "R"]]);
    assert_eq!(date, Some(Date::constant(2026, 1, 5)));
    assert_eq!(self::rows("OCN,Company\n0051,A\n"), [["0051", "A", ""]], "an optional column");
}

#[test]
fn unknown_and_missing_columns_are_noted_but_the_date_is_not_a_column() {
    let text = "OCN,Company,USE,Porting, ,File Updated By,In Service File Updated 09/04/2026\n\
                0051,A,x,x,x,x,x\n";
    let (_, _, notes) = read_as(b',', text.as_bytes()).unwrap();
    let kind = "a report: a column is unknown and is ignored";
    let unknown = ["'Porting'", "'File Updated By'", "'In Service'"];
    assert_eq!(notes.warnings[kind].examples, unknown);
    assert_eq!(notes.warnings.len(), 1);
    assert_eq!(notes.missing_columns["a report"].examples, ["'RateCenter'"]);
}

#[test]
fn file_date_in_the_header_is_not_a_column_and_padded_quotes_are_removed() {
    for separator in ["\t", "   "] {
        let header = format!("OCN\tCompany \tIn Service{separator}File Updated 09/04/2026");
        let text = format!("{header}\n0051\t\"A \"B\" C\"   \tYes\n");
        let (rows, date, _) = read_as(b'\t', text.as_bytes()).unwrap();
        assert_eq!(rows, [["0051", "A \"B\" C", ""]], "{header}");
        assert_eq!(date, Some(Date::constant(2026, 9, 4)), "{header}");
    }
}

#[test]
fn row_with_only_a_date_dates_the_file_and_blank_rows_are_counted() {
    let text = "x,Company,OCN\n,,2025-09-12\n, ,\n,A,1\n\n,,\n";
    let (rows, date, notes) = read_as(b',', text.as_bytes()).unwrap();
    assert_eq!((rows.len(), date), (1, Some(Date::constant(2025, 9, 12))));
    assert_eq!(notes.skipped.get(&("a report", "blank rows".to_owned())), Some(&3));
}

#[test]
fn text_is_utf8_or_windows_1252() {
    let expected = [["1", "Québec – Téléphone", ""]];
    let utf8 = "\u{feff}OCN,Company\n1,Québec – Téléphone\n";
    assert_eq!(rows(utf8), expected);
    let windows = b"OCN,Company\n1,Qu\xe9bec \x96 T\xe9l\xe9phone\n";
    assert_eq!(read_as(b',', windows).unwrap().0, expected);
}

#[test]
fn error_for_an_invalid_cell_names_its_line_and_column() {
    let mut text = "OCN,Company\n\n1,A\n\n\nx,B\n".as_bytes();
    let parse_row = |row: &Row<'_, 3>, _: &mut Notes| row.parse::<u32>(0).map(|_| None);
    let report = Report { parse_row, ..REPORT };
    let error = report.read(&mut text, &mut Notes::default()).unwrap_err();
    let place = "a report, line 6, column OCN:";
    assert_eq!(error.to_string(), format!("{place} 'x' invalid digit found in string"));
    let source_name = "s3://b/k".to_owned();
    let for_callers = IngestError::Report { source_name, source: error }.without_contents();
    let expected = format!("s3://b/k cannot be imported: {place} the cell invalid digit");
    assert!(for_callers.starts_with(&expected), "{for_callers}");
}

#[test]
fn unexpected_ragged_oversized_and_empty_files_are_rejected() {
    assert_eq!(
        read_error("OCN,Operator\n1,A\n"),
        "a report does not look like the expected report: \
         no header row has the column(s) Company; line 1 has 'OCN, Operator'"
    );
    let ragged = |line: u64, found: usize, expected: usize| {
        format!(
            "a report, line {line}: the row must have {expected} cells, like the header, got {found}; \
             check whether the file is truncated or a cell is not quoted"
        )
    };
    assert_eq!(read_error("OCN,Company,a,b\n1,A,,\n2\n"), ragged(3, 1, 4));
    assert_eq!(read_error("OCN,Company,a,b\n1,A,Inc.,,b\n"), ragged(2, 5, 4));
    assert_eq!(read_error("OCN,Company,a\n1,A,Inc.,\n"), ragged(2, 4, 3));
    let long = format!("OCN,Company\n1,{}\n", "A".repeat(300));
    assert!(read_error(&long).contains("column Company: 'AAAA"), "{}", read_error(&long));
    assert_eq!(
        read_error("OCN,Company\n1,A\n2,A\n3,A\n4,A\n5,A\n"),
        "a report must have at most 4 rows"
    );
    assert_eq!(read_error("OCN,Company\n"), "a report has no rows");
    assert!(read_error("").contains("it is empty"));
    assert!(read_error("OCN,\u{1b}[31mName\n1,A\n").ends_with("line 1 has 'OCN, \\u{1b}[31mName'"));
    assert_eq!(
        read_error("File Date,1/2/0026\nOCN,Company\n1,A\n"),
        "a report is dated 0026-01-02; a report's date must be in 1990 or later"
    );
}

#[test]
fn limits_include_their_bound() {
    let with_cell = |bytes: usize| format!("OCN,Company\n1,{}\n", "A".repeat(bytes));
    assert_eq!(rows(&with_cell(256))[0][1].len(), 256);
    assert!(read_error(&with_cell(257)).ends_with("must have at most 256 bytes"));
    assert_eq!(rows("OCN,Company\n1,A\n2,A\n3,A\n4,A\n").len(), 4);
    let dated = |year: u16| format!("File Date,12/31/{year}\nOCN,Company\n1,A\n");
    assert_eq!(rows(&dated(1990)), [["1", "A", ""]]);
    assert!(read_error(&dated(1989)).starts_with("a report is dated 1989-12-31"));
}

#[test]
fn the_header_is_one_of_the_first_lines() {
    let header_after = |lines: usize| "note\n".repeat(lines) + "OCN,Company\n1,A\n";
    assert_eq!(rows(&header_after(HEADER_SEARCH_LINES - 1)), [["1", "A", ""]]);
    assert!(read_error(&header_after(HEADER_SEARCH_LINES)).contains("no header row has"));
}

#[test]
fn duplicate_header_column_is_rejected_by_name() {
    assert_eq!(
        read_error("OCN,Company,ocn \n1,A,2\n"),
        "a report, line 1: the header has the column OCN twice, in cells 1 and 3; \
         remove the wrong one"
    );
    assert!(read_error("OCN,Company,Company Name\n1,A,B\n").contains("the column Company twice"));
    assert_eq!(rows("OCN,Company,Notes,Notes\n1,A,,\n"), [["1", "A", ""]]);
}

#[test]
fn unclosed_quote_is_rejected_and_does_not_swallow_rows() {
    for text in ["OCN,Company\n1,\"A\n2,B\n3,C\n", "OCN,Company,x\n1,A,\"\n2,B,\n"] {
        let open = "an earlier row has an unclosed quote, or a cell contains a line break";
        assert!(read_error(text).ends_with(open), "{}", read_error(text));
    }
}

#[test]
fn invisible_characters_in_known_columns_are_rejected() {
    assert_eq!(
        read_error("OCN,Company\n1,A\n2,\u{1b}[2JACME\n"),
        "a report, line 3, column Company: '\\u{1b}[2JACME' contains the control character U+001B"
    );
    for (characters, kind) in [
        ("\0\u{9b}", "control"),
        // Direction marks, a soft hyphen, a byte order mark, a tag, and an interlinear annotation.
        ("\u{200b}\u{200e}\u{202e}\u{2066}\u{ad}\u{feff}\u{e0041}\u{fff9}", "format"),
        ("\u{2028}\u{2029}", "separator"),
        ("\u{e000}\u{10fffd}", "private"),
        ("\u{378}\u{ffff}", "unassigned"),
    ] {
        for character in characters.chars() {
            let rule = format!("contains the {kind} character U+{:04X}", u32::from(character));
            let error = read_error(&format!("OCN,Company\n1,A{character}B\n"));
            assert!(error.ends_with(&rule), "{error}");
        }
    }
    assert_eq!(rows("OCN,Company,x\n1,A,\u{1b}\n").len(), 1, "an unknown column");
    let names = "OCN,Company\n1,Qu\u{e9}bec\n2,Que\u{301}bec\n3,O\u{2019}Brien \u{2013} AT&T\u{a0}(\u{2122})\n";
    assert_eq!(rows(names).len(), 3);
}

/// Variation selectors can spell instructions that only a language model reads.
#[test]
fn default_ignorable_characters_and_blank_braille_in_known_columns_are_rejected() {
    let read = |c: char| read_as(b',', format!("OCN,Company\n1,A{c}B\n").as_bytes());
    for (first, last) in [
        ('\u{34f}', '\u{34f}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180d}'),
        ('\u{180f}', '\u{180f}'),
        ('\u{2800}', '\u{2800}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{e0100}', '\u{e01ef}'),
    ] {
        for character in first..=last {
            let error = read(character).err().unwrap().to_string();
            let rule = format!("contains the ignorable character U+{:04X}", u32::from(character));
            assert!(error.ends_with(&rule), "{error}");
        }
    }
    for (first, last) in [('\u{fff0}', '\u{fff8}'), ('\u{e01f0}', '\u{e0fff}')] {
        assert!((first..=last).all(|character| read(character).is_err()), "unassigned");
    }
    let neighbors = "\u{34e}\u{350}\u{115e}\u{1161}\u{17b3}\u{17b6}\u{180a}\u{1810}\u{27ff}\u{2801}\u{3163}\
                     \u{3165}\u{fe10}\u{ff9f}\u{ffa1}";
    for character in neighbors.chars() {
        assert!(read(character).is_ok(), "U+{:04X}", u32::from(character));
    }
}

proptest! {
    #[test]
    fn no_input_panics(
        bytes in any::<Vec<u8>>(), rows in "(OCN,Company\n)?[a-zé,\"\n]*"
    ) {
        for delimiter in [b'\t', b','] {
            let _ = read_as(delimiter, &bytes);
            let _ = read_as(delimiter, rows.as_bytes());
        }
    }
}
