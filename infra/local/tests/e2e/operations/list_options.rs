//! The options of `tnr format`: columns, fields, rows and duplicates.

use std::{fs, process::Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    databases::write_sample_into,
    program::{run, stderr, stdout},
};

/// Two columns of numbers, of which three cells hold the same number.
const CONTACTS: &str = "name,Home Phone,Mobile\nAda,(415) 234-1234,\nBob,305-234-567,415 234 1234\n\
                        Cleo,none,n/a\nDan,415.234.1234 x12,+1 415 234 1235\n";

fn format(list: &str, options: &[&str]) -> Output {
    let (data, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_sample_into(data.path());
    let file = files.path().join("list.csv");
    fs::write(&file, list).unwrap();
    run(&data, &[&["format", file.to_str().unwrap()], options].concat())
}

fn rows(list: &str, options: &[&str]) -> Vec<String> {
    stdout(&format(list, options)).lines().map(str::to_owned).collect()
}

fn json_lines(list: &str, options: &[&str]) -> Vec<Value> {
    let lines = rows(list, &[options, &["--to", "jsonl"]].concat());
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_ambiguous_header_is_refused_with_the_candidates() {
    let refused = format(CONTACTS, &[]);
    assert_eq!(refused.status.code(), Some(2));
    let expected = "columns 2 'Home Phone' and 3 'Mobile' both look like phone numbers; choose with \
                    --column";
    assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
}

#[test]
fn fields_are_chosen_by_the_names_of_the_api_in_csv_and_json_alike() {
    let options = ["--column", "Mobile", "--fields", "valid,e164,location.state,verdict"];
    let csv = rows(CONTACTS, &[&options[..], &["--prefix", "x_"]].concat());
    assert_eq!(csv[0], "name,Home Phone,Mobile,x_valid,x_e164,x_state,x_verdict");
    assert_eq!(csv[2], "Bob,305-234-567,415 234 1234,true,+14152341234,CA,valid");
    let lines = json_lines(CONTACTS, &options);
    let expected = json!({
        "tn": "415 234 1234",
        "row": { "name": "Bob", "Home Phone": "305-234-567", "Mobile": "415 234 1234" },
        "verdict": "valid", "valid": true, "formats": { "e164": "+14152341234" },
        "location": { "state": "CA" },
    });
    assert_eq!(lines[1], expected);
    let refused = format(CONTACTS, &["--column", "Mobile", "--fields", "valid,porting"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(
        message.contains("unknown field 'porting'; the fields are carrier.name, "),
        "{message}"
    );
}

#[test]
fn several_columns_have_their_own_columns_or_lines() {
    let options = ["--column", "Home Phone", "--column", "Mobile", "--fields", "e164,line"];
    let csv = rows(CONTACTS, &options);
    assert_eq!(csv[0], "name,Home Phone,Mobile,tn_Home_Phone_e164,tn_Mobile_e164,tn_line");
    assert_eq!(csv[2], "Bob,305-234-567,415 234 1234,,+14152341234,3");
    let lines = json_lines(CONTACTS, &options);
    assert_eq!(lines.len(), 8);
    assert_eq!(
        (&lines[3]["line"], &lines[3]["column"], &lines[3]["formats"]["e164"]),
        (&json!(3), &json!("Mobile"), &json!("+14152341234"))
    );
}

#[test]
fn rejected_and_valid_rows_together_are_the_list() {
    let options = ["--column", "2", "--column", "3", "--fields", "line"];
    let lines = |only| {
        let csv = rows(CONTACTS, &[&options[..], &["--only", only]].concat());
        csv[1..].iter().map(|row| row.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines("valid"), ["2", "3", "5"]);
    assert_eq!(lines("rejected"), ["4"]);
    let options = ["--column", "Mobile", "--only", "valid"];
    assert_eq!(json_lines(CONTACTS, &options).len(), 2);
    let summary = stderr(&format(CONTACTS, &options));
    assert!(summary.contains("\n2 rows left out of the output\n"), "{summary}");
}

#[test]
fn a_duplicate_names_the_row_that_it_repeats_or_is_left_out() {
    let columns = ["--column", "Home Phone", "--column", "Mobile", "--fields", "line"];
    let marked = rows(CONTACTS, &[&columns[..], &["--dedupe"]].concat());
    assert!(marked[0].ends_with("tn_line,tn_Home_Phone_duplicate_of,tn_Mobile_duplicate_of"));
    let ends: Vec<&str> = marked[1..].iter().map(|row| &row[row.len() - 4..]).collect();
    assert_eq!(ends, [",2,,", "3,,2", ",4,,", ",5,,"], "an extension makes another number");
    let lines = json_lines(CONTACTS, &[&columns[..], &["--dedupe"]].concat());
    assert_eq!(lines[3]["duplicateOf"], 2);
    assert!(lines.iter().filter(|line| line.get("duplicateOf").is_some()).count() == 1);

    let options = [&columns[..], &["--dedupe=drop"]].concat();
    let dropped = rows(CONTACTS, &options);
    assert_eq!(dropped.len(), 4);
    assert!(!dropped[0].contains("duplicate_of") && !dropped.iter().any(|row| row.contains("Bob")));
    let summary = stderr(&format(CONTACTS, &options));
    assert!(summary.contains("1 duplicate, 3 different numbers\n1 row left out"), "{summary}");
}

#[test]
fn a_rejected_row_has_no_formats_and_a_second_number_is_named() {
    let list = "phone\n305-234\n305 234 5678; 212 234 5678\n";
    let csv = rows(list, &["--fields", "formats,verdict,reason"]);
    assert_eq!(csv[1], "305-234,,,,,rejected,TOO_SHORT,");
    let two = &csv[2];
    assert!(two.contains(",+13052345678,") && two.ends_with(",TWO_NUMBERS,+12122345678"), "{two}");
}

#[test]
fn the_summary_names_column_counts_reasons_and_times() {
    let list = "name,phone\nAda,4152341234\nBob,907_217_1234\nCleo,\nDan,305-234-567\nEve,\n";
    let summary = stderr(&format(list, &[]));
    let lines: Vec<&str> = summary.lines().skip_while(|line| !line.starts_with("Column")).collect();
    assert_eq!(lines[0], "Column 'phone': 5 numbers: 1 valid, 1 repaired, 3 rejected");
    assert_eq!(lines[1], "           2  EMPTY                is empty (first in line 4)");
    assert_eq!(lines[2], "           1  TOO_SHORT            has too few digits (first in line 5)");
    assert!(lines[3].contains(" rows/s: reading 0.") && lines[3].contains(", writing 0."));
}
