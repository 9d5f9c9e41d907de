//! Environment variables and command-line options.

use std::process::Command;

use clap::CommandFactory;
use tempfile::TempDir;
use tnr::commands::Cli;

use crate::support::{
    databases::sample_folder,
    program::{program, stderr},
};

/// The program with the folder variable that the image and the units set, and credentials of nobody.
fn command_with_folder(folder: &str, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.envs([
        ("TNR_DATA_DIR", folder),
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ]);
    command
}

#[test]
fn an_explicit_stack_overrides_database_variables() {
    let folder = TempDir::new().unwrap();
    let unused = folder.path().join("unused");
    let path = unused.to_str().unwrap();
    for command in [&["versions"][..], &["keys", "list"], &["doctor"]] {
        let line = [command, &["--stack", "numbers"]].concat();
        let mut with_variables = command_with_folder(path, &line);
        let output = with_variables.env("TNR_ENDPOINT_URL", "http://127.0.0.1:9").output().unwrap();
        assert!(!output.status.success(), "the stack does not exist");
        assert!(!stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
        assert!(!unused.exists(), "{command:?} used the folder");
        let output = with_variables.args(["--data-dir", path]).output().unwrap();
        assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
    }
}

#[test]
fn invalid_variables_prevent_startup_and_empty_ones_count_as_unset() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    for (name, value, message) in [
        (
            "FLAGS_BASE_URL",
            "javascript:alert(1)",
            "error: --flags-base-url or FLAGS_BASE_URL is invalid: it must be an http or",
        ),
        ("TNR_GRACE", "long", "error: invalid value 'long' for '--grace <SECONDS>'"),
    ] {
        let mut server = command_with_folder(path, &["serve", "--port", "0"]);
        for empty in ["TNR_KEY", "TNR_PORT", "TNR_HOST", "TNR_NO_SAMPLE", "TNR_OPS_ADDRESS"] {
            server.env(empty, "");
        }
        let rejected = server.env(name, value).env("TNR_ENDPOINT_URL", "").output().unwrap();
        assert_eq!(rejected.status.code(), Some(2));
        assert!(stderr(&rejected).starts_with(message), "{}", stderr(&rejected));
    }
}

#[test]
fn commands_use_the_folder_in_the_variables_unless_options_override_it() {
    let folder = sample_folder();
    let path = folder.path().to_str().unwrap();
    assert!(command_with_folder(path, &["versions"]).output().unwrap().status.success());
    let mut elsewhere = command_with_folder(path, &["versions"]);
    let failed = elsewhere.env("TNR_ENDPOINT_URL", "http://127.0.0.1:9").output().unwrap();
    assert!(!failed.status.success(), "{}", stderr(&failed));
    let overridden = elsewhere.args(["--data-dir", path]).output().unwrap();
    assert!(overridden.status.success(), "{}", stderr(&overridden));
}

#[test]
fn doctor_exits_with_3_on_usage_errors_and_unprintable_findings() {
    let output = program(&["doctor", "--sack", "numbers"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(program(&["doctor", "--help"]).output().unwrap().status.code(), Some(0));
    assert_eq!(program(&["versions", "--sack"]).output().unwrap().status.code(), Some(2));

    let folder = sample_folder();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut examination = command_with_folder(folder.path().to_str().unwrap(), &["doctor"]);
    let output = examination.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not be printed"), "{}", stderr(&output));
}

#[test]
fn the_docs_list_every_server_variable_and_option() {
    let document = include_str!("../../../../../../docs/SELF-HOSTING.md");
    let serve = Cli::command().find_subcommand("serve").unwrap().clone();
    for option in serve.get_arguments() {
        let Some(long) = option.get_long().filter(|long| !["help", "key"].contains(long)) else {
            continue;
        };
        assert!(document.contains(&format!("`--{long}`")), "--{long}");
        if let Some(variable) = option.get_env().and_then(|variable| variable.to_str()) {
            assert!(document.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}
