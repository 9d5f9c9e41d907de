//! Lists and searches as CSV.

use serde_json::Value;

use crate::support::service::{KEY, fields, header, shared_service};

/// A list's URL, and the JSON field with its rows.
const LISTS: [(&str, &str); 5] = [
    ("/v1/carriers?limit=100", "carriers"),
    ("/v1/npa/415?limit=20&offset=3", "exchanges"),
    ("/v1/npa?npa=416&nxx=234", "exchanges"),
    ("/v1/npa/212/nxx/234?limit=2", "exchanges"),
    ("/v1/search?q=sample&limit=100", "results"),
];

fn rows_of(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[tokio::test]
async fn csv_has_the_rows_columns_and_pages_of_json() {
    let service = shared_service();
    for (target, field) in LISTS {
        let json = service.get(target).await;
        let link = json.headers().get("link").cloned();
        let json: Value = json.json().await.unwrap();
        let objects = json[field].as_array().unwrap();
        let response = service.get_with(target, "accept", "text/csv").await;
        assert_eq!(response.headers().get("link"), link.as_ref(), "{target}");
        let media_type = header(response.headers(), "content-type");
        assert_eq!(media_type, "text/csv; charset=utf-8; header=present", "{target}");
        let rows = rows_of(&response.text().await.unwrap());
        // Exchanges of an area code have one more column.
        let own = if field == "exchanges" { 1 } else { 0 };
        assert_eq!(rows[0][own..], fields(&objects[0]), "{target}");
        assert_eq!(rows.len(), objects.len() + 1, "{target}");
        for (row, object) in rows[1..].iter().zip(objects) {
            let values = object.as_object().unwrap().values();
            let cells: Vec<&str> = values.map(|value| value.as_str().unwrap_or_default()).collect();
            assert_eq!(row[own..], cells, "{target}");
            assert!(own == 0 || row[0] == json["npa"].as_str().unwrap());
        }
    }
}

#[tokio::test]
async fn the_format_parameter_overrides_accept_and_stays_in_links() {
    let service = shared_service();
    let csv =
        service.get_with("/v1/npa/415?format=CSV&limit=1", "accept", "application/json").await;
    assert_eq!(csv.headers()["content-disposition"], "attachment; filename=\"npa-415.csv\"");
    assert!(header(csv.headers(), "link").contains("format=CSV"));
    // Errors are JSON.
    for (target, status) in [("/v1/npa/415?format=json", 200), ("/v1/npa/999", 404)] {
        let json = service.get_with(target, "accept", "text/csv").await;
        assert_eq!(json.status(), status, "{target}");
        assert_eq!(json.headers()["content-type"], "application/json", "{target}");
    }
}

#[tokio::test]
async fn json_and_csv_have_different_etags() {
    let service = shared_service();
    let target = "/v1/carriers?limit=2";
    let json = service.get(target).await.headers()["etag"].clone();
    let csv = service.get_with(target, "accept", "text/csv").await.headers()["etag"].clone();
    for (tag, status) in [(csv, 304), (json, 200)] {
        let request = service.request(target).bearer_auth(KEY).header("accept", "text/csv");
        let response = request.header("if-none-match", tag).send().await.unwrap();
        assert_eq!(response.status(), status);
    }
}
