//! Serves the whole API on one port, or the embedded database alone.

use std::{fs, net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use axum::Router;
use numbering::dataset::LAYOUT;
use shared::{app, auth::ApiKey, state::App};
use store::Store;
use tokio::{net::TcpListener, sync::oneshot, time::timeout};
use tracing_subscriber::{Layer, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    LocalError,
    args::{DynamodbArgs, KeyArgs, ServeArgs},
    commands::keys,
    database::{Database, Sharing},
    routes, sample,
};

/// Name of the key that the local program makes for itself.
const KEY_NAME: &str = "local";

/// Serves the API until Ctrl-C.
///
/// # Errors
/// Returns an error if a port is taken or the database cannot be used.
pub async fn serve(args: ServeArgs) -> Result<(), LocalError> {
    log_for_people();
    let listener = listen(args.port).await?;
    let database = Database::own(&args.database).await?;
    let key = prepare(&database.store(), &args.key, &args.database.data_dir).await?;
    let address = listener.local_addr().map_err(LocalError::io("cannot listen"))?;
    greet(&format!("http://{address}"), &key, &database).await?;
    let app = App::on(database.serving_store().await);
    let quotas = Arc::clone(&app.quotas);
    serve_until_stopped(listener, app::service(routes(), app)).await?;
    quotas.write_rest().await;
    database.close().await;
    Ok(())
}

/// How long running requests may take after Ctrl-C.
const GRACE: Duration = Duration::from_secs(5);

/// Serves until Ctrl-C, and then until the running requests are done, the grace period is over, or
/// Ctrl-C is pressed again.
async fn serve_until_stopped(listener: TcpListener, service: Router) -> Result<(), LocalError> {
    let (stop, stop_requested) = oneshot::channel::<()>();
    let server = axum::serve(listener, service)
        .with_graceful_shutdown(async { _ = stop_requested.await })
        .into_future();
    let given_up = async {
        stopped().await;
        drop(stop);
        _ = timeout(GRACE, stopped()).await;
    };
    tokio::select! {
        ended = server => ended.map_err(LocalError::io("the server stopped")),
        () = given_up => Ok(()),
    }
}

/// Runs the embedded database alone until Ctrl-C, with data and a key in it.
///
/// # Errors
/// Returns an error if the port is taken or the folder cannot be used.
pub async fn dynamodb(args: DynamodbArgs) -> Result<(), LocalError> {
    log_for_people();
    let database = Database::embedded(&args.data_dir, args.port, Sharing::Shared).await?;
    let key = prepare(&database.store(), &args.key, &args.data_dir).await?;
    println!("DynamoDB  {}", database.endpoint());
    println!("API key   {}", key.reveal());
    println!("Ctrl-C stops it; {} keeps the data.", args.data_dir.display());
    stopped().await;
    database.close().await;
    Ok(())
}

/// Makes sure that the database holds data and a key.
async fn prepare(store: &Store, key: &KeyArgs, data_dir: &Path) -> Result<ApiKey, LocalError> {
    sample::import_if_empty(store).await?;
    match &key.given {
        Some(text) => {
            let key = text.parse()?;
            keys::register(store, &key, KEY_NAME).await?;
            Ok(key)
        }
        None => folder_key(store, data_dir).await,
    }
}

/// The key of this folder's database, made on the first start and whenever the last one was revoked.
/// It is kept as a file, so that a restart prints the same one. Only the local program does so; a
/// deployment never stores a key.
async fn folder_key(store: &Store, data_dir: &Path) -> Result<ApiKey, LocalError> {
    let file = data_dir.join("api-key");
    if let Some(key) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
        match keys::register(store, &key, KEY_NAME).await {
            Err(LocalError::DeadKey(_)) => (),
            registered => return registered.map(|()| key),
        }
    }
    let key = keys::random()?;
    keys::register(store, &key, KEY_NAME).await?;
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
    let is_foreign = manifest.as_ref().is_some_and(|manifest| manifest.current.is_foreign());
    let records = manifest.map_or(0, |manifest| manifest.current.statistics.total_records);
    let key = key.reveal();
    println!("Telephone Number Reference Service {}", env!("CARGO_PKG_VERSION"));
    println!();
    println!("  base URL  {base_url}");
    println!("  API key   {key}");
    println!("  data      {} NPA-NXX records", indicatif::HumanCount(u64::from(records)));
    if is_foreign {
        println!("            in another layout than this release reads, which is {LAYOUT};");
        println!(
            "            run 'tnr import' with this release, or serve them with the one before"
        );
    }
    println!("  DynamoDB  {}", database.endpoint());
    println!();
    println!("  curl '{base_url}/v1/format/+13052345678?apiKey={key}'");
    println!("  curl -H 'Authorization: Bearer {key}' '{base_url}/v1/npa/415?limit=5'");
    println!("  curl -H 'X-API-Key: {key}' '{base_url}/v1/search?q=wireless&state=NY'");
    println!();
    println!("Ctrl-C stops it.");
    Ok(())
}

async fn listen(port: u16) -> Result<TcpListener, LocalError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(LocalError::io(format!(
        "cannot listen on port {port}; choose another with --port"
    )))
}

/// Logs warnings and errors to the terminal, or what `RUST_LOG` asks for.
fn log_for_people() {
    logging::hide_panic_messages();
    let lines = fmt::layer().with_writer(std::io::stderr);
    let filter = logging::filter("warn,dynoxide=error");
    _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
}

/// Waits for Ctrl-C, or for the signal with which a service manager stops a process.
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
