//! Damaged folders, items and backups: what still works, error messages and remedies.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    operator::Operator,
    program::{Server, command_for, program, run, stderr, stdout},
    small_reports::ReportSet,
};

/// SQLite's default page size.
const PAGE: usize = 4096;

/// A folder with the sample and a key, and its database.
fn folder() -> (TempDir, PathBuf) {
    let folder = sample_folder();
    let database = folder.path().join("dynamodb.sqlite");
    stdout(&run(&folder, &["keys", "create", "--name", "a client"]));
    (folder, database)
}

/// Zeroes the first page of the exchanges table.
fn damage_page(database: &Path) {
    let connection = Connection::open(database).unwrap();
    let root = "SELECT rootpage FROM sqlite_master WHERE name = 'exchanges'";
    let page: usize = connection.query_row(root, [], |row| row.get(0)).unwrap();
    connection.close().unwrap();
    let mut bytes = fs::read(database).unwrap();
    bytes[(page - 1) * PAGE..page * PAGE].fill(0);
    fs::write(database, bytes).unwrap();
}

/// Executes a statement, as a faulty program would.
fn execute(database: &Path, statement: &str) {
    Connection::open(database).unwrap().execute_batch(statement).unwrap();
}

const PLANT_TRIGGER: &str =
    "CREATE TRIGGER planted AFTER DELETE ON usage BEGIN DELETE FROM api_keys; END";
/// Changes some data in a chunk, which is stored as base64.
const DAMAGE_CHUNK: &str = "UPDATE dataset SET item_json = \
    replace(item_json, substr(item_json, 400, 4), 'AAAA') WHERE pk LIKE '%#0000'";
/// Renames the field with an exchange's record.
const DAMAGE_ITEM: &str = "UPDATE exchanges SET item_json = \
    replace(item_json, '\"record\"', '\"recorb\"') WHERE pk = 'S:415#206'";
/// Removes the creation time of the key named `a client`.
const DAMAGE_KEY: &str = "UPDATE api_keys SET item_json = \
    replace(item_json, 'created_at', 'created_by') WHERE item_json LIKE '%\"a client\"%'";
const DAMAGE_MANIFEST: &str = "UPDATE dataset SET item_json = \
    replace(item_json, 'current', 'currenu') WHERE pk = 'S:manifest'";

#[test]
fn every_command_reports_a_damaged_database_and_how_to_fix_it() {
    let destroyed: [fn(&Path); 3] = [
        |database| execute(database, PLANT_TRIGGER),
        |database| fs::write(database, "not a database, but long enough to be one").unwrap(),
        |database| fs::write(database, &fs::read(database).unwrap()[..PAGE / 2]).unwrap(),
    ];
    for destroy in destroyed {
        let (data_dir, database) = folder();
        destroy(&database);
        for command in [
            &["lookup", "+14152065555"][..],
            &["keys", "create", "--name", "another"],
            &["serve", "--port", "0"],
        ] {
            let failed = run(&data_dir, command);
            let error = stderr(&failed);
            assert_eq!(failed.status.code(), Some(2), "{command:?}: {error}");
            let expected = format!("error: database {} is damaged: ", database.display());
            assert!(error.starts_with(&expected), "{command:?}: {error}");
            for remedy in ["'tnr restore FILE --data-dir ", "'tnr import --fetch --data-dir "] {
                assert!(error.contains(remedy), "{command:?}: {error}");
            }
        }
    }
}

#[test]
fn damaged_databases_are_read_with_a_warning_and_never_written() {
    let (data_dir, database) = folder();
    damage_page(&database);
    let damaged = fs::read(&database).unwrap();
    let listed = run(&data_dir, &["keys", "list"]);
    assert!(stdout(&listed).contains(" a client\n"), "{}", stdout(&listed));
    let warning = format!("warning: database {} is damaged: ", database.display());
    assert!(stderr(&listed).starts_with(&warning), "{}", stderr(&listed));
    let rejected = run(&data_dir, &["keys", "create", "--name", "another"]);
    assert!(stderr(&rejected).starts_with("error: database "), "{}", stderr(&rejected));
    assert!(fs::read(&database).unwrap() == damaged, "nothing is written");
}

