//! A thousand messy spreadsheet cells, requested by path and by query in each encoding of the common HTTP
//! libraries. Both give byte-identical answers.

use std::{collections::BTreeMap, future::ready};

use axum::{body::Body, http::Request};
use futures_util::{StreamExt, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use shared::in_process::InProcess;

use crate::support::service::sample_app;

const HTML_FORM: &str = "HTML form";

type Encoder = fn(&str) -> String;

/// Common clients, and how each encodes a cell in a query. Each was compared with the client's output for
/// every cell, except Go, where only the source was read.
const ENCODERS: [(&str, Encoder); 3] = [
    // `urllib.parse.quote_plus` of Python 3.11, called by requests 2.34; `--data-urlencode` of curl 7.88, whose
    // hex digits are lower case with `-G`; `url.QueryEscape` of Go, which encodes `url.Values`.
    ("Python requests, curl or Go", |cell| form_encoded(cell, UNRESERVED)),
    // `URLSearchParams` of Node.js 20, per the URL standard.
    ("URLSearchParams", |cell| form_encoded(cell, URL_STANDARD)),
    // The HTML standard turns line breaks into CR LF, then encodes per the URL standard.
    (HTML_FORM, |cell| form_encoded(&with_crlf(cell), URL_STANDARD)),
];

/// Encoded by clients that keep the unreserved characters of RFC 3986.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encoded per the URL standard.
const URL_STANDARD: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// All of these clients write a space as `+`.
fn form_encoded(cell: &str, encoded: &'static AsciiSet) -> String {
    utf8_percent_encode(cell, encoded).to_string().replace("%20", "+")
}

fn with_crlf(cell: &str) -> String {
    cell.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

/// The cell with a plus sign for its only space, if the space is ambiguous: it follows only punctuation, or
/// directly follows `tel:`.
fn with_plus_in_doubt(cell: &str) -> Option<String> {
    let (before, after) = cell.split_once(' ').filter(|(_, after)| !after.contains(' '))?;
    let is_in_doubt =
        !before.contains(char::is_alphanumeric) || before.eq_ignore_ascii_case("tel:");
    is_in_doubt.then(|| format!("{before}+{after}"))
}

/// The service without a socket, for thousands of requests in seconds.
struct Numbers(InProcess);

impl Numbers {
    async fn answer(&self, target: String) -> String {
        let answer = self.0.ask(Request::get(&target).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, 200, "{target}");
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    async fn by_path(&self, cell: &str) -> String {
        let encoded = utf8_percent_encode(cell, NON_ALPHANUMERIC);
        self.answer(format!("/v1/format/{encoded}")).await
    }

    /// Asserts that every encoding gives the same answer, and returns the answer by path.
    async fn assert_same_by_path_and_query(&self, cell: &str) -> String {
        let by_path = self.by_path(cell).await;
        for (query, encoder) in queries(cell) {
            let by_query = self.answer(format!("/v1/format?tn={query}")).await;
            let has_other_line_breaks = encoder == HTML_FORM && with_crlf(cell) != cell;
            let expected = match with_plus_in_doubt(cell) {
                // The unit tests of readings show which of the two wins.
                Some(with_plus) if by_query != by_path => self.by_path(&with_plus).await,
                None if has_other_line_breaks => self.by_path(&with_crlf(cell)).await,
                _ => by_path.clone(),
            };
            assert_eq!(by_query, expected, "{cell:?} by {encoder}");
        }
        by_path
    }
}

/// Each distinct query for the cell, with one encoder that writes it.
fn queries(cell: &str) -> BTreeMap<String, &'static str> {
    ENCODERS.map(|(encoder, encode)| (encode(cell), encoder)).into()
}

#[tokio::test]
async fn messy_cells_get_the_same_answer_by_path_and_by_query_in_every_encoding() {
    let service = Numbers(InProcess::new([format::routes()], sample_app().await));
    let cells: Vec<String> = serde_json::from_str(include_str!("messy_numbers.json")).unwrap();
    assert_eq!(cells.len(), 1000);
    let answers = stream::iter(&cells).map(|cell| service.assert_same_by_path_and_query(cell));
    let valid = answers
        .buffer_unordered(16)
        .filter(|answer| ready(answer.starts_with("{\"valid\":true")))
        .count();
    let valid = valid.await;
    let in_doubt = cells.iter().filter_map(|cell| with_plus_in_doubt(cell)).count();
    // Keeps the cells valid, and the ambiguity rare.
    assert!(valid > 850 && in_doubt < 30, "{valid} valid, {in_doubt} in doubt");
}
