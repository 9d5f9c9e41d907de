//! An MCP server over stdio.

use logging::with_causes;
use mcp::{ToolCall, ToolServer, tool_routes};
use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio};
use shared::auth::Charge;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    CliError,
    data::{numbering_data::with_app, sample},
    database::args::DataArgs,
    error::Context,
    stop_signals::StopSignals,
    terminal::log::init_human_logs,
};

/// Maximum calls per batch.
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

/// Exchanges messages with the client until stdin closes.
async fn serve_stdio(server: ToolServer) -> Result<(), CliError> {
    let failed = "the client does not follow the Model Context Protocol";
    match server.serve(stdio()).await {
        Ok(running) => running.waiting().await.map(drop).context(failed),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(CliError::io(failed)(error)),
    }
}

/// Runs each batch of waiting calls concurrently. Each batch reopens the database, so that long
/// sessions see new imports.
async fn run_calls(mut calls: mpsc::Receiver<ToolCall>, args: &DataArgs) {
    let mut waiting = Vec::new();
    while calls.recv_many(&mut waiting, MAX_CONCURRENT_CALLS).await > 0 {
        let result = with_app(args, async |app| {
            let loaded = app.dataset.in_memory();
            let note = loaded
                .and_then(|(_, manifest)| sample::sample_note(&manifest.current, &args.next()));
            let routes = tool_routes(app);
            let mut running = JoinSet::new();
            for call in waiting.drain(..) {
                let (routes, note) = (routes.clone(), note.clone());
                running.spawn(async move {
                    call.respond(&routes, Charge::default(), note.as_deref()).await;
                });
            }
            while running.join_next().await.is_some() {}
            Ok(())
        });
        if let Err(error) = result.await {
            let error = with_causes(&error).to_string();
            waiting.drain(..).for_each(|call| call.fail(error.clone()));
        }
    }
}
