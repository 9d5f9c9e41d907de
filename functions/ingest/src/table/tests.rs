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

fn read_as(delimiter: u8, text: &[u8]) -> Result<ReadReport, ReportError> {
    let (mut rows, mut notes) = (Vec::new(), Notes::default());
    let read_row = |row: &Row<'_>, _: &mut Notes| {
        rows.push([0, 1, 2].map(|column| row.cells[column].clone().into_owned()));
        Ok(())
    };
    let date = Format { delimiter, ..FORMAT }.read(text, &mut notes, read_row)?;
    Ok((rows, date, notes))
}

/// The date, if any, then the rows with `|` between cells; or the error.
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

#[test]
fn files_parse_to_rows_and_a_date_or_fail_with_a_reason() {
    let texts = include_str!("tests/files.txt").lines().filter(|line| !line.starts_with('#'));
    let texts = texts.map(|line| serde_json::from_str::<String>(line).unwrap());
    let header_after = |lines: usize| "note\n".repeat(lines) + "OCN,Company\n1,A\n";
    let with_cell = |bytes: usize| format!("OCN,Company\n1,{}\n", "A".repeat(bytes));
    // Values at the limit are allowed.
    let at_limits = [
        header_after(HEADER_SEARCH_LINES - 1),
        header_after(HEADER_SEARCH_LINES),
        with_cell(256),
        with_cell(257),
    ];
    let tab_separated = ["\t", "   "].map(|separator| {
        let header = format!("OCN\tCompany \tIn Service{separator}File Updated 09/04/2026");
        format!("{header}\n0051\t\"A \"B\" C\"   \tYes\n")
    });
    let windows = b"OCN,Company\n1,Qu\xe9bec \x96 T\xe9l\xe9phone\n";
    let cases = texts.chain(at_limits).map(|text| (b',', text.into_bytes()));
    let cases = cases.chain(tab_separated.map(|text| (b'\t', text.into_bytes())));
    let outcomes = cases.chain([(b',', windows.to_vec())]).map(|(delimiter, text)| {
        format!("{:?}\n  {}\n", String::from_utf8_lossy(&text), outcome(delimiter, &text))
    });
    insta::assert_snapshot!(outcomes.collect::<String>());
}

#[test]
fn unknown_and_missing_columns_and_blank_rows_are_warnings() {
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
    let text = "OCN,Company\n\n1,A\n\n\nx,B\n";
    let parse = |row: &Row<'_>, _: &mut Notes| row.parse::<u32>(0).map(drop);
    let place = "a report, line 6, column OCN:";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let error = FORMAT.read(text.as_bytes(), &mut Notes::default(), parse).unwrap_err();
        assert_eq!(error.to_string(), format!("{place} 'x' invalid digit found in string"));
        let source_name = "s3://b/k".to_owned();
        let for_callers = IngestError::Report { source_name, source: error }.without_contents();
        let expected = format!("s3://b/k cannot be imported: {place} the cell invalid digit");
        assert!(for_callers.starts_with(&expected), "{for_callers}");
    }
}

/// Direction marks can reorder text, and variation selectors can spell instructions that only a language model reads.
#[test]
fn invisible_characters_in_known_columns_are_rejected() {
    let read = |c: char| outcome(b',', format!("OCN,Company\n1,A{c}B\n").as_bytes());
    let code = |text| u32::from_str_radix(text, 16).unwrap();
    for range in include_str!("tests/invisible.txt").split_whitespace() {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        for character in (code(first)..=code(last)).map(|code| char::from_u32(code).unwrap()) {
            let rule = format!("contains the invisible character U+{:04X}", u32::from(character));
            assert!(read(character).ends_with(&rule), "{rule}: {}", read(character));
        }
    }
    let visible = "\u{34e}\u{350}\u{115e}\u{1161}\u{17b3}\u{17b6}\u{180a}\u{1810}\u{27ff}\u{2801}\u{3163}\
                   \u{3165}\u{fe10}\u{ff9f}\u{ffa1}é\u{301}\u{2019}\u{2013}\u{a0}\u{2122}";
    for character in visible.chars() {
        assert!(read(character).starts_with("1|A"), "U+{:04X}", u32::from(character));
    }
}

proptest! {
    #[test]
    fn arbitrary_input_does_not_panic(
        bytes in any::<Vec<u8>>(), rows in "(OCN,Company\n)?[a-zé,\"\n]*"
    ) {
        for delimiter in [b'\t', b','] {
            let _ = read_as(delimiter, &bytes);
            let _ = read_as(delimiter, rows.as_bytes());
        }
    }
}
