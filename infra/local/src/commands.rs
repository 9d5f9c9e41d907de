//! Command dispatch.

use std::process::ExitCode;

use store::Store;

use crate::{
    CliError,
    args::{Cli, Command, KeysCommand},
    data,
    database::{Access, on_database},
    keys::{self, deletion_protection::protect_tables_of_stack},
    numbers::{self, answers},
    openapi, operate, serve,
};

/// Runs a command and returns the exit code.
pub async fn run(cli: Cli) -> Result<ExitCode, CliError> {
    let done = match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Lookup(args) => return answers::lookup(args).await,
        Command::Carrier(args) => return answers::carrier(args).await,
        Command::AreaCode(args) => return answers::area_code(args).await,
        Command::Search(args) => return answers::search(*args).await,
        Command::Serve(args) => serve::serve(args).await,
        Command::Format(args) => numbers::format::format(*args).await,
        Command::Export(args) => data::export::export(args).await,
        Command::Import(args) => data::import::import(*args).await,
        Command::Rollback(args) => data::import::rollback(args).await,
        Command::Verify(args) => data::verify::verify(args).await,
        Command::Versions(args) => data::versions::list(args).await,
        Command::Doctor(args) => operate::doctor::command::doctor(args).await,
        Command::Keys(command) => run_keys(command).await,
        Command::Health(args) => operate::health::check(args).await,
        Command::Mcp(args) => numbers::mcp::serve(args).await,
        Command::Backup(args) => data::backup::backup(&args).await,
        Command::Restore(args) => data::backup::restore(&args).await,
        Command::Dynamodb(args) => serve::dynamodb::dynamodb(args).await,
        Command::Flags(args) => operate::flags::write(&args),
        Command::Costs(args) => operate::costs::command::print(args),
        Command::Openapi { version } => openapi::print(version),
    };
    done.map(|()| ExitCode::SUCCESS)
}

async fn run_keys(command: KeysCommand) -> Result<(), CliError> {
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
        KeysCommand::Export(args) => keys::transfer::export(args).await,
        KeysCommand::Import(args) => keys::transfer::import(args).await,
    }
}
