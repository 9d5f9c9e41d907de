//! The DynamoDB calls that requests make, and their cost.

use store::Manifest;
use tnr::operate::costs::{measures::KEY_AND_MANIFEST_UNITS, snapshot_read_units};

use super::{
    fault_proxy::{AnsweredCall, FaultProxy},
    service::Service,
};

pub async fn calls_for(service: &Service, proxy: &FaultProxy, path: &str) -> Vec<AnsweredCall> {
    let status = service.get(path).await.status();
    assert!(!status.is_server_error(), "{path}: {status}");
    proxy.take_answered()
}

pub fn operations(calls: &[AnsweredCall]) -> Vec<&str> {
    calls.iter().map(|call| call.operation.as_str()).collect()
}

pub fn units(calls: &[AnsweredCall]) -> f64 {
    calls.iter().map(|call| call.units).sum()
}

/// A cold start's calls: the key, the manifest, and the snapshot's chunks in one call.
pub const COLD_START_CALLS: [&str; 3] = ["GetItem", "GetItem", "BatchGetItem"];

/// Asserts that a cold service reads the snapshot, which has at least `min_chunks` chunks, in one eventually
/// consistent call at the documented cost, and a manifest with all retained versions.
pub async fn assert_snapshot_costs_half(service: &Service, proxy: &FaultProxy, min_chunks: u32) {
    let store = service.database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let retained = vec![manifest.current.clone(); 3];
    let full = Manifest { retained, ..manifest.clone() };
    store.publish(&full, &manifest.revision).await.unwrap();
    let snapshot = manifest.current;
    let bytes = store.snapshot(&snapshot).await.unwrap().len();
    assert!(snapshot.chunks >= min_chunks, "{}", snapshot.chunks);
    proxy.take_answered();
    let calls = calls_for(service, proxy, "/v1/carriers").await;
    assert_eq!(operations(&calls), COLD_START_CALLS);
    assert_eq!(units(&calls[..2]), KEY_AND_MANIFEST_UNITS);
    assert_eq!(calls[2].units, snapshot_read_units(bytes as u32));
}
