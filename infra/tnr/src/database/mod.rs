//! The program's DynamoDB: embedded in a folder, at a URL, or in a stack.

pub mod args;
pub mod copy;
pub mod data_folder;
pub mod server;
pub mod tables;

use std::{net::Ipv4Addr, path::Path, time::Duration};

use aws_sdk_dynamodb::config::Builder;
use dynoxide::Database as Dynoxide;
use logging::with_causes;
use signed_requests::sdk_config;
use store::{Store, Tables, TimeoutProfile, is_plain_http};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use self::{
    args::{DataArgs, DatabaseArgs, DatabaseLocation},
    copy::{QUICK_CHECK, check, unreadable},
    data_folder::{DATABASE_FILE, ENDPOINT_FILE, FolderLock, open_private, replace_private},
    server::Credential,
};
use crate::{CliError, error::Context, terminal::show_note};

const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);
const ANY_PORT: u16 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads without creating or locking anything. Works alongside other commands and in read-only folders.
    Read,
    /// Writes to an in-memory copy. Without a database, the copy is empty.
    DryRun,
    /// Changes an existing database.
    Change,
    /// Like [`Access::Change`], but creates the database if it does not exist.
    Create,
}

pub struct Database {
    endpoint: String,
    store: Store,
    credential: Option<Credential>,
    /// `None` if another process runs the database.
    embedded: Option<Embedded>,
}

struct Embedded {
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    _lock: Option<FolderLock>,
}

impl Database {
    /// Opens the selected database for a short-lived command. If another process serves the folder, a
    /// command that writes uses that process's server.
    pub async fn open(args: &DataArgs, access: Access) -> Result<Self, CliError> {
        let location = args.location()?;
        let opened = match &location {
            DatabaseLocation::Stack(stack) => {
                Some(Self::remote(format!("stack {stack}"), stack_store(stack).await?))
            }
            DatabaseLocation::Endpoint(endpoint) => Self::open_endpoint(endpoint, access).await?,
            DatabaseLocation::Folder(folder) => Self::open_folder(folder, access).await?,
        };
        opened.ok_or_else(|| location.no_database(&args.next()))
    }

    async fn open_endpoint(endpoint: &str, access: Access) -> Result<Option<Self>, CliError> {
        if access == Access::Create {
            return Self::at(endpoint.to_owned()).await.map(Some);
        }
        let store = store_at(endpoint, TimeoutProfile::Batch).await;
        if is_plain_http(endpoint) && !tables::has_any(&store).await? {
            return Ok(None);
        }
        Ok(Some(Self::remote(endpoint.to_owned(), store)))
    }

    fn remote(endpoint: String, store: Store) -> Self {
        Self { endpoint, store, credential: None, embedded: None }
    }

    async fn open_folder(folder: &Path, access: Access) -> Result<Option<Self>, CliError> {
        let file = folder.join(DATABASE_FILE);
        let exists =
            file.try_exists().context(format!("cannot read folder '{}'", folder.display()))?;
        let opened = match (access, exists) {
            (Access::Read | Access::Change, false) => return Ok(None),
            (Access::DryRun, false) => Self::in_memory().await,
            (Access::Read | Access::DryRun, true) => Self::open_copy(&file).await,
            (Access::Change, true) | (Access::Create, _) => Self::embedded(folder).await,
        };
        match opened {
            Err(CliError::FolderInUseByServer { endpoint, .. }) => {
                Self::connect(endpoint, Credential::from_folder(folder), None).await.map(Some)
            }
            opened => opened.map(Some),
        }
    }

    /// Opens and prepares the selected database for a server. Never uses another
    /// process's database, because it would disappear when that process exits.
    pub async fn open_for_server<T>(
        args: &DatabaseArgs,
        prepare: impl AsyncFnOnce(&Store) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let Some(endpoint) = args.endpoint_url()? else {
            return Self::open_shared(&args.folder()?, ANY_PORT, prepare).await;
        };
        let database = Self::at(endpoint).await?;
        let prepared = prepare(&database.store()).await?;
        Ok((database, prepared))
    }

