//! The program at a terminal: help, and unprintable characters. The sessions check the width of other output.

use std::fs;

use tempfile::TempDir;

use crate::support::program::{assert_fits, program, stdout};

#[test]
fn help_fits_a_terminal() {
    let help = stdout(&program(&["--help"]).output().unwrap());
    assert_fits("--help", &help);
    assert!(help.contains("\nExit codes: 0 success; 1 nothing found"), "{help}");
    let lines = help.lines().skip_while(|line| *line != "Use:");
    let lines = lines.take_while(|line| !line.starts_with("Options"));
    let commands: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        assert_fits(command, &stdout(&program(&[command, "--help"]).output().unwrap()));
    }
}

/// Names of files, columns and keys can come from someone else.
#[cfg(unix)]
#[test]
fn control_and_direction_characters_in_messages_are_escaped() {
    const NAME: &str = "a\u{1b}[31m\u{202e}";
    let folder = TempDir::new().unwrap();
    let list = format!("phone{NAME},{NAME}\n305 234 5678,\n");
    fs::write(folder.path().join("list.csv"), list).unwrap();
    let run = |arguments: &[&str]| {
        let output = program(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    run(&["keys", "create", "--name", NAME, "--data-dir", NAME]);
    for arguments in [
        &["versions", "--data-dir", NAME][..],
        &["lookup", "3052345678", "--data-dir", NAME],
        &["find", NAME],
        &["format", NAME],
        &["format", "list.csv", "--column", "x"],
        &["format", "list.csv", "--output", "out.csv"],
        &["find", "--country", NAME],
        &["keys", "list", "--data-dir", NAME],
        &["keys", "revoke", "tnr_live_", "--data-dir", NAME],
        &["doctor", "--data-dir", NAME],
        &["backup", NAME, "--data-dir", NAME, "--force"],
        &["export", NAME, "--format", "jsonl", "--data-dir", NAME, "--force"],
        &["import", "--nanpa", NAME, "--cnac", NAME, "--npa-report", NAME, "--data-dir", NAME],
    ] {
        let text = run(arguments);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {text}");
        // In usage errors, clap removes escape sequences.
        assert!(text.contains("\\u202e"), "{arguments:?}: {text}");
    }
}
