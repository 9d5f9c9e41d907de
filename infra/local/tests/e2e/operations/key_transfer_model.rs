//! Random sequences of what happens to keys in two databases: they are made, revoked and made to expire,
//! exported and imported, while tables are lost in between. After each step, a key opens the API of a
//! database if and only if it was brought there and nothing that ended it came after or with it.

use std::collections::BTreeMap;

use axum::{Router, body::Body, http::Request};
use jiff::{Timestamp, ToSpan};
use lambda_http::tower::ServiceExt;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use shared::{app, auth::ApiKey, state::App};
use store::{KeyRecord, Store};
use tnr::{commands::key_transfer::transfer, database::Database, key_file, routes};
use tokio::runtime::Runtime;

const DATABASES: usize = 2;
const KEYS: usize = 4;
/// The hours from now at which a key may expire: two in the past, and two to come.
const EXPIRIES: [i64; 4] = [-2, -1, 1, 2];

/// One step of a sequence. Databases, keys and expiries are named by their places.
#[derive(Debug, Clone)]
enum Step {
    Create {
        database: usize,
        key: usize,
    },
    End {
        database: usize,
        key: usize,
        how: Ending,
    },
    Export {
        database: usize,
    },
    /// The file is one of those exported before.
    Import {
        database: usize,
        file: prop::sample::Index,
    },
    /// A key ends while a file is imported.
    ImportMeanwhile {
        database: usize,
        file: prop::sample::Index,
        key: usize,
        how: Ending,
    },
    /// The table is lost.
    Lose {
        database: usize,
    },
}

#[derive(Debug, Clone, Copy)]
enum Ending {
    Revocation,
    Expiry(usize),
}

/// What is known of a key in a database: whether it is revoked, and the hour at which it expires.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Known {
    is_revoked: bool,
    expiry: Option<i64>,
}

impl Known {
    fn ended(self, how: Ending) -> Self {
        match how {
            Ending::Revocation => Self { is_revoked: true, ..self },
            Ending::Expiry(place) => {
                let expiry = self.expiry.into_iter().chain([EXPIRIES[place]]).min();
                Self { expiry, ..self }
            }
        }
    }

    /// What is known after both came together.
    fn and(self, other: Self) -> Self {
        let expiry = self.expiry.into_iter().chain(other.expiry).min();
        Self { is_revoked: self.is_revoked || other.is_revoked, expiry }
    }

    fn is_live(self) -> bool {
        !self.is_revoked && self.expiry.is_none_or(|hours| hours > 0)
    }
}

type Keys = BTreeMap<usize, Known>;

struct World {
    databases: Vec<Database>,
    keys: Vec<ApiKey>,
    start: Timestamp,
    /// The keys of each database.
    known: Vec<Keys>,
    /// The files exported so far, and the keys in them.
    files: Vec<(String, Keys)>,
}

impl World {
    async fn new() -> Self {
        let mut databases = Vec::new();
        for _ in 0..DATABASES {
            databases.push(Database::in_memory().await.unwrap());
        }
        let secret = |key: usize| format!("{key}").repeat(32);
        let keys = (0..KEYS).map(|key| ApiKey::with_secret(&secret(key)).unwrap()).collect();
        let known = vec![Keys::new(); DATABASES];
        Self { databases, keys, start: Timestamp::now(), known, files: Vec::new() }
    }

    fn store(&self, database: usize) -> Store {
        self.databases[database].store()
    }

    fn record(&self, key: usize) -> KeyRecord {
        KeyRecord {
            key_hash: self.keys[key].hash(),
            prefix: self.keys[key].prefix().to_owned(),
            name: "a client".to_owned(),
            note: None,
            created_at: self.start,
            expires_at: None,
            revoked_at: None,
            per_minute: None,
            per_day: None,
            quota_id: None,
        }
    }