#[test]
fn damaged_data_is_neither_backed_up_nor_restored() {
    let damages: [&dyn Fn(&Path); 5] = [
        &|database| execute(database, PLANT_TRIGGER),
        &damage_page,
        &|database| execute(database, DAMAGE_CHUNK),
        &|database| execute(database, DAMAGE_ITEM),
        &|database| execute(database, DAMAGE_KEY),
    ];
    for (index, damage) in damages.into_iter().enumerate() {
        let (data_dir, database) = folder();
        let (backups, restored) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let backup = backups.path().join("numbers.sqlite");
        let file = backup.to_str().unwrap();
        stdout(&run(&data_dir, &["backup", file]));
        let checked = stdout(&program(&["backup", "--verify", file]).output().unwrap());
        assert!(checked.contains(" can be restored."), "{checked}");
        assert!(checked.ends_with("items, and 1 key.\n"), "{checked}");

        damage(&backup);
        damage(&database);
        let content = fs::read(&backup).unwrap();
        for (mut command, damaged) in [
            (program(&["backup", "--verify", file]), "backup"),
            (command_for(&restored, &["restore", file]), "backup"),
            (command_for(&data_dir, &["backup", "--force", file]), "database"),
        ] {
            let rejected = command.output().unwrap();
            let error = stderr(&rejected);
            assert_eq!(rejected.status.code(), Some(2), "{index}: {error}");
            let start = format!("error: {damaged} ");
            assert!(error.contains(&start) && error.contains(" is damaged: "), "{index}: {error}");
        }
        assert!(!restored.path().join("dynamodb.sqlite").exists());
        assert!(fs::read(&backup).unwrap() == content, "the earlier backup is unchanged");
        assert_eq!(fs::read_dir(backups.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn damaged_keys_are_reported_and_deletable_while_others_keep_working() {
    let (data_dir, database) = folder();
    let intact = stdout(&run(&data_dir, &["keys", "create", "--name", "intact"]));
    execute(&database, DAMAGE_KEY);
    let listed = run(&data_dir, &["keys", "list"]);
    assert!(stdout(&listed).contains(" intact\n"), "{}", stdout(&listed));
    let warning = stderr(&listed);
    let prefix = warning.strip_prefix("warning: key ").unwrap().split(' ').next().unwrap();
    assert!(warning.contains(" is damaged, and its client gets 401; "), "{warning}");
    let server = Server::on(&data_dir, &[]).await;
    assert_eq!(server.response("/v1/npa/415", intact.trim()).await.status(), 200);
    drop(server);
    let deleted = stdout(&run(&data_dir, &["keys", "delete", prefix]));
    assert_eq!(deleted, format!("Deleted {prefix}, which was damaged.\n"));
    assert_eq!(stderr(&run(&data_dir, &["keys", "list"])), "");
}

#[test]
fn damaged_manifests_are_reported_with_the_command_that_repairs_them() {
    let operator = Operator::new();
    let data_dir = &operator.folder;
    let import = |more: &[&str]| operator.import(&ReportSet::first(), more);
    stdout(&run(data_dir, &["keys", "create", "--name", "client"]));
    stdout(&import(&[]));
    execute(&data_dir.path().join("dynamodb.sqlite"), DAMAGE_MANIFEST);
    let reading = run(data_dir, &["lookup", "+14152065555"]);
    for failed in [run(data_dir, &["verify"]), reading, import(&[])] {
        let error = stderr(&failed);
        assert_eq!(failed.status.code(), Some(2), "{error}");
        assert!(error.contains("'tnr import --fetch --replace-manifest'"), "{error}");
    }
    let repaired = stderr(&import(&["--replace-manifest"]));
    assert!(repaired.contains("the manifest could not be read and was replaced"), "{repaired}");
    stdout(&run(data_dir, &["verify"]));
    assert!(stdout(&run(data_dir, &["keys", "list"])).contains(" client\n"), "keys are kept");
}
