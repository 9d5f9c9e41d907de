//! Damaged items in a database with intact pages: the rest works, errors name the item, and one command
//! repairs it.

use std::process::Output;

use serde_json::Value;

use super::damaged_folders::{damage_row, folder};
use crate::support::{
    operator::Operator,
    program::{Serving, run, stderr, stdout},
    small_reports::ReportTexts,
};

/// Damage to an item: a bit of a name, an invalid JSON byte, or the name of the key attribute.
const DAMAGES: [&str; 3] = [
    "item_json = replace(item_json, '\"record\"', '\"recosd\"')",
    "item_json = CAST(replace(item_json, '\"record\"', x'22ff22') AS TEXT)",
    "item_json = replace(item_json, '\"npa_nxx\"', '\"npa_nxp\"')",
];

#[test]
fn damaged_lookup_items_are_answered_from_memory_and_rewritten_by_verify_repair() {
    for damage in DAMAGES {
        let (data_dir, database) = folder();
        let lookup = ["lookup", "+14152065555"];
        let before = stdout(&run(&data_dir, &lookup));
        damage_row(&database, &format!("UPDATE exchanges SET {damage} WHERE pk = 'S:415#206'"));
        assert_eq!(stdout(&run(&data_dir, &lookup)), before, "{damage}");
        let found = run(&data_dir, &["verify", "--json"]);
        assert_eq!(found.status.code(), Some(1), "{}", stderr(&found));
        let json: Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!(json["drift"]["unreadable"], 1, "{damage}: {json}");
        stdout(&run(&data_dir, &["verify", "--repair"]));
        stdout(&run(&data_dir, &["verify"]));
    }
}

#[tokio::test]
async fn damaged_keys_are_named_and_deletable_while_others_keep_working() {
    let (data_dir, database) = folder();
    let create = |name: &str| {
        let key = stdout(&run(&data_dir, &["keys", "create", "--name", name]));
        key.trim().to_owned()
    };
    let (whole, damaged) = (create("whole"), create("damaged"));
    let prefix = &damaged[..15];
    let damage = "UPDATE api_keys SET item_json = replace(item_json, 'created_at', 'created_by') \
                  WHERE item_json LIKE '%\"damaged\"%'";
    damage_row(&database, damage);

    let listed = run(&data_dir, &["keys", "list"]);
    assert!(stdout(&listed).contains(" whole\n"), "{}", stdout(&listed));
    let warning = format!("warning: key {prefix} is damaged, and its client gets 401; ");
    assert!(stderr(&listed).starts_with(&warning), "{}", stderr(&listed));
    let examined = stdout_of_any(&run(&data_dir, &["doctor"]));
    let named = examined.lines().find(|line| line.contains(prefix));
    assert!(named.is_some_and(|line| line.contains("this key is damaged")), "{examined}");
    let serving = Serving::on(&data_dir, &[]).await;
    for (key, expected) in [(&whole, 200), (&damaged, 401), (&whole, 200)] {
        assert_eq!(serving.response("/v1/npa/415", key).await.status(), expected);
    }
    drop(serving);

    let deleted = stdout(&run(&data_dir, &["keys", "delete", prefix]));
    assert_eq!(deleted, format!("Deleted {prefix}, which was damaged.\n"));
    assert_eq!(stderr(&run(&data_dir, &["keys", "list"])), "");
}

#[test]
fn damaged_manifests_are_reported_with_the_command_that_repairs_them() {
    let operator = Operator::new();
    let data_dir = &operator.folder;
    let import = |more: &[&str]| operator.import(&ReportTexts::first(), more);
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
    let refused = import(&[]);
    assert!(!refused.status.success() && stderr(&refused).contains(remedy), "{}", stderr(&refused));
    let mended = stdout(&import(&["--replace-manifest"]));
    assert!(mended.contains("the manifest could not be read and is replaced"), "{mended}");
    let again = stdout(&import(&["--replace-manifest"]));
    assert!(!again.contains("is replaced"), "one that can be read stays: {again}");
    assert!(stdout(&run(data_dir, &["versions"])).starts_with("* "));
    stdout(&run(data_dir, &["verify"]));
    assert!(stdout(&run(data_dir, &["keys", "list"])).contains(" client\n"), "the keys stay");
}

/// A command's stdout, even if it failed.
fn stdout_of_any(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
