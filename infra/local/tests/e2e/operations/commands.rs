//! The program as an operator types it: serving, keys, and startup errors.

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    process::Stdio,
    time::Duration,
};

use store::{Store, Tables, TimeoutProfile};
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    processes::{send_signal, until, until_ended},
    program::{Serving, database_variables, program, program_on, run, stderr, stdout},
    service::{KEY, http_client},
};

/// Returns `true` if the database in the folder's `dynamodb.env` has data and a key.
async fn is_prepared(data_dir: &TempDir) -> bool {
    let variables = || fs::read_to_string(data_dir.path().join("dynamodb.env")).unwrap_or_default();
    until(async || !variables().is_empty()).await;
    let variables = variables();
    let value_of = |name| variables.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let (endpoint, id) = (value_of("AWS_ENDPOINT_URL_DYNAMODB="), value_of("AWS_ACCESS_KEY_ID="));
    let store = Store::at_embedded(endpoint, id, TimeoutProfile::Batch);
    store.manifest().await.unwrap().is_some() && store.api_keys().await.unwrap().len() == 1
}

#[tokio::test]
async fn the_embedded_database_is_unreachable_until_its_sample_is_loaded() {
    for arguments in [["dynamodb", "--port", "0"].as_slice(), &["--port", "0"]] {
        let data_dir = TempDir::new().unwrap();
        let mut process = program_on(&data_dir, arguments).stdout(Stdio::null()).spawn().unwrap();
        assert!(is_prepared(&data_dir).await, "{arguments:?}");
        send_signal("INT", &process);
        assert!(until_ended(&mut process).await.success(), "{arguments:?}");
    }
}

#[tokio::test]
async fn ctrl_c_does_not_wait_for_an_unfinished_request() {
    let data_dir = sample_folder();
    let serving = Serving::on(&data_dir, &[]).await;
    let address = serving.base_url.strip_prefix("http://").unwrap();
    let mut unfinished = TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n").unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(serving.interrupt().await);
}

#[tokio::test]
async fn failed_starts_explain_the_reason() {
    let (data_dir, other) = (sample_folder(), TempDir::new().unwrap());
    let serving = Serving::on(&data_dir, &[]).await;
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = &taken.local_addr().unwrap().port().to_string();
    let not_free = &format!("cannot listen on 127.0.0.1:{port}; choose another with --host or");
    let served = "is served by another process; stop that process, or use its DynamoDB";
    let nowhere = ["--port", "0", "--endpoint-url", "http://127.0.0.1:9"];
    for (folder, arguments, message) in [
        (&data_dir, &["--port", "0"][..], served),
        (&other, &["--port", port], not_free),
        (&other, &["--port", "0", "--key", "secret"], "not an API key"),
        (&other, &nowhere, "the database does not answer"),
    ] {
        let refused = run(folder, arguments);
        let error = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(error.contains(message) && !error.contains("panicked"), "{error}");
    }
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn serve_replaces_its_own_revoked_key_and_refuses_a_given_one() {
    let data_dir = sample_folder();
    let serving = Serving::on(&data_dir, &["--key", KEY]).await;
    assert_eq!(serving.key, KEY);
    stdout(&run(&data_dir, &["keys", "revoke", KEY]));
    serving.kill();
    let refused = run(&data_dir, &["--key", KEY, "--port", "0"]);
    let error = stderr(&refused);
    assert!(error.contains("has been revoked") && !error.contains(KEY), "{error}");

    let serving = Serving::on(&data_dir, &[]).await;
    let own = serving.key.clone();
    stdout(&run(&data_dir, &["keys", "revoke", &own]));
    serving.kill();
    let serving = Serving::on(&data_dir, &[]).await;
    assert_ne!(serving.key, own);
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn data_and_keys_outlast_a_kill_and_revoked_keys_stay_revoked() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::on(&data_dir, &[]).await;
    let stats = serving.get("/v1/stats").await;
    assert_eq!(stats["total_records"], 3484);
    let key = stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
    let key = key.trim();
    let request =
        || http_client().get(format!("{}/v1/carriers", serving.base_url)).bearer_auth(key);
    assert_eq!(request().send().await.unwrap().status(), 200);

    let listed = stdout(&run(&data_dir, &["keys", "list"]));
    let of_key = listed.lines().find(|line| line.ends_with("a client")).unwrap();
    assert!(of_key.contains(" live ") && !listed.contains(key), "{listed}");
    let prefix = of_key.split_whitespace().next().unwrap();

    let ambiguous = run(&data_dir, &["keys", "revoke", "tnr_live_"]);
    assert!(stderr(&ambiguous).contains("2 API keys begin with 'tnr_live_'"));
    stdout(&run(&data_dir, &["keys", "revoke", prefix]));
    assert!(stdout(&run(&data_dir, &["keys", "list"])).contains(" revoked "));
    let own = serving.key.clone();
    serving.kill();

    let restarted = Serving::on(&data_dir, &["serve"]).await;
    assert_eq!((&restarted.key, restarted.get("/v1/stats").await), (&own, stats));
    assert_eq!(restarted.get("/v1/npa/415?limit=1").await["npa"], "415");
    let request = http_client().get(format!("{}/v1/carriers", restarted.base_url)).bearer_auth(key);
    assert_eq!(request.send().await.unwrap().status(), 401);
    assert!(restarted.interrupt().await, "Ctrl-C ends it cleanly");
}

#[tokio::test]
async fn a_deployed_stack_is_found_by_its_name() {
    let data_dir = TempDir::new().unwrap();
    let tables = Tables::for_stack("numbers");
    let serving = Serving::start(program_on(&data_dir, &["--port", "0"]).envs([
        ("CARRIERS_TABLE", &tables.carriers),
        ("EXCHANGES_TABLE", &tables.exchanges),
        ("DATASET_TABLE", &tables.dataset),
        ("API_KEYS_TABLE", &tables.api_keys),
        ("USAGE_TABLE", &tables.usage),
    ]))
    .await;
    let keys = async |arguments: &[&str], stack: &str| {
        let mut command = program(&[&["keys"], arguments, &["--stack", stack]].concat());
        command.envs(database_variables(&data_dir));
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    let created = keys(&["create", "--name", "a client", "--per-minute", "5"], "numbers").await;
    let key = stdout(&created);
    let request = http_client().get(format!("{}/v1/npa/415", serving.base_url));
    let response = request.bearer_auth(key.trim()).send().await.unwrap();
    assert_eq!(response.headers()["x-ratelimit-minute-limit"], "5");

    let other = keys(&["list"], "letters").await;
    let error = stderr(&other);
    let expected = "error: stack 'letters' is not a deployment of this service in region \
                    'us-east-1'; give the name that 'sam deploy' was given";
    assert!(error.starts_with(expected), "{error}");
}