    /// Opens the embedded database in `data_dir` for this process only.
    pub async fn embedded(data_dir: &Path) -> Result<Self, CliError> {
        let lock = FolderLock::acquire(data_dir)?;
        let credential = Some(Credential::random());
        Self::start(open_file(data_dir)?, ANY_PORT, credential, Some(lock)).await
    }

    /// Opens the embedded database in `data_dir` on `port`, and prepares it. Other processes can find
    /// its address only afterward.
    pub async fn open_shared<T>(
        data_dir: &Path,
        port: u16,
        prepare: impl AsyncFnOnce(&Store) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let lock = FolderLock::acquire(data_dir)?;
        let file = open_file(data_dir)?;
        let credential = Credential::from_folder(data_dir).unwrap_or_else(Credential::random);
        let opened = Self::start(file, port, Some(credential.clone()), Some(lock)).await?;
        let prepared = match prepare(&opened.store()).await {
            Ok(prepared) => prepared,
            Err(error) => {
                opened.close().await;
                return Err(error);
            }
        };
        let endpoint = &opened.endpoint;
        credential
            .write_to(data_dir, endpoint)
            .and_then(|()| replace_private(&data_dir.join(ENDPOINT_FILE), endpoint))
            .context(format!("cannot write to {}", data_dir.display()))?;
        Ok((opened, prepared))
    }

    pub(crate) async fn from_copy(database: Dynoxide) -> Result<Self, CliError> {
        Self::start(database, ANY_PORT, Some(Credential::random()), None).await
    }

    pub async fn in_memory() -> Result<Self, CliError> {
        Self::public(Dynoxide::memory().context("cannot create an in-memory database")?).await
    }

    /// Serves a database without private data to every process on this machine.
    pub async fn public(database: Dynoxide) -> Result<Self, CliError> {
        Self::start(database, ANY_PORT, None, None).await
    }

    async fn open_copy(file: &Path) -> Result<Self, CliError> {
        let (database, damage) = copy::in_memory(file).map_err(|cause| unreadable(file, cause))?;
        if let Some(damage) = damage {
            // The other items are still readable.
            show_note(&format!("warning: {}", unreadable(file, damage.into())));
        }
        Self::from_copy(database).await
    }

    async fn start(
        database: Dynoxide,
        port: u16,
        credential: Option<Credential>,
        lock: Option<FolderLock>,
    ) -> Result<Self, CliError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.context(format!(
            "cannot listen on port {port} for DynamoDB; choose another with --port"
        ))?;
        let address = listener.local_addr().context("cannot listen")?;
        let (stop, stopped) = oneshot::channel();
        let sweeper = tokio::spawn(delete_expired_items(database.clone()));
        let serving = server::serve(listener, database, credential.clone(), stopped);
        let server = tokio::spawn(async {
            if let Err(error) = serving.await {
                eprintln!("error: the embedded DynamoDB stopped: {error}");
            }
        });
        let embedded = Embedded { stop, server, sweeper, _lock: lock };
        Self::connect(format!("http://{address}"), credential, Some(embedded)).await
    }

    pub async fn at(endpoint: String) -> Result<Self, CliError> {
        Self::connect(endpoint, None, None).await
    }

    async fn connect(
        endpoint: String,
        credential: Option<Credential>,
        embedded: Option<Embedded>,
    ) -> Result<Self, CliError> {
        let timeouts = TimeoutProfile::Batch;
        let store = open_store(&endpoint, credential.as_ref(), embedded.is_some(), timeouts).await;
        if is_plain_http(&endpoint) {
            tables::create_missing(&store).await?;
        }
        Ok(Self { endpoint, store, credential, embedded })
    }

    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub fn store(&self) -> Store {
        self.store.clone()
    }

    pub async fn serving_store(&self) -> Store {
        let is_embedded = self.embedded.is_some();
        let timeouts =
            if is_embedded { TimeoutProfile::EmbeddedRequest } else { TimeoutProfile::Request };
        open_store(&self.endpoint, self.credential.as_ref(), is_embedded, timeouts).await
    }

    /// Stops the embedded server when its in-flight requests are done.
    pub async fn close(self) {
        let Self { embedded, store, .. } = self;
        drop(store);
        if let Some(Embedded { stop, server, sweeper, _lock }) = embedded {
            sweeper.abort();
            _ = stop.send(());
            _ = server.await;
        }
    }
}

