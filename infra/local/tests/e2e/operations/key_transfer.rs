//! Moving keys between databases in a file, as an operator types it.

use std::{fs, os::unix::fs::PermissionsExt};

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use store::KeyRecord;
use tnr::{
    database::{Database, tables},
    keys::{random, register},
};

use crate::support::{
    databases::write_sample_into,
    operator::Operator,
    program::{Serving, program, stdout},
};

/// Runs `tnr keys` on an operator's database, and returns its output.
fn keys(operator: &Operator, arguments: &[&str]) -> String {
    stdout(&operator.run(&[&["keys"], arguments].concat())).trim().to_owned()
}

#[tokio::test]
async fn exported_keys_work_on_another_database_with_the_same_terms() {
    let (first, second) = (Operator::new(), Operator::new());
    let limited = keys(&first, &["create", "--name", "limited", "--per-minute", "5"]);
    let revoked = keys(&first, &["create", "--name", "revoked"]);
    keys(&first, &["revoke", &revoked]);
    let file = first.path("keys.json");
    assert!(keys(&first, &["export", &file]).starts_with("Exported 2 keys"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(&limited) && !text.contains(&revoked), "only hashes are exported");

    let dry = keys(&second, &["import", "--json", "--dry-run", &file]);
    let dry: Value = serde_json::from_str(&dry).unwrap();
    assert_eq!((&dry["dry_run"], dry["added"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(fs::read_dir(second.folder.path()).unwrap().count(), 0, "a dry run makes nothing");
    write_sample_into(second.folder.path());
    let imported = keys(&second, &["import", &file]);
    assert!(imported.ends_with("2 added, 0 shortened, 0 left as they are"), "{imported}");
    let serving = Serving::on(&second.folder, &["--no-sample"]).await;
    let listed = keys(&second, &["list"]);
    assert!(keys(&first, &["list"]).lines().all(|line| listed.contains(line)), "{listed}");
    for (key, expected) in [(&limited, 200), (&revoked, 401)] {
        assert_eq!(serving.response("/v1/npa/415", key).await.status(), expected);
    }
}

/// Restoring a backup: keys of the restored table, which has another name, are imported into the stack's
/// table. Keys revoked since the backup stay revoked.
#[tokio::test]
async fn keys_of_a_restored_table_can_be_imported_and_revoked_ones_stay_revoked() {
    let database = Database::in_memory().await.unwrap();
    let [stack, restored] = ["numbers-api_keys", "numbers-api_keys-restored"]
        .map(|table| database.store().with_api_keys_table(table.to_owned()));
    for store in [&stack, &restored] {
        tables::create_missing(store).await.unwrap();
    }
    let [kept, revoked] = [(); 2].map(|()| random().unwrap());
    for key in [&kept, &revoked] {
        register(&restored, key, "a client").await.unwrap();
    }
    let backed_up = restored.api_key(&revoked.hash()).await.unwrap().unwrap();
    // A key registered in two places has two creation times.
    let created_at = backed_up.created_at + 1.hour();
    stack.put_api_key(&KeyRecord { created_at, ..backed_up }).await.unwrap();
    stack.revoke_api_key(&revoked.hash(), Timestamp::now()).await.unwrap();

    let operator = Operator::new();
    let file = operator.path("keys.json");
    let keys = async |arguments: &[&str]| {
        let mut command = program(&[&["keys"], arguments, &["--stack", "numbers"]].concat());
        command.envs([
            ("AWS_ENDPOINT_URL_DYNAMODB", database.endpoint()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        // The test keeps running, since it answers the command.
        stdout(&tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
    };
    keys(&["export", &file, "--table", "numbers-api_keys-restored"]).await;
    let imported = keys(&["import", &file]).await;
    assert!(imported.ends_with("1 added, 0 shortened, 1 left as they are\n"), "{imported}");
    let is_live =
        async |key: &str| stack.api_key(key).await.unwrap().unwrap().is_live(Timestamp::now());
    assert!(is_live(&kept.hash()).await && !is_live(&revoked.hash()).await);
}
