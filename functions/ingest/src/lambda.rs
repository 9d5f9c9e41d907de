//! The import's Lambda function: events, requests, sources and the log line.

#[cfg(test)]
mod tests;

use std::{
    env,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;
use lambda_runtime::{Error, LambdaEvent};
use logging::{Metric, Unit, metrics_line, with_causes};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{Store, TimeoutProfile};

use crate::{
    DEFAULT_HISTORY_DAYS, ImportReport, Options, Outcome, Percent, Repair, RollbackTarget, Source,
    Sources, Verification, Waivers, ingest_with_restarts, rollback, sources::RemoteSource, verify,
};

/// An operator's request, or an EventBridge event, which counts as a request without fields.
#[derive(Debug, Default)]
pub struct Event {
    pub request: Request,
    /// The new object in the data bucket, if an S3 event started the import.
    created_object: Option<Source>,
}

/// An operator's request. Its sources cannot be files, since the function's role only restricts S3 objects.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    nanpa: Option<RemoteSource>,
    cnac: Option<RemoteSource>,
    npa_report: Option<RemoteSource>,
    carriers: Option<RemoteSource>,
    thousands_blocks: Option<RemoteSource>,
    canadian_blocks: Option<RemoteSource>,
    max_change: Option<u32>,
    max_loss: Option<u32>,
    max_suspect: Option<Percent>,
    allow_older: bool,
    dry_run: bool,
    replace_manifest: bool,
    restart_history: bool,
    rollback: bool,
}

/// A field that is in every EventBridge event but never in a request.
const DETAIL_TYPE: &str = "detail-type";

impl Event {
    /// Parses an invocation's payload. A missing payload counts as a request without fields.
    pub fn parse(payload: Value) -> Result<Self, String> {
        let reject = |message: &str| Err(message.to_owned());
        let fields = match payload {
            Value::Null => return Ok(Self::default()),
            Value::Object(fields) => fields,
            _ => return reject("the request must be a JSON object, such as {\"dry_run\": true}"),
        };
        if fields.contains_key(DETAIL_TYPE) {
            let Some(source) = fields.get("source").and_then(Value::as_str) else {
                return reject("the EventBridge event has no source");
            };
            let detail = fields.get("detail").filter(|_| source == "aws.s3");
            let created_object = detail.and_then(created_object);
            return Ok(Self { request: Request::default(), created_object });
        }
        // serde_json errors do not name the field with the invalid value, so the fields are parsed one by one.
        for (field, value) in &fields {
            let single_field = Map::from_iter([(field.clone(), value.clone())]);
            Request::deserialize(Value::Object(single_field))
                .map_err(|error| format!("request field {field} is invalid: {error}"))?;
        }
        let request = Request::deserialize(Value::Object(fields))
            .map_err(|error| format!("the request is invalid: {error}"))?;
        Ok(Self { request, created_object: None })
    }
}

fn created_object(detail: &Value) -> Option<Source> {
    let text = |pointer| detail.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(Source::S3 { bucket: text("/bucket/name")?, key: text("/object/key")? })
}

impl Request {
    /// Returns the import's sources. The defaults come from `NANPA_SOURCE`, `CNAC_SOURCE`, `NPA_REPORT_SOURCE`,
    /// `CARRIERS_SOURCE`, `THOUSANDS_BLOCKS_SOURCE` and `CANADIAN_BLOCKS_SOURCE`, then, for the required reports, from the
    /// published URLs.
    pub fn sources(&self, environment: impl Fn(&str) -> Option<String>) -> Result<Sources, String> {
        let source = |variable: &str, requested: &Option<RemoteSource>| {
            let configured = || environment(variable).filter(|text| !text.is_empty());
            let source = match requested {
                Some(source) => Some(source.clone()),
                None => configured().map(RemoteSource::try_from).transpose().map_err(|error| {
                    format!("the environment variable {variable} is not a valid source: {error}")
                })?,
            };
            Ok::<_, String>(source.map(|RemoteSource(source)| source))
        };
        let published = Sources::published(None);
        Ok(Sources {
            nanpa: source("NANPA_SOURCE", &self.nanpa)?.unwrap_or(published.nanpa),
            cnac: source("CNAC_SOURCE", &self.cnac)?.unwrap_or(published.cnac),
            npa_report: source("NPA_REPORT_SOURCE", &self.npa_report)?
                .unwrap_or(published.npa_report),
            carriers: source("CARRIERS_SOURCE", &self.carriers)?,
            thousands_blocks: source("THOUSANDS_BLOCKS_SOURCE", &self.thousands_blocks)?,
            canadian_blocks: source("CANADIAN_BLOCKS_SOURCE", &self.canadian_blocks)?,
        })
    }

