//! A database that is not as it should be: clear errors, bounded time, and no key let in.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use shared::{app, state::App};
use store::{Store, TimeoutProfile};
use tnr::{commands::keys, database::Database, routes};
use tokio::net::TcpListener;

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::{KEY, Service, http_client},
};

const PATHS: [&str; 6] = [
    "/v1/carriers",
    "/v1/carrier/908K",
    "/v1/npa/415",
    "/v1/npa/415/nxx/234",
    "/v1/format/+13052345678",
    "/v1/search?npa=415",
];

async fn delete_table(service: &Service, table: &str) {
    let store = service.database.store();
    let (client, _) = store.parts();
    client.delete_table().table_name(table).send().await.unwrap();
}

async fn unavailable(service: &Service, path: &str) {
    let response = service.get(path).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
    assert_eq!(response.headers()["retry-after"], "5", "{path}");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"], "service_unavailable", "{path}");
    let message = body["message"].as_str().unwrap();
    assert!(!message.contains("table") && !message.contains("DynamoDB"), "internals: {message}");
}

#[tokio::test]
async fn a_missing_dataset_is_a_503_where_it_is_needed() {
    let service = Service::with_sample().await;
    delete_table(&service, "dataset").await;
    for path in PATHS {
        unavailable(&service, path).await;
    }
    service.ok("/v1/format/+442079460958").await;
}

