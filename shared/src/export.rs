//! Sends spans to an OpenTelemetry collector or vendor, or to X-Ray, over OTLP/HTTP in JSON.
//!
//! The settings are the same as in the [OpenTelemetry SDKs]. Without an endpoint, nothing is exported, and a request only
//! passes its trace on. An endpoint that fails is not called for a while; meanwhile, new spans are held up to a limit.
//!
//! [OpenTelemetry SDKs]: https://opentelemetry.io/docs/languages/sdk-configuration/otlp-exporter/

use std::{
    collections::BTreeMap,
    convert::Infallible,
    error::Error,
    future,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningSettings, sign},
    sign::v4,
};
use aws_smithy_http_client::Connector;
use aws_smithy_runtime_api::client::{http::HttpConnector, orchestrator::HttpRequest};
use axum::http::Uri;
use logging::with_causes;
use otlp::{Buffer, attribute};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use store::{TrustedRoots, credentials_from_env, https_connector};
use tokio::time::{Instant, timeout};

/// The pause before a failed endpoint is called again.
const PAUSE: Duration = Duration::from_secs(30);
/// The limit for a function, whose container cannot get its next request before the export ends.
const MAX_FUNCTION_TIMEOUT: Duration = Duration::from_secs(1);

/// Spans to export, and their endpoint. The default exports nothing.
#[derive(Debug, Default)]
pub struct Exporter {
    pub(crate) buffer: Arc<Buffer>,
    endpoint: Option<Endpoint>,
    timeout: Duration,
    interval: Duration,
}

impl Exporter {
    /// Creates an exporter for a function, or for a server without a name.
    pub fn new(function: Option<&str>, setting: impl Fn(&str) -> Option<String>) -> Self {
        let setting = &|name: &str| setting(name).filter(|value| !value.trim().is_empty());
        let Some(endpoint) = Endpoint::new(setting) else { return Self::default() };
        let milliseconds = |name, default: u64| {
            let value = setting(name).and_then(|value| value.parse().ok());
            Duration::from_millis(value.unwrap_or(default).max(1))
        };
        let limit = function.map_or(Duration::MAX, |_| MAX_FUNCTION_TIMEOUT);
        Self {
            buffer: Arc::new(Buffer::new(resource(function, setting))),
            endpoint: Some(endpoint),
            timeout: milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000).min(limit),
            interval: milliseconds("OTEL_BSP_SCHEDULE_DELAY", 5_000),
        }
    }

    pub fn is_enabled(&self) -> bool {
        self.endpoint.is_some()
    }

    /// Exports all finished spans.
    pub async fn flush(&self) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.send(self.timeout, || self.buffer.take_spans()).await;
        }
    }

    /// Exports at intervals, for a process that is never frozen.
    pub async fn run(&self) -> Infallible {
        if !self.is_enabled() {
            return future::pending().await;
        }
        loop {
            _ = timeout(self.interval, self.buffer.wait_for_batch()).await;
            self.flush().await;
        }
    }
}

/// The attributes of this process, from the variables and the function's name. Of several values for a name, the first
/// is used.
fn resource(function: Option<&str>, setting: impl Fn(&str) -> Option<String>) -> Vec<Value> {
    let name = setting("OTEL_SERVICE_NAME").map(|name| ("service.name", name));
    let listed = setting("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let defaults = [
        ("service.name", function.unwrap_or("tnr").to_owned()),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", format!("{:032x}", rand::random::<u128>())),
    ];
    let mut unique = BTreeMap::new();
    for (name, value) in name.into_iter().chain(pairs(&listed)).chain(defaults) {
        unique.entry(name).or_insert_with(|| attribute(name, value));
    }
    unique.into_values().collect()
}

/// The pairs in a list such as `name=value,other=value`, with decoded values.
fn pairs(list: &str) -> impl Iterator<Item = (&str, String)> {
    list.split(',').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8_lossy().into_owned();
        Some((name.trim(), value))
    })
}

/// The URL for spans.
#[derive(Debug)]
struct Endpoint {
    uri: Uri,
    headers: Vec<(String, String)>,
    /// Created by the first export, which a client does not wait for.
    connector: OnceLock<Connector>,
    /// The end of the pause after a failure. Set until a call succeeds, so that an outage is logged once.
    paused_until: Mutex<Option<Instant>>,
}

type SendError = Box<dyn Error + Send + Sync>;

