//! `tnr mcp`: tools for agents over stdin and stdout.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;
use tnr::{CliError, database::data_folder::FolderLock};

use crate::support::{
    agent::{agent_over_stdio, call, text_parts},
    databases::sample_folder,
    processes::send_signal,
    program::{Server, command_for, run},
};

fn mcp_command(data_dir: &TempDir) -> Command {
    command_for(data_dir, &["mcp"])
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// The tests over HTTP compare every tool with the API.
#[tokio::test]
async fn tools_work_while_the_folder_is_served_and_after_the_server_exits() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &[]).await;
    let (agent, _child) = agent_over_stdio(mcp_command(&data_dir)).await;
    let import = format!("'tnr import --fetch --data-dir {}'", data_dir.path().display());
    let look_up = async || {
        let result = call(&agent, "lookup_block", json!({ "tn": "2122345678" })).await;
        let note = text_parts(&result).pop().unwrap();
        assert!(note.starts_with("made-up sample; ") && note.contains(&import), "{note}");
        result.structured_content
    };
    assert_eq!(look_up().await, Some(server.get("/v1/lookup/2122345678").await));
    let before = look_up().await;
    server.kill();
    assert_eq!(look_up().await, before);
}

#[tokio::test]
async fn agents_share_a_folder_and_release_it_after_each_call() {
    let data_dir = sample_folder();
    let (first, _first_child) = agent_over_stdio(mcp_command(&data_dir)).await;
    let (second, _second_child) = agent_over_stdio(mcp_command(&data_dir)).await;
    let look_up = async |agent| {
        let result = call(agent, "get_carrier", json!({ "ocn": "6015" })).await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
    };
    tokio::join!(look_up(&first), look_up(&second), look_up(&first), look_up(&second));
    // No command may depend on a server that exits after an agent's calls, so the folder must be unlocked between
    // calls.
    let lock = loop {
        match FolderLock::acquire(data_dir.path()) {
            Err(CliError::FolderBusy(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            taken => break taken.unwrap(),
        }
    };
    drop(lock);
    assert!(run(&data_dir, &["versions"]).status.success());
    let server = Server::on(&data_dir, &[]).await;
    tokio::join!(look_up(&first), look_up(&second));
    assert!(server.interrupt().await);
}

#[cfg(unix)]
#[tokio::test]
async fn signals_stop_mcp_immediately_and_release_the_folder() {
    let data_dir = sample_folder();
    let mut process =
        mcp_command(&data_dir).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The signal handlers are installed before the first response.
    writeln!(process.stdin.as_mut().unwrap(), "{INITIALIZE}").unwrap();
    let mut response = String::new();
    BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut response).unwrap();
    send_signal("TERM", &process);
    assert!(process.wait().unwrap().success());
    assert!(run(&data_dir, &["versions"]).status.success());
}
