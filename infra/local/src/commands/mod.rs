//! The commands of the program, with a module for each.

mod backup;
mod costs;
mod doctor;
mod dynamodb;
mod export;
mod flags;
mod format;
mod greeting;
mod health;
pub mod import;
pub mod key_transfer;
pub mod keys;
mod mcp;
pub mod openapi;
mod preparation;
mod serve;
pub mod verify;
mod versions;

use std::{process::ExitCode, thread};

use store::Store;
use tokio::sync::oneshot;

use crate::{
    LocalError, answers,
    args::{Cli, Command, KeysCommand},
    database::{Access, on_database},
    deletion_protection::protect_tables_of_stack,
    stop_signals::StopSignals,
};

/// Runs the command that was typed, and gives the exit code.
pub async fn run(cli: Cli) -> Result<ExitCode, LocalError> {
    let done = match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Lookup(args) => return answers::lookup(args).await,
        Command::Carrier(args) => return answers::carrier(args).await,
        Command::AreaCode(args) => return answers::area_code(args).await,
        Command::Search(args) => return answers::search(*args).await,
        Command::Serve(args) => serve::serve(args).await,
        Command::Format(args) => format::format(*args).await,
        Command::Export(args) => export::export(args).await,
        Command::Import(args) => import::import(*args).await,
        Command::Rollback(args) => import::rollback(args).await,
        Command::Verify(args) => verify::verify(args).await,
        Command::Versions(args) => versions::list(args).await,
        Command::Doctor(args) => doctor::doctor(args).await,
        Command::Keys(command) => run_keys(command).await,
        Command::Health(args) => health::check(args).await,
        Command::Mcp(args) => mcp::serve(args).await,
        Command::Backup(args) => backup::backup(&args).await,
        Command::Restore(args) => backup::restore(&args).await,
        Command::Dynamodb(args) => dynamodb::dynamodb(args).await,
        Command::Flags(args) => flags::write(&args),
        Command::Costs(args) => costs::print(args),
        Command::Openapi { version } => openapi::print(version),
    };
    done.map(|()| ExitCode::SUCCESS)
}

async fn run_keys(command: KeysCommand) -> Result<(), LocalError> {
    match command {
        KeysCommand::Create { name, terms, data } => {
            let create = async |store: &Store| {
                keys::create(store, &name, &terms).await?;
                protect_tables_of_stack(store, &data).await;
                Ok(())
            };
            on_database(&data, Access::Create, create).await?
        }
        KeysCommand::List { data } => {
            let list = async |store: &Store| keys::list(store, &data.next()).await;
            on_database(&data, Access::Read, list).await?
        }
        KeysCommand::Rotate { prefix, overlap, data } => {
            let rotate = async |store: &Store| keys::rotate(store, &prefix, overlap).await;
            on_database(&data, Access::Change, rotate).await?
        }
        KeysCommand::Revoke { prefix, data } => {
            let revoke = async |store: &Store| keys::revoke(store, &prefix).await;
            on_database(&data, Access::Change, revoke).await?
        }
        KeysCommand::Delete { prefix, data } => {
            on_database(&data, Access::Change, async |store| keys::delete(store, &prefix).await)
                .await?
        }
        KeysCommand::Export(args) => key_transfer::export(args).await,
        KeysCommand::Import(args) => key_transfer::import(args).await,
    }
}

/// Works on a thread of its own, which may wait for a pipe for ever, until a signal stops the command.
async fn until_stopped<T: Send + 'static>(
    mut signals: StopSignals,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, LocalError> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || tell.send(work()));
    tokio::select! {
        done = told => done.map_err(LocalError::io("the work was not done to its end")),
        _ = signals.next() => Err(LocalError::Stopped),
    }
}
