//! A random walk of imports and rollbacks, one a day. Afterwards, every version can be rebuilt from the differences, every
//! answer of every day can be asked for again, and the changes are those between the versions.
//!
//! `TNR_WALK_SEED` repeats a run.

use std::{collections::BTreeMap, env, sync::Arc};

use aws_sdk_dynamodb::types::AttributeValue;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response},
};
use ingest::{Options, Outcome, RollbackTarget, Sources, ingest, rollback};
use jiff::{SignedDuration, Timestamp, ToSpan};
use lambda_http::tower::ServiceExt;
use numbering::{
    changes::{RecordChange, RecordPair, record_pairs},
    dataset::Dataset,
    time::{date_of, this_second},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::Value;
use shared::{app, state::App};
use store::{Publication, Store, load};
use tnr::{database::Database, keys, routes};

use crate::support::{
    imports::{import, without_gates},
    service::{KEY, Service},
    small_reports::{ReportSet, source},
};

const DAYS: usize = 200;
/// An overlay: libphonenumber has a wrong time zone for 689, and the oldest code corrects it.
const NPAS: [&str; 2] = ["407", "689"];
const NXXS: [&str; 6] = ["200", "201", "202", "203", "204", "205"];
const OCNS: [&str; 4] = ["1111", "2222", "3333", "4444"];
const PLACES: [&str; 3] = ["EAST", "WEST", "SNFC"];
/// Requests to compare on each day; they are chosen at random.
const REQUESTS_PER_DAY: usize = 3;

/// The reports of one day.
#[derive(Clone)]
struct Reports {
    /// OCN, rate center and state by NPA and NXX.
    exchanges: BTreeMap<(&'static str, &'static str), (&'static str, &'static str, &'static str)>,
    /// The holder of a thousands block.
    blocks: BTreeMap<(&'static str, &'static str, u8), &'static str>,
    /// Names by OCN.
    names: BTreeMap<&'static str, u32>,
}

impl Reports {
    fn first() -> Self {
        let exchanges = NPAS.map(|npa| ((npa, NXXS[0]), (OCNS[0], PLACES[0], "FL")));
        let names = OCNS.map(|ocn| (ocn, 0));
        Self { exchanges: exchanges.into(), blocks: BTreeMap::new(), names: names.into() }
    }

    /// Changes up to three things.
    fn change(&mut self, random: &mut StdRng) {
        for _ in 0..random.random_range(1..4) {
            let code = (*NPAS.choose(random).unwrap(), *NXXS.choose(random).unwrap());
            let ocn = *OCNS.choose(random).unwrap();
            match random.random_range(0..8) {
                0 if self.exchanges.len() > 1 => _ = self.exchanges.remove(&code),
                1 => *self.names.get_mut(ocn).unwrap() += 1,
                2 => _ = self.blocks.insert((code.0, code.1, random.random_range(0..10)), ocn),
                3 => _ = self.blocks.pop_first(),
                _ => {
                    let place = *PLACES.choose(random).unwrap();
                    let state = *["FL", "FL", "GA"].choose(random).unwrap();
                    self.exchanges.insert(code, (ocn, place, state));
                }
            }
        }
    }

    fn sources(&self) -> Sources {
        let name = |ocn: &str| format!("COMPANY {ocn} {}", self.names[ocn]);
        let mut nanpa =
            "State\tNPA-NXX\tOCN\tCompany\tRateCenter\tEffectiveDate\tUse\tAssignDate\t\
                         Initial/Growth\tPooled Code\tIn Service\tFile Updated 01/01/2000\n"
                .to_owned();
        for ((npa, nxx), (ocn, place, state)) in &self.exchanges {
            let name = name(ocn);
            nanpa += &format!("{state}\t{npa}-{nxx}\t{ocn}\t{name}\t{place}\t\tAS\t\t\t\tYes\n");
        }
        let mut blocks = "Region,State,NPA,NXX,X,STATUS,Code Holder,Contaminated (Y or N),\
                          Contaminated TNs not Available for Assignment,Rate Center,\
                          Block Effective Date,Block Available Date,Assigned To,OCN,Date Assigned\n"
            .to_owned();
        for ((npa, nxx, digit), ocn) in &self.blocks {
            if self.exchanges.contains_key(&(*npa, *nxx)) {
                let name = name(ocn);
                blocks += &format!("SE,FL,{npa},{nxx},{digit},AS,,N,,,,,{name},{ocn},01/01/2000\n");
            }
        }
        let npa_report = "File Date,01/01/2000\n\
                          NPA_ID,LOCATION,COUNTRY,IN_SERVICE,IN_SERVICE_DT,OVERLAY_COMPLEX\n\
                          407,FL,US,Y,04/16/1988,407/689\n689,FL,US,Y,06/04/2019,407/689\n\
                          416,ONTARIO,CANADA,Y,,\n800,,,Y,,\n";
        let cnac = "NPA,CO Code (NXX),Status,Exchange Area,Province,Company,OCN,Remarks\n\
                    416,200,In Service,Toronto,ON,DELTA,9999,\n";
        Sources {
            nanpa: source(&nanpa),
            cnac: source(cnac),
            npa_report: source(npa_report),
            carriers: None,
            thousands_blocks: Some(source(&blocks)),
            canadian_blocks: None,
        }
    }
}

/// The API in this process, with nothing in memory.
fn api(store: &Store) -> Router {
    app::service(routes(), App::with_store(store.clone()))
}

async fn send(api: &Router, target: &str) -> Response<Body> {
    let request = Request::get(target).header("host", "localhost").header("x-api-key", KEY);
    api.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

async fn get(api: &Router, target: &str) -> (u16, Value) {
    into_json(send(api, target).await).await
}

async fn into_json(response: Response<Body>) -> (u16, Value) {
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

/// A lookup, with or without a query.
fn random_lookup(random: &mut StdRng) -> String {
    let (npa, nxx) = (NPAS.choose(random).unwrap(), NXXS.choose(random).unwrap());
    let ocn = OCNS.choose(random).unwrap();
    match random.random_range(0..8) {
        0 => format!("/v1/carrier/{ocn}?"),
        1 => format!("/v1/npa/{npa}?limit=100"),
        2 => format!("/v1/npa?npa={npa}&nxx={nxx}"),
        3 => format!("/v1/npa/{npa}/nxx/{nxx}?"),
        4 => format!("/v1/npa/{npa}/nxx/{nxx}/blocks?"),
        5 => format!("/v1/area-codes/{npa}?"),
        6 => format!("/v1/lookup/{npa}{nxx}1234?"),
        _ => format!("/v1/format/+1{npa}{nxx}1234?include=line,assignment"),
    }
}

/// A day on which a version was published.
struct Day {
    publication: Publication,
    dataset: Arc<Dataset>,
    answers: Vec<(String, (u16, Value))>,
}

async fn walk(store: &Store, random: &mut StdRng) -> Vec<Day> {
    let start = this_second() - SignedDuration::from_hours(24 * (DAYS as i64 + 20));
    let mut reports = Reports::first();
    let mut days: Vec<Day> = Vec::new();
    for day in 0..DAYS {
        let now = start + (24 * day as i64).hours();
        let options = Options { now, ..without_gates() };
        if day > 0 && random.random_bool(0.25) {
            // Fails if no older version is left.
            _ = rollback(store, &RollbackTarget::NewestReadable, options, |_| ()).await;
        } else {
            if random.random_bool(0.9) {
                reports.change(random);
            }
            let report = ingest(store, &reports.sources(), options, |_| ()).await.unwrap();
            assert!(matches!(report.outcome, Outcome::Published | Outcome::Unchanged));
        }
        let manifest = store.manifest().await.unwrap().unwrap();
        let dataset = Arc::new(load(store, &manifest.current).await.unwrap());
        let api = api(store);
        let mut answers = Vec::new();
        for index in 0..REQUESTS_PER_DAY {
            let target = match index {
                0 if day % 20 == 0 => "/v1/area-codes/689?".to_owned(),
                _ => random_lookup(random),
            };
            let answer = get(&api, &target).await;
            answers.push((format!("{target}&as_of={}", date_of(now)), answer));
        }
        days.push(Day { publication: manifest.publication, dataset, answers });
    }
    days
}

/// The changes between versions, oldest first.
fn expected_changes(days: &[Day]) -> Vec<(Publication, RecordPair)> {
    days.array_windows()
        .filter(|[before, after]| before.publication != after.publication)
        .flat_map(|[before, after]| {
            let pairs = record_pairs(&before.dataset, &after.dataset);
            let changed = pairs.filter(|pair| pair.change().is_some());
            changed.map(|pair| (after.publication.clone(), pair)).collect::<Vec<_>>()
        })
        .collect()
}

fn row(publication: &Publication, change: &RecordChange) -> Value {
    let mut row = serde_json::to_value(change).unwrap();
    row["publication"] = publication.id.as_str().into();
    row["version"] = publication.version.as_str().into();
    row["published_at"] = publication.at.to_string().into();
    row
}

/// Every page of a list of changes, by its links.
async fn all_changes(api: &Router, target: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut next = Some(format!("{target}&limit=100"));
    while let Some(target) = next.take() {
        let response = send(api, &target).await;
        let links = response.headers().get("link").map_or("", |links| links.to_str().unwrap());
        let link = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""));
        next = link.map(|link| link.trim_start_matches('<').to_owned());
        let (status, mut page) = into_json(response).await;
        assert_eq!(status, 200, "{target}: {page}");
        rows.append(page["changes"].as_array_mut().unwrap());
    }
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_past_is_answered_as_it_was_after_200_imports_and_rollbacks() {
    let clock = Timestamp::now().as_nanosecond() as u64;
    let seed = env::var("TNR_WALK_SEED").map_or(clock, |seed| seed.parse().unwrap());
    println!("TNR_WALK_SEED={seed}");
    let random = &mut StdRng::seed_from_u64(seed);
    let database = Database::in_memory().await.unwrap();
    keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
    let store = &database.store();
    let days = walk(store, random).await;

    // Every version can be rebuilt from the differences.
    let current = &days.last().unwrap().publication;
    let manifest = store.manifest().await.unwrap().unwrap();
    assert_eq!(manifest.publication, *current);
    let history = store.history(&manifest, Timestamp::now()).await.unwrap();
    let publications: Vec<_> = history.publications().collect();
    let mut published: Vec<&Day> = days.iter().collect();
    published.dedup_by_key(|day| &day.publication);
    assert_eq!(publications, published.iter().map(|day| &day.publication).collect::<Vec<_>>());
    let mut rebuilt: Option<Dataset> = None;
    for (index, day) in published.iter().enumerate().rev() {
        let Some(difference) = history.differences_after(index).first() else { continue };
        let difference = store.difference(difference).await.unwrap();
        let newer = rebuilt.as_ref().unwrap_or(&days.last().unwrap().dataset);
        let older = difference.undo(newer);
        assert!(older.records().eq(day.dataset.records()), "{index}");
        assert!(difference.apply(&older).records().eq(newer.records()), "{index}");
        rebuilt = Some(older);
    }

    // Every answer of every day can be asked for again.
    let api = api(store);
    for (target, answer) in days.iter().flat_map(|day| &day.answers) {
        assert_eq!(get(&api, target).await, *answer, "{target}");
    }

    // The changes are those between the versions, in order.
    let expected = expected_changes(&days);
    let since = format!("/v1/changes?since={}", days[0].publication.at);
    let rows = all_changes(&api, &since).await;
    let expected_rows =
        expected.iter().map(|(publication, pair)| row(publication, &pair.description().unwrap()));
    assert_eq!(rows.len(), expected.len());
    assert!(rows.iter().cloned().eq(expected_rows));
    let (npa, ocn) = (NPAS[1].parse().unwrap(), OCNS[1].parse().unwrap());
    for (filter, matches) in [
        (
            "npa=689",
            &(|pair: &RecordPair| pair.key.is_in_area_code(npa)) as &dyn Fn(&RecordPair) -> bool,
        ),
        ("ocn=2222", &|pair| pair.concerns_carrier(ocn)),
        ("state=GA", &|pair| pair.is_in_state("GA".parse().unwrap())),
        ("kind=carrier&change=removed", &|pair| {
            pair.after.is_none() && OCNS.contains(&&*pair.key.to_string())
        }),
    ] {
        let found = all_changes(&api, &format!("{since}&{filter}")).await;
        let matching = expected.iter().filter(|(_, pair)| matches(pair));
        let matching =
            matching.map(|(publication, pair)| row(publication, &pair.description().unwrap()));
        assert_eq!(found, matching.collect::<Vec<_>>(), "{filter}");
    }
    for (target, key) in [
        ("/v1/npa/407/nxx/200/history?", "407-200"),
        ("/v1/npa/689/nxx/205/history?", "689-205"),
        ("/v1/carrier/1111/history?", "1111"),
    ] {
        let mut found = all_changes(&api, target).await;
        found.reverse();
        let of_record = rows.iter().filter(|row| row["key"] == key).cloned();
        assert_eq!(found, of_record.collect::<Vec<_>>(), "{target}");
    }

    let before = date_of(days[0].publication.at).yesterday().unwrap();
    for target in [
        format!("/v1/carrier/1111?as_of={before}"),
        format!("/v1/npa/407?as_of={before}"),
        format!("/v1/format/+14072001234?as_of={before}"),
        format!("/v1/changes?since={before}"),
    ] {
        let (status, body) = get(&api, &target).await;
        let rule = format!("must be {} or later, when the history begins", days[0].publication.at);
        assert!(status == 400 && body["message"].as_str().unwrap().contains(&rule), "{body}");
    }
    assert!(rows.len() > DAYS, "the walk changed something: {}", rows.len());
}

/// Changes an item without its checksum.
async fn damage(store: &Store, code: &str, entry: &str) {
    let (client, tables) = store.parts();
    let [code, entry] = [code, entry].map(|key| AttributeValue::S(key.to_owned()));
    let update = client.update_item().table_name(&tables.history).key("code", code);
    let update = update.key("entry", entry).update_expression("SET damage = :damage");
    let update = update.expression_attribute_values(":damage", AttributeValue::Bool(true));
    update.send().await.unwrap();
}
