//! Flips one random bit in a stored database, in an item or anywhere in the SQLite file. Each response is
//! correct or an error.
//!
//! `TNR_FLIPS` sets the number of bits and `TNR_FLIP_SEED` repeats a run.

use std::{fs, path::Path};

use ingest::Options;
use rand::{
    RngExt, SeedableRng,
    rngs::StdRng,
    seq::{IndexedMutRandom, IndexedRandom},
};
use reqwest::StatusCode;
use rusqlite::{Connection, params};
use serde_json::Value;
use tempfile::TempDir;
use tnr::{database::Database, keys};

use crate::support::{
    imports::{import, without_gates},
    service::{KEY, Service},
    settings::setting,
    small_reports::ReportSet,
};

const DEFAULT_FLIPS: u64 = 5;
const FILE: &str = "dynamodb.sqlite";
const PAGE: usize = 4096;
/// Lists, and lookups of single items.
const PATHS: [&str; 6] = [
    "/v1/npa/415?limit=100",
    "/v1/npa/415/nxx/207",
    "/v1/npa/415/nxx/209",
    "/v1/carriers?limit=20",
    "/v1/format/+14152105678",
    "/v1/search?q=sample&limit=20",
];
/// The keys of the exchanges that are looked up as single items.
const EXCHANGES: &str = "('S:415#207', 'S:415#209', 'S:415#210')";

/// The responses to [`PATHS`].
type Responses = Vec<(StatusCode, Value)>;

async fn responses(service: &Service) -> Responses {
    let mut responses = Responses::new();
    for path in PATHS {
        responses.push(service.get_json(path).await);
    }
    responses
}

/// A database with two versions and a key, and the responses from each version.
async fn original() -> (Vec<u8>, [Responses; 2]) {
    let folder = TempDir::new().unwrap();
    let database = Database::embedded(folder.path()).await.unwrap();
    let store = database.store();
    keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    let service = Service::on(database).await;
    let older = responses(&service).await;
    import(&store, &ReportSet::second(), without_gates()).await.unwrap();
    let service = service.restart().await;
    let current = responses(&service).await;
    assert_ne!(older, current);
    drop(store);
    service.database.close().await;
    let file = folder.path().join(FILE);
    // Closing the last connection writes everything to the one file.
    drop(Connection::open(&file).unwrap());
    (fs::read(file).unwrap(), [older, current])
}

/// Flips a bit in one item, or in its key, and returns the location.
fn flip_in_item(file: &Path, random: &mut StdRng) -> String {
    let connection = Connection::open(file).unwrap();
    let table = ["dataset", "exchanges", "carriers", "api_keys"].choose(random).unwrap();
    let query =
        format!("SELECT pk FROM {table} WHERE pk IN {EXCHANGES} OR '{table}' <> 'exchanges'");
    let mut statement = connection.prepare(&query).unwrap();
    let keys = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let keys: Vec<String> = keys.map(Result::unwrap).collect();
    let key = keys.choose(random).unwrap();
    let column = if random.random_ratio(1, 8) { "pk" } else { "item_json" };
    let read = format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE pk = ?1");
    let mut bytes: Vec<u8> = connection.query_row(&read, [key], |row| row.get(0)).unwrap();
    let location = flip(&mut bytes, random);
    let write = format!("UPDATE OR REPLACE {table} SET {column} = CAST(?1 AS TEXT) WHERE pk = ?2");
    connection.execute(&write, params![bytes, key]).unwrap();
    format!("{location} of {column} of {key} in {table}")
}

/// Flips a bit in a random page of the file.
fn flip_in_file(file: &Path, random: &mut StdRng) -> String {
    let mut bytes = fs::read(file).unwrap();
    let mut pages: Vec<_> = bytes.chunks_mut(PAGE).enumerate().collect();
    let (index, page) = pages.choose_mut(random).unwrap();
    let location = format!("{} of page {index}", flip(page, random));
    fs::write(file, bytes).unwrap();
    location
}

fn flip(bytes: &mut [u8], random: &mut StdRng) -> String {
    let (byte, bit) = (random.random_range(0..bytes.len()), random.random_range(0..8));
    bytes[byte] ^= 1 << bit;
    format!("bit {bit} of byte {byte}")
}

#[tokio::test]
async fn flipped_bits_never_cause_wrong_responses() {
    let seed = setting("TNR_FLIP_SEED").unwrap_or_else(rand::random);
    println!("TNR_FLIP_SEED={seed}");
    let (bytes, versions) = original().await;
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..setting("TNR_FLIPS").unwrap_or(DEFAULT_FLIPS) {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(FILE);
        fs::write(&file, &bytes).unwrap();
        let is_in_item = random.random_ratio(3, 4);
        let flip = if is_in_item { flip_in_item } else { flip_in_file };
        let location = flip(&file, &mut random);
        // A damaged file may fail to open.
        let Ok(database) = Database::embedded(folder.path()).await else { continue };
        let service = Service::on(database).await;
        let responses = responses(&service).await;
        let is_error = |status: StatusCode| status.is_server_error() || status == 401;
        let are_from = |version: &Responses| {
            let mut pairs = responses.iter().zip(version);
            pairs.all(|(response, expected)| response == expected || is_error(response.0))
        };
        assert!(versions.iter().any(are_from), "{location}: wrong responses: {responses:?}");
        service.database.close().await;
    }
}
