//! Commands that read while another process writes. The session `reading` has read-only folders.

use store::Store;
use tempfile::TempDir;
use tnr::{
    database::Database,
    keys::{random, register},
};

use crate::support::{
    databases::sample_folder,
    program::{run, stderr, stdout},
};

/// Writes keys forever, as an import writes items.
async fn write_forever(store: Store) {
    for index in 0.. {
        let key = random(shared::auth::KeyKind::Live).unwrap();
        register(&store, &key, &format!("key {index}")).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_do_not_wait_for_writers() {
    let (data_dir, output) = (sample_folder(), TempDir::new().unwrap());
    let database = Database::embedded(data_dir.path()).await.unwrap();
    let writing = tokio::spawn(write_forever(database.store()));
    let backup = output.path().join("backup").display().to_string();
    for command in
        [&["lookup", "4152341234"][..], &["verify"], &["keys", "list"], &["backup", &backup]]
    {
        stdout(&run(&data_dir, command));
    }
    let failed = run(&data_dir, &["keys", "create", "--name", "second writer"]);
    assert!(stderr(&failed).contains("is in use by another command"), "{}", stderr(&failed));
    assert!(!writing.is_finished());
    writing.abort();
    database.close().await;
}
