//! The API at its URL, including DNS, certificate, routes and key table.

use rand::{RngExt, distr::Alphanumeric};
use reqwest::{Client, header, redirect::Policy};
use shared::auth::{ApiKey, KeyKind, SECRET_CHARACTERS};
use signed_requests::{MAX_RESPONSE_BYTES, client_builder, first_bytes};
use tokio::time::Instant;

use crate::{
    checks::{health, statistics},
    findings::Findings,
    functions::timeout_before,
    request::{Function, Request},
    response::{Api, Expectation, RequestError, Response},
};

/// The API at a URL, called until a deadline. Does not follow redirects.
pub struct HttpApi {
    client: Client,
    base_url: String,
    key: Option<ApiKey>,
    deadline: Instant,
}

impl HttpApi {
    pub fn new(base_url: &str, key: Option<ApiKey>, deadline: Instant) -> reqwest::Result<Self> {
        let client = client_builder().redirect(Policy::none()).build()?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, key, deadline })
    }

    /// Sends an unknown key, whose rejection shows that the key table is readable.
    pub async fn check_unknown_key(&self, findings: &mut Findings) {
        let request = Request::new(Function::Carriers, "/v1/carriers");
        let name = format!("API {} with an unknown key", request.route);
        let unauthorized = Expectation::error(401, "unauthorized").with_message("Invalid API key");
        let key = random_key();
        findings.record(name, &unauthorized, self.send_with(&request, Some(&key))).await;
    }

    async fn send_with(
        &self,
        request: &Request,
        key: Option<&ApiKey>,
    ) -> Result<Response, RequestError> {
        let timeout = timeout_before(self.deadline);
        let failed = |error| RequestError::from_transport(error, timeout);
        let url = format!("{}{}", self.base_url, request.target());
        let mut builder = match &request.body {
            None => self.client.get(url),
            Some(body) => {
                let builder = self.client.post(url).body(body.clone());
                builder.header(header::CONTENT_TYPE, request.media_type)
            }
        };
        builder = builder.header(header::ACCEPT, request.media_type).timeout(timeout);
        if let Some(key) = key {
            builder = builder.bearer_auth(key.reveal());
        }
        let response = builder.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let media_type = response.headers().get(header::CONTENT_TYPE).cloned();
        let bytes = first_bytes(response, MAX_RESPONSE_BYTES).await.map_err(failed)?;
        let media_type = media_type.as_ref().and_then(|media_type| media_type.to_str().ok());
        Response::new(status, media_type, &String::from_utf8_lossy(&bytes))
    }
}

impl Api for HttpApi {
    async fn send(&self, request: &Request) -> Result<Response, RequestError> {
        self.send_with(request, self.key.as_ref()).await
    }
}

/// Calls the endpoints that need no key, and one with an unknown key.
pub async fn check_api(api: &HttpApi) -> Findings {
    let mut findings = Findings::default();
    for (request, expectation) in [health(), statistics()] {
        // Skipped before the first import, since its 503 would count toward the error alarm.
        if !findings.is_empty {
            let name = format!("API {}", request.route);
            let response = findings.record(name, &expectation, api.send(&request)).await;
            if let Some(response) = response {
                findings.set_data_state(&response);
            }
        }
    }
    api.check_unknown_key(&mut findings).await;
    findings
}

/// Returns a well-formed, unknown key. It is new each time, since the service caches unknown keys for a while.
fn random_key() -> ApiKey {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
    ApiKey::with_secret(KeyKind::Live, &characters.map(char::from).collect::<String>())
        .expect("the characters are letters and digits")
}
