//! Provides databases with data. An import takes seconds of CPU time, so each set of reports is imported once, and
//! tests get copies.

use std::{
    path::Path,
    sync::{LazyLock, OnceLock},
    thread,
};

use dynoxide::Database as Dynoxide;
use ingest::{CountrySources, ImportReport, Options, Sources};
use jiff::SignedDuration;
use numbering::time::this_second;
use tempfile::TempDir;
use tnr::{
    data::sample::{sample, sample_countries},
    database::Database,
    keys,
};
use tokio::runtime::Runtime;

use super::{imports::without_gates, service::KEY, small_reports::ReportSet};

/// The name of the program's database file.
const FILE: &str = "dynamodb.sqlite";

/// A populated database on disk, to copy from.
struct TemplateDatabase {
    folder: TempDir,
    report: ImportReport,
}

impl TemplateDatabase {
    /// Runs one or more imports, one after another, into a database without keys.
    fn import<const N: usize>(imports: [(Sources, Options); N]) -> Self {
        let folder = TempDir::new().unwrap();
        let database = Dynoxide::new(folder.path().join(FILE).to_str().unwrap()).unwrap();
        // Tests do not need durability, so do not wait for the disk.
        database.enable_bulk_loading().unwrap();
        let import_all = async move || {
            let database = Database::public(database).await.unwrap();
            let (store, mut report) = (database.store(), None);
            for (sources, options) in imports {
                let is_sample = sources == sample();
                let countries = if is_sample { sample_countries() } else { CountrySources::new() };
                let import = ingest::import(&store, &sources, &countries, options, |_| ());
                report = Some(import.await.unwrap());
            }
            report.unwrap()
        };
        // On a separate thread, because the calling test is already inside a runtime.
        let imported = thread::scope(|threads| {
            threads.spawn(|| Runtime::new().unwrap().block_on(import_all())).join().unwrap()
        });
        Self { report: imported, folder }
    }

    /// A copy in memory with the sample key. It lasts as long as the test's runtime.
    async fn copy(&self) -> Database {
        let copy = Dynoxide::memory().unwrap();
        let file = self.folder.path().join(FILE);
        copy.restore_from(file.to_str().unwrap()).unwrap();
        let database = Database::public(copy).await.unwrap();
        keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
        database
    }
}

fn sample_template() -> &'static TemplateDatabase {
    static TEMPLATE: LazyLock<TemplateDatabase> =
        LazyLock::new(|| TemplateDatabase::import([(sample(), Options::default())]));
    &TEMPLATE
}

/// A test's own empty database with the sample key.
pub async fn empty() -> Database {
    let database = Database::in_memory().await.unwrap();
    keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
    database
}

/// A test's own database with the sample and the sample key.
pub async fn with_sample() -> Database {
    sample_template().copy().await
}

/// A test's own database with the sample, and a version from a day before, with a different carrier name and rate
/// center.
pub async fn with_history() -> Database {
    static TEMPLATE: LazyLock<TemplateDatabase> = LazyLock::new(|| {
        let before = |text: &str| text.replace("SAMPLE MOBILE", "SAMPLE CELLULAR");
        let now = this_second();
        let (sample, day_before) = (ReportSet::sample(), now - SignedDuration::from_hours(24));
        let earlier = ReportSet {
            nanpa: before(&sample.nanpa),
            cnac: sample.cnac.replace("Sample", "Example"),
            carriers: before(&sample.carriers).replace("Sample", "Example"),
            ..sample.clone()
        };
        TemplateDatabase::import([
            (earlier.sources(), Options { now: day_before, ..without_gates() }),
            (sample.sources(), Options { now, ..without_gates() }),
        ])
    });
    TEMPLATE.copy().await
}

/// A test's own database with the first of the small reports and the sample key.
pub async fn with_small_reports() -> Database {
    static TEMPLATE: LazyLock<TemplateDatabase> = LazyLock::new(|| {
        TemplateDatabase::import([(ReportSet::first().sources(), Options::default())])
    });
    TEMPLATE.copy().await
}

/// A test's own database with the published reports and the sample key, and the import's report. All tests
/// must pass the same reports, which the first test imports.
pub async fn with_published_reports(reports: Sources) -> (Database, &'static ImportReport) {
    static TEMPLATE: OnceLock<TemplateDatabase> = OnceLock::new();
    let template =
        TEMPLATE.get_or_init(|| TemplateDatabase::import([(reports, Options::default())]));
    (template.copy().await, &template.report)
}

pub fn sample_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_sample_into(folder.path());
    folder
}

pub fn write_sample_into(data_dir: &Path) {
    std::fs::copy(sample_template().folder.path().join(FILE), data_dir.join(FILE)).unwrap();
}
