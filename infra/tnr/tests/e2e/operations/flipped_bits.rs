//! Flips one random bit in a stored database, either near an item that the requests read or anywhere in the SQLite
//! file. Each response must be correct or an error.
//!
//! `TNR_FLIPS` sets the number of bits and `TNR_FLIP_SEED` repeats a run.

use std::fs;

use ingest::Options;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use rusqlite::Connection;
use tempfile::TempDir;
use tnr::{database::Database, keys};

use crate::support::{
    imports::{Responses, import, responses_to, without_gates},
    processes::setting,
    service::{KEY, Service},
    small_reports::ReportSet,
};

const DEFAULT_FLIPS: u64 = 5;
const FILE: &str = "dynamodb.sqlite";
/// Lists, and lookups of single items.
const PATHS: [&str; 6] = [
    "/v1/npa/415?limit=100",
    "/v1/npa/415/nxx/207",
    "/v1/npa/415/nxx/234",
    "/v1/carriers?limit=20",
    "/v1/format/+14152345678",
    "/v1/search?q=sample&limit=20",
];
/// Text at the start of stored items: exchanges, chunks of a snapshot, the manifest, and the key.
const ITEMS: [&str; 5] = ["415#207", "415#234", "#0000", "\"current\"", "\"created_at\""];
/// The length of most items, in bytes.
const ITEM_BYTES: usize = 500;

/// A database with two versions and a key, and the responses from each version.
async fn original() -> (Vec<u8>, [Responses; 2]) {
    let folder = TempDir::new().unwrap();
    let database = Database::embedded(folder.path()).await.unwrap();
    let store = database.store();
    keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    let service = Service::on(database).await;
    let older = responses_to(&service, PATHS).await;
    import(&store, &ReportSet::second(), without_gates()).await.unwrap();
    let service = service.restart().await;
    let current = responses_to(&service, PATHS).await;
    assert_ne!(older, current);
    drop(store);
    service.database.close().await;
    let file = folder.path().join(FILE);
    // Closing the last connection writes everything to a single file.
    drop(Connection::open(&file).unwrap());
    (fs::read(file).unwrap(), [older, current])
}

/// A random position near an item.
fn position_in_item(bytes: &[u8], random: &mut StdRng) -> usize {
    let item = ITEMS.choose(random).unwrap().as_bytes();
    let starts = bytes.windows(item.len()).enumerate().filter(|(_, window)| *window == item);
    let starts: Vec<usize> = starts.map(|(start, _)| start).collect();
    let start = starts.choose(random).unwrap();
    (start + random.random_range(0..ITEM_BYTES)).min(bytes.len() - 1)
}

#[tokio::test]
async fn flipped_bits_never_cause_wrong_responses() {
    let seed = setting("TNR_FLIP_SEED").unwrap_or_else(rand::random);
    println!("TNR_FLIP_SEED={seed}");
    let (bytes, versions) = original().await;
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..setting("TNR_FLIPS").unwrap_or(DEFAULT_FLIPS) {
        let position = if random.random_ratio(3, 4) {
            position_in_item(&bytes, &mut random)
        } else {
            random.random_range(0..bytes.len())
        };
        let bit = random.random_range(0..8);
        let mut flipped = bytes.clone();
        flipped[position] ^= 1 << bit;
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(FILE), flipped).unwrap();
        // A damaged file may fail to open.
        let Ok(database) = Database::embedded(folder.path()).await else { continue };
        let service = Service::on(database).await;
        let responses = responses_to(&service, PATHS).await;
        let is_error = |status: u16| status >= 500 || status == 401;
        let are_from = |version: &Responses| {
            let mut pairs = responses.values().zip(version.values());
            pairs.all(|(response, expected)| response == expected || is_error(response.0))
        };
        assert!(versions.iter().any(are_from), "bit {bit} of byte {position}: {responses:?}");
        service.database.close().await;
    }
}
