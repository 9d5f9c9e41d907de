//! The images of flags: each link of an answer leads to one, wherever the request has come from.

use std::collections::BTreeSet;

use axum::{
    body::{Body, to_bytes},
    http::Request,
};
use flags::VERSION;
use futures_util::{StreamExt, stream};
use lambda_http::tower::ServiceExt;
use reqwest::Method;
use roxmltree::Document;
use serde_json::{Value, json};
use shared::{app, public_address::PublicAddress, state::App};

use crate::support::{
    api_events::{HOST, http_api_event},
    function_calls::answer_of,
    sample_requests::SampleRequest,
    service::{KEY, header, http_client, sample_app, shared_service},
};

/// A number of nearly each country that has numbers, and of each calling code of no country.
const NUMBERS: &str =
    include_str!("../../../../../shared/formatting/tests/agreement/one_of_each_region.txt");
/// The one that is not among them: the example number of Saint Martin is also one of Saint Barthélemy.
const NUMBER_OF_MF: &str = "+590590001234";
/// The countries with a flag that no number is of. Google's rules have none for the first seven, and say
/// Morocco for every number of Western Sahara.
const WITHOUT_NUMBERS: [&str; 8] = ["AQ", "BV", "GS", "HM", "PN", "TF", "UM", "EH"];
/// The calling codes of no country, such as that of toll-free numbers of the whole world.
const CODES_OF_NO_COUNTRY: [&str; 9] =
    ["+800", "+808", "+870", "+878", "+881", "+882", "+883", "+888", "+979"];
/// What a flag has an image of in an answer, and its pixels.
const PNGS: [(&str, u32, u32); 3] = [("small", 48, 32), ("medium", 240, 160), ("large", 480, 320)];
/// How many requests are on their way at a time.
const AT_ONCE: usize = 16;

/// The answer for a number, as a client gets it that has nothing but the address of the server.
async fn described(number: &str) -> Value {
    let url = format!("{}/v1/format/{number}", shared_service().base_url);
    http_client().get(url).bearer_auth(KEY).send().await.unwrap().json().await.unwrap()
}

/// What has a flag in this folder.
fn codes_of_flags(folder: &str) -> BTreeSet<String> {
    let code = |path: &str| {
        let file = path.strip_prefix(folder)?.strip_prefix('/')?;
        file.strip_suffix(".svg").map(str::to_owned)
    };
    flags::images().filter_map(|(path, _)| code(&path)).collect()
}

