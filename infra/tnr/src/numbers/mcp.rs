//! An MCP server over stdio.

use std::time::Duration;

use logging::with_causes;
use mcp::{ToolCall, ToolServer, tool_routes};
use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio};
use shared::{auth::Charge, in_process::InProcessRoutes};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout_at},
};

use crate::{
    CliError,
    data::{numbering_data::with_app, sample},
    database::args::DataArgs,
    error::Context,
    stop_signals::StopSignals,
    terminal::init_human_logs,
};

/// The age at which data in memory is reloaded.
const MAX_DATA_AGE: Duration = Duration::from_secs(60);

const MAX_CONCURRENT_CALLS: usize = 64;

/// Serves until stdin closes or a signal arrives. Stdout carries only MCP messages.
pub async fn serve(data: DataArgs) -> Result<(), CliError> {
    init_human_logs();
    let mut signals = StopSignals::listen()?;
    let (server, calls) = ToolServer::new();
    tokio::select! {
        result = serve_stdio(server) => result,
        () = run_calls(calls, &data) => Ok(()),
        _ = signals.next() => Ok(()),
    }
}

async fn serve_stdio(server: ToolServer) -> Result<(), CliError> {
    let failed = "the client does not follow the Model Context Protocol";
    match server.serve(stdio()).await {
        Ok(running) => running.waiting().await.map(drop).context(failed),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(CliError::io(failed)(error)),
    }
}

/// Runs each batch of waiting calls concurrently. Reloads the data after [`MAX_DATA_AGE`], so that long
/// sessions use new imports.
async fn run_calls(mut calls: mpsc::Receiver<ToolCall>, args: &DataArgs) {
    let mut waiting = Vec::new();
    while calls.recv_many(&mut waiting, MAX_CONCURRENT_CALLS).await > 0 {
        let result = with_app(args, async |app| {
            let loaded = app.dataset.in_memory();
            let note = loaded
                .and_then(|(_, manifest)| sample::sample_note(&manifest.current, &args.next()));
            let routes = tool_routes(app);
            let expires = Instant::now() + MAX_DATA_AGE;
            while !waiting.is_empty() {
                run_batch(waiting.drain(..), &routes, note.as_ref()).await;
                let more = calls.recv_many(&mut waiting, MAX_CONCURRENT_CALLS);
                // If no call arrives in time, the next one reloads the data.
                _ = timeout_at(expires, more).await;
            }
            Ok(())
        });
        if let Err(error) = result.await {
            let error = with_causes(&error).to_string();
            waiting.drain(..).for_each(|call| call.fail(error.clone()));
        }
    }
}

async fn run_batch(
    batch: impl Iterator<Item = ToolCall>,
    routes: &InProcessRoutes,
    note: Option<&String>,
) {
    let mut running = JoinSet::new();
    for call in batch {
        let (routes, note) = (routes.clone(), note.cloned());
        running.spawn(async move { call.respond(&routes, Charge::default(), || note).await });
    }
    while running.join_next().await.is_some() {}
}
