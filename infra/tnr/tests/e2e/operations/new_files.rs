//! Files that commands write, and those that they never replace.

use std::fs;

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{run, stderr},
};

#[cfg(unix)]
#[test]
fn no_command_replaces_a_data_folders_own_files() {
    let (data_dir, other) = (sample_folder(), TempDir::new().unwrap());
    fs::write(data_dir.path().join("api-key"), "a key").unwrap();
    let database = data_dir.path().join("dynamodb.sqlite");
    let before = fs::read(&database).unwrap();
    let link = other.path().join("link").display().to_string();
    std::os::unix::fs::symlink(&database, &link).unwrap();
    let list = other.path().join("list.txt").display().to_string();
    fs::write(&list, "+14152341234\n").unwrap();
    let names = ["dynamodb.sqlite-wal", "api-key", "lock"]
        .map(|name| data_dir.path().join(name).display().to_string());
    for name in names.iter().chain([&link]) {
        for command in [
            &["export", "--format", "sqlite", name][..],
            &["export", "--format", "csv", "--table", "carriers", name],
            &["format", &list, "--to", "csv", "--output", name],
            &["keys", "export", name],
            &["backup", name],
        ] {
            let rejected = run(&data_dir, &[command, &["--force"]].concat());
            let message =
                format!("error: {name} belongs to a data folder, so it is never replaced");
            assert!(stderr(&rejected).starts_with(&message), "{command:?}: {}", stderr(&rejected));
        }
    }
    assert_eq!(fs::read(&database).unwrap(), before);
    assert_eq!(fs::read_to_string(data_dir.path().join("api-key")).unwrap(), "a key");
}
