//! `tnr doctor` on a local database. `.ci/deployment/test_doctor.py` breaks the parts of a stack one by one.

use tempfile::TempDir;

use crate::support::{
    databases::write_sample_into,
    program::{Server, run, stderr, stdout},
};

#[tokio::test]
async fn doctor_examines_a_local_database_and_its_service() {
    let folder = TempDir::new().unwrap();
    let nothing = run(&folder, &["doctor"]);
    assert_eq!(nothing.status.code(), Some(3));
    assert!(stderr(&nothing).contains("' has no database"), "{}", stderr(&nothing));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "doctor creates nothing");

    write_sample_into(folder.path());
    let without_key = run(&folder, &["doctor"]);
    assert_eq!(without_key.status.code(), Some(2));
    let text = String::from_utf8_lossy(&without_key.stdout).into_owned();
    assert!(text.contains("  problem  keys: no key works"), "{text}");
    assert!(stderr(&without_key).contains("1 problem and 0 warnings"), "{}", stderr(&without_key));

    let server = Server::on(&folder, &[]).await;
    let (url, key) = (server.base_url.clone(), server.key.clone());
    let options = ["doctor", "--url", &url, "--key", &key];
    let healthy = stdout(&run(&folder, &options));
    assert!(healthy.contains("search /v1/search without a key: 401 in"), "{healthy}");
    assert!(healthy.contains("search /v1/search: 200 in"), "{healthy}");
    server.kill();
    let down = run(&folder, &options);
    assert_eq!(down.status.code(), Some(2));
    let text = String::from_utf8_lossy(&down.stdout).into_owned();
    assert!(text.contains(": the service is not responding; "), "{text}");
}
