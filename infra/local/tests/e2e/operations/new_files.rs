//! Files written by commands: what they never replace, and what killed commands leave behind.

use std::{
    fs,
    io::Write,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{program_on, run, stderr, stdout},
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
    let names = ["dynamodb.sqlite", "dynamodb.sqlite-wal", "api-key", "lock"]
        .map(|name| data_dir.path().join(name).display().to_string());
    for name in names.iter().chain([&link]) {
        for command in [
            &["export", "--format", "sqlite", name][..],
            &["export", "--format", "csv", "--table", "carriers", name],
            &["format", &list, "--output", name],
            &["keys", "export", name],
            &["backup", name],
        ] {
            let refused = run(&data_dir, &[command, &["--force"]].concat());
            let message = format!("error: {name} belongs to the data folder and is never replaced");
            assert!(stderr(&refused).starts_with(&message), "{command:?}: {}", stderr(&refused));
        }
    }
    assert_eq!(fs::read(&database).unwrap(), before);
    assert_eq!(fs::read_to_string(data_dir.path().join("api-key")).unwrap(), "a key");
}

/// A running `format` that ends only if it is killed.
fn at_work(data_dir: &TempDir, output: &str, folder: &TempDir, entries: usize) -> Child {
    let mut command = program_on(data_dir, &["format", "--output", output]);
    let mut process = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    process.stdin.as_mut().unwrap().write_all(b"4152341234\n").unwrap();
    while fs::read_dir(folder.path()).unwrap().count() < entries {
        thread::sleep(Duration::from_millis(20));
    }
    process
}

#[test]
fn leftovers_of_a_killed_command_are_deleted_when_its_output_is_written_again() {
    let (data_dir, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let output = folder.path().join("out.jsonl").display().to_string();
    let mut at_work_still = at_work(&data_dir, &output, &folder, 1);
    let mut killed = at_work(&data_dir, &output, &folder, 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the killed one leaves something");
    let list = folder.path().join("list.txt").display().to_string();
    fs::write(&list, "4152341234\n").unwrap();
    stdout(&run(&data_dir, &["format", &list, "--output", &output]));
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "list, output, and the work of the other command");
    drop(at_work_still.stdin.take());
    assert!(!at_work_still.wait().unwrap().success(), "the name is taken by now");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
