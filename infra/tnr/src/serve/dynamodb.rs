//! The `dynamodb` command.

use crate::{
    CliError,
    database::Database,
    serve::{args::DynamodbArgs, preparation},
    stop_signals::StopSignals,
    terminal::{init_human_logs, show_message},
};

/// Runs the embedded database with sample data and a key until Ctrl-C.
pub async fn dynamodb(args: DynamodbArgs) -> Result<(), CliError> {
    init_human_logs();
    let mut signals = StopSignals::listen()?;
    let data_dir = &args.folder.path()?;
    let given = args.key.given.as_deref();
    let prepared = Database::open_shared(data_dir, args.port, async |store| {
        preparation::with_sample_and_key(store, given, data_dir).await
    });
    let (database, key) = tokio::select! {
        prepared = prepared => prepared?,
        // Nothing is served yet. The next start resumes the setup.
        _ = signals.next() => return Ok(()),
    };
    println!("DynamoDB  {}", database.endpoint());
    println!("API key   {}", key.reveal());
    show_message(&format!("Data      {}", data_dir.display()));
    println!("Press Ctrl-C to stop.");
    signals.next().await;
    database.close().await;
    Ok(())
}
