use serde_json::Value;

use super::*;
use crate::commands::parse_args;

pub fn options(arguments: &[&str]) -> ListOptions {
    parse_args(arguments)
}

fn describe(list: impl AsRef<[u8]>, arguments: &[&str]) -> Result<(String, String), ListError> {
    let mut output = Vec::new();
    let list = io::Cursor::new(list.as_ref().to_vec());
    let report = describe_list(list, options(arguments), None, &mut output)?;
    Ok((String::from_utf8(output).unwrap(), report.text))
}

/// Every outcome and reason that a line can have.
const LINES: &str = "+14152341234\n907·217·1234\n\n305-234-567\n5.55E+09\nnone\r\n";

/// Quotes, a formula, a line break in a cell, empty cells, and countries, one of which is unknown.
const PEOPLE_CSV: &str = "name,phone,country\n\"Lovelace, \"\"Ada\"\"\",(415) 234-1234,\n=1+1,020 7946 0958,GB\n\
                      \"two\nlines\",none,XX\nb,,XX\nc,\" \"\nd\nf,3052345678,XX\n";

/// Rows with missing, empty and extra cells.
const UNEVEN_CSV: &str = "phone,name\n4152341234\n4152341234,a,,\n4152341234,a,b\n\n\"\",c\n";

/// Two number columns. Three cells contain the same number, one with an extension and one next to another
/// number.
const CONTACTS: &str = "name,Home Phone,Mobile\nAda,(415) 234-1234,\nBob,305-234-567,415 234 1234\n\
                        Cleo,none,n/a\nDan,415.234.1234 x12,+1 415 234 1235; 212 234 5678\n\
                        Eve,1 415 234 1234,415 234 1236\n";

const SEMICOLONS: &str = "sep=;\nname;phone\na\tb;3052345678\n";

/// Fields that do not depend on the numbering data.
const FEW_FIELDS: &str = "e164,verdict,reason,line_number";
const BOTH: [&str; 6] =
    ["--column", "Home Phone", "--column", "3", "--fields", "e164,reason,line_number"];

#[test]
fn lists_keep_their_columns_and_gain_the_chosen_fields() {
    let country = ["--country-column", "country"];
    let mobile = ["--column", "Mobile", "--fields", "valid,e164,location.state,verdict"];
    let mut outputs = String::new();
    for (list, options) in [
        (LINES, [&["--fields", FEW_FIELDS][..], &[]]),
        (LINES, [&["--fields", FEW_FIELDS], &["--to", "csv"]]),
        (PEOPLE_CSV, [&country, &[]]),
        (PEOPLE_CSV, [&country, &["--to", "jsonl"]]),
        (PEOPLE_CSV, [&["--fields", FEW_FIELDS], &["--excel-safe"]]),
        (UNEVEN_CSV, [&["--fields", FEW_FIELDS], &[]]),
        (CONTACTS, [&mobile, &["--prefix", "x_"]]),
        (CONTACTS, [&mobile, &["--to", "jsonl"]]),
        (CONTACTS, [&BOTH, &[]]),
        (CONTACTS, [&BOTH, &["--to", "json"]]),
        (CONTACTS, [&BOTH, &["--only", "valid"]]),
        (CONTACTS, [&BOTH, &["--only", "rejected"]]),
        (PEOPLE_CSV, [&["--fields", FEW_FIELDS], &["--only", "empty"]]),
        (CONTACTS, [&BOTH, &["--only", "valid", "--to", "jsonl"]]),
        (CONTACTS, [&BOTH, &["--dedupe"]]),
        (CONTACTS, [&BOTH, &["--dedupe", "--to", "jsonl"]]),
        (CONTACTS, [&BOTH, &["--dedupe=drop"]]),
        (SEMICOLONS, [&["--to", "tsv"], &["--fields", "e164,line_number", "--dedupe"]]),
        (SEMICOLONS, [&["--include", "line,network"], &[]]),
        (PEOPLE_CSV, [&["--column", "name", "--prefix", ""], &["--fields", "country"]]),
        (PEOPLE_CSV, [&["--bom"], &["--to", "json"]]),
    ] {
        let options = options.concat();
        let output = match describe(list, &options) {
            Ok((output, report)) => output + &report,
            Err(error) => format!("error: {error}\n"),
        };
        // Snapshots do not distinguish line endings.
        assert!(!output.contains('\r'), "{options:?}");
        outputs += &format!("$ {options:?}\n{output}\n");
    }
    insta::assert_snapshot!(outputs);
}

