//! The data that the tools of an agent are answered from, for a program that runs as long as the agent
//! does and is called now and then.
//!
//! The embedded database is open while calls come, and closed after: otherwise nobody could serve its
//! folder as long as an agent is open somewhere. Meanwhile other processes use its server, so that two
//! agents can ask at the same time.

use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use mcp::asked_routes;
use shared::{in_process::InProcess, state::App};

use crate::{LocalError, args::DataArgs, database::Database};

/// How often another process is waited for that uses the folder, such as a command or an agent which
/// opens or closes it at the same moment, and how long each time.
const ATTEMPTS: usize = 10;
const WAIT_FOR_FOLDER: Duration = Duration::from_millis(300);

/// The data that the arguments name, open or not.
pub struct CalledData {
    args: DataArgs,
    opened: Option<Opened>,
}

struct Opened {
    database: Database,
    routes: InProcess,
}

impl CalledData {
    pub fn of(args: DataArgs) -> Self {
        Self { args, opened: None }
    }

    pub fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// The routes that answer tools.
    ///
    /// # Errors
    /// Returns an error if the database cannot be used or holds no data.
    pub async fn routes(&mut self) -> Result<InProcess, LocalError> {
        if let Some(Opened { routes, .. }) = &self.opened {
            return Ok(routes.clone());
        }
        let database = self.open().await?;
        let has_data = database.store().manifest().await.map(|manifest| manifest.is_some());
        if !matches!(has_data, Ok(true)) {
            database.close().await;
            let place = self.args.place();
            return Err(has_data.map_or_else(LocalError::from, |_| LocalError::NoData(place)));
        }
        let routes = asked_routes(App::on(database.serving_store().await));
        self.opened = Some(Opened { database, routes: routes.clone() });
        Ok(routes)
    }

    /// Closes the database, so that another process may serve its folder.
    pub async fn close(&mut self) {
        if let Some(Opened { database, routes }) = self.opened.take() {
            drop(routes);
            database.close().await;
        }
    }

    async fn open(&self) -> Result<Database, LocalError> {
        let wait = ConstantBuilder::default().with_delay(WAIT_FOR_FOLDER).with_max_times(ATTEMPTS);
        (|| Database::open_shared(&self.args))
            .retry(wait)
            .when(|error| matches!(error, LocalError::FolderBusy(_) | LocalError::Store(_)))
            .await
    }
}
