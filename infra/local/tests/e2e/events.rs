//! Every sample event, through the real handlers as Lambda would call them.

use std::{
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
};

use axum::{body::to_bytes, response::Response};
use ingest::{Event, Source, Sources};
use lambda_http::{Request, Service as LambdaService};
use serde_json::{Map, Value, json};
use shared::{app::lambda, state::App};
use tnr::functions;

use crate::service::{Service, shared_service};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events")
}

/// The events of one function by their names, in order.
pub fn events_of(function: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(folder().join(function)).unwrap();
    let mut events: Vec<_> = files
        .map(|file| file.unwrap().path())
        .map(|file| {
            (file.file_stem().unwrap().display().to_string(), fs::read_to_string(&file).unwrap())
        })
        .collect();
    events.sort();
    events
}

async fn replay<S>(mut function: S, event: &str) -> Value
where
    S: LambdaService<Request, Response = Response, Error = Infallible>,
{
    let request = lambda_http::request::from_str(event).unwrap();
    let response = function.call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let names = ["allow", "cache-control", "content-type", "link", "www-authenticate"];
    let headers: Map<_, _> = names
        .iter()
        .filter_map(|name| {
            Some((name.to_string(), json!(parts.headers.get(*name)?.to_str().unwrap())))
        })
        .collect();
    json!({
        "status": parts.status.as_u16(),
        "headers": headers,
        "body": serde_json::from_slice::<Value>(&body).unwrap()
    })
}

#[tokio::test]
async fn every_event_gets_its_answer() {
    for (function, routes) in functions() {
        let app = App::on(shared_service().database.serving_store().await);
        let function_service = lambda(routes, app);
        for (name, event) in events_of(function) {
            let mut answer = replay(function_service.clone(), &event).await;
            assert_eq!(
                answer["status"] == 200,
                !name.starts_with("error-"),
                "{function}/{name}: {answer}"
            );
            replace_what_changes(&mut answer);
            insta::assert_json_snapshot!(format!("{function}/{name}"), answer);
        }
    }
}

/// Replaces times and versions, which differ from run to run.
fn replace_what_changes(answer: &mut Value) {
    let replace = |value: Option<&mut Value>, text: &str| {
        if let Some(value) = value {
            *value = text.into();
        }
    };
    replace(answer.pointer_mut("/body/last_ingestion"), "[time]");
    replace(answer.pointer_mut("/body/version"), "[version]");
    let times = answer.pointer_mut("/body/last_updated").and_then(Value::as_object_mut);
    for time in times.into_iter().flat_map(Map::values_mut) {
        *time = "[time]".into();
    }
    if let Some(Value::String(link)) = answer.pointer_mut("/headers/link") {
        *link = unversioned(link);
    }
}

/// A `Link` header without the version of the data, which has the time of the import in it.
fn unversioned(link: &str) -> String {
    let mut parts = link.split("version=");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |link, part| link + "version=[version]" + &part[part.find('>').unwrap()..])
}

#[tokio::test]
async fn the_ingest_event_names_sources_that_can_be_imported() {
    let service = Service::empty().await;
    for (name, event) in events_of("ingest") {
        let event = Event::parse(serde_json::from_str(&event).unwrap()).unwrap();
        let Sources { nanpa, cnac, npa_report, carriers, thousands_blocks } =
            event.request().sources(|_| None).unwrap();
        let sources = Sources {
            nanpa: local_copy(nanpa),
            cnac: local_copy(cnac),
            npa_report: local_copy(npa_report),
            carriers: carriers.map(local_copy),
            thousands_blocks: thousands_blocks.map(local_copy),
        };
        let store = service.database.store();
        let report = ingest::ingest(&store, &sources, ingest::Options::default(), |_| ());
        assert_eq!(report.await.unwrap().records, 3484, "{name}");
    }
}

/// The file that stands for an object of the bucket `sample`, as in the replay of the events.
fn local_copy(source: Source) -> Source {
    match source {
        Source::S3 { bucket, key } => {
            Source::File(folder().join("../infra/local").join(bucket).join(key))
        }
        other => panic!("{other:?}"),
    }
}