/// Opens or creates a folder's database. Does not change a damaged one.
fn open_file(data_dir: &Path) -> Result<Dynoxide, CliError> {
    let file = data_dir.join(DATABASE_FILE);
    if file.exists() {
        copy::read(&file, |connection| Ok(check(connection, QUICK_CHECK)?))
            .map_err(|cause| unreadable(&file, cause))?;
    }
    // SQLite would create a file that others can read.
    open_private(&file).context(format!("cannot open {}", file.display()))?;
    Dynoxide::new(&file.to_string_lossy()).map_err(|error| unreadable(&file, error.into()))
}

pub async fn on_database<T>(
    args: &DataArgs,
    access: Access,
    work: impl AsyncFnOnce(&Store) -> T,
) -> Result<T, CliError> {
    let database = Database::open(args, access).await?;
    let result = work(&database.store()).await;
    database.close().await;
    Ok(result)
}

/// Deletes expired items regularly, as AWS does.
async fn delete_expired_items(database: Dynoxide) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let database = database.clone();
        let swept = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
        if let Ok(Err(error)) = swept {
            tracing::warn!(error = with_causes(&error), "cannot delete expired items");
        }
    }
}

/// Connects to a stack's tables. The region and credentials come from the environment.
async fn stack_store(name: &str) -> Result<Store, CliError> {
    let config = Builder::from(&sdk_config().await);
    let store = Store::connect(config, Tables::for_stack(name), TimeoutProfile::Batch);
    // A deleted stack may still have its key table.
    let failed = format!("cannot read the tables of stack '{name}'");
    if tables::has_any(&store).await.context(failed)? {
        return Ok(store);
    }
    let region = store.parts().0.config().region().map(ToString::to_string);
    Err(CliError::NoStack { stack: name.to_owned(), region: region.unwrap_or_default() })
}

/// Connects to a database. The embedded one never receives the operator's credentials.
async fn open_store(
    endpoint: &str,
    credential: Option<&Credential>,
    is_embedded: bool,
    timeouts: TimeoutProfile,
) -> Store {
    match credential {
        Some(credential) => {
            Store::connect_to_embedded(endpoint, credential.access_key_id(), timeouts)
        }
        None if is_embedded => Store::connect_to_emulator(endpoint, timeouts),
        None => store_at(endpoint, timeouts).await,
    }
}

/// Connects to the database at `endpoint`. Without TLS it is not AWS, so it only receives credentials
/// from environment variables.
pub(crate) async fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    if is_plain_http(endpoint) {
        return Store::connect_to_compatible_database(endpoint, timeouts);
    }
    let config = Builder::from(&sdk_config().await).endpoint_url(endpoint);
    Store::connect(config, Tables::from_env(), timeouts)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;
    use store::Table;

    use super::*;

    #[tokio::test]
    async fn embedded_database_deletes_expired_usage() {
        let dynoxide = Dynoxide::memory().unwrap();
        let database = Database::public(dynoxide.clone()).await.unwrap();
        let (client, tables) = database.store.parts();
        for (id, expires_at) in [("old", 1), ("new", i64::from(u32::MAX))] {
            let put = client.put_item().table_name(tables.name(Table::Usage));
            let put = put.item("id", AttributeValue::S(id.to_owned()));
            let put = put.item("expires_at", AttributeValue::N(expires_at.to_string()));
            put.send().await.unwrap();
        }
        assert_eq!(dynoxide.sweep_ttl().unwrap(), 1);
        let remaining = client.scan().table_name(tables.name(Table::Usage)).send().await.unwrap();
        assert_eq!(remaining.items()[0]["id"], AttributeValue::S("new".to_owned()));
    }
}
