//! Commands and the server name the unreadable version that they skip.

use serde_json::Value;
use tempfile::TempDir;
use tnr::database::Database;

use crate::support::{
    program::{Server, import, run, stderr, stdout},
    small_reports::ReportSet,
    unreadable_versions::{Reason, publish_unreadable},
};

#[tokio::test]
async fn every_command_names_the_unreadable_version_it_skips() {
    for reason in [Reason::MissingChunk, Reason::OtherLayout] {
        let data_dir = TempDir::new().unwrap();
        stdout(&import(&data_dir, &ReportSet::first(), &[]));
        let database = Database::embedded(data_dir.path()).await.unwrap();
        let older = database.store().manifest().await.unwrap().unwrap().current.version;
        let unreadable = publish_unreadable(&database.store(), reason).await.version;
        database.close().await;

        let table = stdout(&run(&data_dir, &["versions"]));
        assert!(table.starts_with(&format!("! {unreadable}")), "{table}");
        assert!(table.contains(&format!("\n* {older}")), "{table}");
        assert!(table.replace("\n             ", " ").contains(reason.text()), "{table}");
        assert!(table.contains("! cannot be read. To replace it"), "{table}");
        let json: Value =
            serde_json::from_str(&stdout(&run(&data_dir, &["versions", "--json"]))).unwrap();
        assert_eq!([0, 1].map(|index| &json[index]["is_answering"]), [false, true]);
        assert!(json[0]["unreadable"].as_str().unwrap().contains(reason.text()), "{json}");

        let warning = format!("warning: version {unreadable} cannot be read: ");
        let lookup = run(&data_dir, &["lookup", "+14152345678"]);
        assert!(lookup.status.success() && stderr(&lookup).contains(&warning), "{lookup:?}");
        assert!(stderr(&lookup).contains(&format!("; using version {older}")), "{lookup:?}");
        let verified = stdout(&run(&data_dir, &["verify"]));
        assert!(verified.starts_with(&warning), "{verified}");

        let server = Server::on(&data_dir, &[]).await;
        let banner = server.output();
        assert!(banner.contains(&format!("from version {older}; the current")), "{banner}");
        assert_eq!(server.get("/health").await["status"], "degraded");
    }
}
