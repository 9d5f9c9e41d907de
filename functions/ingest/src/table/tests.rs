use proptest::prelude::*;

use super::*;
use crate::IngestError;

const FORMAT: Format = Format {
    name: ReportName::Nanpa,
    file: "a report",
    delimiter: b',',
    columns: "OCN, Company|Company Name, RateCenter?",
    unused: "Use",
    max_rows: 4,
};

type ReadReport = (Vec<[String; 3]>, Option<Date>, Notes);

fn read_as(delimiter: u8, mut text: &[u8]) -> Result<ReadReport, ReportError> {
    let (mut rows, mut notes) = (Vec::new(), Notes::default());
    let read_row = |row: &Row<'_>, _: &mut Notes| {
        rows.push([0, 1, 2].map(|column| row.cells[column].clone().into_owned()));
        Ok(())
    };
    let date = Format { delimiter, ..FORMAT }.read(&mut text, &mut notes, read_row)?;
    Ok((rows, date, notes))
}

/// The rows, with `|` between cells, after the date if there is one; or the error.
fn outcome(delimiter: u8, text: &[u8]) -> String {
    match read_as(delimiter, text) {
        Ok((rows, date, _)) => {
            let date = date.map(|date| format!("{date}: ")).unwrap_or_default();
            let rows = rows.into_iter().map(|cells| cells.join("|")).collect::<Vec<_>>();
            date + &rows.join(" / ")
        }
        Err(error) => error.to_string(),
    }
}

fn read(text: &str) -> String {
    outcome(b',', text.as_bytes())
}

