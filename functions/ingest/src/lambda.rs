//! The Lambda around the import: what it is started by, which sources it reads, and the one line it
//! logs.

use std::{
    env,
    time::{Duration, Instant, SystemTime},
};

use lambda_runtime::{Error, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::{
    store::{Patience, Store},
    telemetry::NAMESPACE,
};

use crate::{
    CNAC_ADDRESS, NANPA_ADDRESS, NPA_REPORT_ADDRESS, NoPercent, NoSource, Options, Outcome,
    Percent, Repair, Report, Source, Sources, Verification, ingest, rollback, verify,
};

/// What starts an import.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// EventBridge: the schedule, or an object that landed in the data bucket.
    Bridge(Bridge),
    /// An operator.
    Request(Box<Request>),
}

/// An event of EventBridge, as far as it matters.
#[derive(Debug, Deserialize)]
pub struct Bridge {
    #[serde(rename = "detail-type")]
    _detail_type: String,
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

/// What an operator asks for; sources as text: an address, an `s3://` object, or a path.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    nanpa: Option<String>,
    cnac: Option<String>,
    npa_report: Option<String>,
    carriers: Option<String>,
    thousands_blocks: Option<String>,
    max_shrink: Option<Percent>,
    max_change: Option<Percent>,
    max_suspect: Option<Percent>,
    allow_older: bool,
    dry_run: bool,
    /// Goes back to the version before instead of importing.
    rollback: bool,
}

/// What EventBridge calls S3.
const S3: &str = "aws.s3";

