//! The import's Lambda function: its events and requests, the sources it reads, and its one log line.

#[cfg(test)]
mod tests;

use std::{
    env,
    time::{Duration, Instant, SystemTime},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use lambda_runtime::{Error, LambdaEvent};
use logging::{Metric, Unit, metrics_line, with_causes};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Store, TimeoutProfile};

use crate::{
    ImportReport, Options, Outcome, Percent, Repair, RollbackTarget, Source, Sources, Verification,
    Waivers, ingest_after_others, rollback, verify,
};

/// An import's trigger: an operator's request, or an EventBridge event, which counts as a request without fields.
#[derive(Debug, Default)]
pub struct Event {
    pub request: Request,
    /// The object in the data bucket that the event reports as created.
    created_object: Option<Source>,
}

/// An operator's request. All its sources are fetched, and none is a file: the function's role limits which objects it
/// may read, but nothing limits which of its own files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    nanpa: Option<String>,
    cnac: Option<String>,
    npa_report: Option<String>,
    carriers: Option<String>,
    thousands_blocks: Option<String>,
    max_change: Option<u32>,
    max_loss: Option<u32>,
    max_suspect: Option<Percent>,
    allow_older: bool,
    dry_run: bool,
    /// Imports even if the manifest cannot be read.
    replace_manifest: bool,
    /// Rolls back to the previous version instead of importing.
    rollback: bool,
}

/// A field that every EventBridge event has, and no request.
const DETAIL_TYPE: &str = "detail-type";

impl Event {
    /// Parses an invocation's payload. A missing payload counts as a request without fields.
    pub fn parse(payload: Value) -> Result<Self, String> {
        let refused = |message: &str| Err(message.to_owned());
        let fields = match payload {
            Value::Null => return Ok(Self::default()),
            Value::Object(fields) => fields,
            _ => return refused("the request must be a JSON object, such as {\"dry_run\": true}"),
        };
        if fields.contains_key(DETAIL_TYPE) {
            let Some(source) = fields.get("source").and_then(Value::as_str) else {
                return refused("the event of EventBridge has no source");
            };
            let detail = fields.get("detail").filter(|_| source == "aws.s3");
            let created_object = detail.and_then(created_object);
            return Ok(Self { request: Request::default(), created_object });
        }
        // serde_json names an unknown field, but not the field of an invalid value.
        for (field, value) in &fields {
            let field_alone = Map::from_iter([(field.clone(), value.clone())]);
            Request::deserialize(Value::Object(field_alone))
                .map_err(|error| format!("the request's field {field} cannot be read: {error}"))?;
        }
        let request = Request::deserialize(Value::Object(fields))
            .map_err(|error| format!("the request cannot be read: {error}"))?;
        Ok(Self { request, created_object: None })
    }
}

/// The object that S3 created, from its event's details.
fn created_object(detail: &Value) -> Option<Source> {
    let text = |pointer| detail.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(Source::S3 { bucket: text("/bucket/name")?, key: text("/object/key")? })
}

impl Request {
    /// The sources of the import. Defaults come from `NANPA_SOURCE`, `CNAC_SOURCE`, `NPA_REPORT_SOURCE`,
    /// `CARRIERS_SOURCE` and `THOUSANDS_BLOCKS_SOURCE`, then the published addresses. The last two are optional.
    pub fn sources(&self, environment: impl Fn(&str) -> Option<String>) -> Result<Sources, String> {
        let source = |field: &str, requested: &Option<String>| {
            let variable = format!("{}_SOURCE", field.to_uppercase());
            let (text, unreadable) = match requested {
                Some(text) => {
                    (Some(text.clone()), format!("the request's field {field} cannot be read"))
                }
                None => (
                    environment(&variable).filter(|text| !text.is_empty()),
                    format!("the environment variable {variable} does not name a source"),
                ),
            };
            let source = text.map(|text| Source::remote(&text)).transpose();
            source.map_err(|error| format!("{unreadable}: {error}"))
        };
        let published = Sources::published(None);
        Ok(Sources {
            nanpa: source("nanpa", &self.nanpa)?.unwrap_or(published.nanpa),
            cnac: source("cnac", &self.cnac)?.unwrap_or(published.cnac),
            npa_report: source("npa_report", &self.npa_report)?.unwrap_or(published.npa_report),
            carriers: source("carriers", &self.carriers)?,
            thousands_blocks: source("thousands_blocks", &self.thousands_blocks)?,
        })
    }

    fn options(
        &self,
        environment: impl Fn(&str) -> Option<String>,
        deadline: Option<Instant>,
    ) -> Result<Options, String> {
        let Self { max_change, max_loss, allow_older, dry_run, replace_manifest, .. } = *self;
        let configured = || environment("MAX_SUSPECT").map(|text| text.parse()).transpose();
        let max_suspect = match self.max_suspect {
            Some(percent) => Some(percent),
            None => configured().map_err(|error| {
                format!("the environment variable MAX_SUSPECT is not a percentage: {error}")
            })?,
        };
        let waivers = Waivers { max_change, max_loss, max_suspect, allow_older };
        Ok(Options { waivers, dry_run, replace_manifest, deadline, ..Options::default() })
    }
}