#[tokio::test]
async fn missing_lookup_tables_are_answered_from_memory() {
    let service = Service::with_sample().await;
    let mut expected = Vec::new();
    for path in PATHS {
        expected.push(service.ok(path).await);
    }
    delete_table(&service, "exchanges").await;
    delete_table(&service, "carriers").await;
    let service = service.restarted().await;
    for (path, expected) in PATHS.iter().zip(expected) {
        assert_eq!(service.ok(path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn with_the_data_in_memory_lookups_go_on_without_their_tables() {
    let service = Service::with_sample().await;
    let mut expected = Vec::new();
    for path in PATHS {
        expected.push(service.ok(path).await);
    }
    for table in ["exchanges", "carriers", "dataset"] {
        delete_table(&service, table).await;
    }
    for (path, expected) in PATHS.iter().zip(expected) {
        assert_eq!(service.ok(path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn a_missing_key_table_lets_nobody_in() {
    let service = Service::with_sample().await;
    delete_table(&service, "api_keys").await;
    for path in PATHS {
        unavailable(&service, path).await;
    }
}

#[tokio::test]
async fn health_tells_degraded_from_unhealthy() {
    let service = Service::with_sample().await;
    let healthy = service.ok("/health").await;
    delete_table(&service, "dataset").await;
    let degraded = service.ok("/health").await;
    assert_eq!((&degraded["status"], &degraded["database"]), (&json!("degraded"), &json!("error")));
    assert_eq!(degraded["last_ingestion"], healthy["last_ingestion"]);
    service.ok("/stats").await;

    let service = Service::with_sample().await;
    delete_table(&service, "dataset").await;
    let (status, unhealthy) = service.answer("/health").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        (&unhealthy["status"], &unhealthy["database"]),
        (&json!("unhealthy"), &json!("error"))
    );
    unavailable(&service, "/stats").await;
}

#[tokio::test]
async fn an_unreachable_database_is_a_503_in_bounded_time() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let silent = format!("http://{}", nobody.local_addr().unwrap());
    let refusing = "http://127.0.0.1:9".to_owned();
    for endpoint in [refusing, silent] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let service =
            app::service(routes(), App::on(Store::at(&endpoint, TimeoutProfile::Request).await));
        tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        for path in ["/v1/npa/415", "/health"] {
            let started = Instant::now();
            let request = http_client().get(format!("{base_url}{path}")).bearer_auth(KEY);
            let status = request.send().await.unwrap().status();
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{endpoint} {path}");
            assert!(started.elapsed() < Duration::from_secs(10), "{endpoint} {path}");
        }
    }
    drop(nobody);
}

/// Every endpoint, under every fault, with the data in memory and without: no panic, nothing but
/// the right answer or a 503, nobody let in who should not be, and all in bounded time.
#[tokio::test]
async fn no_fault_of_the_database_makes_a_wrong_answer_or_lets_anybody_in() {
    let sample = Service::with_sample().await;
    let store = sample.database.store();
    let (unknown, revoked) = (keys::random().unwrap(), keys::random().unwrap());
    keys::register(&store, &revoked, "revoked").await.unwrap();
    keys::revoke(&store, revoked.prefix()).await.unwrap();
    let mut expected = Vec::new();
    for path in PATHS {
        expected.push(sample.ok(path).await);
    }
    for fault in
        [Fault::Throttled, Fault::InternalError, Fault::Stall, Fault::Reset, Fault::BrokenOff]
    {
        for warm in [false, true] {
            let failing = Arc::new(AtomicBool::new(false));
            let fails = Arc::clone(&failing);
            let policy =
                move |_, _: &str| if fails.load(Ordering::SeqCst) { fault } else { Fault::None };
            let proxy = FaultProxy::before(sample.database.endpoint(), policy).await;
            let database = Database::at(proxy.endpoint.clone()).await.unwrap();
            let service = Service::on(database).await;
            if warm {
                service.ok("/v1/carriers").await;
            }
            failing.store(true, Ordering::SeqCst);
            let ask = async |path: &str, key: &str| {
                let started = Instant::now();
                let response = service.request(path).bearer_auth(key).send().await.unwrap();
                assert!(started.elapsed() < Duration::from_secs(10), "{fault:?} {path}");
                (response.status(), response.json::<Value>().await.unwrap())
            };
            for (path, expected) in PATHS.iter().zip(&expected) {
                let (status, body) = ask(path, KEY).await;
                match (warm, status) {
                    (true, _) => assert_eq!(body, *expected, "{fault:?} {path}"),
                    (false, StatusCode::SERVICE_UNAVAILABLE) => (),
                    (false, _) => panic!("{fault:?} {path}: {status} {body}"),
                }
            }
            for key in [unknown.reveal(), revoked.reveal()] {
                let (status, body) = ask("/v1/npa/415", key).await;
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{fault:?}: {body}");
            }
            let (status, health) = ask("/health", KEY).await;
            let expected = if warm { (200, "degraded") } else { (503, "unhealthy") };
            assert_eq!((status.as_u16(), health["status"].as_str().unwrap()), expected);
            assert_eq!(health["database"], "error");

            failing.store(false, Ordering::SeqCst);
            let (status, _) = ask("/v1/npa/415/nxx/234", KEY).await;
            assert_eq!(status, StatusCode::OK, "{fault:?}: recovery is noticed at once");
            assert_eq!(ask("/health", KEY).await.1["status"], "healthy");
            assert_eq!(ask("/v1/npa/415", unknown.reveal()).await.0, StatusCode::UNAUTHORIZED);
        }
    }
}

#[tokio::test]
async fn a_damaged_snapshot_is_refused_and_never_half_read() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let (current, revision) = (manifest.current, manifest.revision);
    let snapshot = store.snapshot(&current).await;
    let mut snapshot = snapshot.unwrap();
    let middle = snapshot.len() / 2;
    snapshot[middle] ^= 1;
    store.write_snapshot(&current.version, &snapshot, &revision).await.unwrap();
    unavailable(&service, "/v1/npa/415").await;
    unavailable(&service, "/v1/npa/415/nxx/234").await;
}

#[tokio::test]
async fn a_damaged_current_version_is_answered_from_the_one_before() {
    let service = Service::with_sample().await;
    let before = service.ok("/v1/npa/415/nxx/234").await;
    let store = service.database.store();
    let texts = crate::small_set::Texts::first();
    let whatever: ingest::Percent = "100".parse().unwrap();
    let options = ingest::Options {
        max_shrink: whatever,
        max_change: Some(whatever),
        max_suspect: Some(whatever),
        ..ingest::Options::default()
    };
    ingest::ingest(&store, &texts.sources(), options, |_| ()).await.unwrap();
    let current = store.manifest().await.unwrap().unwrap().current.version;
    let (client, tables) = store.parts();
    let id = aws_sdk_dynamodb::types::AttributeValue::S(format!("{current}#0000"));
    client.delete_item().table_name(&tables.dataset).key("id", id).send().await.unwrap();

    let service = service.restarted().await;
    assert_eq!(service.ok("/v1/npa/415/nxx/234").await, before);
    let listed = service.ok("/v1/npa/212").await["pagination"]["total"].as_u64();
    assert!(listed > Some(0), "the small set has no 212");
}