impl Endpoint {
    /// The endpoint in the variables for spans, or in those for every kind of data.
    fn new(setting: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let own = |suffix: &str| setting(&format!("OTEL_EXPORTER_OTLP_TRACES_{suffix}"));
        let common = |suffix: &str| setting(&format!("OTEL_EXPORTER_OTLP_{suffix}"));
        let base = || Some(common("ENDPOINT")?.trim_end_matches('/').to_owned() + "/v1/traces");
        let uri = own("ENDPOINT").or_else(base)?.parse().ok();
        let uri = uri.filter(|uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")));
        if uri.is_none() {
            tracing::error!("an OTLP endpoint must be an http or https URL; not exporting");
        }
        let headers = own("HEADERS").or_else(|| common("HEADERS")).unwrap_or_default();
        let headers = pairs(&headers).map(|(name, value)| (name.to_lowercase(), value)).collect();
        Some(Self {
            uri: uri?,
            headers,
            connector: OnceLock::new(),
            paused_until: Mutex::default(),
        })
    }

    /// Sends a body, if any, unless the endpoint failed recently. Drops it if that fails.
    async fn send(&self, limit: Duration, body: impl FnOnce() -> Option<String>) {
        let paused_until = *self.paused_until.lock();
        if paused_until.is_some_and(|end| Instant::now() < end) {
            return;
        }
        let Some(body) = body() else { return };
        let sent = timeout(limit, self.post(body)).await;
        let result = sent.unwrap_or_else(|elapsed| Err(elapsed.into()));
        *self.paused_until.lock() = result.is_err().then(|| Instant::now() + PAUSE);
        match (result, paused_until) {
            (Err(error), None) => {
                let (error, host) = (with_causes(&*error), self.uri.host());
                tracing::warn!(
                    error,
                    host,
                    "failed to export telemetry; later failures are not logged"
                );
            }
            (Ok(()), Some(_)) => tracing::info!("telemetry is exported again"),
            _ => (),
        }
    }

    async fn post(&self, body: String) -> Result<(), SendError> {
        let request = self.request(body, credentials_from_env())?;
        let is_aws = self.uri.host().is_some_and(|host| host.ends_with(".amazonaws.com"));
        let roots = if is_aws { TrustedRoots::Amazon } else { TrustedRoots::System };
        let connector = self.connector.get_or_init(|| https_connector(roots));
        let status = connector.call(request).await?.status();
        if status.is_success() { Ok(()) } else { Err(format!("status {}", status.as_u16()).into()) }
    }

    /// A request with the endpoint's headers, signed for AWS.
    fn request(
        &self,
        body: String,
        credentials: Option<Credentials>,
    ) -> Result<HttpRequest, SendError> {
        let uri = self.uri.to_string();
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        if let Some((service, region)) = aws_service(&self.uri) {
            let identity = credentials.ok_or("no AWS credentials are set")?.into();
            let parameters = v4::SigningParams::builder()
                .identity(&identity)
                .region(region)
                .name(service)
                .time(SystemTime::now())
                .settings(SigningSettings::default())
                .build()?;
            let signed = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let body = SignableBody::Bytes(body.as_bytes());
            let unsigned = SignableRequest::new("POST", &uri, signed, body)?;
            let (instructions, _) = sign(unsigned, &parameters.into())?.into_parts();
            let signature = instructions.headers();
            headers.extend(signature.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let mut request = HttpRequest::new(body.into());
        request.set_method("POST")?;
        request.set_uri(uri)?;
        for (name, value) in headers {
            request.headers_mut().try_insert(name, value)?;
        }
        Ok(request)
    }
}

/// The service and region in an AWS host name, such as `xray.us-west-2.amazonaws.com`, whose requests must be signed.
fn aws_service(uri: &Uri) -> Option<(&str, &str)> {
    let host = uri.host()?;
    let host = host.strip_suffix(".cn").unwrap_or(host).strip_suffix(".amazonaws.com")?;
    host.split_once('.').filter(|(_, region)| !region.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

    fn exporter(function: Option<&str>, settings: &[(&str, &str)]) -> Exporter {
        Exporter::new(function, |name| {
            let set = settings.iter().find(|(set, _)| *set == name);
            set.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn endpoints_come_from_the_standard_variables() {
        for (settings, expected) in [
            (&[(BASE, " ")][..], None),
            (&[(BASE, "a.example:4318")], None),
            (&[(BASE, "http://a.example/x/")], Some("http://a.example/x/v1/traces")),
            (&[(TRACES, "http://b.example/t")], Some("http://b.example/t")),
            (
                &[(BASE, "http://a.example"), (TRACES, "http://b.example/t")],
                Some("http://b.example/t"),
            ),
        ] {
            let uri = exporter(None, settings).endpoint.map(|it| it.uri.to_string());
            assert_eq!(uri.as_deref(), expected, "{settings:?}");
        }
    }

    #[test]
    fn functions_wait_at_most_a_second_for_an_export() {
        for (function, setting, expected) in [
            (None, "", 10_000),
            (None, "20000", 20_000),
            (Some("npa"), "", 1000),
            (Some("npa"), "200", 200),
        ] {
            let timeout = ("OTEL_EXPORTER_OTLP_TIMEOUT", setting);
            let exporter = exporter(function, &[(BASE, "http://a.example"), timeout]);
            assert_eq!(exporter.timeout, Duration::from_millis(expected), "{function:?} {setting}");
        }
    }

    #[test]
    fn requests_have_the_configured_headers_and_are_signed_only_for_aws() {
        let credentials = || Credentials::new("AKID", "secret", Some("token".into()), None, "test");
        for (url, expected) in [
            ("https://xray.us-west-2.amazonaws.com/v1/traces", Some("us-west-2/xray")),
            ("https://xray.cn-north-1.amazonaws.com.cn/v1/traces", Some("cn-north-1/xray")),
            ("https://a.execute-api.us-west-2.amazonaws.com/v1/traces", None),
            ("https://xray.us-west-2.amazonaws.com.example.com/v1/traces", None),
        ] {
            let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=a%20b, other = c=d");
            let endpoint = exporter(None, &[(TRACES, url), headers]).endpoint.unwrap();
            let request = endpoint.request("{}".to_owned(), Some(credentials())).unwrap();
            let header = |name| request.headers().get(name);
            assert_eq!((header("api-key"), header("other")), (Some("a b"), Some("c=d")));
            assert_eq!(header("content-type"), Some("application/json"));
            let signed = "api-key;content-type;host;other;x-amz-date;x-amz-security-token";
            let part =
                expected.map(|scope| format!("/{scope}/aws4_request, SignedHeaders={signed}"));
            let found =
                header("authorization").map(|it| it.contains(part.as_deref().unwrap_or("/")));
            assert_eq!(found, expected.map(|_| true), "{url}");
            assert_eq!(endpoint.request("{}".to_owned(), None).is_err(), expected.is_some());
        }
    }
}
