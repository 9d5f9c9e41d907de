//! Answers an agent over standard input and output, by the Model Context Protocol.

use std::time::Duration;

use logging::with_causes;
use mcp::{ToolCall, ToolServer};
use rmcp::{ServiceExt, service::ServerInitializeError, transport::stdio};
use shared::auth::Charge;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};

use crate::{
    LocalError, args::McpArgs, called_data::CalledData, stop_signals::StopSignals,
    terminal_log::log_for_people,
};

/// How long the database stays open after a call: agents often make several in a row.
const OPEN_AFTER_CALL: Duration = Duration::from_secs(10);

/// Answers until the input ends or a signal stops it. The output is for messages only; what a person may
/// read goes to the standard error.
///
/// # Errors
/// Returns an error if the agent does not begin as the protocol says.
pub async fn serve(args: McpArgs) -> Result<(), LocalError> {
    log_for_people();
    let mut signals = StopSignals::receive()?;
    let (server, calls) = ToolServer::new();
    let mut data = CalledData::of(args.data);
    let ended = tokio::select! {
        ended = converse(server) => ended,
        () = answer(calls, &mut data) => Ok(()),
        () = signals.next() => Ok(()),
    };
    data.close().await;
    ended
}

/// Exchanges messages with the agent until the input ends.
async fn converse(server: ToolServer) -> Result<(), LocalError> {
    let failed = "the agent does not speak the Model Context Protocol";
    match server.serve(stdio()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(LocalError::io(failed)),
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(LocalError::io(failed)(error)),
    }
}

/// Answers the calls, side by side, and closes the database when there have been none for a while.
async fn answer(mut calls: mpsc::Receiver<ToolCall>, data: &mut CalledData) {
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            call = calls.recv() => match call {
                Some(call) => match data.routes().await {
                    Ok(routes) => _ = running.spawn(async move { call.answer_from(&routes, Charge::default()).await }),
                    Err(error) => call.refuse(with_causes(&error).to_string()),
                },
                None => return,
            },
            Some(_) = running.join_next() => (),
            () = sleep(OPEN_AFTER_CALL), if data.is_open() && running.is_empty() => data.close().await,
        }
    }
}