impl Event {
    /// The object that landed, if that is what started the import.
    fn landed(&self) -> Option<Source> {
        let Self::Bridge(Bridge { source, detail, .. }) = self else { return None };
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

impl Request {
    /// The sources it names; what it leaves out comes from `NANPA_SOURCE`, `CNAC_SOURCE`,
    /// `NPA_REPORT_SOURCE`, `CARRIERS_SOURCE` and `THOUSANDS_BLOCKS_SOURCE`, or from where the
    /// reports are published. The last two may stay out.
    ///
    /// # Errors
    /// Where one of them is no source.
    pub fn sources(
        &self,
        configured: impl Fn(&str) -> Option<String>,
    ) -> Result<Sources, NoSource> {
        let source = |given: &Option<String>, variable: &str| {
            let text = given.clone().or_else(|| configured(variable));
            text.filter(|text| !text.is_empty()).map(|text| text.parse()).transpose()
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
        deadline: Instant,
    ) -> Result<Options, NoPercent> {
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
            deadline: Some(deadline),
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
/// Where the import is refused or fails; Lambda then counts the invocation as failed.
pub async fn handle(event: LambdaEvent<Event>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let configured = |variable: &str| env::var(variable).ok();
    let landed = payload.landed();
    let request = payload.request();
    let sources = request.sources(configured)?;
    if let Some(object) = landed.filter(|object| !sources.include(object)) {
        tracing::info!(%object, "an object landed that is no source");
        return Ok(json!({ "outcome": "ignored" }));
    }
    let store = Store::from_env(Patience::Loading).await;
    let options = request.options(configured, context_deadline(context.deadline))?;
    let started = Instant::now();
    let report = match request.rollback {
        true => rollback(&store, options, |_| ()).await,
        false => ingest(&store, &sources, options, |_| ()).await,
    };
    let verification = match &report {
        Ok(Report { outcome: Outcome::Published | Outcome::Unchanged, .. }) => {
            verified(&store, options.deadline).await
        }
        _ => None,
    };
    let reported = match &report {
        Ok(report) => serde_json::to_value(Reported { report, verification })?,
        Err(error) => json!({ "outcome": "failed", "reason": error.to_string() }),
    };
    println!("{}", with_metrics(&reported, started.elapsed()));
    match report? {
        Report { outcome: Outcome::Refused { reason }, .. } => Err(reason.into()),
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

/// Compares all items with the new version and rewrites those that differ. The import has
/// succeeded by then, and a verification that fails leaves it so.
async fn verified(store: &Store, deadline: Option<Instant>) -> Option<Verification> {
    let verified = verify(store, Repair::Yes, deadline, |_| ()).await;
    verified.inspect_err(|error| tracing::warn!(%error, "the items could not be verified")).ok()
}

/// When Lambda will end the invocation, which it tells in milliseconds since 1970.
fn context_deadline(milliseconds: u64) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    Instant::now() + end.duration_since(SystemTime::now()).unwrap_or_default()
}

/// The report as one line that CloudWatch also reads metrics from (embedded metric format).
fn with_metrics(report: &Value, took: Duration) -> Value {
    let succeeded = !matches!(report["outcome"].as_str(), Some("refused" | "failed"));
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let sum = |values: &Value| -> u64 {
        let values = values.as_object().into_iter().flatten();
        values.filter_map(|(_, value)| value.as_u64().or_else(|| value["count"].as_u64())).sum()
    };
    let mut values = json!({
        "ImportSucceeded": u8::from(succeeded),
        "ImportFailed": u8::from(!succeeded),
        "Records": count("/records"),
        "ItemsWritten": count("/items/written"),
        "ItemsDeleted": count("/items/deleted"),
        "RowsSkipped": sum(&report["skipped"]),
        "Warnings": sum(&report["warnings"]),
        "Seconds": took.as_secs_f64(),
    });
    if let Some(drift) = report.pointer("/verification/drift") {
        values["ItemDrift"] = json!(sum(drift));
    }
    let names = values.as_object().into_iter().flatten();
    let metrics: Vec<Value> = names
        .map(|(name, _)| json!({ "Name": name, "Unit": if name == "Seconds" { "Seconds" } else { "Count" } }))
        .collect();
    let timestamp = jiff::Timestamp::now().as_millisecond();
    let mut line = json!({
        "level": if succeeded { "INFO" } else { "ERROR" },
        "message": "import",
        "Function": env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default(),
        "report": report,
        "_aws": {
            "Timestamp": timestamp,
            "CloudWatchMetrics": [
                { "Namespace": NAMESPACE, "Dimensions": [["Function"]], "Metrics": metrics }
            ]
        }
    });
    if let (Some(line), Some(values)) = (line.as_object_mut(), values.as_object()) {
        line.extend(values.clone());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: Value) -> Event {
        serde_json::from_value(json).unwrap()
    }

    fn configured(variable: &str) -> Option<String> {
        (variable == "CARRIERS_SOURCE").then(|| "s3://data/carriers.csv".to_owned())
    }

    #[test]
    fn a_schedule_imports_what_is_configured_and_published() {
        let scheduled = event(json!({
            "version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}
        }));
        assert_eq!(scheduled.landed(), None);
        let sources = scheduled.request().sources(configured).unwrap();
        assert_eq!(sources.nanpa, Source::Https(NANPA_ADDRESS.to_owned()));
        assert_eq!(sources.carriers, Some("s3://data/carriers.csv".parse().unwrap()));
        assert_eq!(sources.thousands_blocks, None);
    }

    #[test]
    fn an_object_that_landed_counts_if_it_is_a_source() {
        let landed = |key: &str| {
            let event = event(json!({
                "source": "aws.s3", "detail-type": "Object Created",
                "detail": { "bucket": { "name": "data" }, "object": { "key": key, "size": 1 } }
            }));
            let object = event.landed().unwrap();
            event.request().sources(configured).unwrap().include(&object)
        };
        assert!(landed("carriers.csv"));
        assert!(!landed("other.csv"));
    }

    #[test]
    fn an_operator_names_sources_and_limits() {
        let event = event(json!({ "cnac": "s3://b/cnac.zip", "max_shrink": 5.0, "dry_run": true }));
        let request = event.request();
        let options = request.options(|_| None, Instant::now()).unwrap();
        assert_eq!(request.sources(|_| None).unwrap().cnac, "s3://b/cnac.zip".parse().unwrap());
        assert!(options.dry_run && !options.allow_older);
        assert_eq!(options.max_shrink.to_string(), "5");
        assert!(request.sources(|_| Some("http://x".to_owned())).is_err());
        let wrong = Request::default().options(|_| Some("two".to_owned()), Instant::now());
        assert!(wrong.is_err());
    }

    #[test]
    fn a_request_waives_a_gate_before_what_is_configured() {
        let configured = |variable: &str| (variable == "MAX_CHANGE").then(|| "4".to_owned());
        let options = |json| event(json).request().options(configured, Instant::now()).unwrap();
        let options_of = |json| {
            let Options { max_change, max_suspect, .. } = options(json);
            [max_change, max_suspect].map(|limit| limit.map(|limit| limit.to_string()))
        };
        assert_eq!(options_of(json!({})), [Some("4".to_owned()), None]);
        let waived = options_of(json!({ "max_change": 100.0, "max_suspect": 50.0 }));
        assert_eq!(waived, [Some("100".to_owned()), Some("50".to_owned())]);
    }

    #[test]
    fn what_is_misspelt_starts_no_import() {
        for event in [
            json!({ "dryRun": true }),
            json!({ "max_shrink": -1.0 }),
            json!({ "source": "aws.s3" }),
        ] {
            assert!(serde_json::from_value::<Event>(event.clone()).is_err(), "{event}");
        }
        assert!(serde_json::from_value::<Event>(json!({})).is_ok());
    }

    #[test]
    fn the_line_holds_report_and_metrics() {
        let report = json!({
            "outcome": "published", "records": 3484, "items": { "written": 12, "deleted": 1 },
            "skipped": { "blank rows": 2, "others": 3 },
            "warnings": { "odd": { "count": 4, "examples": ["line 2"] } },
            "verification": { "items": 9, "drift": { "outdated": 2, "missing": 1 } }
        });
        let line = with_metrics(&report, Duration::from_millis(1500));
        let names = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
        assert!(names.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
        let values =
            ["ImportFailed", "Records", "ItemsWritten", "RowsSkipped", "Warnings", "ItemDrift"];
        assert_eq!(values.map(|name| line[name].as_u64().unwrap()), [0, 3484, 12, 5, 4, 3]);
        assert_eq!(
            with_metrics(&json!({ "outcome": "refused" }), Duration::ZERO)["ImportFailed"],
            1
        );
    }
}
