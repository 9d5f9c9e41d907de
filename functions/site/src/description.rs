//! The OpenAPI description, in which the server is this service at the address of the request.

use std::{borrow::Cow, sync::LazyLock};

use axum::{
    extract::State,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use shared::{public_address::PublicAddress, state::App};

use crate::version_3_0::convert;

/// The committed description. A test compares it with the routes.
const COMMITTED: &str = include_str!("../../../docs/openapi.json");

pub static VERSION_3_1: LazyLock<Description> = LazyLock::new(|| Description::new(committed()));
/// For older tools.
pub static VERSION_3_0: LazyLock<Description> =
    LazyLock::new(|| Description::new(convert(committed())));

/// Stands for the address in the server's URL.
const ADDRESS: &str = "{address}";

pub struct Description {
    without_address: String,
    /// Contains [`ADDRESS`] wherever the address is to be inserted.
    with_address: String,
}

fn committed() -> Value {
    serde_json::from_str(COMMITTED).expect("the committed description is JSON")
}

impl Description {
    fn new(mut description: Value) -> Self {
        let without_address = description.to_string();
        description["servers"] = json!([{ "url": ADDRESS, "description": "This service" }]);
        let docs = description["externalDocs"]["url"].as_str().unwrap_or_default();
        description["externalDocs"]["url"] = format!("{ADDRESS}{docs}").into();
        Self { without_address, with_address: description.to_string() }
    }

    /// The description for a client that reached the service at this address. A shared cache must not store what a server
    /// derives from headers that clients send. API Gateway's domain comes from the event, but behind CloudFront it rejects
    /// clients; flag images then have a base URL.
    pub fn response(
        &'static self,
        State(app): State<App>,
        PublicAddress(address): PublicAddress,
    ) -> Response {
        let is_server = app.config.function.is_none();
        let is_reachable = is_server || app.config.flag_images.0.is_none();
        let body = match address.filter(|_| is_reachable) {
            Some(address) => {
                let escaped = Value::from(address).to_string();
                Cow::Owned(self.with_address.replace(ADDRESS, escaped.trim_matches('"')))
            }
            None => Cow::Borrowed(&*self.without_address),
        };
        let json = [(CONTENT_TYPE, "application/json")];
        let private = [(CACHE_CONTROL, "private, max-age=60")];
        (json, is_server.then_some(private), body).into_response()
    }
}
