//! Databases that hold data already. An import takes seconds of processor time, so each set of
//! reports is imported once; tests get copies of what came of it.

use std::{
    net::Ipv4Addr,
    path::Path,
    sync::{LazyLock, OnceLock},
    thread,
};

use dynoxide::{Database as Dynoxide, server::serve_with_shutdown};
use ingest::{ImportReport, Options, Sources};
use tempfile::TempDir;
use tnr::{data::sample::sample, database::Database, keys};
use tokio::{net::TcpListener, runtime::Runtime};

use super::{service::KEY, small_reports::ReportTexts};

/// The name that the local program gives the database file in its folder.
const FILE: &str = "dynamodb.sqlite";

/// A database on disk that nobody writes to any more.
struct Master {
    folder: TempDir,
    report: ImportReport,
}

impl Master {
    /// Imports the reports into a database without keys.
    fn import(sources: Sources) -> Self {
        let folder = TempDir::new().unwrap();
        let database = Dynoxide::new(folder.path().join(FILE).to_str().unwrap()).unwrap();
        // No machine fails within a test, so nothing waits until the disk has confirmed each write.
        database.enable_bulk_loading().unwrap();
        // A thread of its own, since the test that asks first is inside a runtime already.
        let imported = thread::spawn(move || {
            Runtime::new().unwrap().block_on(async {
                let store = served(database).await.store();
                ingest::ingest(&store, &sources, Options::default(), |_| ()).await.unwrap()
            })
        });
        Self { report: imported.join().unwrap(), folder }
    }

    /// A copy in memory with the sample key, gone with the runtime of the test.
    async fn copy(&self) -> Database {
        let copy = Dynoxide::memory().unwrap();
        let file = self.folder.path().join(FILE);
        copy.restore_from(file.to_str().unwrap()).unwrap();
        let database = served(copy).await;
        keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
        database
    }
}

/// A database behind a port, as long as the runtime lasts.
async fn served(database: Dynoxide) -> Database {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve_with_shutdown(listener, database, std::future::pending()));
    Database::at(endpoint).await.unwrap()
}

fn sample_master() -> &'static Master {
    static MASTER: LazyLock<Master> = LazyLock::new(|| Master::import(sample()));
    &MASTER
}

/// A database of the test's own with the sample and the sample key.
pub async fn with_sample() -> Database {
    sample_master().copy().await
}

/// A database of the test's own with the first of the small reports and the sample key.
pub async fn with_small_reports() -> Database {
    static MASTER: LazyLock<Master> =
        LazyLock::new(|| Master::import(ReportTexts::first().sources()));
    MASTER.copy().await
}

/// A database of the test's own with the published reports and the sample key, and the report of their
/// import. All tests give the same reports, and the first of them imports.
pub async fn with_published_reports(reports: Sources) -> (Database, &'static ImportReport) {
    static MASTER: OnceLock<Master> = OnceLock::new();
    let master = MASTER.get_or_init(|| Master::import(reports));
    (master.copy().await, &master.report)
}

/// A folder with the sample, which the local program takes for its own.
pub fn sample_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_sample_into(folder.path());
    folder
}

/// Puts the sample into a folder that the local program then takes for its own.
pub fn write_sample_into(data_dir: &Path) {
    std::fs::copy(sample_master().folder.path().join(FILE), data_dir.join(FILE)).unwrap();
}
