//! `tnr keys export` and `tnr keys import`.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use crate::support::{
    databases::write_sample_into,
    operator::Operator,
    program::{Server, stdout},
};

/// Runs `tnr keys` on an operator's database, and returns its output.
fn keys(operator: &Operator, arguments: &[&str]) -> String {
    stdout(&operator.run(&[&["keys"], arguments].concat())).trim().to_owned()
}

#[tokio::test]
async fn exported_keys_work_on_another_database_with_the_same_terms() {
    let (first, second) = (Operator::new(), Operator::new());
    let limited = keys(&first, &["create", "--name", "limited", "--per-minute", "5000"]);
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
    assert_eq!(fs::read_dir(second.folder.path()).unwrap().count(), 0, "a dry run creates nothing");
    write_sample_into(second.folder.path());
    let imported = keys(&second, &["import", &file]);
    assert!(imported.ends_with("2 added, 0 shortened, 0 unchanged"), "{imported}");
    let server = Server::on(&second.folder, &["--no-sample"]).await;
    let listed = keys(&second, &["list"]);
    assert!(listed.contains(", 5,000 per minute"), "{listed}");
    assert!(keys(&first, &["list"]).lines().all(|line| listed.contains(line)), "{listed}");
    for (key, expected) in [(&limited, 200), (&revoked, 401)] {
        assert_eq!(server.response("/v1/npa/415", key).await.status(), expected);
    }
}
