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

/// A folder with the sample, and its database.
fn folder() -> (TempDir, PathBuf) {
    let folder = sample_folder();
    let database = folder.path().join("dynamodb.sqlite");
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

/// Changes one row, like a faulty program or disk.
fn damage_row(database: &Path, change: &str) {
    let connection = Connection::open(database).unwrap();
    assert_eq!(connection.execute(change, []).unwrap(), 1, "{change}");
    connection.close().unwrap();
}

/// Adds a trigger that SQLite would run.
fn plant_trigger(database: &Path) {
    let connection = Connection::open(database).unwrap();
    let trigger = "CREATE TRIGGER planted AFTER DELETE ON usage BEGIN DELETE FROM api_keys; END";
    connection.execute_batch(trigger).unwrap();
    connection.close().unwrap();
}

/// Changes some data in a chunk, which is stored as base64.
const DAMAGE_CHUNK: &str = "UPDATE dataset SET item_json = replace(item_json, substr(item_json, 400, 4), 'AAAA') \
                            WHERE pk LIKE '%#0000'";
/// Renames the field with an exchange's record.
const DAMAGE_ITEM: &str = "UPDATE exchanges SET item_json = replace(item_json, '\"record\"', '\"recorb\"') \
                           WHERE pk = 'S:415#206'";
/// Removes a key's creation time.
const DAMAGE_KEY: &str =
    "UPDATE api_keys SET item_json = replace(item_json, 'created_at', 'created_by')";

#[test]
fn every_command_reports_a_damaged_database_and_how_to_fix_it() {
    let destroyed: [fn(&Path); 3] = [
        plant_trigger,
        |database| fs::write(database, "not a database, but long enough to be one").unwrap(),
        |database| {
            let bytes = fs::read(database).unwrap();
            fs::write(database, &bytes[..PAGE / 2]).unwrap();
        },
    ];
    let commands: [&[&str]; 5] = [
        &["lookup", "+14152065555"],
        &["verify", "--repair"],
        &["keys", "create", "--name", "a client"],
        &["serve", "--port", "0"],
        &["dynamodb", "--port", "0"],
    ];
    for destroy in destroyed {
        let (data_dir, database) = folder();
        destroy(&database);
        for command in commands {
            let failed = run(&data_dir, command);
            let error = stderr(&failed);
            assert_eq!(failed.status.code(), Some(2), "{command:?}: {error}");
            let expected = format!("error: database {} is damaged: ", database.display());
            assert!(error.starts_with(&expected), "{command:?}: {error}");
            for remedy in ["'tnr restore FILE --data-dir ", "'tnr import --fetch --data-dir "] {
                assert!(error.contains(remedy), "{command:?}: {error}");
            }
            assert!(!error.contains("encrypted"), "{command:?}: {error}");
        }
    }
}

#[test]
fn damaged_databases_are_read_with_a_warning_and_never_written() {
    let (data_dir, database) = folder();
    let key = stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
    damage_page(&database);
    let damaged = fs::read(&database).unwrap();
    let exported = data_dir.path().join("keys.json");
    let saved = run(&data_dir, &["keys", "export", exported.to_str().unwrap()]);
    assert!(stdout(&saved).contains("1 key"), "{}", stdout(&saved));
    let warning = format!("warning: database {} is damaged: SQLite", database.display());
    assert!(stderr(&saved).starts_with(&warning), "{}", stderr(&saved));
    let rejected = run(&data_dir, &["keys", "create", "--name", "another"]);
    assert!(stderr(&rejected).starts_with("error: database "), "{}", stderr(&rejected));
    assert!(fs::read(&database).unwrap() == damaged, "nothing is written");

    let other = TempDir::new().unwrap();
    stdout(&run(&other, &["keys", "import", exported.to_str().unwrap()]));
    let keys = stdout(&run(&other, &["keys", "list"]));
    assert!(keys.contains("a client") && !keys.contains(key.trim()), "{keys}");
}

#[test]
fn damaged_data_is_neither_backed_up_nor_restored() {
    let row = |change: &'static str| move |database: &Path| damage_row(database, change);
    type Case<'a> = (&'a str, &'a dyn Fn(&Path), &'a str);
    let damages: [Case; 5] = [
        ("its schema has an unknown definition of \"planted\"", &plant_trigger, "restore FILE"),
        ("SQLite cannot read it", &damage_page, "restore FILE"),
        ("its current version is unreadable", &row(DAMAGE_CHUNK), "import --fetch"),
        ("1 of its items contradict its current version", &row(DAMAGE_ITEM), "verify --repair"),
        ("some of its keys are unreadable: ", &row(DAMAGE_KEY), "keys delete PREFIX"),
    ];
    for (what, damage, remedy) in damages {
        let (data_dir, database) = folder();
        stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
        let (backups, restored) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let backup = backups.path().join("numbers.sqlite");
        let file = backup.to_str().unwrap();
        let written = stdout(&run(&data_dir, &["backup", file]));
        assert!(written.contains("It contains version "), "{written}");
        let checked = stdout(&program(&["backup", "--verify", file]).output().unwrap());
        assert!(checked.contains(" can be restored."), "{checked}");
        assert!(checked.ends_with("items, and 1 key.\n"), "{checked}");

        damage(&backup);
        let content = fs::read(&backup).unwrap();
        let backup_error = format!("error: backup {file} is damaged: ");
        let folder_error = format!("error: database {} is damaged: {what}", database.display());
        damage(&database);
        for (mut command, expected, remedy) in [
            (program(&["backup", "--verify", file]), &backup_error, "; use another one".to_owned()),
            (
                command_for(&restored, &["restore", file]),
                &backup_error,
                "; use another one".to_owned(),
            ),
            (
                command_for(&data_dir, &["backup", "--force", file]),
                &folder_error,
                format!("'tnr {remedy} --data-dir "),
            ),
        ] {
            let rejected = command.output().unwrap();
            let error = stderr(&rejected);
            assert_eq!(rejected.status.code(), Some(2), "{error}");
            assert!(error.contains(expected) && error.contains(&remedy), "{error}");
        }
        assert!(!restored.path().join("dynamodb.sqlite").exists());
        assert!(fs::read(&backup).unwrap() == content, "the earlier backup is unchanged");
        assert_eq!(fs::read_dir(backups.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn damaged_keys_are_reported_and_deletable_while_others_keep_working() {
    let (data_dir, database) = folder();
    let create = |name: &str| {
        let key = stdout(&run(&data_dir, &["keys", "create", "--name", name]));
        key.trim().to_owned()
    };
    let (intact, damaged) = (create("intact"), create("damaged"));
    let prefix = &damaged[..15];
    let damage = "UPDATE api_keys SET item_json = replace(item_json, 'created_at', 'created_by') \
                  WHERE item_json LIKE '%\"damaged\"%'";
    damage_row(&database, damage);

    let listed = run(&data_dir, &["keys", "list"]);
    assert!(stdout(&listed).contains(" intact\n"), "{}", stdout(&listed));
    let warning = format!("warning: key {prefix} is damaged, and its client gets 401; ");
    assert!(stderr(&listed).starts_with(&warning), "{}", stderr(&listed));
    let examined = String::from_utf8(run(&data_dir, &["doctor"]).stdout).unwrap();
    let finding = examined.lines().find(|line| line.contains(prefix));
    assert!(finding.is_some_and(|line| line.contains("damaged; its client")), "{examined}");
    let server = Server::on(&data_dir, &[]).await;
    for (key, expected) in [(&intact, 200), (&damaged, 401), (&intact, 200)] {
        assert_eq!(server.response("/v1/npa/415", key).await.status(), expected);
    }
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
    let manifest = "UPDATE dataset SET item_json = replace(item_json, 'current', 'currenu') \
                    WHERE pk = 'S:manifest'";
    let database = data_dir.path().join("dynamodb.sqlite");
    damage_row(&database, manifest);

    let remedy = "'tnr import --fetch --replace-manifest'";
    for command in [&["versions"][..], &["verify"], &["rollback"], &["lookup", "+14152065555"]] {
        let failed = run(data_dir, command);
        assert_eq!(failed.status.code(), Some(2), "{command:?}");
        assert!(stderr(&failed).contains(remedy), "{command:?}: {}", stderr(&failed));
    }
    let failed = import(&[]);
    assert!(!failed.status.success() && stderr(&failed).contains(remedy), "{}", stderr(&failed));
    let repaired = stderr(&import(&["--replace-manifest"]));
    assert!(repaired.contains("the manifest could not be read and was replaced"), "{repaired}");
    let again = stderr(&import(&["--replace-manifest"]));
    assert!(!again.contains("was replaced"), "a readable manifest is kept: {again}");
    assert!(stdout(&run(data_dir, &["versions"])).starts_with("* "));
    stdout(&run(data_dir, &["verify"]));
    assert!(stdout(&run(data_dir, &["keys", "list"])).contains(" client\n"), "keys are kept");
}
