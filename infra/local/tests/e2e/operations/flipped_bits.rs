//! Flips one random bit in a stored database, in an item or anywhere in the SQLite file. Responses stay correct or an
//! error states the remedy, and the remedy repairs everything.
//!
//! `TNR_FLIPS` sets the number of bits and `TNR_FLIP_SEED` repeats a run.

use std::{env, fs, path::Path};

use ingest::{Options, Repair, verify};
use logging::with_causes;
use rand::{
    RngExt, SeedableRng,
    rngs::StdRng,
    seq::{IndexedMutRandom, IndexedRandom},
};
use reqwest::StatusCode;
use rusqlite::{Connection, params};
use serde_json::Value;
use store::Store;
use tempfile::TempDir;
use tnr::{database::Database, keys};

use crate::support::{
    imports::{import, without_gates},
    service::{KEY, Service},
    small_reports::ReportSet,
};

const DEFAULT_FLIPS: u64 = 5;
/// One flip in this many is anywhere in the file; the others are in an item.
const FILE_FLIP_RATIO: u32 = 4;
const FILE: &str = "dynamodb.sqlite";
const PAGE: usize = 4096;
/// Lists, and lookups of single items.
const PATHS: [&str; 8] = [
    "/v1/npa/415?limit=100",
    "/v1/npa/415?limit=100&offset=100",
    "/v1/npa/415/nxx/207",
    "/v1/npa/415/nxx/209",
    "/v1/npa/415/nxx/210",
    "/v1/carriers?limit=20",
    "/v1/format/+14152105678",
    "/v1/search?q=sample&limit=20",
];
/// Exchanges that are looked up as single items.
const EXCHANGES: [&str; 3] = ["S:415#207", "S:415#209", "S:415#210"];

/// The responses to [`PATHS`].
type Responses = Vec<(StatusCode, Value)>;

/// The location of a flipped bit, for messages.
type Location = String;

/// A database with two versions and a key, and the responses from each.
struct Template {
    bytes: Vec<u8>,
    older: Responses,
    current: Responses,
}

impl Template {
    async fn new() -> Self {
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
        Self { bytes: fs::read(file).unwrap(), older, current }
    }
}

async fn responses(service: &Service) -> Responses {
    let mut responses = Responses::new();
    for path in PATHS {
        responses.push(service.get_json(path).await);
    }
    responses
}

/// Flips a bit in one item, or in its key.
fn flip_in_item(file: &Path, random: &mut StdRng) -> Location {
    let connection = Connection::open(file).unwrap();
    let table =
        *["dataset", "dataset", "exchanges", "carriers", "api_keys"].choose(random).unwrap();
    let query = format!("SELECT pk FROM \"{table}\" ORDER BY pk");
    let mut statement = connection.prepare(&query).unwrap();
    let keys = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut keys: Vec<String> = keys.map(Result::unwrap).collect();
    if table == "exchanges" {
        keys.retain(|key| EXCHANGES.contains(&key.as_str()));
    }
    let key = keys.choose(random).unwrap();
    let column = if random.random_ratio(1, 8) { "pk" } else { "item_json" };
    let read = format!("SELECT CAST({column} AS BLOB) FROM \"{table}\" WHERE pk = ?1");
    let mut bytes: Vec<u8> = connection.query_row(&read, [key], |row| row.get(0)).unwrap();
    let (byte, bit) = flip(&mut bytes, random);
    let write =
        format!("UPDATE OR REPLACE \"{table}\" SET {column} = CAST(?1 AS TEXT) WHERE pk = ?2");
    connection.execute(&write, params![bytes, key]).unwrap();
    format!("bit {bit} of byte {byte} in {column} of {key} in {table}")
}

/// Flips a bit anywhere in the file, or in one of the few schema pages.
fn flip_in_file(file: &Path, random: &mut StdRng) -> Location {
    let mut bytes = fs::read(file).unwrap();
    let mut pages: Vec<_> = bytes.chunks_mut(PAGE).enumerate().collect();
    if random.random() {
        pages.retain(|(_, page)| describes_tables(page));
    }
    let (index, page) = pages.choose_mut(random).unwrap();
    let (byte, bit) = flip(page, random);
    let location = format!("bit {bit} of byte {} in the file", *index * PAGE + byte);
    fs::write(file, bytes).unwrap();
    location
}

fn describes_tables(page: &[u8]) -> bool {
    let contains = |text: &str| page.windows(text.len()).any(|window| window == text.as_bytes());
    contains("CREATE TABLE") || contains("AttributeName")
}

