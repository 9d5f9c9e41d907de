//! Calls the Telephone Number Reference Service for one number, a batch of numbers, and all pages of a search.
//!
//! Usage: `TNR_URL=http://127.0.0.1:3000 TNR_KEY=tnr_live_... cargo run`

use std::{env, error::Error, process::ExitCode, thread, time::Duration};

use serde::Deserialize;
use ureq::{
    Agent, Body, RequestBuilder,
    http::{Response, StatusCode, Uri, header},
    typestate::WithoutBody,
};

const ATTEMPTS: u32 = 4;
const TIMEOUT: Duration = Duration::from_secs(10);
/// A daily quota may reset hours from now; let the caller decide what to do.
const MAX_WAIT: Duration = Duration::from_secs(60);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The fields of a format result that this example reads.
#[derive(Deserialize)]
struct FormatResult {
    valid: bool,
    formats: Option<Formats>,
    location: Option<Location>,
    carrier: Option<Carrier>,
}

#[derive(Deserialize)]
struct Formats {
    e164: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    rate_center: Option<String>,
    state: Option<String>,
    country_name: String,
}

/// The carrier as assigned; the number may have been ported since.
#[derive(Deserialize)]
struct Carrier {
    name: Option<String>,
}

/// One number in a batch, as sent, with a result or an error.
#[derive(Deserialize)]
struct BatchItem {
    tn: String,
    result: Option<FormatResult>,
    error: Option<ErrorBody>,
}

/// A page of results. A batch has only one page.
#[derive(Deserialize)]
struct Page<T> {
    results: Vec<T>,
}

/// An NPA-NXX found by a search.
#[derive(Deserialize)]
struct Exchange {
    npa: String,
    nxx: String,
    company_name: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    /// Stable, such as `not_found`.
    error: String,
    message: String,
}

/// Calls one service with one key.
struct Client {
    agent: Agent,
    url: String,
    authorization: String,
}

impl Client {
    fn new(url: &str, key: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            // An error response has a body that says why.
            .http_status_as_error(false)
            .build();
        let url = url.trim_end_matches('/').to_owned();
        Self { agent: config.into(), url, authorization: format!("Bearer {key}") }
    }

    /// Validates and formats one phone number.
    fn format(&self, number: &str) -> Result<FormatResult> {
        let url = format!("{}/v1/format", self.url);
        let mut response = self.send(|| self.get(&url).query("tn", number).call())?;
        Ok(response.body_mut().read_json()?)
    }

    /// Validates and formats up to 1,000 phone numbers, in order.
    fn format_many(&self, numbers: &[&str], country: &str) -> Result<Vec<BatchItem>> {
        let url = format!("{}/v1/format", self.url);
        let mut response = self.send(|| {
            let request = self.agent.post(&url).query("defaultCountry", country);
            request.header(header::AUTHORIZATION, &self.authorization).send_json(numbers)
        })?;
        let page: Page<BatchItem> = response.body_mut().read_json()?;
        Ok(page.results)
    }

    /// Finds all exchanges that match the filters, page by page.
    fn search(&self, filters: &[(&str, &str)]) -> Result<Vec<Exchange>> {
        let first = format!("{}/v1/search", self.url);
        let mut exchanges = Vec::new();
        let mut response =
            self.send(|| self.get(&first).query_pairs(filters.iter().copied()).call())?;
        loop {
            let page: Page<Exchange> = response.body_mut().read_json()?;
            exchanges.extend(page.results);
            // The link includes the filters.
            let Some(next) = next_page(&first, &response) else { return Ok(exchanges) };
            response = self.send(|| self.get(&next).call())?;
        }
    }

    fn get(&self, url: &str) -> RequestBuilder<WithoutBody> {
        self.agent.get(url).header(header::AUTHORIZATION, &self.authorization)
    }

    /// Sends a request. Waits and retries if the service says so.
    fn send(
        &self,
        request: impl Fn() -> std::result::Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>> {
        let mut attempt = 1;
        loop {
            let response = request()?;
            if response.status().is_success() {
                return Ok(response);
            }
            match time_to_wait(&response) {
                Some(wait) if attempt < ATTEMPTS => thread::sleep(wait),
                _ => return Err(error_message(response).into()),
            }
            attempt += 1;
        }
    }
}

/// The wait before a retry; `None` if a retry would not help.
fn time_to_wait(response: &Response<Body>) -> Option<Duration> {
    let is_retryable = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    let after = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    let wait = Duration::from_secs(after.parse().ok()?);
    (is_retryable && wait <= MAX_WAIT).then_some(wait)
}

/// The message in an error response. A proxy may have sent something other than JSON.
fn error_message(mut response: Response<Body>) -> String {
    let status = response.status();
    match response.body_mut().read_json() {
        Ok(ErrorBody { error, message }) => {
            format!("request failed: {} {error}: {message}", status.as_u16())
        }
        Err(_) => format!("request failed: {status}"),
    }
}

/// The URL in the `Link` header with `rel="next"`; `None` on the last page.
fn next_page(url: &str, response: &Response<Body>) -> Option<String> {
    let links = response.headers().get(header::LINK)?.to_str().ok()?;
    let next = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
    // The link is a path on the same host.
    let mut parts = url.parse::<Uri>().ok()?.into_parts();
    parts.path_and_query = Some(next.strip_prefix('<')?.parse().ok()?);
    Some(Uri::from_parts(parts).ok()?.to_string())
}

/// Formats a result on one line.
fn format_line(result: &FormatResult) -> String {
    let (true, Some(formats)) = (result.valid, &result.formats) else {
        return "not a valid number".to_owned();
    };
    let mut line = formats.e164.clone();
    if let Some(Location { rate_center, state, country_name }) = &result.location {
        let parts = [rate_center.as_ref(), state.as_ref(), Some(country_name)];
        let place: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        line += &format!("; {}", place.join(", "));
    }
    if let Some(Carrier { name: Some(name) }) = &result.carrier {
        line += &format!("; assigned to {name}");
    }
    line
}

fn run() -> Result<()> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let client = Client::new(&variable("TNR_URL")?, &variable("TNR_KEY")?);

    let number = "(305) 234-5678";
    println!("{number}: {}", format_line(&client.format(number)?));

    let numbers = ["+44 20 7946 0958", "no number", "", "212-397-5678"];
    for BatchItem { tn, result, error } in client.format_many(&numbers, "US")? {
        let message = error.map(|error| error.message);
        println!("{tn}: {}", message.or(result.as_ref().map(format_line)).unwrap_or_default());
    }

    let exchanges = client.search(&[("q", "wireless"), ("state", "NY"), ("limit", "4")])?;
    for Exchange { npa, nxx, company_name } in &exchanges {
        println!("{npa}-{nxx}: {}", company_name.as_deref().unwrap_or_default());
    }
    println!("{} exchanges", exchanges.len());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