/// Plain lists become JSON Lines, and CSV stays CSV.
#[test]
fn layout_follows_from_the_first_row_and_options() {
    let mut outputs = String::new();
    for (list, options) in [
        ("", &[][..]),
        ("+13052345678\n", &[]),
        ("(305) 234-5678, ext. 42\n305", &[]),
        ("305-234-5678;305-234-5679", &[]),
        ("numbers\n", &[]),
        ("305 234 5678 | home", &[]),
        ("[305] 234 5678\n", &[]),
        ("name,phone\nAda,1", &[]),
        ("Name;Telefon\nAda;1", &[]),
        ("phone\n305", &[]),
        ("\"na\nme\",\"Phone, home\"\nAda,1", &[]),
        ("sep=;\nName;Telefon, privat\nAda;1", &[]),
        ("phone,a,a,,a_2\n1,2,3,4,5", &[]),
        ("From,Home Phone,To,Home Phone\n", &[]),
        ("Ada,3052345678\nBob,3052345679\n", &["--column", "2"]),
        ("a,b", &["--from", "text", "--column", "a"]),
        ("PK\x03\x04...", &[]),
        ("{\"phone\": 1}\n", &[]),
        ("[\n  {\n", &[]),
        (" [\"305\"]", &[]),
        ("\u{feff}{ \"a\":1}", &[]),
    ] {
        let output = match describe(list, &[options, &["--fields", "e164"]].concat()) {
            Ok((output, _)) => output,
            Err(error) => format!("error: {}\n", logging::with_causes(&error)),
        };
        outputs += &format!("{list:?} {options:?}\n{output}\n");
    }
    insta::assert_snapshot!(outputs);
}

#[test]
fn json_array_contains_the_json_lines() {
    for options in
        [&["--fields", "e164"][..], &["--dedupe"], &["--dedupe=drop"], &["--only", "empty"]]
    {
        let to =
            |format| describe(LINES.repeat(2), &[options, &["--to", format]].concat()).unwrap();
        let ((lines, lines_report), (array, report)) = (to("jsonl"), to("json"));
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(serde_json::from_str::<Vec<Value>>(&array).unwrap(), lines, "{options:?}");
        assert_eq!(report, lines_report);
    }
    assert_eq!(describe("", &["--to", "json"]).unwrap().0, "[]\n");
}

/// Excel recognizes UTF-8 by a byte order mark and, in other locales, expects semicolons and CR LF.
#[test]
fn other_encodings_are_converted_to_utf_8_with_a_note() {
    let windows = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let utf_16 = |text: &str| {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    let (in_row, in_header) =
        ("name;phone\r\nJosé;3052345678\r\n", "naïve;phone\r\nJose;3052345678\r\n");
    let mut outputs = String::new();
    for (list, options) in [
        (in_row.into(), &[][..]),
        (in_row.into(), &["--bom"]),
        (format!("\u{feff}{in_row}").into(), &[]),
        (windows(in_row), &[]),
        (windows(in_header), &[]),
        (windows(in_row), &["--bom"]),
        (windows(in_row), &["--to", "jsonl"]),
        (utf_16(in_row), &[]),
        (utf_16(in_row), &["--to", "jsonl"]),
        (utf_16(in_row).chunks(2).flat_map(|it| [it[1], it[0]]).collect(), &[]),
        ([b"\xef\xbb\xbf", &*windows(in_row)].concat(), &[]),
    ] {
        let (output, report) = describe(&list, &[options, &["--fields", "e164"]].concat()).unwrap();
        outputs += &format!("{} {options:?}\n{output:?}\n{report}\n", list.escape_ascii());
    }
    insta::assert_snapshot!(outputs);
}

#[test]
fn counts_have_thousands_separators() {
    let list = "305-234-567\n\n".repeat(1001);
    let (_, report) = describe(list, &["--fields", "e164"]).unwrap();
    let start =
        "1,001 numbers: 0 valid, 0 repaired, 1,001 rejected; 1,001 empty lines\n       1,001  ";
    assert!(report.starts_with(start), "{report}");
}
