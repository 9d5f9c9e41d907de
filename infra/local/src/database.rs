//! The DynamoDB the local program works on: an embedded one in a folder, or another by its URL.

use std::{
    fs::{self, File, TryLockError},
    net::Ipv4Addr,
    path::Path,
};

use aws_sdk_dynamodb::config::Builder;
use dynoxide::Database as Dynoxide;
use signed_requests::sdk_config;
use store::{Store, Tables, TimeoutProfile, is_emulator};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    LocalError,
    args::{DataArgs, DatabaseArgs},
    stack, template,
};

/// Any free port.
const ANY_PORT: u16 = 0;

/// Whether other processes may use the server that this one starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Its address is written into the folder, since it runs until somebody stops it.
    Shared,
    /// It ends with the command.
    Private,
}

/// A DynamoDB that answers, with its tables.
pub struct Database {
    endpoint: String,
    store: Store,
    /// Present where this process runs it.
    embedded: Option<Embedded>,
}

/// The embedded server, and the lock that keeps a second process from opening its files.
struct Embedded {
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
    _lock: Option<File>,
}

impl Database {
    /// Opens the database that the arguments name, for a command that ends soon. If another process
    /// serves the folder already, its server is used.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be used or the database does not answer.
    pub async fn open(args: &DataArgs) -> Result<Self, LocalError> {
        if let Some(stack) = &args.stack {
            let store = stack::store(stack).await?;
            return Ok(Self { endpoint: format!("stack {stack}"), store, embedded: None });
        }
        let DatabaseArgs { data_dir, endpoint_url } = &args.database;
        let opened = match endpoint_url {
            Some(endpoint) => Self::at(endpoint.clone()).await,
            None => Self::embedded(data_dir, ANY_PORT, Sharing::Private).await,
        };
        match opened {
            Err(LocalError::FolderServed { endpoint, .. }) => Self::at(endpoint).await,
            opened => opened,
        }
    }

    /// Opens the database that the arguments name, for a command that runs until it is stopped. It
    /// does not use the server of another process, which it would lose when that process ends.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be used or is in use, or the database does not answer.
    pub async fn own(args: &DatabaseArgs) -> Result<Self, LocalError> {
        match &args.endpoint_url {
            Some(endpoint) => Self::at(endpoint.clone()).await,
            None => Self::embedded(&args.data_dir, ANY_PORT, Sharing::Shared).await,
        }
    }

    /// Opens the embedded database in `data_dir` on `port`.
    ///
    /// # Errors
    /// Returns [`LocalError::FolderServed`] if another process serves the folder and
    /// [`LocalError::FolderBusy`] if one uses it for itself; also an error if the folder cannot be
    /// used or the port is taken.
    pub async fn embedded(
        data_dir: &Path,
        port: u16,
        sharing: Sharing,
    ) -> Result<Self, LocalError> {
        let folder = data_dir.display();
        fs::create_dir_all(data_dir).map_err(LocalError::io(format!("cannot use {folder}")))?;
        let lock = File::create(data_dir.join("lock"))
            .map_err(LocalError::io(format!("cannot write into {folder}")))?;
        let endpoint_file = data_dir.join("endpoint");
        match lock.try_lock() {
            Ok(()) => {
                _ = fs::remove_file(&endpoint_file);
                let file = data_dir.join("dynamodb.sqlite").display().to_string();
                let database =
                    Dynoxide::new(&file).map_err(LocalError::io(format!("cannot open {file}")))?;
                let opened = Self::start(database, port, Some(lock)).await?;
                if sharing == Sharing::Shared {
                    fs::write(endpoint_file, &opened.endpoint)
                        .map_err(LocalError::io(format!("cannot write into {folder}")))?;
                }
                Ok(opened)
            }
            Err(TryLockError::WouldBlock) => {
                let folder = folder.to_string();
                Err(match fs::read_to_string(endpoint_file) {
                    Ok(endpoint) => LocalError::FolderServed { folder, endpoint },
                    Err(_) => LocalError::FolderBusy(folder),
                })
            }
            Err(TryLockError::Error(error)) => {
                Err(LocalError::io(format!("cannot lock {folder}"))(error))
            }
        }
    }

    /// An empty database in memory, gone with the process.
    ///
    /// # Errors
    /// Returns an error if no port is free.
    pub async fn in_memory() -> Result<Self, LocalError> {
        let database =
            Dynoxide::memory().map_err(LocalError::io("cannot open a database in memory"))?;
        Self::start(database, ANY_PORT, None).await
    }

    async fn start(database: Dynoxide, port: u16, lock: Option<File>) -> Result<Self, LocalError> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(LocalError::io(
                format!("cannot listen on port {port} for DynamoDB; choose another with --port"),
            ))?;
        let address = listener.local_addr().map_err(LocalError::io("cannot listen"))?;
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(async move {
            let stopped = async { _ = stopped.await };
            if let Err(error) =
                dynoxide::server::serve_with_shutdown(listener, database, stopped).await
            {
                eprintln!("error: the embedded DynamoDB stopped: {error}");
            }
        });
        let embedded = Embedded { stop, server, _lock: lock };
        Self::with(format!("http://{address}"), Some(embedded)).await
    }

    /// Uses the database that answers at `endpoint`.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    pub async fn at(endpoint: String) -> Result<Self, LocalError> {
        Self::with(endpoint, None).await
    }

    async fn with(endpoint: String, embedded: Option<Embedded>) -> Result<Self, LocalError> {
        let store = store_at(&endpoint, TimeoutProfile::Batch).await;
        if is_emulator(&endpoint) {
            template::create_missing_tables(&store).await?;
        }
        Ok(Self { endpoint, store, embedded })
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
        store_at(&self.endpoint, TimeoutProfile::Request).await
    }

    /// Stops the embedded server once its running requests are done.
    pub async fn close(self) {
        let Self { embedded, store, endpoint: _ } = self;
        drop(store);
        if let Some(Embedded { stop, server, _lock }) = embedded {
            _ = stop.send(());
            _ = server.await;
        }
    }
}

/// The store at `endpoint`, with the credentials of the operator unless it is an emulator.
pub(crate) async fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    if is_emulator(endpoint) {
        return Store::at_emulator(endpoint, timeouts);
    }
    let config = Builder::from(&sdk_config().await).endpoint_url(endpoint);
    Store::connect(config, Tables::from_env(), timeouts)
}
