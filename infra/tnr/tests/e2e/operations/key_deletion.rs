//! Deleting the name and note of a key that no longer works.

use crate::support::{
    databases::sample_folder,
    program::{Server, run, stderr, stdout},
};

#[tokio::test]
async fn deleted_keys_leave_no_name_behind_and_stay_invalid() {
    let data_dir = sample_folder();
    let list = || stdout(&run(&data_dir, &["keys", "list"]));
    let create = ["keys", "create", "--name", "Erika Mustermann", "--note", "erika@example.com"];
    let key = stdout(&run(&data_dir, &create)).trim().to_owned();
    let rejected = run(&data_dir, &["keys", "delete", &key]);
    assert_eq!(rejected.status.code(), Some(2));
    let error = stderr(&rejected);
    assert!(error.contains("still works; revoke it with 'tnr keys revoke'"), "{error}");
    assert!(!error.contains(&key) && list().contains("Erika Mustermann"), "{error}");

    let server = Server::on(&data_dir, &[]).await;
    let prefix = &key[..15];
    stdout(&run(&data_dir, &["keys", "revoke", prefix]));
    let deleted = stdout(&run(&data_dir, &["keys", "delete", prefix]));
    assert_eq!(deleted, format!("Deleted {prefix}, including its name and note.\n"));
    assert!(!list().contains("Mustermann") && list().contains(" local\n"));
    let again = stderr(&run(&data_dir, &["keys", "delete", prefix]));
    assert!(again.contains("0 API keys start with"), "{again}");
    assert_eq!(server.response("/v1/carriers", &key).await.status(), 401);
    // The database file keeps the bytes of deleted items for a while; a copy has none.
    let (copy, own) = (data_dir.path().join("copy.sqlite"), &server.key[..15]);
    stdout(&run(&data_dir, &["backup", copy.to_str().unwrap()]));
    let copy = std::fs::read(copy).unwrap();
    let contains = |text: &str| copy.windows(text.len()).any(|found| found == text.as_bytes());
    assert!(contains(own), "the search does not find a key that is present");
    assert!(!contains("Mustermann") && !contains("erika@example.com") && !contains(prefix));
}
