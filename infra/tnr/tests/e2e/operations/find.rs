//! `tnr find`: phone numbers in files and pipes.

use std::{
    fs,
    io::{Read, Write},
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{program, run, stderr, stdout},
};

/// Text with several numbers in a line, invalid UTF-8, and no line break at the end.
const NOTES: &[u8] =
    b"Gr\xc3\xbc\xc3\x9fe: (305) 234-5678 x9 or 020 7946 0958\nno number, 2026-11-24\n\
    \xff415-234-1234,\xfe+44 20 7946 0958\r\nlast 415.234.1236";

struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Self(folder)
    }

    /// Runs `find` with these arguments in the folder.
    fn find(&self, arguments: &[&str]) -> Output {
        let mut command = program(&[&["find"], arguments].concat());
        command.current_dir(self.0.path()).stdin(Stdio::null()).output().unwrap()
    }
}

#[test]
fn lines_with_numbers_are_printed_with_their_file_and_line() {
    let files = Files::new(&[("notes.txt", NOTES), ("other.txt", b"415 234 5678\n")]);
    let print = |arguments: &[&str]| {
        let output = files.find(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(
        print(&["notes.txt"]),
        "1:Grüße: (305) 234-5678 x9 or 020 7946 0958\n\
         3:\u{fffd}415-234-1234,\u{fffd}+44 20 7946 0958\r\n4:last 415.234.1236\n"
    );
    assert_eq!(
        print(&["-o", "notes.txt", "other.txt"]),
        "(305) 234-5678 x9\n415-234-1234\n+44 20 7946 0958\n415.234.1236\n415 234 5678\n"
    );
    assert_eq!(
        print(&["-o", "--country", "GB", "--leniency", "exact_grouping", "notes.txt"]),
        "020 7946 0958\n+44 20 7946 0958\n"
    );
}

#[test]
fn json_lines_have_the_position_and_the_apis_result() {
    let data = sample_folder();
    let files = Files::new(&[("notes.txt", NOTES)]);
    let file = files.0.path().join("notes.txt").display().to_string();
    let found = |options: &[&str]| {
        let output = run(&data, &[&["find", "--json", &file], options].concat());
        let lines = stdout(&output);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let lines = found(&["--include", "place,line", "--lang", "de"]);
    let positions = lines.iter().map(|it| json!([it["line"], it["start"], it["end"], it["tn"]]));
    let expected = [
        json!([1, 7, 24, "(305) 234-5678 x9"]),
        json!([3, 1, 13, "415-234-1234"]),
        json!([3, 15, 31, "+44 20 7946 0958"]),
        json!([4, 5, 17, "415.234.1236"]),
    ];
    assert!(positions.eq(expected), "{lines:#?}");
    let first = &lines[0]["result"];
    assert_eq!(first["carrier"]["ocn"], "5927");
    assert_eq!((&first["extension"], &first["place"]["name"]), (&json!("9"), &json!("Miami, FL")));
}

#[test]
fn exit_codes_are_those_of_grep() {
    let files = Files::new(&[("none.txt", b"none\n"), ("one.txt", b"305 234 5678\n")]);
    for (arguments, code) in [
        (&["one.txt", "none.txt"][..], 0),
        (&["none.txt"], 1),
        (&["--redact", "none.txt"], 0),
        (&["missing.txt", "one.txt"], 2),
        (&["."], 2),
        (&["--json", "--redact", "one.txt"], 2),
    ] {
        assert_eq!(files.find(arguments).status.code(), Some(code), "{arguments:?}");
    }
    let output = files.find(&["missing.txt", "one.txt"]);
    assert!(stderr(&output).contains("missing.txt cannot be read"), "{}", stderr(&output));
    // The other file is still searched.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one.txt:1:305 234 5678\n");
}

#[test]
fn a_pipe_is_searched_as_text_arrives() {
    let mut process = program(&["find", "-o"]);
    process.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = process.spawn().unwrap();
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
