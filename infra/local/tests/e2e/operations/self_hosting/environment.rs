//! Environment variables and command-line options.

use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{program, stderr},
};

/// The program with the variables that the image and the units set.
fn command_with_folder(folder: &str, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.env("TNR_DATA_DIR", folder);
    // Prevents access to a real account.
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ] {
        command.env(name, value);
    }
    command
}

fn is_option_conflict(output: &Output) -> bool {
    stderr(output).contains("cannot be used with")
}

#[test]
fn an_explicit_stack_overrides_database_variables() {
    let folder = TempDir::new().unwrap();
    let unused = folder.path().join("unused");
    let unused = unused.to_str().unwrap();
    for command in [&["versions"][..], &["keys", "list"], &["doctor"]] {
        let line = [command, &["--stack", "numbers"]].concat();
        let mut with_variables = command_with_folder(unused, &line);
        let output = with_variables.env("TNR_ENDPOINT_URL", "http://127.0.0.1:9").output().unwrap();
        assert!(!is_option_conflict(&output), "{}", stderr(&output));
        assert!(!output.status.success(), "the stack does not exist");
        assert!(!std::path::Path::new(unused).exists(), "{command:?} used the folder");

        let line = [&line[..], &["--data-dir", unused]].concat();
        let output = command_with_folder(unused, &line).output().unwrap();
        assert!(is_option_conflict(&output), "{}", stderr(&output));
    }
}

#[test]
fn an_invalid_flag_image_address_prevents_startup() {
    let folder = TempDir::new().unwrap();
    let mut command =
        command_with_folder(folder.path().to_str().unwrap(), &["serve", "--port", "0"]);
    let rejected = command.env("FLAGS_BASE_URL", "javascript:alert(1)").output().unwrap();
    assert_eq!(rejected.status.code(), Some(2));
    let error = stderr(&rejected);
    let message = "error: --flags-base-url or FLAGS_BASE_URL is invalid: it must be an http or";
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn doctor_examines_the_database_that_variables_specify() {
    let folder = sample_folder();
    let path = folder.path().to_str().unwrap();
    let title = format!("Database in folder '{path}'");
    let examined = command_with_folder(path, &["doctor"]).output().unwrap();
    assert!(examined.stdout.starts_with(title.as_bytes()), "{}", stderr(&examined));
    let mut elsewhere = command_with_folder(path, &["doctor"]);
    let examined = elsewhere.env("TNR_ENDPOINT_URL", "http://127.0.0.1:9").output().unwrap();
    assert_eq!(examined.status.code(), Some(3));
    let message = String::from_utf8_lossy(&examined.stdout).into_owned() + &stderr(&examined);
    assert!(message.contains("127.0.0.1:9"), "{message}");
    let examined = elsewhere.args(["--data-dir", path]).output().unwrap();
    assert!(examined.stdout.starts_with(title.as_bytes()), "--data-dir overrides the variables");
}

#[test]
fn empty_variables_count_as_unset() {
    let folder = TempDir::new().unwrap();
    let mut listing = program(&["keys", "list", "--data-dir"]);
    listing.arg(folder.path()).env("TNR_ENDPOINT_URL", "");
    let rejected = stderr(&listing.output().unwrap());
    assert!(rejected.contains("' has no database"), "{rejected}");
    // Only the grace period is invalid.
    let mut server = program(&["serve", "--grace", "long"]);
    for variable in ["TNR_KEY", "TNR_PORT", "TNR_HOST", "TNR_NO_SAMPLE", "TNR_OPS_ADDRESS"] {
        server.env(variable, "");
    }
    let rejected = stderr(&server.env("TNR_BASE_PATH", "").output().unwrap());
    assert!(rejected.contains("invalid value 'long' for '--grace <SECONDS>'"), "{rejected}");
}

#[test]
fn doctor_exits_with_3_on_usage_errors() {
    for line in [&["doctor", "--sack", "numbers"][..], &["doctor", "--timeout", "long"]] {
        let output = program(line).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    assert_eq!(program(&["doctor", "--help"]).output().unwrap().status.code(), Some(0));
    assert_eq!(program(&["versions", "--sack"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn doctor_exits_with_3_if_findings_cannot_be_printed() {
    let folder = sample_folder();
    let path = folder.path().to_str().unwrap();
    let mut examination = command_with_folder(path, &["doctor"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = examination.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not be printed"), "{}", stderr(&output));
}
