//! MCP server over stdin and stdout.

use logging::with_causes;
use mcp::{ToolCall, ToolServer, asked_routes};
use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio};
use shared::auth::Charge;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    CliError,
    data::{numbering_data::on_app, sample},
    database::args::DataArgs,
    error::Context,
    stop_signals::StopSignals,
    terminal::log::log_for_people,
};

/// Maximum calls per opening of the database.
const MAX_CONCURRENT_CALLS: usize = 64;

/// Answers until the input ends or a signal arrives. Stdout carries only messages; text for people
/// goes to stderr.
pub async fn serve(data: DataArgs) -> Result<(), CliError> {
    log_for_people();
    let mut signals = StopSignals::receive()?;
    let (server, calls) = ToolServer::new();
    tokio::select! {
        ended = converse(server) => ended,
        () = answer(calls, &data) => Ok(()),
        _ = signals.next() => Ok(()),
    }
}

/// Exchanges messages with the agent until the input ends.
async fn converse(server: ToolServer) -> Result<(), CliError> {
    let failed = "the agent does not speak the Model Context Protocol";
    match server.serve(stdio()).await {
        Ok(running) => running.waiting().await.map(drop).context(failed),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(CliError::io(failed)(error)),
    }
}

/// Answers waiting calls concurrently. The database is reopened for each batch, so long sessions
/// see new imports.
async fn answer(mut calls: mpsc::Receiver<ToolCall>, args: &DataArgs) {
    let mut waiting = Vec::new();
    while calls.recv_many(&mut waiting, MAX_CONCURRENT_CALLS).await > 0 {
        let answered = on_app(args, async |app| {
            let loaded = app.dataset.in_memory();
            let note =
                loaded.and_then(|(_, manifest)| sample::note_on(&manifest.current, &args.next()));
            let routes = asked_routes(app);
            let mut running = JoinSet::new();
            for call in waiting.drain(..) {
                let (routes, note) = (routes.clone(), note.clone());
                running.spawn(async move {
                    call.answer_from(&routes, Charge::default(), note.as_deref()).await;
                });
            }
            while running.join_next().await.is_some() {}
            Ok(())
        });
        if let Err(error) = answered.await {
            let error = with_causes(&error).to_string();
            waiting.drain(..).for_each(|call| call.refuse(error.clone()));
        }
    }
}
