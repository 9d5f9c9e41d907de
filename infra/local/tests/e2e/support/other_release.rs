//! Another release of the service, whose snapshots have another layout.
//!
//! It is this release behind a proxy that exchanges two layouts in all that is written and read: in
//! the manifest, and in the first byte of each snapshot. So this release finds what the other one
//! published in a layout that it does not read, and the other one finds the same of this one.

use std::net::Ipv4Addr;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use numbering::dataset::LAYOUT;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::service::http_client;

/// The layout that takes the place of [`LAYOUT`]. The two differ in one bit, so that the same change
/// makes either of the other.
pub const OTHER_LAYOUT: u8 = LAYOUT ^ 1;
/// The letters of base64, each of which stands for six bits.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The last bit of the first byte, in the second letter of its base64.
const LAST_BIT: usize = 0b01_0000;

/// The address at which the other release finds the database of `endpoint`. It answers as long as
/// the runtime of the test.
pub async fn endpoint_of_other_release(endpoint: &str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let database = (endpoint.to_owned(), http_client());
    let router = Router::new().fallback(forward).with_state(database);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

async fn forward(
    State((endpoint, client)): State<(String, Client)>,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    for of_the_body in ["host", "content-length"] {
        headers.remove(of_the_body);
    }
    let request = client.post(endpoint).headers(headers).body(exchanged(&body));
    let Ok(answer) = request.send().await else { return connection_reset() };
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    let Ok(body) = answer.bytes().await else { return connection_reset() };
    for of_the_body in ["content-length", "x-amz-crc32"] {
        headers.remove(of_the_body);
    }
    (status, headers, exchanged(&body)).into_response()
}

fn connection_reset() -> Response {
    let reset = Err::<Bytes, _>(std::io::Error::other("reset"));
    Body::from_stream(futures_util::stream::iter([reset])).into_response()
}

/// A request or an answer of DynamoDB with the two layouts exchanged.
fn exchanged(body: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice(body) else { return body.to_vec() };
    exchange(&mut value);
    value.to_string().into_bytes()
}

fn exchange(value: &mut Value) {
    let is_first_chunk = value["id"]["S"].as_str().is_some_and(|id| id.ends_with("#0000"));
    let Value::Object(fields) = value else {
        value.as_array_mut().into_iter().flatten().for_each(exchange);
        return;
    };
    if let Some(layout) = fields.get_mut("layout") {
        let stated: u8 = layout["N"].as_str().unwrap().parse().unwrap();
        *layout = json!({ "N": (stated ^ 1).to_string() });
    }
    if let Some(data) = fields.get_mut("data").filter(|_| is_first_chunk) {
        let base64 = data["B"].as_str().unwrap();
        *data = json!({ "B": with_last_bit_of_first_byte_flipped(base64) });
    }
    fields.values_mut().for_each(exchange);
}

fn with_last_bit_of_first_byte_flipped(base64: &str) -> String {
    let mut letters = base64.as_bytes().to_vec();
    let bits = BASE64.iter().position(|letter| *letter == letters[1]).unwrap();
    letters[1] = BASE64[bits ^ LAST_BIT];
    String::from_utf8(letters).unwrap()
}
