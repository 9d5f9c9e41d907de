//! The Lambda around the import: what it is started by, which sources it reads, and the one line it
//! logs.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use logging::{Metric, Unit, metrics_line, with_causes};
use std::{
    env,
    time::{Duration, Instant, SystemTime},
};

use lambda_runtime::{Error, LambdaEvent};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use store::{Store, TimeoutProfile};

use crate::{
    CNAC_ADDRESS, NANPA_ADDRESS, NPA_REPORT_ADDRESS, NoPercent, NoSource, Options, Outcome,
    Percent, RemoteSource, Repair, Report, Source, Sources, Verification, ingest, rollback, verify,
};

/// What starts an import.
#[derive(Debug)]
pub enum Event {
    /// EventBridge: the schedule, or an object that landed in the data bucket.
    Bridge(Bridge),
    /// An operator.
    Request(Box<Request>),
}

/// An event of EventBridge, as far as it matters.
#[derive(Debug, Deserialize)]
pub struct Bridge {
    source: String,
    #[serde(default)]
    detail: Detail,
}

#[derive(Debug, Default, Deserialize)]
struct Detail {
    bucket: Option<Named>,
    object: Option<Key>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Key {
    key: String,
}

/// What an operator asks for. Its sources are fetched: the role of the function says which objects
/// it may read, and nothing would say so of its files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    nanpa: Option<RemoteSource>,
    cnac: Option<RemoteSource>,
    npa_report: Option<RemoteSource>,
    carriers: Option<RemoteSource>,
    thousands_blocks: Option<RemoteSource>,
    max_shrink: Option<Percent>,
    max_change: Option<Percent>,
    max_suspect: Option<Percent>,
    allow_older: bool,
    dry_run: bool,
    /// Goes back to the version before instead of importing.
    rollback: bool,
}

/// What was sent to the function, or what it was configured with, and cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("the request must be a JSON object, such as {{\"dry_run\": true}}")]
    NoObject,
    #[error("the event of EventBridge cannot be read: {0}")]
    Bridge(serde_json::Error),
    #[error("the request's field {field}: {rule}")]
    Field { field: String, rule: serde_json::Error },
    #[error("the request cannot be read: {0}")]
    Request(serde_json::Error),
    #[error("the environment variable {variable}: {rule}")]
    Source { variable: &'static str, rule: NoSource },
    #[error("the environment variable MAX_SHRINK: {0}")]
    MaxShrink(#[from] NoPercent),
}

/// What EventBridge calls S3.
const S3: &str = "aws.s3";
/// A field that every event of EventBridge has and no request.
const DETAIL_TYPE: &str = "detail-type";

impl Event {
    /// Reads what the function was invoked with; nothing at all asks for nothing in particular.
    ///
    /// # Errors
    /// Returns an error if it is neither an event of EventBridge nor a request, with the field that
    /// is wrong.
    pub fn parse(payload: Value) -> Result<Self, RequestError> {
        let fields = match payload {
            Value::Null => Map::new(),
            Value::Object(fields) => fields,
            _ => return Err(RequestError::NoObject),
        };
        if fields.contains_key(DETAIL_TYPE) {
            return from_fields(fields).map(Self::Bridge).map_err(RequestError::Bridge);
        }
        // serde_json names an unknown field, but not the field of a value that is wrong.
        for (field, value) in &fields {
            let alone = Map::from_iter([(field.clone(), value.clone())]);
            from_fields::<Request>(alone)
                .map_err(|rule| RequestError::Field { field: field.clone(), rule })?;
        }
        from_fields(fields).map(Self::Request).map_err(RequestError::Request)
    }

    /// The object that landed, if that is what started the import.
    fn landed(&self) -> Option<Source> {
        let Self::Bridge(Bridge { source, detail }) = self else { return None };
        let (bucket, object) = (detail.bucket.as_ref()?, detail.object.as_ref()?);
        let landed = Source::S3 { bucket: bucket.name.clone(), key: object.key.clone() };
        (source == S3).then_some(landed)
    }

    /// What it asks for; EventBridge asks for nothing in particular.
    pub fn request(self) -> Request {
        match self {
            Self::Bridge(_) => Request::default(),
            Self::Request(request) => *request,
        }
    }
}

/// The source that a variable names, if it names one.
fn source_in(
    variable: &'static str,
    configured: impl Fn(&str) -> Option<String>,
) -> Result<Option<Source>, RequestError> {
    let text = configured(variable).filter(|text| !text.is_empty());
    let named = text.map(|text| text.parse()).transpose();
    let named: Option<RemoteSource> =
        named.map_err(|rule| RequestError::Source { variable, rule })?;
    Ok(named.map(|RemoteSource(source)| source))
}

fn from_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> serde_json::Result<T> {
    serde_json::from_value(Value::Object(fields))
}

impl Request {
    /// The sources it names; what it leaves out comes from `NANPA_SOURCE`, `CNAC_SOURCE`,
    /// `NPA_REPORT_SOURCE`, `CARRIERS_SOURCE` and `THOUSANDS_BLOCKS_SOURCE`, or from where the
    /// reports are published. The last two may stay out.
    ///
    /// # Errors
    /// Returns an error if a variable names no remote source.
    pub fn sources(
        &self,
        configured: impl Fn(&str) -> Option<String>,
    ) -> Result<Sources, RequestError> {
        let source = |given: &Option<RemoteSource>, variable: &'static str| match given {
            Some(RemoteSource(source)) => Ok(Some(source.clone())),
            None => source_in(variable, &configured),
        };
        let published = |source: Option<Source>, address: &str| {
            source.unwrap_or_else(|| Source::Https(address.to_owned()))
        };
        Ok(Sources {
            nanpa: published(source(&self.nanpa, "NANPA_SOURCE")?, NANPA_ADDRESS),
            cnac: published(source(&self.cnac, "CNAC_SOURCE")?, CNAC_ADDRESS),
            npa_report: published(
                source(&self.npa_report, "NPA_REPORT_SOURCE")?,
                NPA_REPORT_ADDRESS,
            ),
            carriers: source(&self.carriers, "CARRIERS_SOURCE")?,
            thousands_blocks: source(&self.thousands_blocks, "THOUSANDS_BLOCKS_SOURCE")?,
        })
    }

    fn options(
        &self,
        configured: impl Fn(&str) -> Option<String>,
        deadline: Option<Instant>,
    ) -> Result<Options, RequestError> {
        let defaults = Options::default();
        let limit = |given: Option<Percent>, variable: &str| match given {
            Some(given) => Ok(Some(given)),
            None => configured(variable).map(|text| text.parse()).transpose(),
        };
        Ok(Options {
            max_shrink: limit(self.max_shrink, "MAX_SHRINK")?.unwrap_or(defaults.max_shrink),
            max_change: limit(self.max_change, "MAX_CHANGE")?,
            max_suspect: limit(self.max_suspect, "MAX_SUSPECT")?,
            allow_older: self.allow_older,
            dry_run: self.dry_run,
            deadline,
            ..defaults
        })
    }
}

