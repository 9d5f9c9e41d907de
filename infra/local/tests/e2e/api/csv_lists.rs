//! Lists and searches as CSV.

use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::support::service::{Service, fields, shared_service};

/// A list by its URL, and the field of its JSON that has the rows.
const LISTS: [(&str, &str); 5] = [
    ("/v1/carriers?limit=100", "carriers"),
    ("/v1/npa/415?limit=20&offset=3", "exchanges"),
    ("/v1/npa?npa=416&nxx=234", "exchanges"),
    ("/v1/npa/212/nxx/234?limit=2", "exchanges"),
    ("/v1/search?q=sample&limit=100", "results"),
];

async fn accepting(service: &Service, target: &str, accept: &str) -> Response {
    let key = crate::support::service::KEY;
    service.request(target).bearer_auth(key).header("accept", accept).send().await.unwrap()
}

fn rows_of(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn as_cell(value: &Value) -> String {
    value.as_str().map_or_else(
        || if value.is_null() { String::new() } else { value.to_string() },
        str::to_owned,
    )
}

#[tokio::test]
async fn the_rows_and_columns_are_those_of_json_and_so_are_the_pages() {
    let service = shared_service();
    for (target, field) in LISTS {
        let json = service.get(target).await;
        let link = json.headers().get("link").cloned();
        let json: Value = json.json().await.unwrap();
        let objects = json[field].as_array().unwrap();
        let response = accepting(service, target, "text/csv").await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers().get("link"), link.as_ref(), "{target}");
        assert_eq!(
            response.headers()["content-type"],
            "text/csv; charset=utf-8; header=present",
            "{target}"
        );
        let rows = rows_of(&response.text().await.unwrap());
        // An exchange of an area code has that beside it.
        let own = if field == "exchanges" { 1 } else { 0 };
        assert_eq!(rows[0][own..], fields(&objects[0]), "{target}");
        assert_eq!(rows.len(), objects.len() + 1, "{target}");
        for (row, object) in rows[1..].iter().zip(objects) {
            let cells: Vec<String> = object.as_object().unwrap().values().map(as_cell).collect();
            assert_eq!(row[own..], cells, "{target}");
            assert!(own == 0 || row[0] == json["npa"].as_str().unwrap());
        }
    }
}

#[tokio::test]
async fn the_parameter_comes_before_accept_and_stays_in_the_links() {
    let service = shared_service();
    let response = accepting(service, "/v1/npa/415?format=CSV&limit=1", "application/json").await;
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"npa-415.csv\"");
    assert!(response.headers()["link"].to_str().unwrap().contains("format=CSV"));
    let response = accepting(service, "/v1/npa/415?format=json", "text/csv").await;
    assert_eq!(response.headers()["content-type"], "application/json");
    service
        .assert_error(
            "/v1/npa/415?format=xml",
            400,
            "invalid_request",
            "format must be one of json, csv, got 'xml'",
        )
        .await;
}

#[tokio::test]
async fn a_list_without_rows_has_a_header_and_errors_stay_json() {
    let service = shared_service();
    let response = accepting(service, "/v1/search?q=nobodyatall", "text/csv").await;
    let rows = rows_of(&response.text().await.unwrap());
    assert_eq!((rows.len(), rows[0].len()), (1, 9));
    let refused = accepting(service, "/v1/npa/999", "text/csv").await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    assert_eq!(refused.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn each_form_has_an_entity_tag_of_its_own() {
    let service = shared_service();
    let target = "/v1/carriers?limit=2";
    let mut tags = Vec::new();
    for accept in ["application/json", "text/csv"] {
        let response = accepting(service, target, accept).await;
        assert!(response.headers()["vary"].to_str().unwrap().contains("Accept"));
        tags.push(response.headers()["etag"].clone());
    }
    assert_ne!(tags[0], tags[1]);
    for (accept, tag, status) in
        [("text/csv", &tags[1], StatusCode::NOT_MODIFIED), ("text/csv", &tags[0], StatusCode::OK)]
    {
        let request = service.request(target).bearer_auth(crate::support::service::KEY);
        let request = request.header("accept", accept).header("if-none-match", tag);
        assert_eq!(request.send().await.unwrap().status(), status);
    }
}