/// A valid number of each state of the US that the sample has: all of them.
async fn numbers_of_states() -> Vec<(String, Value)> {
    stream::iter(codes_of_flags("states"))
        .map(|state| async move {
            let found = shared_service()
                .ok(&format!("/v1/search?state={state}&status=ASSIGNED&limit=100"))
                .await;
            for exchange in found["results"].as_array().unwrap() {
                let (npa, nxx) = (&exchange["npa"], &exchange["nxx"]);
                let number = format!("+1{}{}4567", npa.as_str().unwrap(), nxx.as_str().unwrap());
                let answer = described(&number).await;
                if answer["flags"]["state"]["abbreviation"] == *state {
                    return (state, answer);
                }
            }
            panic!("no valid number of {state}: {found}");
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}

/// The links of one flag, each with the pixels of its image; an SVG has none.
fn links(flag: &Value) -> Vec<(String, Option<(u32, u32)>)> {
    let url = |value: &Value| value.as_str().unwrap().to_owned();
    let pngs = PNGS.map(|(name, width, height)| (url(&flag["png"][name]), Some((width, height))));
    [(url(&flag["svg"]), None)].into_iter().chain(pngs).collect()
}

/// Asserts that a link leads to an image of this size.
async fn assert_is_image(url: String, pixels: Option<(u32, u32)>) {
    let response = http_client().get(&url).send().await.unwrap();
    assert_eq!(response.status(), 200, "{url}");
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let bytes = response.bytes().await.unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    match pixels {
        Some(pixels) => {
            assert_eq!(media_type, "image/png", "{url}");
            assert_eq!((&bytes[1..4], number(16), number(20)), (&b"PNG"[..], pixels.0, pixels.1));
        }
        None => {
            assert_eq!(media_type, "image/svg+xml", "{url}");
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let document = Document::parse(&text).unwrap();
            assert!(document.root_element().has_attribute("viewBox"), "{url}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_of_every_country_and_state_leads_to_the_image_that_it_says() {
    let answers: Vec<Value> = stream::iter(NUMBERS.lines().chain([NUMBER_OF_MF]))
        .map(described)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let (countries, others): (Vec<Value>, Vec<Value>) =
        answers.into_iter().partition(|answer| answer["country"].is_string());
    let values = |answers: &[Value], name: &str| -> BTreeSet<String> {
        answers.iter().map(|answer| answer[name].as_str().unwrap().to_owned()).collect()
    };
    let codes = values(&others, "countryCallingCode");
    assert_eq!(codes, CODES_OF_NO_COUNTRY.map(str::to_owned).into());
    assert!(others.iter().all(|answer| answer["flags"].is_null()), "{others:?}");
    let mut with_flag = codes_of_flags("countries");
    with_flag.retain(|code| !WITHOUT_NUMBERS.contains(&code.as_str()));
    assert_eq!(values(&countries, "country"), with_flag);

    let states = numbers_of_states().await;
    let of_states = states.iter().map(|(_, answer)| &answer["flags"]["state"]);
    let flags: Vec<&Value> =
        countries.iter().map(|answer| &answer["flags"]["country"]).chain(of_states).collect();
    let names: BTreeSet<&str> = flags.iter().filter_map(|flag| flag["svg"].as_str()).collect();
    assert_eq!(names.len(), with_flag.len() + states.len(), "each has a flag of its own");
    let links: BTreeSet<_> = flags.into_iter().flat_map(links).collect();
    let own = format!("{}/flags/{VERSION}/", shared_service().base_url);
    assert!(links.iter().all(|(url, _)| url.starts_with(&own)), "{links:?}");
    stream::iter(links)
        .for_each_concurrent(AT_ONCE, |(url, pixels)| assert_is_image(url, pixels))
        .await;
}

/// The address before `/countries` in the answer of the function `format` to an event.
async fn linked_address(app: App, event: &Value) -> String {
    let answer = answer_of(format::routes(), app, event).await;
    let svg = answer.body["flags"]["country"]["svg"].as_str();
    let svg = svg.unwrap_or_else(|| panic!("{event}: {}", answer.body));
    svg.strip_suffix("/countries/US.svg").unwrap().to_owned()
}

fn event() -> Value {
    http_api_event(&SampleRequest::get("/v1/format/+13052345678"))
}

#[tokio::test]
async fn no_header_of_a_client_changes_where_the_links_of_a_function_lead() {
    let own = format!("https://{HOST}/flags/{VERSION}");
    assert_eq!(linked_address(sample_app().await, &event()).await, own);
    for name in [
        "host",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-prefix",
        "x-forwarded-port",
        "x-forwarded-server",
        "x-original-host",
        "x-original-url",
        "x-rewrite-url",
        "x-host",
        "forwarded",
        "referer",
        "origin",
        "via",
        "x-real-ip",
        "cdn-loop",
    ] {
        // API Gateway refuses a `Host` that is none, and says the scheme itself.
        let values: &[&str] = match name {
            "host" => &["evil.example"],
            "x-forwarded-proto" => &["http", "ftp"],
            _ => &["evil.example", "http", "host=evil.example;proto=http", "/evil"],
        };
        for value in values {
            let mut event = event();
            event["headers"][name] = json!(value);
            assert_eq!(linked_address(sample_app().await, &event).await, own, "{name}: {value}");
        }
    }
}

#[tokio::test]
async fn a_request_within_another_one_links_to_the_address_of_the_other() {
    let request = Request::get("/v1/format/+13052345678")
        .header("Host", "localhost")
        .header("Authorization", format!("Bearer {KEY}"))
        .extension(PublicAddress::At("https://outer.example/base".to_owned()));
    let service = app::service([format::routes()], sample_app().await);
    let response = service.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let svg = format!("https://outer.example/base/flags/{VERSION}/countries/US.svg");
    assert_eq!(body["flags"]["country"]["svg"], svg);
}

#[tokio::test]
async fn links_lead_to_the_domain_of_the_event_or_to_the_host_that_is_set() {
    let mut event = event();
    event["requestContext"]["domainName"] = json!("numbers.example.com");
    let own = format!("https://numbers.example.com/flags/{VERSION}");
    assert_eq!(linked_address(sample_app().await, &event).await, own);
    let mut app = sample_app().await;
    app.flag_images = "https://cdn.example/flags/".parse().unwrap();
    assert_eq!(linked_address(app, &event).await, "https://cdn.example/flags");
}

#[tokio::test]
async fn a_server_links_to_the_name_by_which_it_was_asked() {
    let url = format!("{}/v1/format/+13052345678", shared_service().base_url);
    for (host, proto) in [("numbers.example.com", "https"), ("numbers.example.com:8080", "http")] {
        let request = http_client().get(&url).bearer_auth(KEY).header("host", host);
        let answer = request.header("x-forwarded-proto", proto).send().await.unwrap();
        assert_eq!(answer.headers()["cache-control"], "private", "{host}");
        let body: Value = answer.json().await.unwrap();
        let svg = format!("{proto}://{host}/flags/{VERSION}/countries/US.svg");
        assert_eq!(body["flags"]["country"]["svg"], svg);
    }
}

#[tokio::test]
async fn an_image_of_a_version_may_be_kept_for_ever_and_any_other_for_a_day() {
    let service = shared_service();
    for (folder, caching) in [
        (format!("/flags/{VERSION}"), "public, max-age=31536000, immutable"),
        ("/flags/00000000".to_owned(), "public, max-age=86400"),
        ("/flags".to_owned(), "public, max-age=86400"),
    ] {
        for (name, coding) in [("countries/US.svg", "gzip"), ("states/FL-480x320.png", "")] {
            let path = format!("{folder}/{name}");
            let ask = |method| service.request_with(method, &path);
            let response = ask(Method::GET).header("accept-encoding", "gzip").send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            for (name, value) in [
                ("cache-control", caching),
                ("content-encoding", coding),
                ("access-control-allow-origin", "*"),
                ("cross-origin-resource-policy", "cross-origin"),
                (
                    "content-security-policy",
                    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                ),
            ] {
                assert_eq!(header(response.headers(), name), value, "{path}");
            }
            let tag = &response.headers()["etag"];
            let again = ask(Method::GET).header("if-none-match", tag).send().await.unwrap();
            assert_eq!(again.status(), 304, "{path}");
            assert_eq!(header(again.headers(), "cache-control"), caching, "{path}");
        }
    }
}

#[tokio::test]
async fn an_unknown_image_is_a_404_that_nobody_stores() {
    for path in [
        "/flags/countries/us.svg",
        "/flags/states/ON.svg",
        "/flags/countries",
        "/flags/1234567/countries/US.svg",
        "/flags/v1/countries/US.svg",
        "/flags/00000000/00000000/countries/US.svg",
        "/flags/countries/US-49x32.png",
        "/flags/countries/US.svg/",
        "/flags/countries/..%2Fstates/FL.svg",
        "/flags/%00",
        "/flags/%FF",
        "/flags/",
        "/flags",
    ] {
        let response = shared_service().request(path).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "not_found", "{path}");
    }
}
