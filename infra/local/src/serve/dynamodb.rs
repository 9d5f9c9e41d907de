//! The `dynamodb` command.

use crate::{
    CliError,
    database::Database,
    serve::{args::DynamodbArgs, preparation},
    stop_signals::StopSignals,
    terminal::log::log_for_people,
};

/// Runs the embedded database, with data and a key, until Ctrl-C.
pub async fn dynamodb(args: DynamodbArgs) -> Result<(), CliError> {
    log_for_people();
    let mut signals = StopSignals::receive()?;
    let data_dir = &args.folder.path()?;
    let given = args.key.given.as_deref();
    let prepared = Database::shared(data_dir, args.port, async |store| {
        preparation::with_sample_and_key(store, given, data_dir).await
    });
    let (database, key) = tokio::select! {
        prepared = prepared => prepared?,
        // Nothing is served yet; the next start continues the preparation.
        _ = signals.next() => return Ok(()),
    };
    println!("DynamoDB  {}", database.endpoint());
    println!("API key   {}", key.reveal());
    println!("Data      {}", data_dir.display());
    println!("Press Ctrl-C to stop.");
    signals.next().await;
    database.close().await;
    Ok(())
}
