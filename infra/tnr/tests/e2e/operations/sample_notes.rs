//! The sample: all output says that it is made up, and which command gets real data.

use std::process::{Command, Stdio};

use reqwest::header::HeaderValue;

use crate::support::{
    databases::sample_folder,
    program::{Server, command_for, stderr, stdout},
    publishers::{mirror_of, small_published_reports},
};

/// Commands that read the data.
const COMMANDS: [&[&str]; 4] = [
    &["lookup", "+14152341234"],
    &["search", "wireless", "--json"],
    &["export", "--format", "csv", "--table", "area-codes"],
    &["format"],
];

/// A command's notes; `format` gets an empty list.
fn notes(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    stderr(&output).lines().filter(|line| line.starts_with("note: ")).collect()
}

/// The header that marks responses about the sample.
async fn mark(server: &Server, path: &str) -> Option<HeaderValue> {
    server.response(path, "").await.headers().get("x-numbering-data").cloned()
}

#[tokio::test]
async fn output_mentions_the_made_up_sample_until_real_data_is_imported() {
    let data_dir = sample_folder();
    let folder = data_dir.path().display();
    let note = |program: &str| {
        format!("made-up sample; get real data with '{program} import --fetch --data-dir {folder}'")
    };
    for command in COMMANDS {
        let noted = notes(command_for(&data_dir, command));
        assert_eq!(noted, format!("note: {}", note("tnr")), "{command:?}");
    }
    let mut cargo_command = command_for(&data_dir, COMMANDS[0]);
    cargo_command.env("CARGO", "cargo");
    assert_eq!(notes(cargo_command), format!("note: {}", note("cargo run --")));

    let server = Server::on(&data_dir, &[]).await;
    // Lines wrap at the width of a terminal.
    let banner = server.output().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(banner.contains(&format!(" note {}", note("tnr"))), "{banner}");
    for path in ["/v1/health", "/v1/stats"] {
        assert_eq!(mark(&server, path).await.unwrap(), "sample", "{path}");
    }
    let mirror = mirror_of(small_published_reports()).await;
    let mut import = command_for(&data_dir, &["import", "--mirror", &mirror]);
    let imported = tokio::task::spawn_blocking(move || import.output().unwrap()).await.unwrap();
    stdout(&imported);
    for path in ["/v1/health", "/v1/stats"] {
        assert_eq!(mark(&server, path).await, None, "{path}");
    }
    server.kill();
    for command in COMMANDS {
        assert_eq!(notes(command_for(&data_dir, command)), "", "{command:?}");
    }
    let server = Server::on(&data_dir, &[]).await;
    assert!(!server.output().contains("made-up"), "{}", server.output());
}
