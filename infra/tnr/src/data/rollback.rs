//! The `rollback` command.

use ingest::RollbackTarget;
use store::Store;

use super::import::{access, check_changes_file, finish, options};
use crate::{
    CliError,
    data::{args::RollbackArgs, import_progress::with_progress},
    database::{Access, on_database},
};

pub async fn rollback(args: RollbackArgs) -> Result<(), CliError> {
    let RollbackArgs { to, change: args } = args;
    let target = to.map_or(RollbackTarget::NewestReadable, RollbackTarget::Named);
    let options = options(&args);
    check_changes_file(&args)?;
    let rollback = async |store: &Store| {
        with_progress(async |show| ingest::rollback(store, &target, options, show).await).await
    };
    let report = on_database(&args.data, access(&args, Access::Change), rollback).await?;
    finish(report, &args)
}