fn flip(bytes: &mut [u8], random: &mut StdRng) -> (usize, u32) {
    let (byte, bit) = (random.random_range(0..bytes.len()), random.random_range(0..8));
    bytes[byte] ^= 1 << bit;
    (byte, bit)
}

/// Returns `true` if the file is unusable, so that a backup must be restored.
fn is_lost(message: &str) -> bool {
    message.contains("is damaged: ") && message.contains("restore FILE")
}

/// Asserts that every response is from one version, or an error, and that health reports it.
async fn check(service: &Service, template: &Template, location: &Location) {
    let responses = responses(service).await;
    let health = service.get_json("/health").await.1["status"].take();
    let is_error =
        |status| [StatusCode::SERVICE_UNAVAILABLE, StatusCode::UNAUTHORIZED].contains(status);
    let are_from = |version: &Responses| {
        let mut pairs = responses.iter().zip(version);
        pairs.all(|(response, expected)| response == expected || is_error(&response.0))
    };
    if are_from(&template.current) {
        let is_unauthorized = |status: &StatusCode| *status == StatusCode::UNAUTHORIZED;
        let is_key_damaged =
            location.contains("api_keys") || responses.iter().any(|(it, _)| is_unauthorized(it));
        let is_intact = responses == template.current;
        assert!(
            is_intact || is_key_damaged || health != "healthy",
            "{location}: healthy, but with errors: {responses:?}"
        );
    } else {
        assert!(are_from(&template.older), "{location}: a wrong response: {responses:?}");
        assert_eq!(health, "degraded", "{location}: an older version is served");
    }
}

/// Imports the newer files; if that fails, retries with the option that the error suggests. Returns `false` if only a
/// new folder helps.
async fn repair_by_import(store: &Store, location: &Location) -> bool {
    let mut options = without_gates();
    while let Err(error) = import(store, &ReportSet::second(), options).await {
        let message = with_causes(&error);
        if is_lost(&message) {
            return false;
        }
        let can_replace = !options.replace_manifest && message.contains("--replace-manifest");
        assert!(can_replace, "{location}: {message}");
        options.replace_manifest = true;
    }
    true
}

/// Flips one bit, then does what clients and an operator would.
async fn test_one_flip(template: &Template, random: &mut StdRng) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(FILE);
    fs::write(&file, &template.bytes).unwrap();
    let location = if random.random_ratio(1, FILE_FLIP_RATIO) {
        flip_in_file(&file, random)
    } else {
        flip_in_item(&file, random)
    };
    let database = match Database::embedded(folder.path()).await {
        Ok(database) => database,
        Err(error) => {
            let message = with_causes(&error);
            return assert!(is_lost(&message), "{location}: {message}");
        }
    };
    let store = database.store();
    let service = Service::on(database).await;
    check(&service, template, &location).await;
    if let Err(error) = verify(&store, Repair::No, None, |_| ()).await {
        let message = with_causes(&error);
        assert!(message.contains("import") || is_lost(&message), "{location}: {message}");
    }
    if repair_by_import(&store, &location).await {
        check_repaired(service, &store, template, &location).await;
    } else {
        service.database.close().await;
    }
}

/// Asserts that everything works after a repair, and with a new key if the key was damaged.
async fn check_repaired(service: Service, store: &Store, template: &Template, location: &Location) {
    for (repair, drift) in [(Repair::Yes, None), (Repair::No, Some(0))] {
        match verify(store, repair, None, |_| ()).await {
            Ok(found) => assert!(drift.is_none_or(|it| found.drift.total() == it), "{location}"),
            Err(error) => assert!(is_lost(&with_causes(&error)), "{location}: {error:?}"),
        }
    }
    if service.get_json("/v1/npa/415").await.0 != StatusCode::OK {
        let key: shared::auth::ApiKey = KEY.parse().unwrap();
        _ = store.delete_api_key(&key.hash()).await;
        _ = keys::register(store, &key, "tests").await;
    }
    let service = service.restart().await;
    let after = responses(&service).await;
    let health = service.get_json("/health").await.1["status"].take();
    assert!(after == template.current, "{location}: not repaired: {after:?}");
    assert_eq!(health, "healthy", "{location}");
    service.database.close().await;
}

/// The numeric value of an environment variable, if set.
fn setting(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[tokio::test]
async fn flipped_bits_never_cause_wrong_responses_and_can_be_repaired() {
    let seed = setting("TNR_FLIP_SEED").unwrap_or_else(rand::random);
    println!("TNR_FLIP_SEED={seed}");
    let template = Template::new().await;
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..setting("TNR_FLIPS").unwrap_or(DEFAULT_FLIPS) {
        test_one_flip(&template, &mut random).await;
    }
}
