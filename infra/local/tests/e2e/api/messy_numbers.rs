//! A thousand cells of a spreadsheet as people fill them, asked for by path and, in each encoding of
//! the usual HTTP libraries, by query. Both give the same answer to the byte.

use std::{collections::BTreeMap, future::ready};

use axum::{body::Body, http::Request};
use futures_util::{StreamExt, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use shared::in_process::InProcess;

use crate::support::service::sample_app;

const HTML_FORM: &str = "HTML form";

type Encoder = fn(&str) -> String;

/// The usual clients, and what they write into a query for a cell. Of the last one, only the source of Go has been
/// read; what the others write for every cell has been compared to this.
const ENCODERS: [(&str, Encoder); 5] = [
    // `urllib.parse.quote_plus` of Python 3.11, which requests 2.34 calls.
    ("Python requests", |cell| form_encoded(cell, UNRESERVED)),
    // `--data-urlencode` of curl 7.88. With `-G` its hexadecimal digits are in lower case.
    ("curl", |cell| form_encoded(cell, UNRESERVED)),
    // `URLSearchParams` of Node.js 20, by the URL standard.
    ("URLSearchParams", |cell| form_encoded(cell, URL_STANDARD)),
    // The HTML standard turns each line break into CR LF, and then encodes by the URL standard.
    (HTML_FORM, |cell| form_encoded(&with_crlf(cell), URL_STANDARD)),
    // `url.QueryEscape`, which encodes the values of `url.Values`.
    ("Go", |cell| form_encoded(cell, UNRESERVED)),
];

/// The characters encoded by clients that leave the unreserved characters of RFC 3986 as they are.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters encoded by the URL standard.
const URL_STANDARD: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// All of the clients write a space as `+`.
fn form_encoded(cell: &str, encoded: &'static AsciiSet) -> String {
    utf8_percent_encode(cell, encoded).to_string().replace("%20", "+")
}

fn with_crlf(cell: &str) -> String {
    cell.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

/// The cell with a plus sign for its space, if a form that wrote the cell is in doubt: if it has a
/// single space, and that follows nothing but punctuation, or directly follows `tel:`.
fn with_plus_in_doubt(cell: &str) -> Option<String> {
    let (before, after) = cell.split_once(' ').filter(|(_, after)| !after.contains(' '))?;
    let is_in_doubt =
        !before.contains(char::is_alphanumeric) || before.eq_ignore_ascii_case("tel:");
    is_in_doubt.then(|| format!("{before}+{after}"))
}

/// The service without a socket, which answers thousands of requests in seconds.
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

    /// Asserts that the cell has the same answer in every encoding, and returns that of the path.
    async fn assert_same_by_path_and_query(&self, cell: &str) -> String {
        let by_path = self.by_path(cell).await;
        for (query, encoder) in queries(cell) {
            let by_query = self.answer(format!("/v1/format?tn={query}")).await;
            let has_other_line_breaks = encoder == HTML_FORM && with_crlf(cell) != cell;
            let expected = match with_plus_in_doubt(cell) {
                // The tests of readings show which of the two counts.
                Some(with_plus) if by_query != by_path => self.by_path(&with_plus).await,
                None if has_other_line_breaks => self.by_path(&with_crlf(cell)).await,
                _ => by_path.clone(),
            };
            assert_eq!(by_query, expected, "{cell:?} by {encoder}");
        }
        by_path
    }
}

/// Each query that an encoder writes for the cell, with one encoder that writes it so.
fn queries(cell: &str) -> BTreeMap<String, &'static str> {
    ENCODERS.map(|(encoder, encode)| (encode(cell), encoder)).into()
}

#[tokio::test]
async fn a_messy_cell_is_answered_the_same_by_path_and_by_a_query_in_every_encoding() {
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
    // So that the cells stay numbers, and the doubt stays rare.
    assert!(valid > 850 && in_doubt < 30, "{valid} valid, {in_doubt} in doubt");
}
