//! The banner that `serve` prints once it is listening.

use std::net::SocketAddr;

use shared::auth::ApiKey;
use store::{CurrentDataset, ServedVersion};
use tokio::net::TcpListener;

use crate::{
    CliError,
    data::sample,
    database::{Database, args::DatabaseLocation},
    error::Context,
    serve::args::{ServeArgs, reachable_host},
    terminal::{NextCommands, show_message, width, wrap},
};

pub async fn print_banner(
    listener: &TcpListener,
    operations: Option<&TcpListener>,
    args: &ServeArgs,
    key: Option<&ApiKey>,
    database: &Database,
) -> Result<(), CliError> {
    let address = local_address(listener)?;
    let base_url =
        format!("http://{address}{}", args.address.base_path.as_deref().unwrap_or_default());
    let serving = CurrentDataset::new(database.store()).serving().await;
    let next = args.database.next();
    println!("Telephone Number Reference Service {}\n", env!("CARGO_PKG_VERSION"));
    println!("  base URL  {base_url}");
    if let Some(operations) = operations {
        println!("  metrics   http://{}/metrics", local_address(operations)?);
    }
    println!("  page      {base_url}/");
    match key {
        Some(key) if args.is_trial() => println!("  API key   {}", key.reveal()),
        // The output may end up in widely readable logs.
        Some(key) => println!("  API key   {}…, from --key or TNR_KEY", key.prefix()),
        None => println!("  API key   none; create one with '{}'", next.tnr("keys create")),
    }
    print_data(&serving, &next);
    show_message(&format!("  DynamoDB  {}", database.endpoint()));
    if let DatabaseLocation::Folder(folder) = args.database.location()? {
        show_message(&format!("  folder    {}", folder.display()));
    }
    println!();
    if let Some(key) = key.filter(|_| args.is_trial()) {
        print_requests_to_try(&base_url, key.reveal());
    }
    println!("Press Ctrl-C to stop.");
    Ok(())
}

fn print_data(serving: &ServedVersion, next: &NextCommands) {
    let import = next.tnr("import --fetch");
    let Some(snapshot) = serving.snapshot() else {
        match serving {
            ServedVersion::Empty => println!("  data      none yet; get it with '{import}'"),
            _ => println!("  data      unreadable; replace it with '{import}'"),
        }
        return;
    };
    let records = u64::from(snapshot.statistics.total_records);
    println!("  data      {} NPA-NXX records", indicatif::HumanCount(records));
    if let ServedVersion::Older(older) = serving {
        println!("            from version {}; the current version cannot", older.version);
        println!("            be read, and '{}' says why", next.tnr("versions"));
    }
    if let Some(note) = sample::sample_note(snapshot, next) {
        println!("{}", wrap(&format!("  note      {note}"), width(), 12));
    }
}

/// Prints example requests to paste into a shell, at most 80 columns wide.
fn print_requests_to_try(base_url: &str, key: &str) {
    println!("In a browser (paste the key into its field):\n  {base_url}/");
    println!("In a shell:\n  export TNR_KEY={key}");
    println!("  curl \"{base_url}/v1/format/+13052345678?apiKey=$TNR_KEY\"");
    for path in ["/v1/npa/415?limit=5", "/v1/search?q=wireless&state=NY"] {
        println!("  curl -H \"X-API-Key: $TNR_KEY\" \\\n    \"{base_url}{path}\"");
    }
    println!();
}

/// The address at which this machine can reach the listener.
fn local_address(listener: &TcpListener) -> Result<SocketAddr, CliError> {
    let address = listener.local_addr().context("cannot listen")?;
    Ok(SocketAddr::new(reachable_host(address.ip()), address.port()))
}
