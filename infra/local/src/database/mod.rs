//! The DynamoDB the local program works on: an embedded one in a folder, or another by its URL.

pub mod check;
pub mod copy;
pub mod credential;
pub mod damage;
pub mod damaged_items;
pub mod data_folder;
pub mod folder_lock;
pub mod place;
pub mod private_file;
mod schema;
pub mod server;
pub mod stack;
pub mod tables;

use std::{net::Ipv4Addr, path::Path, time::Duration};

use aws_sdk_dynamodb::config::Builder;
use dynoxide::Database as Dynoxide;
use logging::with_causes;
use rusqlite::Connection;
use signed_requests::sdk_config;
use store::{Store, Tables, TimeoutProfile, is_plain_http};
use tokio::{net::TcpSocket, sync::oneshot, task::JoinHandle};

use self::{
    copy::Copy,
    credential::Credential,
    damage::{quick_check, unreadable},
    damaged_items::{Scope, isolate},
    data_folder::{DATABASE_FILE, ENDPOINT_FILE},
    folder_lock::FolderLock,
    place::Place,
};
use crate::{
    CliError,
    args::{DataArgs, DatabaseArgs},
    error::Context,
};

/// The time between two deletions of expired items.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);
/// Any free port.
const ANY_PORT: u16 = 0;
/// The number of connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;

/// The use that a command makes of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads. Nothing is made or locked, so that it works beside any other command and in a folder
    /// that it may not write into.
    Read,
    /// It reads like [`Access::Read`], and every item.
    Examine,
    /// It writes only into a copy in memory, to see what would change; an empty one if there is no
    /// database.
    Rehearse,
    /// It changes what is there.
    Change,
    /// It makes the database if there is none.
    Create,
}

/// A DynamoDB that answers, with its tables.
pub struct Database {
    endpoint: String,
    store: Store,
    /// The credential that an embedded database of a folder demands.
    credential: Option<Credential>,
    /// Present where this process runs it.
    embedded: Option<Embedded>,
}

/// The embedded server, and the lock on its folder.
struct Embedded {
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    _lock: Option<FolderLock>,
}

impl Database {
    /// Opens the database that the arguments name, for a command that ends soon. A command that writes
    /// uses the server of another process that serves the folder.
    pub async fn open(args: &DataArgs, access: Access) -> Result<Self, CliError> {
        let place = args.place()?;
        let opened = match &place {
            Place::Stack(stack) => {
                Some(Self::elsewhere(format!("stack {stack}"), stack::store(stack).await?))
            }
            Place::Endpoint(endpoint) => Self::open_endpoint(endpoint, access).await?,
            Place::Folder(folder) => Self::open_folder(folder, access).await?,
        };
        opened.ok_or_else(|| CliError::no_database(&place, &args.next()))
    }

    async fn open_endpoint(endpoint: &str, access: Access) -> Result<Option<Self>, CliError> {
        if access == Access::Create {
            return Self::at(endpoint.to_owned()).await.map(Some);
        }
        let store = store_at(endpoint, TimeoutProfile::Batch).await;
        if is_plain_http(endpoint) && !tables::has_any(&store).await? {
            return Ok(None);
        }
        Ok(Some(Self::elsewhere(endpoint.to_owned(), store)))
    }

    fn elsewhere(endpoint: String, store: Store) -> Self {
        Self { endpoint, store, credential: None, embedded: None }
    }

    async fn open_folder(folder: &Path, access: Access) -> Result<Option<Self>, CliError> {
        let file = folder.join(DATABASE_FILE);
        let exists =
            file.try_exists().context(format!("cannot read folder '{}'", folder.display()))?;
        let opened = match (access, exists) {
            (Access::Read | Access::Examine | Access::Change, false) => return Ok(None),
            (Access::Rehearse, false) => Self::in_memory().await,
            (Access::Read, true) => Self::copy_of(folder, &file, Scope::WithoutLookupItems).await,
            (Access::Examine | Access::Rehearse, true) => {
                Self::copy_of(folder, &file, Scope::Everything).await
            }
            (Access::Change, true) | (Access::Create, _) => Self::embedded(folder).await,
        };
        match opened {
            Err(CliError::FolderServed { endpoint, .. }) => {
                Self::with(endpoint, Credential::from_folder(folder), None).await.map(Some)
            }
            opened => opened.map(Some),
        }
    }

