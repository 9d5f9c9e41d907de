//! Serving, keys, and startup errors.

use std::{fs, net::TcpListener, process::Stdio};

use store::{Store, TimeoutProfile};
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    processes::{send_signal, wait_for_exit, wait_until},
    program::{Server, command_for, run, stderr, stdout},
    service::{KEY, http_client},
};

/// Returns `true` if the database in the folder's `dynamodb.env` has data and a key.
async fn is_prepared(data_dir: &TempDir) -> bool {
    let variables = || fs::read_to_string(data_dir.path().join("dynamodb.env")).unwrap_or_default();
    wait_until(async || !variables().is_empty()).await;
    let variables = variables();
    let value_of = |name| variables.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let (endpoint, id) = (value_of("AWS_ENDPOINT_URL_DYNAMODB="), value_of("AWS_ACCESS_KEY_ID="));
    let store = Store::connect_to_embedded(endpoint, id, TimeoutProfile::Batch);
    store.manifest().await.unwrap().is_some() && store.api_keys().await.unwrap().len() == 1
}

#[tokio::test]
async fn the_embedded_database_is_unreachable_until_its_sample_is_loaded() {
    for arguments in [["dynamodb", "--port", "0"].as_slice(), &["--port", "0"]] {
        let data_dir = TempDir::new().unwrap();
        let mut process = command_for(&data_dir, arguments).stdout(Stdio::null()).spawn().unwrap();
        assert!(is_prepared(&data_dir).await, "{arguments:?}");
        send_signal("INT", &process);
        assert!(wait_for_exit(&mut process).await.success(), "{arguments:?}");
    }
}

#[tokio::test]
async fn failed_starts_report_the_cause() {
    let (data_dir, other) = (sample_folder(), TempDir::new().unwrap());
    let server = Server::on(&data_dir, &[]).await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = &taken.local_addr().unwrap().port().to_string();
    let port_error = &format!("cannot listen on 127.0.0.1:{port}; choose another with --host or");
    let in_use = "is served by another process; stop that process, or use its DynamoDB";
    let nowhere = ["--port", "0", "--endpoint-url", "http://127.0.0.1:9"];
    for (folder, arguments, message) in [
        (&data_dir, &["--port", "0"][..], in_use),
        (&other, &["--port", port], port_error),
        (&other, &["--port", "0", "--key", "secret"], "not an API key"),
        (&other, &nowhere, "the database is not responding"),
    ] {
        let rejected = run(folder, arguments);
        let error = stderr(&rejected);
        assert_eq!(rejected.status.code(), Some(2), "{arguments:?}");
        assert!(error.contains(message) && !error.contains("panicked"), "{error}");
    }
    assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn serve_replaces_its_own_revoked_key_and_rejects_an_explicit_one() {
    let data_dir = sample_folder();
    let server = Server::on(&data_dir, &["--key", KEY]).await;
    assert_eq!(server.key, KEY);
    stdout(&run(&data_dir, &["keys", "revoke", KEY]));
    server.kill();
    let rejected = run(&data_dir, &["--key", KEY, "--port", "0"]);
    let error = stderr(&rejected);
    assert!(error.contains("is revoked or expired") && !error.contains(KEY), "{error}");

    let server = Server::on(&data_dir, &[]).await;
    let own = server.key.clone();
    stdout(&run(&data_dir, &["keys", "revoke", &own]));
    server.kill();
    let server = Server::on(&data_dir, &[]).await;
    assert_ne!(server.key, own);
    assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn data_and_keys_survive_a_kill_and_revoked_keys_stay_revoked() {
    let data_dir = TempDir::new().unwrap();
    let server = Server::on(&data_dir, &[]).await;
    let stats = server.get("/v1/stats").await;
    assert_eq!(stats["total_records"], 3484);
    let key = stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
    let key = key.trim();
    let request = || http_client().get(format!("{}/v1/carriers", server.base_url)).bearer_auth(key);
    assert_eq!(request().send().await.unwrap().status(), 200);

    let listed = stdout(&run(&data_dir, &["keys", "list"]));
    let key_row = listed.lines().find(|line| line.ends_with("a client")).unwrap();
    assert!(key_row.contains(" active ") && !listed.contains(key), "{listed}");
    let prefix = key_row.split_whitespace().next().unwrap();

    let ambiguous = run(&data_dir, &["keys", "revoke", "tnr_live_"]);
    assert!(stderr(&ambiguous).contains("2 API keys start with 'tnr_live_'"));
    stdout(&run(&data_dir, &["keys", "revoke", prefix]));
    assert!(stdout(&run(&data_dir, &["keys", "list"])).contains(" revoked "));
    let own = server.key.clone();
    server.kill();

    let restarted = Server::on(&data_dir, &["serve"]).await;
    assert_eq!((&restarted.key, restarted.get("/v1/stats").await), (&own, stats));
    assert_eq!(restarted.get("/v1/npa/415?limit=1").await["npa"], "415");
    let request = http_client().get(format!("{}/v1/carriers", restarted.base_url)).bearer_auth(key);
    assert_eq!(request.send().await.unwrap().status(), 401);
    assert!(restarted.interrupt().await, "Ctrl-C stops it cleanly");
}