impl Sources {
    fn include(&self, source: &Source) -> bool {
        let optional = [&self.carriers, &self.thousands_blocks].into_iter().flatten();
        [&self.nanpa, &self.cnac, &self.npa_report].into_iter().chain(optional).any(|s| s == source)
    }
}

/// Imports what the event asks for and answers with the report.
///
/// # Errors
/// Returns an error if the import is refused or fails; Lambda then counts the invocation as failed.
/// The log has the whole reason, the error nothing of what the files hold: whoever may start an
/// import need not be allowed to read them.
pub async fn handle(invocation: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = invocation;
    let configured = |variable: &str| env::var(variable).ok();
    let event = Event::parse(payload)?;
    let landed = event.landed();
    let request = event.request();
    let sources = request.sources(configured)?;
    if let Some(object) = landed.filter(|object| !sources.include(object)) {
        tracing::info!(%object, "an object landed that is no source");
        return Ok(json!({ "outcome": "ignored" }));
    }
    let store = Store::from_env(TimeoutProfile::Batch).await;
    let options = request.options(configured, context_deadline(context.deadline))?;
    let started = Instant::now();
    let report = match request.rollback {
        true => rollback(&store, options, |_| ()).await,
        false => ingest(&store, &sources, options, |_| ()).await,
    };
    let verification = match &report {
        Ok(Report {
            outcome: Outcome::Published | Outcome::Unchanged | Outcome::Refused { .. },
            ..
        }) if !options.dry_run => verified(&store, options.deadline).await,
        _ => None,
    };
    let reported = match &report {
        Ok(report) => serde_json::to_value(Reported { report, verification })?,
        Err(error) => json!({ "outcome": "failed", "reason": error.to_string() }),
    };
    println!("{}", with_metrics(&reported, started.elapsed()));
    match report.map_err(|error| error.without_contents())? {
        Report { outcome: Outcome::Refused { reason }, .. } => {
            let gates = reason.lines().count();
            Err(format!("the import is refused by {gates} of its gates; the log says by which")
                .into())
        }
        _ => Ok(reported),
    }
}

/// The report of an import, and what the verification after it found.
#[derive(Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
}

/// Compares all items with the current version and rewrites those that differ, whether the import
/// brought it or was refused. A verification that fails leaves the outcome of the import as it is.
async fn verified(store: &Store, deadline: Option<Instant>) -> Option<Verification> {
    let verified = verify(store, Repair::Yes, deadline, |_| ()).await;
    verified
        .inspect_err(|error| {
            tracing::warn!(error = with_causes(error), "the items could not be verified")
        })
        .ok()
}

/// When Lambda will end the invocation, which it tells in milliseconds since 1970. A time that has
/// passed already tells nothing: `cargo lambda watch` gives one of 1970.
fn context_deadline(milliseconds: u64) -> Option<Instant> {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok()?;
    Some(Instant::now() + left)
}

/// The report as one line that CloudWatch also reads metrics from (embedded metric format).
fn with_metrics(report: &Value, took: Duration) -> Value {
    let succeeded = !matches!(report["outcome"].as_str(), Some("refused" | "failed"));
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    let sum = |values: &Value| -> f64 {
        let values = values.as_object().into_iter().flatten();
        values.filter_map(|(_, value)| value.as_f64().or_else(|| value["count"].as_f64())).sum()
    };
    let mut metrics = vec![
        Metric::count("ImportSucceeded", f64::from(u8::from(succeeded))),
        Metric::count("ImportFailed", f64::from(u8::from(!succeeded))),
        Metric::count("Records", count("/records")),
        Metric::count("ItemsWritten", count("/items/written")),
        Metric::count("ItemsDeleted", count("/items/deleted")),
        Metric::count("RowsSkipped", sum(&report["skipped"])),
        Metric::count("Warnings", sum(&report["warnings"])),
        Metric { name: "Seconds", unit: Unit::Seconds, value: took.as_secs_f64() },
    ];
    if let Some(drift) = report.pointer("/verification/drift") {
        metrics.push(Metric::count("ItemDrift", sum(drift)));
    }
    let fields = json!({
        "level": if succeeded { "INFO" } else { "ERROR" },
        "message": "import",
        "report": report,
    });
    let function = env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    metrics_line(&function, Timestamp::now(), fields, &metrics)
}
