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
fn any_input_is_processed_or_rejected_with_a_message() {
    let folder = Folder::with_sample();
    assert_eq!(stdout(&folder.format("a.txt", "", &[])), "");
    let strict = folder.format("a.txt", "none\n", &["--strict"]);
    assert_eq!(strict.status.code(), Some(1), "{}", stderr(&strict));
    assert!(stderr(&strict).contains(" rows/s\n"), "{}", stderr(&strict));
    let rejected = folder.pipe(b"name,contact\nAda,4152341234\n", &[]);
    assert_eq!(rejected.status.code(), Some(2), "{}", stderr(&rejected));
    let message = "choose one with --column: 'name', 'contact'";
    assert!(stderr(&rejected).contains(message), "{}", stderr(&rejected));
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
