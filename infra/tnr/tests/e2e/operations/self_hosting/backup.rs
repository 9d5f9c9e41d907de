//! Backing up the data folder while a server is using it, and restoring it.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

use tempfile::TempDir;

use crate::support::{
    databases::{sample_folder, write_sample_into},
    program::{Server, run, stderr, stdout},
    service::KEY,
};

/// Runs `backup` or `restore` with a file, on a data folder.
fn run_with_file(command: &str, file: &Path, data_dir: &TempDir) -> Output {
    run(data_dir, &[command, file.to_str().unwrap()])
}

fn files_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    files
}

fn create_key(data_dir: &TempDir, name: &str) {
    stdout(&run(data_dir, &["keys", "create", "--name", name]));
}

#[tokio::test]
async fn a_restored_backup_serves_the_same_data() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &["--key", KEY]).await;
    create_key(&data_dir, "before");
    let paths =
        ["/v1/stats", "/v1/npa/415?limit=3", "/v1/npa/415/nxx/206", "/v1/search?q=wireless"];
    let mut responses = Vec::new();
    for path in paths {
        responses.push(server.get(path).await);
    }

    // Keys are written during and after the copy.
    let backups = TempDir::new().unwrap();
    let file = backups.path().join("numbers.sqlite");
    std::thread::scope(|threads| {
        threads.spawn(|| stdout(&run_with_file("backup", &file, &data_dir)));
        threads.spawn(|| create_key(&data_dir, "meanwhile"));
    });
    create_key(&data_dir, "after");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.get(paths[1]).await, responses[1], "the server keeps running");
    server.kill();

    let restored = TempDir::new().unwrap();
    stdout(&run_with_file("restore", &file, &restored));
    // Without `--key`, so that the server knows only the backup's keys.
    let mut server = Server::on(&restored, &["--no-sample"]).await;
    server.key = KEY.to_owned();
    let keys = stdout(&run(&restored, &["keys", "list"]));
    assert!(keys.contains("before") && !keys.contains("after"), "{keys}");
    for (path, response) in paths.into_iter().zip(responses) {
        assert_eq!(server.get(path).await, response, "{path}");
    }
    stdout(&run(&restored, &["verify"]));
    assert_eq!(files_in(backups.path()), ["numbers.sqlite"], "the backup is only read");
}

#[tokio::test]
async fn restore_does_not_mix_in_leftovers_from_killed_processes() {
    let (data_dir, backups) = (sample_folder(), TempDir::new().unwrap());
    let server = Server::on(&data_dir, &["--no-sample"]).await;
    create_key(&data_dir, "before");
    let file = backups.path().join("numbers.sqlite");
    stdout(&run_with_file("backup", &file, &data_dir));
    create_key(&data_dir, "later");
    server.kill();
    let database = data_dir.path().join("dynamodb.sqlite");
    fs::rename(&database, backups.path().join("old.sqlite")).unwrap();
    assert!(files_in(data_dir.path()).contains(&"dynamodb.sqlite-wal".to_owned()));
    let error = stderr(&run_with_file("restore", &file, &data_dir));
    assert!(error.contains("move its dynamodb.sqlite* files away"), "{error}");
    assert!(!database.exists());

    let restored = TempDir::new().unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let left = restored.path().join(format!("dynamodb.sqlite.unfinished{suffix}"));
        fs::write(left, "left behind").unwrap();
    }
    stdout(&run_with_file("restore", &file, &restored));
    assert_eq!(files_in(restored.path()), ["dynamodb.sqlite", "lock"]);
    let database = restored.path().join("dynamodb.sqlite");
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o600);
    let keys = stdout(&run(&restored, &["keys", "list"]));
    assert!(keys.contains("before") && !keys.contains("later"), "{keys}");
}

#[test]
fn backup_and_restore_overwrite_nothing() {
    let (data_dir, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = folder.path().join("numbers.sqlite");
    let error = stderr(&run_with_file("backup", &file, &data_dir));
    assert!(error.contains("' has no database"), "{error}");
    assert!(!file.exists());

    write_sample_into(data_dir.path());
    stdout(&run_with_file("backup", &file, &data_dir));
    let backup = fs::read(&file).unwrap();
    for (command, message) in [
        ("backup", "already exists; pass --force to replace it"),
        ("restore", "already has a database; move its dynamodb.sqlite* files away"),
    ] {
        let error = stderr(&run_with_file(command, &file, &data_dir));
        assert!(error.contains(message), "{error}");
        assert_eq!(fs::read(&file).unwrap(), backup);
    }
    let missing = run_with_file("restore", Path::new("/nowhere"), &TempDir::new().unwrap());
    assert!(stderr(&missing).contains("cannot read /nowhere"), "{}", stderr(&missing));
}
