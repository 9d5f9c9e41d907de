//! The import's Lambda function: its events, requests, sources and log line.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    env,
    fmt::Display,
    str::FromStr,
    time::{Duration, Instant, SystemTime},
};

use jiff::Timestamp;
use lambda_runtime::{Error, LambdaEvent};
use logging::{Metric, Unit, metrics_line};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{ReportName, Store, TimeoutProfile};

use crate::{
    CountrySources, DEFAULT_HISTORY_DAYS, Gate, Options, Outcome, Source, Sources,
    SupportedCountry, country_sources, import, reports::REPORTS, rollback, sources::RemoteSource,
};

/// An operator's request or an EventBridge event, which is treated as a request without fields.
#[derive(Debug, Default)]
pub struct Event {
    pub request: Request,
    /// The new object in the data bucket, if an S3 event started the import.
    created_object: Option<Source>,
}

/// An operator's request. Sources must not be files, because the function's role only restricts access to S3 objects.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Request {
    allow: Vec<Gate>,
    dry_run: bool,
    replace_manifest: bool,
    restart_history: bool,
    rollback: bool,
    /// Other countries to import; `None` for the variable `COUNTRIES`.
    countries: Option<Vec<SupportedCountry>>,
    /// The files of other countries, if they are not the published ones.
    ranges: BTreeMap<SupportedCountry, Vec<RemoteSource>>,
    /// All other fields, which are named after reports.
    #[serde(flatten)]
    sources: BTreeMap<ReportName, Option<RemoteSource>>,
}

/// The request fields that are not report names.
const OPTIONS: &str =
    "allow, countries, dry_run, ranges, replace_manifest, restart_history and rollback";
/// A field in every EventBridge event, but never in a request.
const DETAIL_TYPE: &str = "detail-type";

impl Event {
    /// Parses an invocation's payload. A missing payload is treated as a request without fields.
    pub fn parse(payload: Value) -> Result<Self, String> {
        let fields = match payload {
            Value::Null => return Ok(Self::default()),
            Value::Object(fields) => fields,
            _ => {
                return Err("the request must be a JSON object, such as {\"dry_run\": true}".into());
            }
        };
        if !fields.contains_key(DETAIL_TYPE) {
            // Errors from serde_json do not name the invalid field, so each field is also parsed on its own.
            for (field, value) in &fields {
                let alone = Map::from_iter([(field.clone(), value.clone())]);
                Request::deserialize(Value::Object(alone)).map_err(|error| {
                    format!("request field {field} is invalid: {error}; the options are {OPTIONS}")
                })?;
            }
            let request =
                Request::deserialize(Value::Object(fields)).map_err(|error| error.to_string())?;
            return Ok(Self { request, created_object: None });
        }
        let Some(source) = fields.get("source").and_then(Value::as_str) else {
            return Err("the EventBridge event has no source".into());
        };
        let detail = fields.get("detail").filter(|_| source == "aws.s3");
        let created_object = detail.and_then(created_object);
        Ok(Self { request: Request::default(), created_object })
    }
}

fn created_object(detail: &Value) -> Option<Source> {
    let text = |pointer| detail.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(Source::S3 { bucket: text("/bucket/name")?, key: text("/object/key")? })
}

impl Request {
    /// Returns the import's sources. Defaults come from variables such as `NANPA_SOURCE` and, for required
    /// reports, from the published URLs.
    pub fn sources(&self, environment: impl Fn(&str) -> Option<String>) -> Result<Sources, String> {
        let requested = self.sources.iter();
        let mut sources: BTreeMap<_, _> =
            requested.filter_map(|(&name, source)| Some((name, source.clone()?))).collect();
        for name in REPORTS.iter().map(|report| report.format.name) {
            let variable = format!("{}_SOURCE", name.to_string().to_uppercase());
            let configured = environment(&variable).filter(|text| !text.is_empty());
            if let Some(text) = configured {
                let source = RemoteSource::try_from(text).map_err(|error| {
                    format!("the environment variable {variable} is not a valid source: {error}")
                })?;
                sources.entry(name).or_insert(source);
            }
        }
        let sources = sources.into_iter().map(|(name, RemoteSource(source))| (name, source));
        Ok(Sources::from_iter(sources).or_published(None, &[]))
    }

