//! Tests shutdown: pending requests complete, quota counts are written, and a second signal stops the server
//! immediately.

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    os::unix::net::UnixDatagram,
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
    fault_proxy::{Call, Fault, FaultProxy},
    keys::{counted_requests, key_with_quotas},
    processes::{send_signal, wait_for_exit, wait_until},
    program::{Server, program},
    service::{KEY, Service, http_client},
};

/// Longer than the default, and than this test's requests take on a busy machine.
const DRAIN: Duration = Duration::from_secs(12);
/// A server that ignores a signal takes longer.
const MAX_STOP_TIME: Duration = Duration::from_secs(20);

/// A server with a request that the client never completes.
async fn serve_unfinished_request(data_dir: &TempDir, grace: &str) -> (Server, TcpStream) {
    write_sample_into(data_dir.path());
    let server = Server::on(data_dir, &["--drain", "0", "--grace", grace]).await;
    let address = server.base_url.strip_prefix("http://").unwrap();
    let mut unfinished = TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n").unwrap();
    // Connections are accepted in order. A response on a later one means that the server has accepted this one.
    server.get("/health").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    (server, unfinished)
}

/// Asserts that systemd gets this notification.
fn assert_notified(service_manager: &UnixDatagram, expected: &str) {
    let mut message = [0; 200];
    let length = service_manager.recv(&mut message).unwrap();
    assert_eq!(String::from_utf8_lossy(&message[..length]).trim(), expected);
}

#[tokio::test]
async fn requests_are_served_while_draining_and_systemd_is_notified() {
    let service = Service::with_sample().await;
    let [is_silent, is_requested] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let (is_silent_now, was_requested) = (Arc::clone(&is_silent), Arc::clone(&is_requested));
    // Without an item, the request is served from memory after a few seconds.
    let stalled_reads = move |call: &Call| {
        if call.operation != "GetItem" || !is_silent_now.load(Ordering::SeqCst) {
            return Fault::None;
        }
        was_requested.store(true, Ordering::SeqCst);
        Fault::Stall
    };
    let proxy = FaultProxy::new(service.database.endpoint(), stalled_reads).await;
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("notify");
    let service_manager = UnixDatagram::bind(&socket).unwrap();
    service_manager.set_read_timeout(Some(MAX_STOP_TIME)).unwrap();
    let drain = DRAIN.as_secs().to_string();
    let options = ["--drain", &drain, "--ops-address", "127.0.0.1:0", "--port", "0"];
    let mut command = program(&[&options[..], &["--endpoint-url", &proxy.endpoint]].concat());
    let mut server = Server::start(command.env("NOTIFY_SOCKET", &socket)).await;
    assert_notified(&service_manager, "READY=1");
    let operations = server.operations_url();
    let url = |path: &str| format!("{}{path}", server.base_url);
    let get = |path: &str| http_client().get(url(path)).bearer_auth(KEY).send();
    assert_eq!(get("/v1/npa/415?limit=1").await.unwrap().status(), 200);
    let readiness = async || {
        let response = http_client().get(format!("{operations}/ready")).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    };
    assert_eq!(readiness().await, (StatusCode::OK, "ready\n".to_owned()));

    is_silent.store(true, Ordering::SeqCst);
    let in_flight = tokio::spawn(get("/v1/npa/415/nxx/206"));
    wait_until(async || is_requested.load(Ordering::SeqCst)).await;
    let signaled = Instant::now();
    send_signal("TERM", &server.process);
    assert_notified(&service_manager, "STOPPING=1");
    let stopping = (StatusCode::SERVICE_UNAVAILABLE, "the server is stopping\n".to_owned());
    wait_until(async || readiness().await == stopping).await;
    let health = get("/health").await.unwrap();
    assert_eq!(health.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body: serde_json::Value = health.json().await.unwrap();
    assert_eq!((&body["status"], &body["database"]), (&"unhealthy".into(), &"connected".into()));
    assert!(body["last_ingestion"].is_string(), "{body}");
    let response = get("/v1/npa/415?limit=1").await.unwrap();
    assert_eq!(response.status(), 200, "load balancers need time to notice that it is not ready");
    assert_eq!(response.headers()["connection"], "close");
    assert!(signaled.elapsed() < DRAIN, "this machine is too busy for this test");
    wait_until(async || get("/health").await.is_err_and(|error| error.is_connect())).await;
    assert!(signaled.elapsed() >= DRAIN, "{:?}", signaled.elapsed());
    let response = in_flight.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    assert!(wait_for_exit(&mut server.process).await.success());
}

#[tokio::test]
async fn ctrl_c_skips_draining_and_still_writes_quota_counts() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    for fault in [Fault::None, Fault::NON_RETRYABLE] {
        let key = key_with_quotas(&store, None, Some(1000)).await;
        let endpoint = service.database.endpoint();
        let proxy = FaultProxy::for_operation(endpoint, "UpdateItem", fault).await;
        let mut server = Server::at(&proxy.endpoint, &["--drain", "600"]).await;
        for _ in 0..20 {
            let response = server.response("/v1/npa/415?limit=1", key.reveal()).await;
            assert_eq!(response.status(), 200);
        }
        let signaled = Instant::now();
        send_signal("INT", &server.process);
        assert!(wait_for_exit(&mut server.process).await.success());
        assert!(signaled.elapsed() < MAX_STOP_TIME, "{:?}", signaled.elapsed());
        let is_logged = server.output().contains("cannot write the last quota counts");
        assert_eq!(is_logged, fault != Fault::None, "{}", server.output());
        assert_eq!(counted_requests(&store).await.values().sum::<u64>(), 20, "of the first key");
    }
}

#[tokio::test]
async fn second_signal_ends_the_grace_period_for_unfinished_requests() {
    for (grace, second, expected) in
        [("8", None, Duration::from_millis(7900)), ("600", Some("INT"), Duration::ZERO)]
    {
        let data_dir = TempDir::new().unwrap();
        let (mut server, _unfinished) = serve_unfinished_request(&data_dir, grace).await;
        send_signal("TERM", &server.process);
        let mut signaled = Instant::now();
        if let Some(second) = second {
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert!(server.process.try_wait().unwrap().is_none(), "it finishes the request");
            signaled = Instant::now();
            send_signal(second, &server.process);
        }
        assert_eq!(wait_for_exit(&mut server.process).await.success(), second.is_none());
        let elapsed = signaled.elapsed();
        assert!((expected..MAX_STOP_TIME).contains(&elapsed), "{grace}: {elapsed:?}");
        let output = server.output();
        assert_eq!(output.contains("stopped by a second signal"), second.is_some(), "{output}");
    }
}

#[tokio::test]
async fn a_signal_during_startup_stops_the_server_immediately() {
    // A database that accepts connections but never responds.
    let database = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", database.local_addr().unwrap());
    let options = ["--port", "0", "--drain", "600", "--endpoint-url", &endpoint];
    let mut server = program(&options).spawn().unwrap();
    let (_request, _) = database.accept().unwrap();
    let signaled = Instant::now();
    send_signal("TERM", &server);
    assert!(wait_for_exit(&mut server).await.success());
    assert!(signaled.elapsed() < MAX_STOP_TIME, "{:?}", signaled.elapsed());
}