#[test]
fn columns_and_dates_are_found_anywhere() {
    let header_after = |lines: usize| "note\n".repeat(lines) + "OCN,Company\n1,A\n";
    let with_cell = |bytes: usize| format!("OCN,Company\n{},A\n", "1".repeat(bytes));
    for (text, expected) in [
        (
            "File Date,01/05/2026\nRATE CENTER,company_name, ocn ,x\nR,\"A, B\",0051,\n",
            "2026-01-05: 0051|A, B|R",
        ),
        ("OCN,Company\n0051,A\n", "0051|A|"),
        ("x,Company,OCN\n,,2025-09-12\n, ,\n,A,1\n\n,,\n", "2025-09-12: 1|A|"),
        ("OCN,Company,Notes,Notes\n1,A,,\n", "1|A|"),
        ("\u{feff}OCN,Company\n1,Québec – Téléphone\n", "1|Québec – Téléphone|"),
        (&header_after(HEADER_SEARCH_LINES - 1), "1|A|"),
        // The limits include their bound.
        ("OCN,Company\n1,A\n2,A\n3,A\n4,A\n", "1|A| / 2|A| / 3|A| / 4|A|"),
        ("File Date,12/31/1990\nOCN,Company\n1,A\n", "1990-12-31: 1|A|"),
        (&with_cell(256), &format!("{}|A|", "1".repeat(256))),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    let windows = b"OCN,Company\n1,Qu\xe9bec \x96 T\xe9l\xe9phone\n";
    assert_eq!(outcome(b',', windows), "1|Québec – Téléphone|");
    for separator in ["\t", "   "] {
        let header = format!("OCN\tCompany \tIn Service{separator}File Updated 09/04/2026");
        let text = format!("{header}\n0051\t\"A \"B\" C\"   \tYes\n");
        assert_eq!(outcome(b'\t', text.as_bytes()), "2026-09-04: 0051|A \"B\" C|", "{header}");
    }
}

#[test]
fn unusable_files_are_rejected_with_a_reason() {
    let ragged = |line: u64, found: usize, expected: usize| {
        format!(
            "line {line}: the row must have {expected} cells, like the header, got {found}; check whether \
             the file is truncated or a cell is not quoted"
        )
    };
    let long = format!("OCN,Company\n1,{}\n", "A".repeat(257));
    let late_header = "note\n".repeat(HEADER_SEARCH_LINES) + "OCN,Company\n1,A\n";
    let unclosed = "an earlier row has an unclosed quote, or a cell contains a line break";
    for (text, expected) in [
        (
            "OCN,Operator\n1,A\n",
            "a report does not look like the expected report: no header row has the column(s) Company; \
             line 1 has 'OCN, Operator'",
        ),
        ("OCN,Company,a,b\n1,A,,\n2\n", &ragged(3, 1, 4)),
        ("OCN,Company,a,b\n1,A,Inc.,,b\n", &ragged(2, 5, 4)),
        (&long, "AAAA' must have at most 256 bytes"),
        ("OCN,Company\n1,A\n2,A\n3,A\n4,A\n5,A\n", "a report must have at most 4 rows"),
        ("OCN,Company\n", "a report has no rows"),
        ("", "it is empty"),
        ("OCN,\u{1b}[31mName\n1,A\n", "line 1 has 'OCN, \\u{1b}[31mName'"),
        (
            "File Date,12/31/1989\nOCN,Company\n1,A\n",
            "a report is dated 1989-12-31; a report's date must be in 1990 or later",
        ),
        (&late_header, "no header row has the column(s) OCN, Company; line 1 has 'note'"),
        (
            "OCN,Company,ocn \n1,A,2\n",
            "a report, line 1: the header has the column OCN twice, in cells 1 and 3; remove the wrong \
             one",
        ),
        ("OCN,Company,Company Name\n1,A,B\n", "in cells 2 and 3; remove the wrong one"),
        ("OCN,Company\n1,\"A\n2,B\n3,C\n", unclosed),
        ("OCN,Company,x\n1,A,\"\n2,B,\n", unclosed),
        (
            "OCN,Company\n1,A\n2,\u{1b}[2JACME\n",
            "a report, line 3, column Company: '\\u{1b}[2JACME' contains the control character U+001B",
        ),
    ] {
        assert!(read(text).ends_with(expected), "{expected}: {}", read(text));
    }
}

#[test]
fn unknown_and_missing_columns_and_blank_rows_are_noted_but_the_date_is_not_a_column() {
    let text = "OCN,Company,USE,Porting, ,File Updated By,In Service File Updated 09/04/2026\n\
                0051,A,x,x,x,x,x\n\n,,,,,,\n";
    let (_, _, notes) = read_as(b',', text.as_bytes()).unwrap();
    let findings = &notes.reports[&ReportName::Nanpa];
    let unknown = ["'Porting'", "'File Updated By'", "'In Service'"];
    assert_eq!(findings.unknown_columns.examples, unknown);
    let kind = "a report: a column is unknown and is ignored";
    assert_eq!((notes.warnings.len(), &notes.warnings[kind]), (1, &findings.unknown_columns));
    assert_eq!(findings.missing_columns.examples, ["'RateCenter'"]);
    assert_eq!((findings.rows, findings.skipped["blank rows"]), (1, 2));
}

#[test]
fn error_for_an_invalid_cell_names_its_line_and_column() {
    let mut text = "OCN,Company\n\n1,A\n\n\nx,B\n".as_bytes();
    let parse = |row: &Row<'_>, _: &mut Notes| row.parse::<u32>(0).map(drop);
    let error = FORMAT.read(&mut text, &mut Notes::default(), parse).unwrap_err();
    let place = "a report, line 6, column OCN:";
    assert_eq!(error.to_string(), format!("{place} 'x' invalid digit found in string"));
    let source_name = "s3://b/k".to_owned();
    let for_callers = IngestError::Report { source_name, source: error }.without_contents();
    let expected = format!("s3://b/k cannot be imported: {place} the cell invalid digit");
    assert!(for_callers.starts_with(&expected), "{for_callers}");
}

/// Direction marks can reorder text, and variation selectors can spell instructions that only a language model reads.
#[test]
fn invisible_characters_in_known_columns_are_rejected() {
    let read = |c: char| read(&format!("OCN,Company\n1,A{c}B\n"));
    let one = |c| (c, c);
    for (kind, ranges) in [
        ("control", &[one('\0'), one('\u{9b}')][..]),
        (
            "format",
            &[
                ('\u{200b}', '\u{200f}'),
                one('\u{202e}'),
                one('\u{2066}'),
                one('\u{ad}'),
                one('\u{feff}'),
                one('\u{e0041}'),
                one('\u{fff9}'),
            ],
        ),
        ("separator", &[('\u{2028}', '\u{2029}')]),
        ("private", &[one('\u{e000}'), one('\u{10fffd}')]),
        ("unassigned", &[one('\u{378}'), ('\u{fff0}', '\u{fff8}'), ('\u{e01f0}', '\u{e0fff}')]),
        (
            "ignorable",
            &[
                one('\u{34f}'),
                ('\u{115f}', '\u{1160}'),
                ('\u{17b4}', '\u{17b5}'),
                ('\u{180b}', '\u{180d}'),
                one('\u{180f}'),
                one('\u{2800}'),
                one('\u{3164}'),
                ('\u{fe00}', '\u{fe0f}'),
                one('\u{ffa0}'),
                ('\u{e0100}', '\u{e01ef}'),
            ],
        ),
    ] {
        for character in ranges.iter().flat_map(|&(first, last)| first..=last) {
            let rule = format!("contains the {kind} character U+{:04X}", u32::from(character));
            assert!(read(character).ends_with(&rule), "{rule}: {}", read(character));
        }
    }
    let visible = "\u{34e}\u{350}\u{115e}\u{1161}\u{17b3}\u{17b6}\u{180a}\u{1810}\u{27ff}\u{2801}\u{3163}\
                   \u{3165}\u{fe10}\u{ff9f}\u{ffa1}é\u{301}\u{2019}\u{2013}\u{a0}\u{2122}";
    for character in visible.chars() {
        assert!(read(character).starts_with("1|A"), "U+{:04X}", u32::from(character));
    }
    let unknown_column = self::read("OCN,Company,x\n1,A,\u{1b}\n");
    assert_eq!(unknown_column, "1|A|");
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
