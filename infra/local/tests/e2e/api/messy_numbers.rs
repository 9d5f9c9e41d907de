//! A thousand cells of a spreadsheet as people fill them, asked for by path and, in each encoding of
//! the usual HTTP libraries, by query. Both give the same answer to the byte.

use std::{cmp::Ordering, collections::BTreeMap, future::ready};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use futures_util::{StreamExt, stream};
use lambda_http::Service as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use shared::{app, state::App};

use crate::support::service::{KEY, shared_service};

const HTML_FORM: &str = "HTML form";

type Encoder = fn(&str) -> String;

/// How the usual clients write a cell into a query. Of the last one, only the source of Go has been
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

/// What is encoded by clients that leave the unreserved characters of RFC 3986 as they are.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded by the URL standard.
const URL_STANDARD: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

/// All of the clients write a space as `+`.
fn form_encoded(cell: &str, encoded: &'static AsciiSet) -> String {
    utf8_percent_encode(cell, encoded).to_string().replace("%20", "+")
}

fn with_crlf(cell: &str) -> String {
    cell.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

fn cells() -> Vec<String> {
    serde_json::from_str(include_str!("messy_numbers.json")).unwrap()
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
#[derive(Clone)]
struct InProcess(Router);

impl InProcess {
    async fn start() -> Self {
        let app = App::on(shared_service().database.serving_store().await);
        Self(app::service([format::routes()], app))
    }

    async fn answer(&self, target: String) -> String {
        let request = Request::get(&target).header("Host", "localhost");
        let request = request.header("Authorization", format!("Bearer {KEY}"));
        let request = request.body(Body::empty()).unwrap();
        let response = self.0.clone().call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{target}");
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    async fn by_path(&self, cell: &str) -> String {
        let encoded = utf8_percent_encode(cell, NON_ALPHANUMERIC);
        self.answer(format!("/v1/format/{encoded}")).await
    }

    async fn by_query(&self, encoded: &str) -> String {
        self.answer(format!("/v1/format?tn={encoded}")).await
    }

    /// Asserts that the cell has the same answer in every encoding, and returns that of the path.
    async fn assert_same_by_path_and_query(&self, cell: &str) -> String {
        let by_path = self.by_path(cell).await;
        for (query, encoder) in queries(cell) {
            let by_query = self.by_query(&query).await;
            let has_other_line_breaks = encoder == HTML_FORM && with_crlf(cell) != cell;
            let expected = match with_plus_in_doubt(cell) {
                Some(with_plus) => self.in_doubt(&query, cell, &with_plus).await,
                None if has_other_line_breaks => self.by_path(&with_crlf(cell)).await,
                None => by_path.clone(),
            };
            assert_eq!(by_query, expected, "{cell:?} by {encoder}");
        }
        by_path
    }

    /// The answer for a cell in doubt: for the better number of the two that it may be, or of equals
    /// for the one that is likelier.
    async fn in_doubt(&self, query: &str, cell: &str, with_plus: &str) -> String {
        let (space, plus) = (self.by_path(cell).await, self.by_path(with_plus).await);
        let encoded: Vec<_> = query.split('%').skip(1).map(|code| &code[..2]).collect();
        let is_punctuation = |code: &&str| "21 24 27 28 29 2A 2B 2C 2F 3A 3B 3D 40".contains(*code);
        let plus_is_likelier = query.starts_with('+') && !encoded.iter().any(is_punctuation);
        match quality(&plus).cmp(&quality(&space)) {
            Ordering::Greater => plus,
            Ordering::Equal if plus_is_likelier => plus,
            _ => space,
        }
    }
}

/// Each query that an encoder writes for the cell, with one encoder that writes it so.
fn queries(cell: &str) -> BTreeMap<String, &'static str> {
    ENCODERS.map(|(encoder, encode)| (encode(cell), encoder)).into()
}

/// Whether the number is valid, possible, and can be parsed.
fn quality(answer: &str) -> [bool; 3] {
    let body: Value = serde_json::from_str(answer).unwrap();
    [body["valid"] == true, body["possible"] == true, body["formats"].is_object()]
}

fn input(answer: &str) -> String {
    let body: Value = serde_json::from_str(answer).unwrap();
    body["input"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_messy_cell_is_answered_the_same_by_path_and_by_a_query_in_every_encoding() {
    let (service, cells) = (InProcess::start().await, cells());
    assert_eq!(cells.len(), 1000);
    let answers = stream::iter(&cells).map(|cell| service.assert_same_by_path_and_query(cell));
    let valid = answers.buffer_unordered(16).filter(|answer| ready(quality(answer)[0])).count();
    let valid = valid.await;
    let in_doubt = cells.iter().filter_map(|cell| with_plus_in_doubt(cell)).count();
    // So that the cells stay numbers, and the doubt stays rare.
    assert!(valid > 850 && in_doubt < 30, "{valid} valid, {in_doubt} in doubt");
}

/// As North American numbers beside a space or a label come out of a form; with a plus sign they
/// would be valid in Peru, Colombia, Egypt and elsewhere.
#[tokio::test]
async fn a_space_or_a_label_before_a_number_does_not_change_its_country() {
    let service = InProcess::start().await;
    for (query, e164) in [
        ("+516-607-4335+", "+15166074335"),
        ("+570-772-1086+", "+15707721086"),
        ("Cell:+205-480-0075", "+12054800075"),
        ("Cell%3A+205-480-0075", "+12054800075"),
        (
            "%2B%DB%B8%DB%B1+%DB%B3+%DB%B1%DB%B2%DB%B3%DB%B4+%DB%B5%DB%B6%DB%B7%DB%B8",
            "+81312345678",
        ),
        ("%EF%BC%8B%EF%BC%94%EF%BC%94+20+7946+0958", "+442079460958"),
        ("+516+607+4335", "+15166074335"),
        ("++516-607-4335", "+15166074335"),
        ("+%28516%29+607-4335", "+15166074335"),
        ("tel%3A+516-607-4335", "+15166074335"),
        ("Tel.+516-607-4335", "+15166074335"),
        ("Jane+Doe+516-607-4335", "+15166074335"),
        ("%22+516-607-4335%22", "+15166074335"),
        ("+305-234-5678", "+13052345678"),
    ] {
        assert_eq!(input(&service.by_query(query).await), e164, "{query}");
    }
}

#[tokio::test]
async fn a_plus_that_nobody_encoded_begins_an_international_number() {
    let service = InProcess::start().await;
    for query in [
        "+442079460958",
        "+44%2020%207946%200958",
        "%20+44%2020%207946%200958",
        "(+44)2079460958",
        "'+442079460958",
        "tel:+44-20-7946-0958",
        "tel%3A+442079460958",
        "Tel.%20+44%2020%207946%200958",
        "tel:20-7946-0958;phone-context=+44",
        "tel:20-7946-0958;phone-context%3D+44",
        "Line%20two:%20+44%2020%207946%200958",
    ] {
        assert_eq!(input(&service.by_query(query).await), "+442079460958", "{query}");
    }
}

#[tokio::test]
async fn punctuation_and_spacing_are_ignored_by_path_and_query() {
    let service = InProcess::start().await;
    for separator in
        ["\t", "\r\n", "\u{202f}", "_", ",", ":", ";", "·", "|", "'", "’", "\u{feff}", "\u{2066}"]
    {
        let cell = ["305", "234", "5678"].join(separator);
        let answer = service.assert_same_by_path_and_query(&cell).await;
        assert_eq!(input(&answer), "+13052345678", "{cell:?}");
    }
}
