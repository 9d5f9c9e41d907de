//! `tnr mcp`: tools for agents over stdin and stdout.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tnr::{CliError, database::folder_lock::FolderLock};

use crate::support::{
    agent::{agent_over_stdio, call, text_parts},
    databases::{sample_folder, write_sample_into},
    processes::send_signal,
    program::{Server, command_for, run, stderr},
};

fn mcp_command(data_dir: &TempDir) -> Command {
    command_for(data_dir, &["mcp"])
}

/// Writes these lines to the program, closes its stdin, and waits for it to exit.
fn responses_to(mut command: Command, lines: &[&str]) -> Output {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

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

#[test]
fn mcp_prints_only_responses_and_exits_at_the_end_of_stdin() {
    let data_dir = sample_folder();
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\",\"params\":{}",
        "[".repeat(50_000)
    );
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"format_number","arguments":{"tn":"+1 305 234 5678"}}}"#;
    let others = ["hello", "[]", "{\"jsonrpc\":\"2.0\"}", &deep, "\u{feff}", ""];
    let lines = [&[INITIALIZE, INITIALIZED], &others[..], &[call, ""]].concat();
    let output = responses_to(mcp_command(&data_dir), &lines);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("hello"), "{}", stderr(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut responses = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let response = responses.find(|response| response["id"] == 2).unwrap();
    assert_eq!(response["result"]["structuredContent"]["valid"], true, "{response}");
    assert_eq!(responses_to(mcp_command(&data_dir), &[]).status.code(), Some(0));
}

#[tokio::test]
async fn tools_without_data_fail_and_state_the_remedy() {
    let data_dir = TempDir::new().unwrap();
    let (agent, _child) = agent_over_stdio(mcp_command(&data_dir)).await;
    let result = call(&agent, "get_carrier", json!({ "ocn": "6015" })).await;
    assert_eq!(result.is_error, Some(true));
    let text = text_parts(&result).remove(0);
    assert!(text.starts_with("folder '") && text.contains("' has no database"), "{text}");
    assert!(text.contains(", or use sample data with '"), "{text}");
    let files = std::fs::read_dir(data_dir.path()).unwrap().count();
    assert_eq!(files, 0, "a call creates no database");
    write_sample_into(data_dir.path());
    let result = call(&agent, "get_carrier", json!({ "ocn": "6015" })).await;
    assert_eq!(result.is_error, Some(false), "{result:?}");
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