    async fn take(&mut self, step: &Step) {
        match *step {
            Step::Create { database, key } => {
                if self.store(database).add_api_key(&self.record(key)).await.unwrap() {
                    self.known[database].insert(key, Known::default());
                }
            }
            Step::End { database, key, how } => {
                if let Some(known) = self.known[database].get_mut(&key) {
                    *known = known.ended(how);
                    self.end(database, key, how).await;
                }
            }
            Step::Export { database } => {
                let keys = self.store(database).api_keys().await.unwrap();
                let text = key_file::text(&keys, self.start).unwrap();
                self.files.push((text, self.known[database].clone()));
            }
            Step::Import { database, file } if !self.files.is_empty() => {
                let (text, keys) = file.get(&self.files).clone();
                import(&self.store(database), &text).await;
                self.know(database, &keys);
            }
            Step::ImportMeanwhile { database, file, key, how } if !self.files.is_empty() => {
                let (text, keys) = file.get(&self.files).clone();
                let store = self.store(database);
                let is_there = self.known[database].contains_key(&key);
                let end = async {
                    if is_there {
                        self.end(database, key, how).await;
                    }
                };
                tokio::join!(import(&store, &text), end);
                self.know(database, &keys);
                if is_there {
                    let known = self.known[database].get_mut(&key).unwrap();
                    *known = known.ended(how);
                }
            }
            Step::Lose { database } => {
                self.databases[database] = Database::in_memory().await.unwrap();
                self.known[database].clear();
            }
            Step::Import { .. } | Step::ImportMeanwhile { .. } => (),
        }
    }

    async fn end(&self, database: usize, key: usize, how: Ending) {
        let (store, hash) = (self.store(database), self.keys[key].hash());
        let changed = match how {
            Ending::Revocation => store.revoke_api_key(&hash, self.start).await,
            Ending::Expiry(place) => {
                store.expire_api_key(&hash, self.start + EXPIRIES[place].hours()).await
            }
        };
        changed.unwrap();
    }

    /// Adds the keys of a file to what is known of a database.
    fn know(&mut self, database: usize, keys: &Keys) {
        for (&key, &in_file) in keys {
            let known = self.known[database].entry(key).or_insert(in_file);
            *known = known.and(in_file);
        }
    }

    /// Asserts that exactly the keys that are live open the API of each database.
    async fn check(&self) -> Result<(), TestCaseError> {
        for database in 0..DATABASES {
            let app = App::on(self.databases[database].serving_store().await);
            let service = app::service(routes(), app);
            for key in 0..KEYS {
                let known = self.known[database].get(&key);
                let opens = opens(&service, &self.keys[key]).await;
                let expected = known.is_some_and(|known| known.is_live());
                prop_assert_eq!(opens, expected, "key {} of {}: {:?}", key, database, known);
            }
        }
        Ok(())
    }
}

async fn import(store: &Store, text: &str) {
    transfer(store, &key_file::keys(text).unwrap(), false).await.unwrap();
}

/// Whether a request with this key is admitted. Without data it is then answered with 503.
async fn opens(service: &Router, key: &ApiKey) -> bool {
    let request = Request::get("/v1/npa/415").header("host", "localhost");
    let request = request.header("x-api-key", key.reveal());
    let response = service.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    response.status() != 401
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (database, key) = (0..DATABASES, 0..KEYS);
    let how = prop_oneof![Just(Ending::Revocation), (0..EXPIRIES.len()).prop_map(Ending::Expiry),];
    let file = any::<prop::sample::Index>;
    let step = prop_oneof![
        4 => (database.clone(), key.clone())
            .prop_map(|(database, key)| Step::Create { database, key }),
        3 => (database.clone(), key.clone(), how.clone())
            .prop_map(|(database, key, how)| Step::End { database, key, how }),
        3 => database.clone().prop_map(|database| Step::Export { database }),
        4 => (database.clone(), file())
            .prop_map(|(database, file)| Step::Import { database, file }),
        2 => (database.clone(), file(), key, how).prop_map(|(database, file, key, how)| {
            Step::ImportMeanwhile { database, file, key, how }
        }),
        1 => database.prop_map(|database| Step::Lose { database }),
    ];
    prop::collection::vec(step, 1..30)
}

#[test]
fn no_key_that_has_ended_opens_the_api_after_any_sequence_of_imports() {
    let config = Config { cases: 20, failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&steps(), |steps| {
        Runtime::new().unwrap().block_on(async {
            let mut world = World::new().await;
            for step in &steps {
                world.take(step).await;
                world.check().await?;
            }
            Ok(())
        })
    });
    if let Err(error) = tried {
        panic!("{error}");
    }
}
