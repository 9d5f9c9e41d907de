//! The API behind one port, and the embedded database alone.

use std::{fs, net::Ipv4Addr, path::Path};

use shared::{
    app::{self, App},
    auth::ApiKey,
    store::Store,
};
use tokio::net::TcpListener;

use crate::{
    LocalError,
    cli::{DynamodbArgs, KeyArgs, ServeArgs},
    database::Database,
    import::import_sample_if_empty,
    keys, routes,
};

/// Name of the key that the local program makes for itself.
const KEY_NAME: &str = "local";

/// Serves the API until Ctrl-C.
///
/// # Errors
/// Where a port is taken or the database cannot be used.
pub async fn serve(args: ServeArgs) -> Result<(), LocalError> {
    log_for_people();
    let listener = listen(args.port).await?;
    let database = Database::open(&args.database).await?;
    let key = prepare(&database.store(), &args.key, &args.database.data_dir).await?;
    let address = listener.local_addr().map_err(LocalError::io("cannot listen"))?;
    greet(&format!("http://{address}"), &key, &database).await?;
    let service = app::service(routes(), App::on(database.serving_store().await));
    axum::serve(listener, service)
        .with_graceful_shutdown(stopped())
        .await
        .map_err(LocalError::io("the server stopped"))?;
    database.close().await;
    Ok(())
}

/// Runs the embedded database alone until Ctrl-C, with data and a key in it.
///
/// # Errors
/// Where the port is taken or the folder cannot be used.
pub async fn dynamodb(args: DynamodbArgs) -> Result<(), LocalError> {
    log_for_people();
    let database = Database::embedded(&args.data_dir, args.port).await?;
    let key = prepare(&database.store(), &args.key, &args.data_dir).await?;
    println!("DynamoDB  {}", database.endpoint());
    println!("API key   {}", key.reveal());
    println!("Ctrl-C ends it; {} keeps the data.", args.data_dir.display());
    stopped().await;
    database.close().await;
    Ok(())
}

/// Data and a key in the database.
async fn prepare(store: &Store, key: &KeyArgs, data_dir: &Path) -> Result<ApiKey, LocalError> {
    import_sample_if_empty(store).await?;
    let key = match &key.given {
        Some(text) => text.parse()?,
        None => own_key(data_dir)?,
    };
    keys::register(store, &key, KEY_NAME).await?;
    Ok(key)
}

/// The key of this folder's database, made on the first start. It is kept as a file so that a
/// restart prints the same one: a convenience of the local program, never of a deployment.
fn own_key(data_dir: &Path) -> Result<ApiKey, LocalError> {
    let file = data_dir.join("api-key");
    if let Some(key) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(key);
    }
    let key = keys::random()?;
    let failed = || LocalError::io(format!("cannot write {}", file.display()));
    fs::create_dir_all(data_dir).map_err(failed())?;
    write_private(&file, key.reveal()).map_err(failed())?;
    Ok(key)
}

/// Writes a file that only its owner can read, where the system knows owners.
fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

async fn greet(base_url: &str, key: &ApiKey, database: &Database) -> Result<(), LocalError> {
    let manifest = database.store().manifest().await?;
    let records = manifest.map_or(0, |manifest| manifest.statistics.total_records);
    let key = key.reveal();
    println!("Telephone Number Reference Service {}", env!("CARGO_PKG_VERSION"));
    println!();
    println!("  base URL  {base_url}");
    println!("  API key   {key}");
    println!("  data      {} NPA-NXX records", indicatif::HumanCount(u64::from(records)));
    println!("  DynamoDB  {}", database.endpoint());
    println!();
    println!("  curl '{base_url}/v1/format/+13052345678?apiKey={key}'");
    println!("  curl -H 'Authorization: Bearer {key}' '{base_url}/v1/npa/415?limit=5'");
    println!("  curl -H 'X-API-Key: {key}' '{base_url}/v1/search?q=wireless&state=NY'");
    println!();
    println!("Ctrl-C ends it.");
    Ok(())
}

async fn listen(port: u16) -> Result<TcpListener, LocalError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    listener.map_err(LocalError::io(format!(
        "cannot listen on port {port}; choose another with --port"
    )))
}

/// Logs to the terminal: what goes wrong, unless `RUST_LOG` asks for more.
fn log_for_people() {
    let level = tracing_subscriber::EnvFilter::try_from_default_env();
    _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(level.unwrap_or_else(|_| "warn,dynoxide=error".into()))
        .try_init();
}

/// Waits for Ctrl-C, or for the signal a service manager ends a process with.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => (),
                _ = terminate.recv() => (),
            }
            return;
        }
    }
    _ = tokio::signal::ctrl_c().await;
}
