//! Keys that go from one database to another by a file, as an operator types it.

use std::{fs, process::Command};

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use store::{KeyRecord, Store, Tables, TimeoutProfile};
use tempfile::TempDir;
use tnr::{
    commands::{
        key_transfer::{Transfer, transfer},
        keys::{random, register},
    },
    database::Database,
    tables,
};

use crate::support::{
    databases::write_sample_into,
    fault_proxy::{Fault, FaultProxy, at_operation},
    operator::Operator,
    program::{Serving, program, stderr, stdout},
    service::http_client,
};

/// Runs `tnr keys` on the database of an operator, and gives what it printed.
fn keys(operator: &Operator, arguments: &[&str]) -> String {
    stdout(&operator.run(&[&["keys"], arguments].concat())).trim().to_owned()
}

/// What `tnr keys` says if it fails.
fn refusal(operator: &Operator, arguments: &[&str]) -> String {
    let output = operator.run(&[&["keys"], arguments].concat());
    assert!(!output.status.success());
    stderr(&output)
}

/// The status of a request with this key.
async fn status(serving: &Serving, key: &str) -> u16 {
    let request = http_client().get(format!("{}/v1/npa/415", serving.base_url)).bearer_auth(key);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn exported_keys_open_the_api_of_another_database_on_the_same_terms() {
    let (first, second) = (Operator::new(), Operator::new());
    write_sample_into(second.folder.path());
    let limited = keys(&first, &["create", "--name", "limited", "--per-minute", "5"]);
    let rotated = keys(&first, &["create", "--name", "rotated"]);
    let replacing = keys(&first, &["rotate", &rotated]);
    let revoked = keys(&first, &["create", "--name", "revoked"]);
    keys(&first, &["revoke", &revoked]);

    let file = first.path("keys.jsonl");
    assert!(keys(&first, &["export", &file]).starts_with("Exported 4 keys"));
    let text = fs::read_to_string(&file).unwrap();
    for key in [&limited, &rotated, &replacing, &revoked] {
        assert!(!text.contains(key.as_str()), "only hashes are exported");
    }
    let imported = keys(&second, &["import", &file]);
    assert!(imported.ends_with("4 added, 0 shortened, 0 left as they are"), "{imported}");
    assert!(imported.contains(&format!("added      {}  revoked", &revoked[..15])), "{imported}");
    let serving = Serving::on(&second.folder, &[]).await;
    for (key, expected) in [(&limited, 200), (&rotated, 200), (&replacing, 200), (&revoked, 401)] {
        assert_eq!(status(&serving, key).await, expected);
    }
    let listed = keys(&first, &["list"]);
    for line in listed.lines() {
        assert!(keys(&second, &["list"]).contains(line), "{line}");
    }
    let again = keys(&second, &["import", &file]);
    assert_eq!(again, "0 added, 0 shortened, 4 left as they are", "it can be repeated");
}

#[cfg(unix)]
#[test]
fn an_export_is_for_its_owner_only_and_overwrites_no_file() {
    use std::os::unix::fs::PermissionsExt;
    let operator = Operator::new();
    keys(&operator, &["create", "--name", "a client"]);
    let file = operator.path("keys.jsonl");
    keys(&operator, &["export", &file]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let before = fs::read_to_string(&file).unwrap();
    let refusal = refusal(&operator, &["export", &file]);
    assert!(refusal.contains("already exists; pass --force to replace it"), "{refusal}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    keys(&operator, &["export", "--force", &file]);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_dry_run_of_an_import_reports_the_same_and_changes_nothing() {
    let (first, second) = (Operator::new(), Operator::new());
    keys(&first, &["create", "--name", "a client"]);
    let file = first.path("keys.jsonl");
    keys(&first, &["export", &file]);
    let [dry, wet] = [&["import", "--json", "--dry-run", &file][..], &["import", "--json", &file]]
        .map(|arguments| serde_json::from_str::<Value>(&keys(&second, arguments)).unwrap());
    assert_eq!((&dry["dry_run"], &wet["dry_run"]), (&true.into(), &false.into()));
    assert_eq!((&dry["added"], &dry["shortened"]), (&wet["added"], &wet["shortened"]));
    assert_eq!(wet["added"].as_array().unwrap().len(), 1);
    assert!(keys(&second, &["list"]).contains("a client"));

    let third = Operator::new();
    keys(&third, &["import", "--dry-run", &file]);
    assert_eq!(fs::read_dir(third.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_cut_off_is_refused_as_a_whole() {
    let (first, second) = (Operator::new(), Operator::new());
    for name in ["one", "two"] {
        keys(&first, &["create", "--name", name]);
    }
    let file = first.path("keys.jsonl");
    keys(&first, &["export", &file]);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().take(2).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let refusal = refusal(&second, &["import", &file]);
    assert!(refusal.contains("it holds 1 keys, and its header says 2"), "{refusal}");
    assert_eq!(fs::read_dir(second.folder.path()).unwrap().count(), 0);
}

/// What a restore from a backup does: the keys of the restored table, which has another name, come
/// back into the table of the stack, and those that were revoked since the backup stay so.
#[tokio::test]
async fn keys_of_a_restored_table_come_back_into_a_stack() {
    let folder = TempDir::new().unwrap();
    let database = Database::in_memory().await.unwrap();
    let [stack, restored] = ["numbers-api_keys", "numbers-api_keys-restored"]
        .map(|table| database.store().with_api_keys_table(table.to_owned()));
    tables::create_missing(&restored).await.unwrap();
    create_tables_of_stack("numbers", database.endpoint()).await;
    let (kept, revoked) = (random().unwrap(), random().unwrap());
    for key in [&kept, &revoked] {
        register(&restored, key, "a client").await.unwrap();
    }
    let backed_up = restored.api_key(&revoked.hash()).await.unwrap().unwrap();
    // A key that was registered in two places has two times of creation.
    let created_at = backed_up.created_at + 1.hour();
    stack.put_api_key(&KeyRecord { created_at, ..backed_up }).await.unwrap();
    stack.revoke_api_key(&revoked.hash(), Timestamp::now()).await.unwrap();

    let file = folder.path().join("keys.jsonl").display().to_string();
    let keys = async |arguments: &[&str]| {
        let mut command = program(&[&["keys"], arguments, &["--stack", "numbers"]].concat());
        command.envs([
            ("AWS_ENDPOINT_URL_DYNAMODB", database.endpoint()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        output_of(command).await
    };
    keys(&["export", &file, "--table", "numbers-api_keys-restored"]).await;
    let imported = keys(&["import", &file]).await;
    assert!(imported.ends_with("1 added, 0 shortened, 1 left as they are\n"), "{imported}");
    let now = Timestamp::now();
    let is_live = async |key: &str| stack.api_key(key).await.unwrap().unwrap().is_live(now);
    assert!(is_live(&kept.hash()).await && !is_live(&revoked.hash()).await);
}

/// The program makes the tables that it works on, under the names in its environment.
async fn create_tables_of_stack(stack: &str, endpoint: &str) {
    let tables = Tables::of_stack(stack);
    let mut command = program(&["keys", "create", "--name", "x", "--endpoint-url", endpoint]);
    command.envs([
        ("CARRIERS_TABLE", &tables.carriers),
        ("EXCHANGES_TABLE", &tables.exchanges),
        ("DATASET_TABLE", &tables.dataset),
        ("API_KEYS_TABLE", &tables.api_keys),
        ("USAGE_TABLE", &tables.usage),
    ]);
    output_of(command).await;
}

/// What a command prints, which must succeed. The test goes on meanwhile, since it may be the test
/// that answers the command.
async fn output_of(mut command: Command) -> String {
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap());
    stdout(&ended.await.unwrap())
}

async fn empty_store() -> (Database, Store) {
    let database = Database::in_memory().await.unwrap();
    let store = database.store();
    (database, store)
}

/// A key on these terms.
fn record(per_minute: u32, expires_at: Option<Timestamp>) -> KeyRecord {
    let key = random().unwrap();
    KeyRecord {
        key_hash: key.hash(),
        prefix: key.prefix().to_owned(),
        name: "a client".to_owned(),
        note: None,
        created_at: Timestamp::UNIX_EPOCH,
        expires_at,
        revoked_at: None,
        per_minute: Some(per_minute),
        per_day: None,
        quota_id: None,
    }
}

#[tokio::test]
async fn the_earlier_expiry_counts_and_other_terms_stay_as_the_database_has_them() {
    let (_database, store) = empty_store().await;
    let [soon, late] = [1, 2].map(|hours| Timestamp::UNIX_EPOCH + hours.hours());
    let stored = [record(5, None), record(5, Some(late)), record(5, Some(soon))];
    for key in &stored {
        store.put_api_key(key).await.unwrap();
    }
    let [never_then_late, late_then_soon, soon_then_never] = stored.clone();
    let imported = [
        KeyRecord { expires_at: Some(late), ..never_then_late },
        KeyRecord { expires_at: Some(soon), per_minute: Some(50), ..late_then_soon },
        KeyRecord { expires_at: None, ..soon_then_never },
    ];
    let Transfer { added, shortened, left, with_other_terms, .. } =
        transfer(&store, &imported, false).await.unwrap();
    assert_eq!((added.len(), shortened.len(), left, with_other_terms), (0, 2, 1, 1));
    let expected = [Some(late), Some(soon), Some(soon)];
    for (key, expires_at) in stored.into_iter().zip(expected) {
        let after = store.api_key(&key.key_hash).await.unwrap().unwrap();
        assert_eq!(after, KeyRecord { expires_at, ..key });
    }
}

/// The import has read that there is no such key when another command adds and revokes it.
#[tokio::test]
async fn a_key_that_is_revoked_while_it_is_imported_stays_revoked() {
    let (database, store) = empty_store().await;
    let key = record(5, None);
    let policy = at_operation("PutItem", Fault::Held);
    let proxy = FaultProxy::before(database.endpoint(), policy).await;
    let importing = Store::at_emulator(&proxy.endpoint, TimeoutProfile::Batch);
    let exported = [key.clone()];
    let revoke = async {
        proxy.until_held().await;
        store.put_api_key(&key).await.unwrap();
        store.revoke_api_key(&key.key_hash, Timestamp::now()).await.unwrap();
        proxy.release();
    };
    let (imported, ()) = tokio::join!(transfer(&importing, &exported, false), revoke);
    imported.unwrap();
    assert!(store.api_key(&key.key_hash).await.unwrap().unwrap().revoked_at.is_some());
}

/// As a tool may write it that copies items.
#[tokio::test]
async fn a_key_whose_missing_times_are_stored_as_null_is_revoked_all_the_same() {
    let (_database, store) = empty_store().await;
    let key = record(5, None);
    store.put_api_key(&key).await.unwrap();
    let (client, tables) = store.parts();
    for attribute in ["revoked_at", "expires_at"] {
        let update = client.update_item().table_name(&tables.api_keys);
        let update = update.key("key_hash", AttributeValue::S(key.key_hash.clone()));
        let update = update.update_expression(format!("SET {attribute} = :null"));
        let null = AttributeValue::Null(true);
        update.expression_attribute_values(":null", null).send().await.unwrap();
    }
    let now = Timestamp::now();
    assert!(store.revoke_api_key(&key.key_hash, now).await.unwrap());
    assert!(store.expire_api_key(&key.key_hash, now).await.unwrap());
    let later = now + 1.hour();
    assert!(!store.revoke_api_key(&key.key_hash, later).await.unwrap());
    assert!(!store.expire_api_key(&key.key_hash, later).await.unwrap());
    assert!(store.revoke_api_key("no such key", now).await.is_err());
}