    fn options(
        &self,
        environment: impl Fn(&str) -> Option<String>,
        deadline: Option<Instant>,
    ) -> Result<Options, String> {
        let Self { max_change, max_loss, allow_older, dry_run, replace_manifest, .. } = *self;
        let restart_history = self.restart_history;
        let configured = || environment("MAX_SUSPECT").map(|text| text.parse()).transpose();
        let max_suspect = match self.max_suspect {
            Some(percent) => Some(percent),
            None => configured().map_err(|error| {
                format!("the environment variable MAX_SUSPECT is not a percentage: {error}")
            })?,
        };
        let history_days = match environment("HISTORY_DAYS").map(|text| text.parse()).transpose() {
            Ok(days) => days.unwrap_or(DEFAULT_HISTORY_DAYS),
            Err(error) => {
                return Err(format!(
                    "the environment variable HISTORY_DAYS is not a count: {error}"
                ));
            }
        };
        let waivers = Waivers { max_change, max_loss, max_suspect, allow_older };
        let defaults = Options::default();
        Ok(Options {
            waivers,
            dry_run,
            replace_manifest,
            restart_history,
            deadline,
            history_days,
            ..defaults
        })
    }
}

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
        ingest_with_restarts(&store, &sources, options, |_| ()).await
    };
    let verification = match &result {
        Ok(ImportReport {
            outcome: Outcome::Published | Outcome::Unchanged | Outcome::Refused { .. },
            ..
        }) if !options.dry_run => verify_after_import(&store, options.deadline).await,
        _ => None,
    };
    let output = match &result {
        Ok(report) => {
            let mut fields = serde_json::to_value(report)?;
            if let Some(verification) = verification {
                fields["verification"] = serde_json::to_value(verification)?;
            }
            if let Outcome::Refused { allowed_by: Some(waivers), .. } = &report.outcome {
                let function = &context.env_config.function_name;
                fields["command"] = retry_command(waivers, payload, function)?.into();
            }
            fields
        }
        Err(error) => json!({ "outcome": "failed", "reason": with_causes(error) }),
    };
    println!("{}", with_metrics(&output, started.elapsed(), Timestamp::now()));
    match result.map_err(|error| error.without_contents())?.outcome {
        Outcome::Refused { reason, .. } => {
            let gates = reason.lines().count();
            Err(format!("{gates} gate(s) refused the import; see the log for the reasons").into())
        }
        _ => Ok(output),
    }
}

/// Returns the AWS CLI command that retries the import with waivers, and not as a dry run.
fn retry_command(waivers: &Waivers, payload: Value, function: &str) -> serde_json::Result<String> {
    let mut fields = match payload {
        Value::Object(fields) if !fields.contains_key(DETAIL_TYPE) => fields,
        _ => Map::new(),
    };
    fields.remove("dry_run");
    if let Value::Object(waived) = serde_json::to_value(waivers)? {
        fields.extend(waived);
    }
    // A quote would end the shell argument.
    let payload = Value::Object(fields).to_string().replace('\'', "\\u0027");
    Ok(format!(
        "aws lambda invoke --function-name {function} --cli-read-timeout 900 \
         --cli-binary-format raw-in-base64-out --payload '{payload}' report.json"
    ))
}

/// Verifies and repairs the items, even after a refused import. A failure does not change the import's outcome.
async fn verify_after_import(store: &Store, deadline: Option<Instant>) -> Option<Verification> {
    let verified = verify(store, Repair::Yes, deadline, |_| ()).await;
    if let Err(error) = &verified {
        tracing::warn!(error = with_causes(error), "cannot verify the items");
    }
    verified.ok()
}

/// Converts the deadline from milliseconds since 1970. `None` if it has passed: `cargo lambda watch` sends 0.
fn context_deadline(milliseconds: u64) -> Option<Instant> {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let left = end.duration_since(SystemTime::now()).ok()?;
    Some(Instant::now() + left)
}

/// Returns the report as one log line, with metrics in CloudWatch's embedded metric format.
fn with_metrics(report: &Value, elapsed: Duration, now: Timestamp) -> String {
    // Dry runs and rollbacks count as neither success nor failure.
    let failed = matches!(report["outcome"].as_str(), Some("refused" | "failed"));
    let succeeded = matches!(report["outcome"].as_str(), Some("published" | "unchanged"));
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    // Each value is a count or an object with a count.
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
        Metric::count(
            "UnreadBlockReports",
            report["unread_block_reports"].as_array().map_or(0.0, |unread| unread.len() as f64),
        ),
        Metric::count("UnrecordedPublications", count("/unrecorded")),
        Metric { name: "Seconds", unit: Unit::Seconds, value: elapsed.as_secs_f64() },
    ];
    if let Some(verification) = report.get("verification") {
        let drift = sum(&verification["drift"]) + sum(&verification["history"]["drift"]);
        metrics.push(Metric::count("ItemDrift", drift));
    }
    let fields = json!({
        "level": if failed { "ERROR" } else { "INFO" },
        "message": "import",
        "report": report,
    });
    let function = env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default();
    metrics_line(&function, now, fields, &metrics)
}