    /// Opens the database that the arguments name, for a command that runs until it is stopped, and
    /// prepares it. It does not use the server of another process, which it would lose when that
    /// process ends.
    pub async fn own<T>(
        args: &DatabaseArgs,
        prepare: impl AsyncFnOnce(&Store) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let Some(endpoint) = args.endpoint_url()? else {
            return Self::shared(&args.folder()?, ANY_PORT, prepare).await;
        };
        let database = Self::at(endpoint).await?;
        let prepared = prepare(&database.store()).await?;
        Ok((database, prepared))
    }

    /// Opens the embedded database in `data_dir` for this process alone.
    ///
    /// # Errors
    /// Returns [`CliError::FolderServed`] if another process serves the folder and
    /// [`CliError::FolderBusy`] if one uses it for itself.
    pub async fn embedded(data_dir: &Path) -> Result<Self, CliError> {
        let lock = FolderLock::take(data_dir)?;
        let credential = Some(Credential::random());
        Self::start(open_file(data_dir)?, reserve(ANY_PORT)?, credential, Some(lock)).await
    }

    /// Opens the embedded database in `data_dir`, prepares it, and only then answers on `port` and
    /// tells other processes its address: none of them finds it half prepared.
    pub async fn shared<T>(
        data_dir: &Path,
        port: u16,
        prepare: impl AsyncFnOnce(&Store) -> Result<T, CliError>,
    ) -> Result<(Self, T), CliError> {
        let port = reserve(port)?;
        let lock = FolderLock::take(data_dir)?;
        let file = open_file(data_dir)?;
        let private =
            Self::start(file.clone(), reserve(ANY_PORT)?, Some(Credential::random()), None).await?;
        let prepared = prepare(&private.store()).await;
        private.close().await;
        let prepared = prepared?;
        let credential = Credential::from_folder(data_dir).unwrap_or_else(Credential::random);
        let opened = Self::start(file, port, Some(credential.clone()), Some(lock)).await?;
        let endpoint = &opened.endpoint;
        credential
            .write_into(data_dir, endpoint)
            .and_then(|()| private_file::replace(&data_dir.join(ENDPOINT_FILE), endpoint))
            .context(format!("cannot write into {}", data_dir.display()))?;
        Ok((opened, prepared))
    }

    /// A copy in memory, gone with the process.
    pub(crate) async fn from_copy(database: Dynoxide) -> Result<Self, CliError> {
        Self::start(database, reserve(ANY_PORT)?, Some(Credential::random()), None).await
    }

    /// An empty database in memory, gone with the process.
    pub async fn in_memory() -> Result<Self, CliError> {
        let database = Dynoxide::memory().context("cannot open a database in memory")?;
        Self::start(database, reserve(ANY_PORT)?, None, None).await
    }

    async fn copy_of(folder: &Path, file: &Path, scope: Scope) -> Result<Self, CliError> {
        let Copy { database, damage } =
            copy::in_memory(file, scope).map_err(|cause| unreadable(folder, file, cause))?;
        if let Some(damage) = damage {
            // What is left is read all the same, so that the keys can be exported.
            eprintln!("warning: {}", damage.in_folder(folder, file));
        }
        Self::from_copy(database).await
    }

    async fn start(
        database: Dynoxide,
        port: TcpSocket,
        credential: Option<Credential>,
        lock: Option<FolderLock>,
    ) -> Result<Self, CliError> {
        let listener = port.listen(BACKLOG).context("cannot listen")?;
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
        Self::with(format!("http://{address}"), credential, Some(embedded)).await
    }

    /// Uses the database that answers at `endpoint`.
    pub async fn at(endpoint: String) -> Result<Self, CliError> {
        Self::with(endpoint, None, None).await
    }

