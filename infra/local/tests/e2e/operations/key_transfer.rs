//! Moving keys between databases in a file, as an operator types it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use store::{KeyRecord, Tables};
use tnr::{
    database::{Database, tables},
    keys::{random, register},
};

use crate::support::{
    databases::write_sample_into,
    fault_proxy::{Fault, FaultProxy},
    operator::Operator,
    program::{Serving, program, stderr, stdout},
};

/// Runs `tnr keys` on an operator's database, and returns its output.
fn keys(operator: &Operator, arguments: &[&str]) -> String {
    stdout(&operator.run(&[&["keys"], arguments].concat())).trim().to_owned()
}

#[tokio::test]
async fn exported_keys_work_on_another_database_with_the_same_terms() {
    let (first, second) = (Operator::new(), Operator::new());
    let limited = keys(&first, &["create", "--name", "limited", "--per-minute", "5"]);
    let rotated = keys(&first, &["create", "--name", "rotated"]);
    let replacing = keys(&first, &["rotate", &rotated]);
    let revoked = keys(&first, &["create", "--name", "revoked"]);
    keys(&first, &["revoke", &revoked]);

    let file = first.path("keys.jsonl");
    assert!(keys(&first, &["export", &file]).starts_with("Exported 4 keys"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    for key in [&limited, &rotated, &replacing, &revoked] {
        assert!(!text.contains(key.as_str()), "only hashes are exported");
    }
    let dry = keys(&second, &["import", "--json", "--dry-run", &file]);
    assert_eq!(fs::read_dir(second.folder.path()).unwrap().count(), 0, "a dry run makes nothing");
    write_sample_into(second.folder.path());
    let imported = keys(&second, &["import", &file]);
    assert!(imported.ends_with("4 added, 0 shortened, 0 left as they are"), "{imported}");
    assert!(imported.contains(&format!("added      {}  revoked", &revoked[..15])), "{imported}");
    let dry: Value = serde_json::from_str(&dry).unwrap();
    assert_eq!((&dry["dry_run"], &dry["added"][3].is_object()), (&true.into(), &true));
    let serving = Serving::on(&second.folder, &[]).await;
    for (key, expected) in [(&limited, 200), (&rotated, 200), (&replacing, 200), (&revoked, 401)] {
        assert_eq!(serving.response("/v1/npa/415", key).await.status(), expected);
    }
    let listed = keys(&second, &["list"]);
    for line in keys(&first, &["list"]).lines() {
        assert!(listed.contains(line), "{line}");
    }

    fs::write(&file, text.lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    let refused = stderr(&second.run(&["keys", "import", &file]));
    assert!(refused.contains("it holds 1 key, and its header says 4"), "{refused}");
}

/// Restoring a backup: keys of the restored table, which has another name, are imported into the stack's
/// table. Keys revoked since the backup stay revoked, even if they are revoked during the import.
#[tokio::test]
async fn keys_of_a_restored_table_can_be_imported_and_revoked_ones_stay_revoked() {
    let database = Database::in_memory().await.unwrap();
    let [stack, restored] = ["numbers-api_keys", "numbers-api_keys-restored"]
        .map(|table| database.store().with_api_keys_table(table.to_owned()));
    tables::create_missing(&restored).await.unwrap();
    create_tables_of_stack("numbers", database.endpoint()).await;
    let [kept, revoked, ended_later] = [(); 3].map(|()| random().unwrap());
    for key in [&kept, &revoked, &ended_later] {
        register(&restored, key, "a client").await.unwrap();
    }
    let backed_up = restored.api_key(&revoked.hash()).await.unwrap().unwrap();
    // A key registered in two places has two creation times.
    let created_at = backed_up.created_at + 1.hour();
    stack.put_api_key(&KeyRecord { created_at, ..backed_up }).await.unwrap();
    stack.revoke_api_key(&revoked.hash(), Timestamp::now()).await.unwrap();

    let was_held = AtomicBool::new(false);
    let hold_first = move |_, operation: &str| match operation {
        "PutItem" if !was_held.swap(true, Ordering::SeqCst) => Fault::Held,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(database.endpoint(), hold_first).await;
    let operator = Operator::new();
    let file = operator.path("keys.jsonl");
    let keys = async |arguments: &[&str]| {
        let mut command = program(&[&["keys"], arguments, &["--stack", "numbers"]].concat());
        command.envs([
            ("AWS_ENDPOINT_URL_DYNAMODB", proxy.endpoint.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        output_of(command).await
    };
    keys(&["export", &file, "--table", "numbers-api_keys-restored"]).await;
    let meanwhile = async {
        proxy.until_held().await;
        register(&stack, &ended_later, "a client").await.unwrap();
        stack.revoke_api_key(&ended_later.hash(), Timestamp::now()).await.unwrap();
        proxy.release();
    };
    let import = ["import", &file];
    let (imported, ()) = tokio::join!(keys(&import), meanwhile);
    assert!(imported.ends_with("2 added, 0 shortened, 1 left as they are\n"), "{imported}");
    let is_live =
        async |key: &str| stack.api_key(key).await.unwrap().unwrap().is_live(Timestamp::now());
    assert!(is_live(&kept.hash()).await && !is_live(&revoked.hash()).await);
    assert!(!is_live(&ended_later.hash()).await);
}

/// The program creates the tables that its environment names.
async fn create_tables_of_stack(stack: &str, endpoint: &str) {
    let tables = Tables::for_stack(stack);
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

/// The output of a successful command. The test keeps running, since it may be answering the command.
async fn output_of(mut command: Command) -> String {
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap());
    stdout(&ended.await.unwrap())
}
