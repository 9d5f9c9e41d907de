//! `POST /v1/format` with tables, in a body or in the answer.

use reqwest::StatusCode;
use serde_json::Value;

use crate::support::service::shared_service;

async fn csv_of(target: &str, content_type: &str, body: &'static str) -> Vec<Vec<String>> {
    let request = shared_service().post(target, content_type, body).header("accept", "text/csv");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let media_type = response.headers()["content-type"].to_str().unwrap();
    assert_eq!(media_type, "text/csv; charset=utf-8; header=present");
    let text = response.text().await.unwrap();
    assert!(text.split_terminator("\r\n").all(|line| !line.contains('\n')), "{text}");
    let delimiter = if text.contains(';') { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).delimiter(delimiter).from_reader(text.as_bytes());
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}

fn cell<'a>(rows: &'a [Vec<String>], row: usize, column: &str) -> &'a str {
    let index = rows[0].iter().position(|name| name == column).unwrap();
    &rows[row][index]
}

#[tokio::test]
async fn a_csv_comes_back_with_its_own_columns_first_and_no_formula() {
    let body =
        "name;phone\r\n\"=HYPERLINK(\"\"x\"\")\";(305) 234-5678\r\n@b;+44 20 7946 0958\r\nC;\r\n";
    let rows = csv_of("/v1/format", "text/csv", body).await;
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0][..3], ["name", "phone", "tn_valid"]);
    assert_eq!(rows[1][..3], ["'=HYPERLINK(\"x\")", "(305) 234-5678", "true"]);
    assert_eq!(rows[2][..3], ["'@b", "+44 20 7946 0958", "true"]);
    assert_eq!(rows[3][..3], ["C", "", ""]);
    assert_eq!(cell(&rows, 1, "tn_e164"), "+13052345678");
    assert_eq!(cell(&rows, 1, "tn_carrier_name"), "SAMPLE MOBILE USA, INC.");
    assert_eq!((cell(&rows, 2, "tn_country"), cell(&rows, 2, "tn_error")), ("GB", ""));
    assert_eq!(cell(&rows, 3, "tn_error"), "tn must not be empty");
}

#[tokio::test]
async fn other_bodies_come_back_as_a_csv_with_names_and_texts() {
    let body = r#"["305 234 5678", {"tn": "=1+1", "id": "-x"}]"#;
    let rows = csv_of("/v1/format", "application/json", body).await;
    assert_eq!(rows[0][..3], ["id", "tn", "tn_valid"]);
    assert_eq!(rows[1][..3], ["", "305 234 5678", "true"]);
    assert_eq!(rows[2][..2], ["'-x", "'=1+1"]);
}

#[tokio::test]
async fn a_table_of_excel_has_its_delimiter_countries_and_names_read() {
    let body = "sep=;\r\nid;phone;default_country\r\na;020 7946 0958;GB\r\nb;305 234 5678;\r\n\
                c;305 234 5678;UK\r\n";
    let request = shared_service().post("/v1/format?defaultCountry=US", "text/csv", body);
    let answers: Value = request.send().await.unwrap().json().await.unwrap();
    let facts: Vec<_> = answers["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| {
            [&answer["id"], &answer["result"]["country"], &answer["error"]["error"]]
                .map(Value::as_str)
        })
        .collect();
    assert_eq!(
        facts,
        [
            [Some("a"), Some("GB"), None],
            [Some("b"), Some("US"), None],
            [Some("c"), None, Some("Bad Request")]
        ]
    );
    let rows = csv_of("/v1/format", "text/csv", body).await;
    assert_eq!(rows[0][..4], ["id", "phone", "default_country", "tn_valid"]);
    assert_eq!(cell(&rows, 1, "tn_country"), "GB");
    assert!(cell(&rows, 3, "tn_error").starts_with("Invalid defaultCountry 'UK'"));
}

#[tokio::test]
async fn a_number_that_is_not_valid_has_no_formats_in_a_table_and_all_of_them_in_json() {
    let rows = csv_of("/v1/format", "text/csv", "phone\n305 234\n+1 305 234 5678\n").await;
    for column in ["tn_e164", "tn_international", "tn_national", "tn_rfc3966"] {
        assert_eq!(cell(&rows, 1, column), "", "{column}");
        assert_ne!(cell(&rows, 2, column), "", "{column}");
    }
    assert_eq!(cell(&rows, 1, "tn_input"), "+1305234");
    assert_eq!(cell(&rows, 2, "tn_country_calling_code"), "+1");
    let json = shared_service().ok("/v1/format/305%20234").await;
    assert_eq!(json["formats"]["e164"], "+1305234");
}

#[tokio::test]
async fn a_column_is_refused_only_if_the_answer_adds_one_of_its_name() {
    let status = async |query: &str, accept: &str| {
        let target = format!("/v1/format?{query}");
        let body = "tn,tn_valid,tn_reason\n305 234 5678,true,\n";
        let request = shared_service().post(&target, "text/csv", body).header("accept", accept);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for (query, column) in [("", "tn_valid"), ("fields=formats,reason", "tn_reason")] {
        let (refused, body) = status(query, "text/csv").await;
        assert_eq!(refused, 400, "{query}");
        let message =
            format!("The column '{column}' is one that answers add; rename it or leave it out");
        assert!(body.contains(&message), "{body}");
    }
    assert_eq!(status("fields=formats", "text/csv").await.0, 200);
    assert_eq!(status("", "application/json").await.0, 200);
}