    async fn with(
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

    /// A store with the timeouts of an operator's command.
    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// A store with the timeouts of a request.
    pub async fn serving_store(&self) -> Store {
        let is_embedded = self.embedded.is_some();
        let timeouts =
            if is_embedded { TimeoutProfile::EmbeddedRequest } else { TimeoutProfile::Request };
        open_store(&self.endpoint, self.credential.as_ref(), is_embedded, timeouts).await
    }

    /// Stops the embedded server once its running requests are done.
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

/// Takes a port of this machine. Connections to it are refused until it is listened on.
fn reserve(port: u16) -> Result<TcpSocket, CliError> {
    let reserved = TcpSocket::new_v4().and_then(|socket| {
        // The connections of a server that has just ended do not keep the port from the next one.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
        Ok(socket)
    });
    reserved
        .context(format!("cannot listen on port {port} for DynamoDB; choose another with --port"))
}

/// The database of a folder, which is made if there is none. A damaged one is not written into.
fn open_file(data_dir: &Path) -> Result<Dynoxide, CliError> {
    let file = data_dir.join(DATABASE_FILE);
    if file.exists() {
        copy::read(&file, |connection| Ok(quick_check(connection)?))
            .and_then(|()| isolate(&Connection::open(&file)?, Scope::Everything))
            .map_err(|cause| unreadable(data_dir, &file, cause))?;
    }
    // SQLite takes an empty file for a new database, and would make one that others can read.
    private_file::open(&file).context(format!("cannot open {}", file.display()))?;
    Dynoxide::new(&file.to_string_lossy())
        .map_err(|error| unreadable(data_dir, &file, error.into()))
}

/// Opens the database that the arguments name, works on it, and closes it.
pub async fn on_database<T>(
    args: &DataArgs,
    access: Access,
    work: impl AsyncFnOnce(&Store) -> T,
) -> Result<T, CliError> {
    let database = Database::open(args, access).await?;
    let done = work(&database.store()).await;
    database.close().await;
    Ok(done)
}

/// Deletes expired items, which AWS does by itself.
async fn delete_expired_items(database: Dynoxide) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let database = database.clone();
        let swept = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
        if let Ok(Err(error)) = swept {
            tracing::warn!(error = with_causes(&error), "expired items cannot be deleted");
        }
    }
}

/// The store of a database. The embedded one gets no credentials of the operator.
async fn open_store(
    endpoint: &str,
    credential: Option<&Credential>,
    is_embedded: bool,
    timeouts: TimeoutProfile,
) -> Store {
    match credential {
        Some(credential) => Store::at_embedded(endpoint, credential.access_key_id(), timeouts),
        None if is_embedded => Store::at_emulator(endpoint, timeouts),
        None => store_at(endpoint, timeouts).await,
    }
}

/// The store at `endpoint`. The credentials of the operator are for AWS; another database gets only
/// those that the environment names.
pub(crate) async fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    if is_plain_http(endpoint) {
        return Store::at_compatible_database(endpoint, timeouts);
    }
    let config = Builder::from(&sdk_config().await).endpoint_url(endpoint);
    Store::connect(config, Tables::from_env(), timeouts)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    #[tokio::test]
    async fn expired_usage_is_deleted_by_the_embedded_database() {
        let dynoxide = Dynoxide::memory().unwrap();
        let database = Database::start(dynoxide.clone(), reserve(ANY_PORT).unwrap(), None, None)
            .await
            .unwrap();
        let (client, tables) = database.store.parts();
        for (id, expires_at) in [("old", 1), ("new", i64::from(u32::MAX))] {
            let put = client.put_item().table_name(&tables.usage);
            let put = put.item("id", AttributeValue::S(id.to_owned()));
            let put = put.item("expires_at", AttributeValue::N(expires_at.to_string()));
            put.send().await.unwrap();
        }
        assert_eq!(dynoxide.sweep_ttl().unwrap(), 1);
        let left = client.scan().table_name(&tables.usage).send().await.unwrap();
        assert_eq!(left.items()[0]["id"], AttributeValue::S("new".to_owned()));
    }
}
