//! Read-only commands create nothing, need no write permission, and do not wait for writers.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use store::Store;
use tempfile::TempDir;
use tnr::{
    database::Database,
    keys::{random, register},
};

use crate::support::{
    databases::sample_folder,
    program::{Server, program, run, stderr, stdout},
};

/// An unprivileged user, for running the program when the tests run as root.
const NOBODY_UID: u32 = 65534;

/// Each read-only command, in a form that succeeds on the sample; `OUT` is a new file.
const READ_COMMANDS: [&str; 10] = [
    "lookup 4152341234",
    "carrier 0230",
    "area-code 415 234",
    "search wireless",
    "versions",
    "verify",
    "keys list",
    "export --format sqlite OUT",
    "backup OUT",
    "doctor --timeout 60",
];

fn folder_with_key() -> TempDir {
    let data_dir = sample_folder();
    stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
    data_dir
}

fn files_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A command with `OUT` replaced by a file in `output`.
fn reading_command(data_dir: &Path, command: &str, output: &Path) -> Command {
    let name = command.replace(' ', "-");
    let words = command.split(' ').map(|word| match word {
        "OUT" => output.join(&name).display().to_string(),
        word => word.to_owned(),
    });
    let mut line = program(&[]);
    line.args(words).arg("--data-dir").arg(data_dir);
    line
}

/// The same, run without superuser permissions.
fn unprivileged_command(data_dir: &TempDir, command: &str, output: &Path) -> Command {
    let mut line = reading_command(data_dir.path(), command, output);
    if fs::metadata(data_dir.path()).unwrap().uid() == 0 {
        line.uid(NOBODY_UID).gid(NOBODY_UID);
    }
    line
}

/// Runs every read-only command without write permission, and asserts that each succeeds and leaves the
/// folder unchanged.
fn read_without_permission(data_dir: &TempDir) {
    let output = TempDir::new().unwrap();
    fs::set_permissions(output.path(), Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(data_dir.path(), Permissions::from_mode(0o555)).unwrap();
    let before = files_in(data_dir.path());
    for command in READ_COMMANDS {
        let output = unprivileged_command(data_dir, command, output.path()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", stderr(&output));
    }
    assert_eq!(files_in(data_dir.path()), before);
    fs::set_permissions(data_dir.path(), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn unreadable_folders_are_named_in_errors() {
    let data_dir = folder_with_key();
    fs::set_permissions(data_dir.path(), Permissions::from_mode(0o000)).unwrap();
    for command in ["versions", "lookup 4152341234", "backup OUT"] {
        let mut line = unprivileged_command(&data_dir, command, Path::new("/nowhere"));
        let failed = line.output().unwrap();
        let error = stderr(&failed);
        assert_eq!(failed.status.code(), Some(2), "{command}: {error}");
        assert!(error.starts_with("error: cannot read folder"), "{command}: {error}");
        assert!(error.contains("Permission denied"), "{command}: {error}");
    }
    fs::set_permissions(data_dir.path(), Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn read_only_folders_are_readable_even_while_served() {
    let data_dir = folder_with_key();
    read_without_permission(&data_dir);
    let _serving = Server::on(&data_dir, &[]).await;
    read_without_permission(&data_dir);
}

/// Writes keys forever, as an import writes items.
async fn write_forever(store: Store) {
    for index in 0.. {
        register(&store, &random(shared::auth::KeyKind::Live).unwrap(), &format!("key {index}"))
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_do_not_wait_for_writers() {
    let (data_dir, output) = (folder_with_key(), TempDir::new().unwrap());
    let database = Database::embedded(data_dir.path()).await.unwrap();
    let writing = tokio::spawn(write_forever(database.store()));
    for command in READ_COMMANDS {
        let output = reading_command(data_dir.path(), command, output.path()).output().unwrap();
        assert!(output.status.success(), "{command}: {}", stderr(&output));
    }
    let failed = run(&data_dir, &["keys", "create", "--name", "second writer"]);
    assert!(stderr(&failed).contains("is in use by another command"), "{}", stderr(&failed));
    assert!(!writing.is_finished());
    writing.abort();
    database.close().await;
}
