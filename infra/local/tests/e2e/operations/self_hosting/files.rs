//! The installation files in `infra/self-hosting` match the program. `.ci/self_hosting` lints them.

use std::{collections::BTreeSet, fs, os::unix::net::UnixDatagram, path::Path, time::Duration};

use clap::{Arg, CommandFactory, Parser};
use tempfile::TempDir;
use tnr::commands::Cli;

use crate::support::{
    processes::{send_signal, wait_for_exit},
    program::{Server, command_for, program, stdout},
};

const FILES: [&str; 5] =
    ["tnr.service", "tnr-import.service", "Dockerfile", "compose.yaml", "compose.alternator.yaml"];

/// A text file in this repository.
fn read_text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// The lines in the installation files, each with its file.
fn lines() -> Vec<(&'static str, String)> {
    let lines_of = |file| {
        let text = read_text(&format!("infra/self-hosting/{file}"));
        text.lines().map(|line| (file, line.trim().to_owned())).collect::<Vec<_>>()
    };
    FILES.into_iter().flat_map(lines_of).collect()
}

/// The options for `serve`.
fn options() -> Vec<Arg> {
    Cli::command().find_subcommand("serve").unwrap().get_arguments().cloned().collect()
}

/// The environment variable for an option. The help lists those that clap does not read.
fn variable_for(option: &Arg) -> Option<String> {
    let known = option.get_env().and_then(|variable| variable.to_str()).map(str::to_owned);
    known.or_else(|| {
        let help = option.get_help()?.to_string();
        let (_, variable) = help.split_once("[env: ")?;
        Some(variable.trim_end_matches(']').to_owned())
    })
}

#[test]
fn every_command_and_variable_in_the_files_is_known() {
    let known: BTreeSet<String> = options().iter().filter_map(variable_for).collect();
    let mut commands = Vec::new();
    for (file, line) in lines() {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for variable in words.filter(|word| word.starts_with("TNR_")) {
            assert!(known.contains(variable), "{file}: {variable}");
        }
        if let Some(command) = line.strip_prefix("ExecStart=/usr/local/bin/") {
            Cli::try_parse_from(command.split(' ')).unwrap();
            commands.push(command.to_owned());
        }
    }
    assert_eq!(commands, ["tnr serve", "tnr import --fetch"]);
}

#[test]
fn every_installation_uses_one_data_folder() {
    for (file, line) in lines() {
        if let Some((_, folder)) = line.split_once("TNR_DATA_DIR=") {
            let folder = folder.split(' ').next().unwrap().replace("%S", "/var/lib");
            assert_eq!(folder, "/var/lib/tnr", "{file}");
        }
        if let Some(folder) = line.strip_prefix("VOLUME ").or(line.strip_prefix("- data:")) {
            assert_eq!(folder, "/var/lib/tnr", "{file}");
        }
    }
}

#[test]
fn ports_are_published_only_to_a_proxy_on_the_machine() {
    let published = lines().into_iter().filter(|(_, line)| line.ends_with(":3000"));
    let published: Vec<_> = published.collect();
    assert_eq!(published.len(), 2, "{published:?}");
    assert!(published.iter().all(|(_, line)| line.starts_with("- 127.0.0.1:")), "{published:?}");
    // Only containers, which publish one port, may listen on all addresses.
    assert!(!lines().iter().any(|(file, line)| *file == "tnr.service" && line.contains("0.0.0.0")));
}

#[test]
fn images_are_pinned_by_digest_and_built_with_the_minimum_rust_version() {
    let manifest: toml::Table = read_text("Cargo.toml").parse().unwrap();
    let rust = manifest["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    let rust = [format!("FROM rust:{rust}-"), format!("ENV RUSTUP_TOOLCHAIN={rust}")];
    assert!(rust.iter().all(|start| lines().iter().any(|(_, line)| line.starts_with(start))));
    for (file, line) in lines() {
        // This project's image has no digest before it is built.
        let image = line.strip_prefix("FROM ").or(line.strip_prefix("image: "));
        assert!(image.is_none_or(|image| image == "tnr" || image.contains("@sha256:")), "{file}");
    }
}

/// Data folders and key files may have any name.
#[test]
fn the_image_build_context_is_an_allowlist() {
    let rules = read_text("infra/self-hosting/Dockerfile.dockerignore");
    assert_eq!(rules.lines().find(|line| !line.starts_with('#')), Some("*"));
    for rule in ["**/*.sqlite*", "**/*.jsonl", "**/target"] {
        assert!(rules.lines().any(|line| line == rule), "{rule} is not ignored");
    }
}

#[tokio::test]
async fn the_image_serves_with_its_own_variables_and_is_healthy() {
    let data_dir = TempDir::new().unwrap();
    let variables = [
        ("TNR_HOST", "0.0.0.0"),
        ("TNR_NO_SAMPLE", "true"),
        ("TNR_DATA_DIR", data_dir.path().to_str().unwrap()),
    ];
    let server = Server::start(program(&["serve"]).envs(variables).env("TNR_PORT", "0")).await;
    // It listens on all addresses, and prints one that a client can use.
    assert!(server.base_url.starts_with("http://127.0.0.1:"), "{}", server.base_url);
    let port = server.base_url.rsplit_once(':').unwrap().1;
    let mut health = program(&["health"]);
    health.envs(variables).env("TNR_PORT", port);
    let health = tokio::task::spawn_blocking(move || health.output().unwrap()).await.unwrap();
    assert!(stdout(&health).contains(r#""status":"degraded""#), "there is no data yet");
    let listed = program(&["keys", "list"]).envs(variables).output().unwrap();
    let listed = stdout(&listed);
    assert!(listed.starts_with("No keys yet"), "commands find the same empty database");
}

#[tokio::test]
async fn systemd_is_notified_when_the_server_is_ready_and_when_it_stops() {
    let (data_dir, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let socket = folder.path().join("notify");
    let service_manager = UnixDatagram::bind(&socket).unwrap();
    service_manager.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let notification = || {
        let mut message = [0; 200];
        let length = service_manager.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    let mut command = command_for(&data_dir, &["--no-sample", "--port", "0", "--drain", "0"]);
    let mut server = Server::start(command.env("NOTIFY_SOCKET", &socket)).await;
    assert_eq!(notification().trim(), "READY=1");
    send_signal("TERM", &server.process);
    assert_eq!(notification().trim(), "STOPPING=1");
    assert!(wait_for_exit(&mut server.process).await.success());
}

#[test]
fn the_docs_list_every_server_variable_and_option() {
    let document = read_text("docs/SELF-HOSTING.md");
    for option in options() {
        let Some(long) = option.get_long().filter(|long| !["help", "key"].contains(long)) else {
            continue;
        };
        assert!(document.contains(&format!("`--{long}`")), "--{long}");
        if let Some(variable) = variable_for(&option) {
            assert!(document.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}