/// Imports as the event asks, and returns the report.
pub async fn handle(invocation: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = invocation;
    let environment = |variable: &str| env::var(variable).ok();
    let Event { request, created_object } = Event::parse(payload.clone())?;
    let sources = request.sources(environment)?;
    if let Some(object) = created_object
        && !sources.include(&object)
    {
        tracing::info!(%object, "ignoring a new object that is not a source");
        return Ok(json!({ "outcome": "ignored" }));
    }
    let store = Store::from_env(TimeoutProfile::Batch);
    let options = request.options(environment, context_deadline(context.deadline))?;
    let started = Instant::now();
    let result = if request.rollback {
        rollback(&store, &RollbackTarget::NewestReadable, options, |_| ()).await
    } else {
        ingest_after_others(&store, &sources, options, |_| ()).await
    };
    let verification = match &result {
        Ok(ImportReport {
            outcome: Outcome::Published | Outcome::Unchanged | Outcome::Refused { .. },
            ..
        }) if !options.dry_run => verify_after_import(&store, options.deadline).await,
        _ => None,
    };
    let reported = match &result {
        Ok(report) => {
            let command = match &report.outcome {
                Outcome::Refused { allowed_by: Some(waivers), .. } => {
                    Some(command_with(waivers, payload, &context.env_config.function_name)?)
                }
                _ => None,
            };
            serde_json::to_value(Reported { report, verification, command })?
        }
        Err(error) => json!({ "outcome": "failed", "reason": with_causes(error) }),
    };
    println!("{}", with_metrics(&reported, started.elapsed(), Timestamp::now()));
    match result.map_err(|error| error.without_contents())?.outcome {
        Outcome::Refused { reason, .. } => {
            let gates = reason.lines().count();
            Err(format!("the import is refused by {gates} of its gates; the log says why").into())
        }
        _ => Ok(reported),
    }
}

/// The report of an import and the verification after it.
#[derive(Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    report: &'a ImportReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
    /// The AWS CLI command that lets a refused import pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// The command that retries the import with waivers, and without a dry run.
fn command_with(waivers: &Waivers, payload: Value, function: &str) -> serde_json::Result<String> {
    let mut fields = match payload {
        Value::Object(fields) if !fields.contains_key(DETAIL_TYPE) => fields,
        _ => Map::new(),
    };
    fields.remove("dry_run");
    if let Value::Object(waived) = serde_json::to_value(waivers)? {
        fields.extend(waived);
    }
    // A quote would end the shell's argument.
    let payload = Value::Object(fields).to_string().replace('\'', "\\u0027");
    Ok(format!(
        "aws lambda invoke --function-name {function} --cli-read-timeout 900 \
         --cli-binary-format raw-in-base64-out --payload '{payload}' report.json"
    ))
}

/// Compares all items with the current version and rewrites those that differ, even if the import was refused. A
/// failure is logged and does not change the import's outcome.
async fn verify_after_import(store: &Store, deadline: Option<Instant>) -> Option<Verification> {
    match verify(store, Repair::Yes, deadline, |_| ()).await {
        Ok(verification) => Some(verification),
        Err(error) => {
            tracing::warn!(error = with_causes(&error), "the items could not be verified");
            None
        }
    }
}

/// The invocation's deadline, from milliseconds since 1970. `None` if it has passed: `cargo lambda watch` sends one in
/// 1970.
fn context_deadline(milliseconds: u64) -> Option<Instant> {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok()?;
    Some(Instant::now() + left)
}

/// The report as one log line, which CloudWatch also parses for metrics.
fn with_metrics(report: &Value, took: Duration, now: Timestamp) -> String {
    // A dry run or rollback is neither.
    let failed = matches!(report["outcome"].as_str(), Some("refused" | "failed"));
    let succeeded = matches!(report["outcome"].as_str(), Some("published" | "unchanged"));
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    // The values are counts, or objects with a count.
    let sum = |counts: &Value| -> f64 {
        let values = counts.as_object().into_iter().flat_map(Map::values);
        values.filter_map(|value| value.as_f64().or_else(|| value["count"].as_f64())).sum()
    };
    let mut metrics = vec![
        Metric::count("ImportSucceeded", f64::from(u8::from(succeeded))),
        Metric::count("ImportFailed", f64::from(u8::from(failed))),
        Metric::count("Records", count("/records")),
        Metric::count("ItemsWritten", count("/items/written")),
        Metric::count("ItemsDeleted", count("/items/deleted")),
        Metric::count("RowsSkipped", sum(&report["skipped"])),
        Metric::count("Warnings", sum(&report["warnings"])),
        Metric { name: "Seconds", unit: Unit::Seconds, value: took.as_secs_f64() },
    ];
    if succeeded && let Some(days) = days_since_oldest(&report["file_dates"], now) {
        metrics.push(Metric { name: "FilesAge", unit: Unit::None, value: days });
    }
    if let Some(drift) = report.pointer("/verification/drift") {
        metrics.push(Metric::count("ItemDrift", sum(drift)));
    }
    let fields = json!({
        "level": if failed { "ERROR" } else { "INFO" },
        "message": "import",
        "report": report,
    });
    let function = env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    metrics_line(&function, now, fields, &metrics)
}

/// Days since the oldest date in a report; `None` if there are no dates.
fn days_since_oldest(file_dates: &Value, now: Timestamp) -> Option<f64> {
    let dates = file_dates.as_object()?.values().filter_map(Value::as_str);
    let oldest: Date = dates.filter_map(|date| date.parse().ok()).min()?;
    let today = now.to_zoned(TimeZone::UTC).date();
    Some(f64::from((today - oldest).get_days()))
}