    /// Returns the sources of other countries: the published files, unless the request names others.
    pub fn country_sources(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<CountrySources, String> {
        let variable = environment("COUNTRIES").unwrap_or_default();
        let configured = variable.split(',').filter(|code| !code.trim().is_empty());
        let countries: Vec<SupportedCountry> = match &self.countries {
            Some(requested) => requested.clone(),
            None => configured
                .map(|code| parse_variable("COUNTRIES", code))
                .collect::<Result<_, _>>()?,
        };
        let files = self.ranges.iter().flat_map(|(&country, sources)| {
            sources.iter().map(move |RemoteSource(source)| (country, source.clone()))
        });
        Ok(country_sources(countries, files, None))
    }

    fn options(
        &self,
        environment: impl Fn(&str) -> Option<String>,
        deadline: Option<Instant>,
    ) -> Result<Options, String> {
        let &Self { dry_run, replace_manifest, restart_history, .. } = self;
        let gates = environment("ALLOWED_GATES").unwrap_or_default();
        let gates = gates.split(',').filter(|gate| !gate.is_empty());
        let gates: Vec<Gate> =
            gates.map(|gate| parse_variable("ALLOWED_GATES", gate)).collect::<Result<_, _>>()?;
        let history_days = environment("HISTORY_DAYS");
        let history_days = history_days.map(|days| parse_variable("HISTORY_DAYS", &days));
        Ok(Options {
            allow: self.allow.iter().copied().chain(gates).collect(),
            dry_run,
            verify: true,
            replace_manifest,
            restart_history,
            deadline,
            history_days: history_days.transpose()?.unwrap_or(DEFAULT_HISTORY_DAYS),
            ..Options::default()
        })
    }
}

fn parse_variable<T: FromStr<Err: Display>>(variable: &str, value: &str) -> Result<T, String> {
    let parsed = value.parse();
    parsed.map_err(|error| format!("the environment variable {variable} is invalid: {error}"))
}

pub async fn handle(invocation: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = invocation;
    let environment = |variable: &str| env::var(variable).ok();
    let Event { request, created_object } = Event::parse(payload.clone())?;
    let sources = request.sources(environment)?;
    let countries = request.country_sources(environment)?;
    if let Some(object) = created_object
        && !sources.iter().any(|(_, source)| *source == object)
    {
        tracing::info!(%object, "ignoring a new object that is not a source");
        return Ok(json!({ "outcome": "ignored" }));
    }
    let store = Store::from_env(TimeoutProfile::Batch);
    let options = request.options(environment, context_deadline(context.deadline))?;
    let started = Instant::now();
    let result = if request.rollback {
        rollback(&store, None, options, |_| ()).await
    } else {
        import(&store, &sources, &countries, options, |_| ()).await
    };
    let output = match &result {
        Ok(report) => {
            let mut fields = serde_json::to_value(report)?;
            if let Outcome::Refused { allowed_by: Some(gates), .. } = &report.outcome {
                let function = &context.env_config.function_name;
                fields["command"] = retry_command(gates, payload, function).into();
            }
            fields
        }
        Err(error) => json!(Outcome::failed(error)),
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

/// Returns the AWS CLI command that retries the import with these gates allowed, and not as a dry run.
fn retry_command(gates: &[Gate], payload: Value, function: &str) -> String {
    let mut fields = match payload {
        Value::Object(fields) if !fields.contains_key(DETAIL_TYPE) => fields,
        _ => Map::new(),
    };
    fields.remove("dry_run");
    fields.insert("allow".to_owned(), json!(gates));
    // A quote would end the shell argument.
    let payload = Value::Object(fields).to_string().replace('\'', "\\u0027");
    format!(
        "aws lambda invoke --function-name {function} --cli-read-timeout 900 \
         --cli-binary-format raw-in-base64-out --payload '{payload}' report.json"
    )
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
    let is_outcome = |outcomes: [&str; 2]| outcomes.iter().any(|it| report["outcome"] == *it);
    let [succeeded, failed] = [["published", "unchanged"], ["refused", "failed"]].map(is_outcome);
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    // Each value is either a count or an object with a count.
    let sum = |pointer: &str| -> f64 {
        let counts = report.pointer(pointer).and_then(Value::as_object);
        let values = counts.into_iter().flat_map(Map::values);
        let values = values.filter_map(|it| it.as_f64().or_else(|| it["count"].as_f64()));
        // Not `sum`, which returns -0 for no values.
        values.fold(0.0, |sum, value| sum + value)
    };
    let unread = report["unread_block_reports"].as_array().map_or(0, Vec::len);
    let countries = report["countries"].as_object().into_iter().flat_map(Map::values);
    let is_unread =
        |country: &&Value| matches!(country["outcome"].as_str(), Some("refused" | "failed"));
    let unread_countries = countries.filter(is_unread).count();
    let mut metrics = vec![
        Metric::count("ImportSucceeded", f64::from(u8::from(succeeded))),
        Metric::count("ImportFailed", f64::from(u8::from(failed))),
        Metric::count("Records", count("/records")),
        Metric::count("ItemsWritten", count("/items/written")),
        Metric::count("ItemsDeleted", count("/items/deleted")),
        Metric::count("RowsSkipped", sum("/skipped")),
        Metric::count("Warnings", sum("/warnings")),
        Metric::count("UnreadBlockReports", unread as f64),
        Metric::count("UnreadCountries", unread_countries as f64),
        Metric::count("UnrecordedPublications", count("/unrecorded")),
        Metric { name: "Seconds", unit: Unit::Seconds, value: elapsed.as_secs_f64() },
    ];
    if report.get("verification").is_some() {
        let drift = sum("/verification/drift") + sum("/verification/history/drift");
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
