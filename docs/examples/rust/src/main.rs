//! Asks the Telephone Number Reference Service about one number, about many at once, and for all
//! pages of a search.
//!
//! Usage: `TNR_URL=http://127.0.0.1:3000 TNR_KEY=tnr_live_... cargo run`

use std::{
    collections::VecDeque, env, error::Error, fmt, process::ExitCode, thread, time::Duration,
};

use serde::{Deserialize, de::DeserializeOwned};
use ureq::{
    Agent, Body,
    http::{Response, StatusCode, Uri, header},
};

const ATTEMPTS: u32 = 4;
const TIMEOUT: Duration = Duration::from_secs(10);
/// A quota of a day may be hours away; whoever called can decide better what to do then.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What a phone number is: the fields that are read below.
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

/// The holder as assigned: the number may have been ported to another carrier since.
#[derive(Deserialize)]
struct Carrier {
    name: Option<String>,
}

/// One number of many, as sent.
#[derive(Deserialize)]
struct Answer {
    tn: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// What a number is, or why it was refused.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Result(FormatResult),
    Error(ErrorBody),
}

/// A page of results. Those for many numbers are one page.
#[derive(Deserialize)]
struct Page<T> {
    results: Vec<T>,
}

/// An NPA-NXX that a search has found.
#[derive(Deserialize)]
struct Exchange {
    npa: String,
    nxx: String,
    company_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    /// Stable, such as `not_found`.
    error: String,
    message: String,
}

#[derive(Debug)]
enum ClientError {
    /// The service refused the request.
    Refused(StatusCode, ErrorBody),
    /// There was no answer, or none that can be read.
    Failed(ureq::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Refused(status, ErrorBody { error, message }) => {
                write!(f, "refused: {} {error}: {message}", status.as_u16())
            }
            Self::Failed(error) => write!(f, "no answer: {error}"),
        }
    }
}

impl Error for ClientError {}

impl From<ureq::Error> for ClientError {
    fn from(error: ureq::Error) -> Self {
        Self::Failed(error)
    }
}

/// Requests to one service with one key.
struct Client {
    agent: Agent,
    url: String,
    authorization: String,
}

impl Client {
    fn new(url: &str, key: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            // A refusal has a body that says why.
            .http_status_as_error(false)
            .build();
        let url = url.trim_end_matches('/').to_owned();
        Self { agent: config.into(), url, authorization: format!("Bearer {key}") }
    }

    /// What a phone number is.
    fn format(&self, number: &str) -> Result<FormatResult, ClientError> {
        let address = format!("{}/v1/format", self.url);
        self.send(|| self.get(&address).query("tn", number).call()).and_then(json)
    }

    /// What each of up to 1,000 phone numbers is, in the same order.
    fn format_many(&self, numbers: &[&str], country: &str) -> Result<Vec<Answer>, ClientError> {
        let address = format!("{}/v1/format", self.url);
        let response = self.send(|| {
            let request = self.agent.post(&address).query("defaultCountry", country);
            request.header(header::AUTHORIZATION, &self.authorization).send_json(numbers)
        })?;
        Ok(json::<Page<Answer>>(response)?.results)
    }

    /// The exchanges that meet all filters; asks for a page when the one before is used up.
    fn search<'a>(
        &'a self,
        filters: &'a [(&str, &str)],
    ) -> impl Iterator<Item = Result<Exchange, ClientError>> + 'a {
        let first = format!("{}/v1/search", self.url);
        Pages { client: self, filters, next: Some(first), exchanges: VecDeque::new() }
    }

    fn get(&self, address: &str) -> ureq::RequestBuilder<ureq::typestate::WithoutBody> {
        self.agent.get(address).header(header::AUTHORIZATION, &self.authorization)
    }

    /// The response, which is a success. Waits and sends again if the service asks for that.
    fn send(
        &self,
        request: impl Fn() -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, ClientError> {
        let mut attempt = 1;
        loop {
            let response = request()?;
            if response.status().is_success() {
                return Ok(response);
            }
            match time_to_wait(&response) {
                Some(wait) if attempt < ATTEMPTS => thread::sleep(wait),
                _ => return Err(refusal(response)),
            }
            attempt += 1;
        }
    }
}

/// The exchanges of a search, over all pages.
struct Pages<'a> {
    client: &'a Client,
    /// What the first page is asked with; the links to the others have it.
    filters: &'a [(&'a str, &'a str)],
    next: Option<String>,
    exchanges: VecDeque<Exchange>,
}

impl Pages<'_> {
    fn load(&mut self, address: &str) -> Result<(), ClientError> {
        let filters = std::mem::take(&mut self.filters).iter().copied();
        let response =
            self.client.send(|| self.client.get(address).query_pairs(filters.clone()).call())?;
        self.next = next_page(address, &response);
        self.exchanges = json::<Page<Exchange>>(response)?.results.into();
        Ok(())
    }
}

impl Iterator for Pages<'_> {
    type Item = Result<Exchange, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.exchanges.is_empty() {
            let address = self.next.take()?;
            if let Err(error) = self.load(&address) {
                return Some(Err(error));
            }
        }
        self.exchanges.pop_front().map(Ok)
    }
}

fn json<T: DeserializeOwned>(mut response: Response<Body>) -> Result<T, ClientError> {
    Ok(response.body_mut().read_json()?)
}

/// How long to wait before the request is sent again; `None` if that would not help.
fn time_to_wait(response: &Response<Body>) -> Option<Duration> {
    let may_help = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    let after = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    let wait = Duration::from_secs(after.parse().ok()?);
    (may_help && wait <= LONGEST_WAIT).then_some(wait)
}

/// The error of a response. A proxy on the way may have answered with something else than JSON.
fn refusal(mut response: Response<Body>) -> ClientError {
    let status = response.status();
    let body = response.body_mut().read_json().unwrap_or_else(|_| ErrorBody {
        error: "unknown".to_owned(),
        message: status.canonical_reason().unwrap_or_default().to_owned(),
    });
    ClientError::Refused(status, body)
}

/// The address in the `Link` header with `rel="next"`; `None` on the last page.
fn next_page(address: &str, response: &Response<Body>) -> Option<String> {
    let links = response.headers().get(header::LINK)?.to_str().ok()?;
    let next = links.split(", ").find_map(|link| link.strip_suffix(">; rel=\"next\""))?;
    // The link is a path on the same host.
    let mut parts = address.parse::<Uri>().ok()?.into_parts();
    parts.path_and_query = Some(next.strip_prefix('<')?.parse().ok()?);
    Some(Uri::from_parts(parts).ok()?.to_string())
}

/// A result on one line.
fn line(result: &FormatResult) -> String {
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

fn run() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let client = Client::new(&variable("TNR_URL")?, &variable("TNR_KEY")?);

    let number = "(305) 234-5678";
    println!("{number}: {}", line(&client.format(number)?));

    let numbers = ["+44 20 7946 0958", "no number", "", "212-397-5678"];
    for Answer { tn, outcome } in client.format_many(&numbers, "US")? {
        match outcome {
            Outcome::Result(result) => println!("{tn}: {}", line(&result)),
            Outcome::Error(error) => println!("{tn}: {}", error.message),
        }
    }

    let mut count = 0;
    for exchange in client.search(&[("q", "wireless"), ("state", "NY"), ("limit", "4")]) {
        let Exchange { npa, nxx, company_name } = exchange?;
        println!("{npa}-{nxx}: {}", company_name.unwrap_or_default());
        count += 1;
    }
    println!("{count} exchanges");
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
