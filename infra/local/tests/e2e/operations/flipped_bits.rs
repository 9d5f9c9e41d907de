//! Flips one random bit of a stored database, in an item or anywhere in the SQLite file. Responses stay correct or an
//! error names the remedy, and the remedy repairs everything.
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
    small_reports::ReportTexts,
};

const DEFAULT_FLIPS: u64 = 5;
/// One flip in this many is anywhere in the file; the others are in an item.
const ITEMS_TO_FILES: u32 = 4;
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

/// The responses for [`PATHS`].
type Answers = Vec<(StatusCode, Value)>;

/// The location of a flipped bit, for messages.
type Place = String;

/// A database with two versions and a key, and the responses from each.
struct Template {
    bytes: Vec<u8>,
    older: Answers,
    current: Answers,
}

impl Template {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = Database::embedded(folder.path()).await.unwrap();
        let store = database.store();
        keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
        import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
        let service = Service::on(database).await;
        let older = responses(&service).await;
        import(&store, &ReportTexts::second(), without_gates()).await.unwrap();
        let service = service.restarted().await;
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

async fn responses(service: &Service) -> Answers {
    let mut responses = Answers::new();
    for path in PATHS {
        responses.push(service.get_json(path).await);
    }
    responses
}

/// Flips a bit of one item, or of its key.
fn flip_in_item(file: &Path, random: &mut StdRng) -> Place {
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
    format!("bit {bit} of byte {byte} of {column} of {key} in {table}")
}

/// Flips a bit anywhere in the file, or in one of the few schema pages.
fn flip_in_file(file: &Path, random: &mut StdRng) -> Place {
    let mut bytes = fs::read(file).unwrap();
    let mut pages: Vec<_> = bytes.chunks_mut(PAGE).enumerate().collect();
    if random.random() {
        pages.retain(|(_, page)| describes_tables(page));
    }
    let (number, page) = pages.choose_mut(random).unwrap();
    let (byte, bit) = flip(page, random);
    let place = format!("bit {bit} of byte {} of the file", *number * PAGE + byte);
    fs::write(file, bytes).unwrap();
    place
}

fn describes_tables(page: &[u8]) -> bool {
    let holds = |text: &str| page.windows(text.len()).any(|window| window == text.as_bytes());
    holds("CREATE TABLE") || holds("AttributeName")
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
async fn check(service: &Service, template: &Template, place: &Place) {
    let responses = responses(service).await;
    let health = service.get_json("/health").await.1["status"].take();
    let is_refusal =
        |status| [StatusCode::SERVICE_UNAVAILABLE, StatusCode::UNAUTHORIZED].contains(status);
    let are_from = |version: &Answers| {
        let mut pairs = responses.iter().zip(version);
        pairs.all(|(response, expected)| response == expected || is_refusal(&response.0))
    };
    if are_from(&template.current) {
        let is_key = |status: &StatusCode| *status == StatusCode::UNAUTHORIZED;
        let is_key_damaged =
            place.contains("api_keys") || responses.iter().any(|(it, _)| is_key(it));
        let is_whole = responses == template.current;
        assert!(
            is_whole || is_key_damaged || health != "healthy",
            "{place}: refused: {responses:?}"
        );
    } else {
        assert!(are_from(&template.older), "{place}: a wrong response: {responses:?}");
        assert_eq!(health, "degraded", "{place}: an older version is served");
    }
}

/// Imports the newer files, with the option that the error names if that fails. Returns `false` if only a new folder
/// helps.
async fn repair_by_import(store: &Store, place: &Place) -> bool {
    let mut options = without_gates();
    while let Err(error) = import(store, &ReportTexts::second(), options).await {
        let message = with_causes(&error);
        if is_lost(&message) {
            return false;
        }
        let can_replace = !options.replace_manifest && message.contains("--replace-manifest");
        assert!(can_replace, "{place}: {message}");
        options.replace_manifest = true;
    }
    true
}

/// Flips one bit, then does what clients and an operator would.
async fn test_one_flip(template: &Template, random: &mut StdRng) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(FILE);
    fs::write(&file, &template.bytes).unwrap();
    let place = if random.random_ratio(1, ITEMS_TO_FILES) {
        flip_in_file(&file, random)
    } else {
        flip_in_item(&file, random)
    };
    let database = match Database::embedded(folder.path()).await {
        Ok(database) => database,
        Err(error) => {
            let message = with_causes(&error);
            return assert!(is_lost(&message), "{place}: {message}");
        }
    };
    let store = database.store();
    let service = Service::on(database).await;
    check(&service, template, &place).await;
    if let Err(error) = verify(&store, Repair::No, None, |_| ()).await {
        let message = with_causes(&error);
        assert!(message.contains("import") || is_lost(&message), "{place}: {message}");
    }
    if repair_by_import(&store, &place).await {
        check_repaired(service, &store, template, &place).await;
    } else {
        service.database.close().await;
    }
}

/// Asserts that everything works after a repair, and with a new key if the key was damaged.
async fn check_repaired(service: Service, store: &Store, template: &Template, place: &Place) {
    for (repair, drift) in [(Repair::Yes, None), (Repair::No, Some(0))] {
        match verify(store, repair, None, |_| ()).await {
            Ok(found) => assert!(drift.is_none_or(|drift| found.drift.total() == drift), "{place}"),
            Err(error) => assert!(is_lost(&with_causes(&error)), "{place}: {error:?}"),
        }
    }
    if service.get_json("/v1/npa/415").await.0 != StatusCode::OK {
        let key: shared::auth::ApiKey = KEY.parse().unwrap();
        _ = store.delete_api_key(&key.hash()).await;
        _ = keys::register(store, &key, "tests").await;
    }
    let service = service.restarted().await;
    let after = responses(&service).await;
    let health = service.get_json("/health").await.1["status"].take();
    assert!(after == template.current, "{place}: not repaired: {after:?}");
    assert_eq!(health, "healthy", "{place}");
    service.database.close().await;
}

/// The number in a variable, if set.
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
