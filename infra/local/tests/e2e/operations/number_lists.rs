//! `tnr format`: lists of numbers from files and pipes.

use std::{
    fs,
    io::{Read, Write},
    process::{Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    processes::send_signal,
    program::{Server, command_for, run, stderr, stdout},
};

/// Every outcome and reason that a line can have.
const LINES: (&str, &str) =
    ("lines.txt", "+14152341234\n907·217·1234\n\n305-234-567\n5.55E+09\nnone\r\n");

/// Quotes, a formula, a line break in a cell, and countries, one of which is unknown.
const PEOPLE: (&str, &str) = (
    "people.csv",
    "name,phone,country\n\"Lovelace, \"\"Ada\"\"\",(415) 234-1234,\n=1+1,020 7946 0958,GB\n\
     \"two\nlines\",none,XX\n",
);

/// Rows with missing, empty and extra cells.
const UNEVEN: (&str, &str) =
    ("uneven.csv", "phone,name\n4152341234\n4152341234,a,,\n4152341234,a,b\n\n\"\",c\n");

/// Two number columns. Three cells contain the same number, one with an extension and one next to another
/// number.
const CONTACTS: (&str, &str) = (
    "contacts.csv",
    "name,Home Phone,Mobile\nAda,(415) 234-1234,\nBob,305-234-567,415 234 1234\n\
     Cleo,none,n/a\nDan,415.234.1234 x12,+1 415 234 1235; 212 234 5678\n\
     Eve,1 415 234 1234,415 234 1236\n",
);

/// A data folder, and a folder for lists.
struct Folder {
    data: TempDir,
    files: TempDir,
}

impl Folder {
    fn with_sample() -> Self {
        Self { data: sample_folder(), files: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Runs `format` on a list with this name and content.
    fn format(&self, name: &str, content: impl AsRef<[u8]>, options: &[&str]) -> Output {
        let file = self.write(name, content);
        run(&self.data, &[&["format", &file], options].concat())
    }

    /// Runs `format` on stdin.
    fn pipe(&self, content: impl AsRef<[u8]>, options: &[&str]) -> Output {
        let mut command = command_for(&self.data, &[&["format"], options].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // The program stops reading input that it rejects.
        _ = process.stdin.take().unwrap().write_all(content.as_ref());
        process.wait_with_output().unwrap()
    }
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn format_prints_the_same_fields_as_the_api_even_while_the_folder_is_served() {
    let folder = Folder::with_sample();
    let server = Server::on(&folder.data, &[]).await;
    let numbers =
        ["+14152341234", "(305) 234-5678 ext. 42", "020 7946 0958", "hello", "907·217·1234"];
    let results = json_lines(&folder.pipe(numbers.join("\n"), &["--include", "line,assignment"]));
    for (number, line) in numbers.iter().zip(&results) {
        let encoded = number.replace('+', "%2B").replace(' ', "%20");
        let mut expected = server
            .get_without_flags(&format!("/v1/format?tn={encoded}&include=reason,line,assignment"))
            .await;
        if expected["valid"] == false {
            // Nothing in a rejected number may be mistaken for a number.
            expected.as_object_mut().unwrap().shift_remove("formats");
        }
        let mut result = line.clone();
        for added in ["lineNumber", "tn", "verdict"] {
            result.as_object_mut().unwrap().shift_remove(added);
        }
        assert_eq!(result, expected, "{number}");
        assert_eq!(line["tn"], *number);
    }
    assert_eq!(results[0]["carrier"]["ocn"].as_str().map(str::len), Some(4), "{}", results[0]);
}

#[test]
fn csv_from_excel_stays_readable_by_excel() {
    let folder = Folder::with_sample();
    let text = "Name;Telefon\r\nJosé;(415) 234-1234\r\n";
    let with_bom = ["\u{feff}", text].concat();
    let utf_16: Vec<u8> = with_bom.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let windows: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let with_separator = [b"sep=;\r\n", &windows[..]].concat();
    let enriched = stdout(&folder.pipe(with_separator, &[]));
    assert!(enriched.starts_with("sep=;\r\nName;Telefon;tn_verdict;"), "{enriched}");
    for (content, has_bom) in [(utf_16, true), (with_bom.into_bytes(), true), (windows, false)] {
        let enriched = stdout(&folder.pipe(content, &[]));
        assert_eq!(enriched.starts_with('\u{feff}'), has_bom);
        let lines: Vec<&str> = enriched.trim_start_matches('\u{feff}').split("\r\n").collect();
        assert!(lines[0].starts_with("Name;Telefon;tn_verdict;"), "{}", lines[0]);
        assert!(lines[1].starts_with("José;(415) 234-1234;valid;"), "{}", lines[1]);
        assert_eq!(lines[2..], [""]);
    }
}

#[test]
fn lists_keep_their_columns_and_gain_the_chosen_fields() {
    let folder = Folder::with_sample();
    let country = ["--country-column", "country"];
    let few = ["--fields", "e164,carrier.ocn,verdict,reason,line_number"];
    let mobile = ["--column", "Mobile", "--fields", "valid,e164,location.state,verdict"];
    let both = ["--column", "Home Phone", "--column", "3", "--fields", "e164,reason,line_number"];
    let mut outputs = String::new();
    for ((name, content), options) in [
        (LINES, [&few[..], &[]]),
        (LINES, [&few, &["--to", "csv", "--strict"]]),
        (PEOPLE, [&country, &[]]),
        (PEOPLE, [&country, &["--to", "jsonl"]]),
        (PEOPLE, [&few, &["--excel-safe"]]),
        (UNEVEN, [&few, &[]]),
        (CONTACTS, [&mobile, &["--prefix", "x_"]]),
        (CONTACTS, [&mobile, &["--to", "jsonl"]]),
        (CONTACTS, [&both, &[]]),
        (CONTACTS, [&both, &["--to", "jsonl"]]),
        (CONTACTS, [&both, &["--only", "valid"]]),
        (CONTACTS, [&both, &["--only", "rejected"]]),
        (CONTACTS, [&both, &["--only", "valid", "--to", "jsonl"]]),
        (CONTACTS, [&both, &["--dedupe"]]),
        (CONTACTS, [&both, &["--dedupe", "--to", "jsonl"]]),
        (CONTACTS, [&both, &["--dedupe=drop"]]),
    ] {
        let options = options.concat();
        let output = folder.format(name, content, &options);
        let (response, report) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
        // Snapshots do not distinguish line endings.
        assert!(!response.contains('\r'), "{options:?}");
        let is_timing = |line: &&str| line.contains(" rows/s: reading 0.");
        assert_eq!(report.lines().filter(is_timing).count(), 1, "{report}");
        let report = report.lines().filter(|line| !is_timing(line) && !line.starts_with("note: "));
        let report: String = report.map(|line| format!("{line}\n")).collect();
        outputs +=
            &format!("$ tnr format {name} {options:?}\n{response}{report}({})\n\n", output.status);
    }
    insta::assert_snapshot!(outputs);
}

#[test]
fn any_input_is_processed_or_rejected_with_a_message() {
    let folder = Folder::with_sample();
    assert_eq!(stdout(&folder.format("a.txt", "", &[])), "");
    assert!(stdout(&folder.format("a.csv", "", &["--to", "csv"])).starts_with("tn,tn_verdict"));
    for (content, message) in [
        (&b"PK\x03\x04xl/workbook.xml"[..], "save its sheet as CSV"),
        (b"name,contact\nAda,4152341234\n", "choose one with --column: 'name', 'contact'"),
        (&[b"phone,a\n1,\"".to_vec(), vec![b'x'; 3 << 20]].concat(), "check for an unclosed quote"),
    ] {
        let rejected = folder.pipe(content, &[]);
        assert_eq!(rejected.status.code(), Some(2), "{}", stderr(&rejected));
        assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
    }
    let missing = run(&folder.data, &["format", "none.csv"]);
    assert!(stderr(&missing).contains("error: none.csv cannot be read: "), "{}", stderr(&missing));
    let garbage: Vec<u8> = (0..=255).cycle().take(5000).collect();
    assert!(folder.pipe(garbage, &["--from", "text"]).status.success());
}

#[test]
fn format_tolerates_a_closed_pipe() {
    let folder = Folder::with_sample();
    let file = folder.write("many.txt", "+14152341234\n".repeat(200_000));
    let mut command = command_for(&folder.data, &["format", &file]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    process.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
}

#[test]
fn output_files_appear_only_once_complete() {
    let folder = Folder::with_sample();
    let list = folder.write("a.csv", "phone\n4152341234\n");
    let output = folder.path("out.jsonl");
    stdout(&run(&folder.data, &["format", &list, "--output", &output]));
    let written = fs::read_to_string(&output).unwrap();
    assert!(written.starts_with("{\"lineNumber\":2,\"tn\":\"4152341234\""), "{written}");
    // The output may replace its own input.
    stdout(&run(&folder.data, &["format", &list, "--output", &list, "--force"]));
    assert!(fs::read_to_string(&list).unwrap().starts_with("phone,tn_verdict"));

    let mut command = command_for(&folder.data, &["format", "--force", "--output", &output]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    input.write_all("4152341234\n".repeat(100_000).as_bytes()).unwrap();
    let unfinished = || fs::read_dir(folder.files.path()).unwrap().count() > 2;
    while !unfinished() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    send_signal("INT", &process);
    let stopped = process.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{}", stderr(&stopped));
    assert!(!unfinished(), "no partial output is left");
    assert_eq!(fs::read_to_string(&output).unwrap(), written);
    drop(input);
}
