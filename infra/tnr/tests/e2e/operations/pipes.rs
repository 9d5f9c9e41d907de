//! `tnr find` and `tnr format` with pipes: results as text arrives, closed pipes, and interrupted output files.

use std::{
    fs,
    io::{Read, Write},
    process::Stdio,
};

use tempfile::TempDir;

use crate::support::{
    processes::send_signal,
    program::{command_for, program, run, stderr, stdout},
};

#[test]
fn a_pipe_is_searched_as_text_arrives() {
    let mut process = program(&["find", "-o"]);
    let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    for number in ["305 234 5678", "415 234 5678"] {
        writeln!(input, "call {number}").unwrap();
        let mut line = [0; "305 234 5678\n".len()];
        output.read_exact(&mut line).unwrap();
        assert!(String::from_utf8_lossy(&line).contains(number));
    }
    drop(input);
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn format_tolerates_a_closed_pipe() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("many.txt");
    fs::write(&file, "+14152341234\n".repeat(100_000)).unwrap();
    let mut command = command_for(&folder, &["format", file.to_str().unwrap()]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success() && !stderr(&output).contains("error"), "{}", stderr(&output));
}

#[test]
fn interrupted_output_leaves_the_earlier_file() {
    let (data_dir, files) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let [list, output] = ["list.txt", "out.jsonl"].map(|name| files.path().join(name));
    fs::write(&list, "4152341234\n").unwrap();
    let options = ["format", "--force", "--output", output.to_str().unwrap()];
    stdout(&run(&data_dir, &[&options[..], &[list.to_str().unwrap()]].concat()));
    let written = fs::read_to_string(&output).unwrap();

    let mut command = command_for(&data_dir, &options);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    input.write_all("4152341234\n".repeat(100_000).as_bytes()).unwrap();
    let unfinished = || fs::read_dir(files.path()).unwrap().count() > 2;
    while !unfinished() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    send_signal("INT", &process);
    let stopped = process.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{}", stderr(&stopped));
    assert!(!unfinished() && fs::read_to_string(&output).unwrap() == written);
    drop(input);
}
