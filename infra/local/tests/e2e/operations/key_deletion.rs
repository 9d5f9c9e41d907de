//! The end of a key: its name and note can be deleted once it no longer works.

use tempfile::TempDir;

use crate::support::{
    databases::write_sample_into,
    program::{Serving, run, stderr, stdout},
    service::http_client,
};

/// A folder with the sample and a key, which is the second value.
fn folder_with_key() -> (TempDir, String) {
    let data_dir = TempDir::new().unwrap();
    write_sample_into(data_dir.path());
    let create = ["keys", "create", "--name", "Erika Mustermann", "--note", "erika@example.com"];
    let key = stdout(&run(&data_dir, &create)).trim().to_owned();
    (data_dir, key)
}

fn list(data_dir: &TempDir) -> String {
    stdout(&run(data_dir, &["keys", "list"]))
}

#[test]
fn a_key_that_still_works_is_not_deleted() {
    let (data_dir, key) = folder_with_key();
    let refused = run(&data_dir, &["keys", "delete", &key]);
    assert_eq!(refused.status.code(), Some(2));
    let error = stderr(&refused);
    assert!(error.contains("still works; revoke it with 'tnr keys revoke'"), "{error}");
    assert!(!error.contains(&key), "{error}");
    assert!(list(&data_dir).contains("Erika Mustermann"));
}

#[tokio::test]
async fn a_deleted_key_leaves_no_name_behind_and_stays_refused() {
    let (data_dir, key) = folder_with_key();
    let serving = Serving::on(&data_dir, &[]).await;
    let prefix = &key[..15];
    stdout(&run(&data_dir, &["keys", "revoke", prefix]));
    let deleted = stdout(&run(&data_dir, &["keys", "delete", prefix]));
    assert_eq!(deleted, format!("Deleted {prefix}, with its name and note.\n"));
    assert!(!list(&data_dir).contains("Mustermann") && list(&data_dir).contains(" local\n"));
    let again = stderr(&run(&data_dir, &["keys", "delete", prefix]));
    assert!(again.contains("0 API keys begin with"), "{again}");
    let status = async |serving: &Serving| {
        let request = http_client().get(format!("{}/v1/carriers", serving.base_url));
        request.bearer_auth(&key).send().await.unwrap().status()
    };
    assert_eq!(status(&serving).await, 401);
    // The file of the database keeps the bytes of deleted items for a while; a copy has none of them.
    let (copy, own) = (data_dir.path().join("copy.sqlite"), &serving.key[..15]);
    stdout(&run(&data_dir, &["backup", copy.to_str().unwrap()]));
    let copy = std::fs::read(copy).unwrap();
    let holds = |text: &str| copy.windows(text.len()).any(|found| found == text.as_bytes());
    assert!(holds(own), "the copy is not searched as it should be");
    assert!(!holds("Mustermann") && !holds("erika@example.com") && !holds(prefix));
}
