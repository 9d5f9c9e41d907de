//! The checks of the API as clients reach it: name, certificate, routes, and the table of keys.

use rand::{RngExt, distr::Alphanumeric};
use reqwest::{Client, RequestBuilder, Url, redirect::Policy};
use shared::auth::{ApiKey, ORIGIN_SECRET, OriginSecrets, SECRET_CHARACTERS};
use signed_requests::{MAX_ANSWER_BYTES, client_builder, domain, first_bytes};
use tokio::time::Instant;

use crate::{
    expectations::{self as expected, Health, Wrong},
    findings::Findings,
    functions::{Answer, NoAnswer, time_left},
};

/// Why the API cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("no HTTPS client can be made")]
    Client(#[source] reqwest::Error),
    #[error("base_url must be an address, got '{0}'")]
    Address(String),
}

/// The API at an address.
pub struct PublicApi {
    client: Client,
    base_url: Url,
    /// The secret of the origin, if the API asks for one at this address.
    secret: Option<String>,
    deadline: Instant,
}

impl PublicApi {
    /// The API at `base_url`. A secret is sent to addresses of API Gateway only: at any other
    /// address something stands before it that adds the secret, or that must not learn it.
    pub fn at(
        base_url: &str,
        secrets: &OriginSecrets,
        region: &str,
        deadline: Instant,
    ) -> Result<Self, ApiError> {
        let client = client_builder().redirect(Policy::none()).build().map_err(ApiError::Client)?;
        let no_address = || ApiError::Address(base_url.to_owned());
        let base_url: Url = base_url.parse().map_err(|_| no_address())?;
        let secret = secrets.to_send().filter(|_| is_api_gateway(&base_url, region));
        Ok(Self { client, secret: secret.map(str::to_owned), base_url, deadline })
    }

    /// Asks what needs no key, and for a list with a key that nobody has.
    pub async fn check(&self) -> Findings {
        let mut findings = Findings::default();
        let health = self.get("/v1/health").await.and_then(expected::health);
        let health = findings.note("API /v1/health", health);
        // Before the first import its 503 would count as an error of the service.
        if health != Some(Health::Empty) {
            let statistics = self.get("/v1/stats").await.and_then(expected::statistics);
            findings.note("API /v1/stats", statistics.map(drop));
        }
        let with_unknown_key = self.request("/v1/carriers?limit=1").bearer_auth(unknown_key());
        let refusal = self.answer(with_unknown_key).await.and_then(expected::unknown_key);
        findings.note("API /v1/carriers with an unknown key", refusal);
        findings
    }

    async fn get(&self, path: &str) -> Result<Answer, Wrong> {
        self.answer(self.request(path)).await
    }

    fn request(&self, path: &str) -> RequestBuilder {
        let address = format!("{}{path}", self.base_url.as_str().trim_end_matches('/'));
        let request = self.client.get(address);
        match &self.secret {
            Some(secret) => request.header(ORIGIN_SECRET, secret),
            None => request,
        }
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Answer, Wrong> {
        let limit = time_left(self.deadline);
        let failed = |error| NoAnswer::of_transport(error, limit);
        let response = request.timeout(limit).send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let bytes = first_bytes(response, MAX_ANSWER_BYTES).await.map_err(failed)?;
        let body = serde_json::from_slice(&bytes).map_err(NoAnswer::from)?;
        Ok(Answer { status, body })
    }
}

/// Whether the address is one that API Gateway gives to an API in this region.
fn is_api_gateway(address: &Url, region: &str) -> bool {
    let suffix = format!(".execute-api.{region}.{}", domain(region));
    address.scheme() == "https" && address.host_str().is_some_and(|host| host.ends_with(&suffix))
}

/// A well-formed key that is not registered: a new one each time, since the service remembers for a while
/// which keys it does not know, and then does not read their table.
fn unknown_key() -> String {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
    let key = ApiKey::with_secret(&characters.map(char::from).collect::<String>());
    key.expect("the characters are letters and digits").reveal().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_goes_to_api_gateway_only() {
        let is_sent = |address: &str| is_api_gateway(&address.parse().unwrap(), "eu-west-1");
        assert!(is_sent("https://abcdef1234.execute-api.eu-west-1.amazonaws.com"));
        for address in [
            "http://abcdef1234.execute-api.eu-west-1.amazonaws.com",
            "https://abcdef1234.execute-api.us-east-1.amazonaws.com",
            "https://abcdef1234.execute-api.eu-west-1.amazonaws.com.example.com",
            "https://api.example.com/.execute-api.eu-west-1.amazonaws.com",
            "http://127.0.0.1:3000",
        ] {
            assert!(!is_sent(address), "{address}");
        }
    }

    #[test]
    fn an_unknown_key_is_well_formed_and_never_the_same() {
        let (one, other) = (unknown_key(), unknown_key());
        assert!(one.parse::<ApiKey>().is_ok());
        assert_ne!(one, other);
    }
}
