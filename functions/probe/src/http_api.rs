//! The API at its URL, as clients reach it: name, certificate, routes and key table.

use rand::{RngExt, distr::Alphanumeric};
use reqwest::{Client, Url, header, redirect::Policy};
use shared::auth::{ApiKey, ORIGIN_SECRET, OriginSecrets, SECRET_CHARACTERS};
use signed_requests::{MAX_ANSWER_BYTES, client_builder, domain, first_bytes};
use tokio::time::Instant;

use crate::{
    api::{Answer, NoAnswer},
    checks::{Check, carriers, health, statistics},
    expectation::{Expectation, Part},
    findings::Findings,
    functions::time_left,
    request::Request,
};

/// The API at a URL, called until a deadline.
pub struct HttpApi {
    client: Client,
    base_url: String,
    /// The origin secret, for requests that bypass the distribution.
    secret: Option<String>,
    deadline: Instant,
}

impl HttpApi {
    /// The API at `base_url`. Its client does not follow redirects, to show what clients get.
    pub fn new(
        base_url: &str,
        secret: Option<String>,
        deadline: Instant,
    ) -> Result<Self, reqwest::Error> {
        let client = client_builder().redirect(Policy::none()).build()?;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, secret, deadline })
    }

    pub async fn answer_to(
        &self,
        request: &Request,
        key: Option<&str>,
    ) -> Result<Answer, NoAnswer> {
        let limit = time_left(self.deadline);
        let failed = |error| NoAnswer::from_transport(error, limit);
        let url = format!("{}{}", self.base_url, request.target());
        let mut sending = match &request.body {
            None => self.client.get(url),
            Some(body) => self
                .client
                .post(url)
                .header(header::CONTENT_TYPE, request.media_type)
                .body(body.clone()),
        };
        sending = sending.header(header::ACCEPT, request.media_type).timeout(limit);
        if let Some(key) = key {
            sending = sending.bearer_auth(key);
        }
        if let Some(secret) = &self.secret {
            sending = sending.header(ORIGIN_SECRET, secret);
        }
        let response = sending.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let media_type = response.headers().get(header::CONTENT_TYPE).cloned();
        let bytes = first_bytes(response, MAX_ANSWER_BYTES).await.map_err(failed)?;
        let media_type = media_type.as_ref().and_then(|media_type| media_type.to_str().ok());
        Answer::new(status, media_type, String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Calls the endpoints that need no key, and a list with an unregistered key: its error means that the key table was
/// read.
pub async fn check_api(api: &HttpApi) -> Findings {
    let mut findings = Findings::default();
    for Check { request, expectation } in [health(), statistics()] {
        // Before the first import, the statistics' 503 would count as a service error.
        if !findings.is_empty {
            let name = format!("API {}", request.route);
            let answer = findings.record(name, &expectation, api.answer_to(&request, None)).await;
            if let Some(answer) = answer {
                findings.set_health(&answer);
            }
        }
    }
    let Check { request, .. } = carriers();
    let name = format!("API {} with an unknown key", request.route);
    let refusal = Expectation::refusal(401, "unauthorized");
    let refusal = refusal.with("/message", Part::Is("Invalid API key".into()));
    findings.record(name, &refusal, api.answer_to(&request, Some(&random_key()))).await;
    findings
}

/// The secret to send to a URL. Only API Gateway gets it: at any other URL something in front of the API adds it, or
/// must not learn it.
pub fn secret_for(address: &Url, secrets: &OriginSecrets, region: &str) -> Option<String> {
    let suffix = format!(".execute-api.{region}.{}", domain(region));
    let is_api_gateway = address.scheme() == "https"
        && address.host_str().is_some_and(|host| host.ends_with(&suffix));
    secrets.to_send().filter(|_| is_api_gateway).map(str::to_owned)
}

/// A well-formed, unregistered key. Always new, since the service caches unknown keys for a while and then does not
/// read their table.
fn random_key() -> String {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
    let key = ApiKey::with_secret(&characters.map(char::from).collect::<String>());
    key.expect("the characters are letters and digits").reveal().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_api_gateway_gets_the_secret() {
        let secrets = OriginSecrets::parse("hunter2");
        for (address, is_sent) in [
            ("https://abcdef1234.execute-api.eu-west-1.amazonaws.com", true),
            ("http://abcdef1234.execute-api.eu-west-1.amazonaws.com", false),
            ("https://abcdef1234.execute-api.us-east-1.amazonaws.com", false),
            ("https://abcdef1234.execute-api.eu-west-1.amazonaws.com.example.com", false),
            ("https://api.example.com/.execute-api.eu-west-1.amazonaws.com", false),
        ] {
            let secret = secret_for(&address.parse().unwrap(), &secrets, "eu-west-1");
            assert_eq!(secret.is_some(), is_sent, "{address}");
        }
    }
}
