//! Shutdown: pending requests complete, quota counts are written, and a second signal ends the server immediately.

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use tempfile::TempDir;

use crate::support::{
    databases::write_sample_into,
    fault_proxy::{Fault, FaultProxy, at_operation},
    keys::{counted_requests, key_with_quotas},
    processes::{send_signal, until, until_ended},
    program::{Serving, program},
    service::{KEY, Service, http_client},
};

/// A server with a request that the client never completes.
async fn serve_unfinished_request(data_dir: &TempDir, grace: &str) -> (Serving, TcpStream) {
    write_sample_into(data_dir.path());
    let serving = Serving::on(data_dir, &["--drain", "0", "--grace", grace]).await;
    let address = serving.base_url.strip_prefix("http://").unwrap();
    let mut unfinished = TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n").unwrap();
    // Connections are accepted in order: a response on a later one means the server has accepted this one.
    serving.get("/health").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    (serving, unfinished)
}

#[tokio::test]
async fn requests_are_answered_while_draining() {
    let service = Service::with_sample().await;
    let [is_silent, is_requested] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (is_silent_now, was_requested) = (Arc::clone(&is_silent), Arc::clone(&is_requested));
    // Without an item, the request is served from memory after a few seconds.
    let stalled_reads = move |_, operation: &str| {
        if operation != "GetItem" || !is_silent_now.load(Ordering::SeqCst) {
            return Fault::None;
        }
        was_requested.store(true, Ordering::SeqCst);
        Fault::Stall
    };
    let proxy = FaultProxy::before(service.database.endpoint(), stalled_reads).await;
    let options = ["--drain", "3", "--ops-address", "127.0.0.1:0"];
    let mut serving = Serving::at(&proxy.endpoint, &options).await;
    let operations = serving.operations_url();
    let url = |path: &str| format!("{}{path}", serving.base_url);
    let ask = |path: &str| http_client().get(url(path)).bearer_auth(KEY).send();
    assert_eq!(ask("/v1/npa/415?limit=1").await.unwrap().status(), 200);
    let readiness = async || {
        let response = http_client().get(format!("{operations}/ready")).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    };
    assert_eq!(readiness().await, (StatusCode::OK, "ready\n".to_owned()));

    is_silent.store(true, Ordering::SeqCst);
    let running = tokio::spawn(ask("/v1/npa/415/nxx/206"));
    until(async || is_requested.load(Ordering::SeqCst)).await;
    send_signal("TERM", &serving.process);
    let stopping = (StatusCode::SERVICE_UNAVAILABLE, "the server is stopping\n".to_owned());
    let signaled = Instant::now();
    until(async || readiness().await == stopping).await;
    let health = ask("/health").await.unwrap();
    assert_eq!(health.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body: serde_json::Value = health.json().await.unwrap();
    assert_eq!((&body["status"], &body["database"]), (&"unhealthy".into(), &"connected".into()));
    assert!(body["last_ingestion"].is_string(), "{body}");
    let response = ask("/v1/npa/415?limit=1").await.unwrap();
    assert_eq!(response.status(), 200, "load balancers need time to notice that it is not ready");
    assert_eq!(response.headers()["connection"], "close");
    assert!(signaled.elapsed() < Duration::from_secs(3), "this machine is too busy for this test");
    until(async || ask("/health").await.is_err_and(|error| error.is_connect())).await;
    assert!(signaled.elapsed() >= Duration::from_secs(3), "{:?}", signaled.elapsed());
    let response = running.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    assert!(until_ended(&mut serving.process).await.success());
}

#[tokio::test]
async fn ctrl_c_skips_draining_and_quota_counts_are_written_before_the_server_exits() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, None, Some(1000)).await;
    let serving = Serving::at(service.database.endpoint(), &["--drain", "600"]).await;
    for _ in 0..20 {
        let response = serving.response("/v1/npa/415?limit=1", key.reveal()).await;
        assert_eq!(response.status(), 200);
    }
    let signaled = Instant::now();
    assert!(serving.interrupt().await);
    assert!(signaled.elapsed() < Duration::from_secs(5), "{:?}", signaled.elapsed());
    assert_eq!(counted_requests(&store).await.values().sum::<u64>(), 20);
}

#[tokio::test]
async fn lost_quota_counts_are_logged_at_shutdown() {
    let service = Service::with_sample().await;
    let key = key_with_quotas(&service.database.store(), None, Some(1000)).await;
    let refused_counts = at_operation("UpdateItem", Fault::Dead);
    let proxy = FaultProxy::before(service.database.endpoint(), refused_counts).await;
    let mut serving = Serving::at(&proxy.endpoint, &[]).await;
    let response = serving.response("/v1/npa/415?limit=1", key.reveal()).await;
    assert_eq!(response.status(), 200);
    send_signal("INT", &serving.process);
    assert!(until_ended(&mut serving.process).await.success());
    let output = serving.output();
    assert!(output.contains("cannot write the last quota counts"), "{output}");
}

#[tokio::test]
async fn unfinished_requests_get_only_the_grace_period() {
    let data_dir = TempDir::new().unwrap();
    let (mut serving, _unfinished) = serve_unfinished_request(&data_dir, "1").await;
    let signaled = Instant::now();
    send_signal("TERM", &serving.process);
    assert!(until_ended(&mut serving.process).await.success());
    let elapsed = signaled.elapsed();
    assert!((Duration::from_millis(900)..Duration::from_secs(4)).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn a_signal_during_startup_ends_the_server_at_once() {
    // It accepts requests and never responds.
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", database.local_addr().unwrap());
    let options = ["--port", "0", "--endpoint-url", &endpoint];
    let mut server = program(&options).spawn().unwrap();
    let (_request, _) = database.accept().unwrap();
    let signaled = Instant::now();
    send_signal("TERM", &server);
    assert!(until_ended(&mut server).await.success());
    assert!(signaled.elapsed() < Duration::from_secs(3), "{:?}", signaled.elapsed());
}

#[tokio::test]
async fn a_second_signal_ends_the_server_at_once() {
    let data_dir = TempDir::new().unwrap();
    let (mut serving, _unfinished) = serve_unfinished_request(&data_dir, "600").await;
    send_signal("TERM", &serving.process);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(serving.process.try_wait().unwrap().is_none(), "the first signal waits for requests");
    let signaled = Instant::now();
    send_signal("INT", &serving.process);
    assert!(!until_ended(&mut serving.process).await.success());
    assert!(signaled.elapsed() < Duration::from_secs(3), "{:?}", signaled.elapsed());
    assert!(serving.output().contains("stopped by a second signal"), "{}", serving.output());
}
