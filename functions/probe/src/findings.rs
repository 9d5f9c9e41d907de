//! The outcomes of the checks, for the log, metrics and caller.

use std::time::{Duration, Instant};

use jiff::{Timestamp, Unit as TimeUnit, civil::Date, tz::TimeZone};
use logging::{Metric, Unit, metrics_line, with_causes};
use serde_json::{Value, json};

use crate::response::{CheckError, Expectation, RequestError, Response};

const AGE_METRICS: [(&str, &str); 3] =
    [("nanpa", "NanpaReportAge"), ("cnac", "CnacReportAge"), ("npa_report", "AreaCodeReportAge")];

#[derive(Debug)]
pub struct Outcome {
    pub check: String,
    pub status: Option<u16>,
    pub latency: Duration,
    pub error: Option<CheckError>,
}

#[derive(Debug, Default)]
pub struct Findings {
    pub outcomes: Vec<Outcome>,
    /// The import time of the data; `None` if unknown, or before the first import.
    pub imported_at: Option<Timestamp>,
    /// `true` before the first import.
    pub is_empty: bool,
    /// The dates of dated reports, by metric.
    report_dates: Vec<(&'static str, Date)>,
}

impl Findings {
    /// Records the outcome of a request. Returns the response if it meets the expectation.
    pub async fn record(
        &mut self,
        check: String,
        expectation: &Expectation,
        request: impl Future<Output = Result<Response, RequestError>>,
    ) -> Option<Response> {
        let started = Instant::now();
        let result = request.await.map_err(CheckError::from);
        let latency = started.elapsed();
        let status = result.as_ref().ok().map(|response| response.status);
        let result = result.and_then(|response| expectation.compare(&response).map(|()| response));
        let (response, error) = match result {
            Ok(response) => (Some(response), None),
            Err(error) => (None, Some(error)),
        };
        self.outcomes.push(Outcome { check, status, latency, error });
        response
    }

    pub(crate) fn set_data_state(&mut self, Response { body, .. }: &Response) {
        if let Some(imported) = body.get("last_ingestion") {
            let imported_at = || imported.as_str()?.parse().ok();
            self.imported_at = self.imported_at.or_else(imported_at);
            self.is_empty |= imported.is_null();
        }
    }

    pub(crate) fn set_report_dates(&mut self, Response { body, .. }: &Response) {
        let reports = body["reports"].as_array().into_iter().flatten();
        let dates = reports.filter_map(|report| {
            let (_, metric) = AGE_METRICS.iter().find(|(name, _)| report["report"] == *name)?;
            Some((*metric, report["date"].as_str()?.parse().ok()?))
        });
        self.report_dates = dates.collect();
    }

    pub fn record_comparison(&mut self, check: &str, error: Option<CheckError>) {
        let (check, latency) = (check.to_owned(), Duration::ZERO);
        self.outcomes.push(Outcome { check, status: None, latency, error });
    }

    pub fn all_passed(&self) -> bool {
        self.failures().next().is_none()
    }

    fn failures(&self) -> impl Iterator<Item = Value> {
        self.outcomes.iter().filter_map(|Outcome { check, error, .. }| {
            Some(json!({ "check": check, "reason": with_causes(error.as_ref()?) }))
        })
    }

    pub fn summary(&self) -> Value {
        json!({
            "checks": self.outcomes.len(),
            "failures": self.failures().collect::<Vec<_>>(),
            "imported_at": self.imported_at,
            "is_empty": self.is_empty,
        })
    }

    /// The log line for the live versions, with metrics for CloudWatch.
    pub fn line_with_metrics(&self, function: &str, now: Timestamp) -> String {
        let mut metrics = vec![
            Metric::count("ChecksMade", self.outcomes.len() as f64),
            Metric::count("ChecksFailed", self.failures().count() as f64),
            Metric::count("NoData", f64::from(u8::from(self.is_empty))),
        ];
        let age = self.imported_at.and_then(|at| now.since(at).ok()?.total(TimeUnit::Hour).ok());
        metrics.extend(age.map(|value| Metric { name: "DataAge", unit: Unit::None, value }));
        let today = now.to_zoned(TimeZone::UTC).date();
        metrics.extend(self.report_dates.iter().map(|&(name, date)| {
            let value = f64::from((today - date).get_days());
            Metric { name, unit: Unit::None, value }
        }));
        metrics_line(function, now, self.fields("the service was checked"), &metrics)
    }

    /// The log line for new versions. It has no metrics, since those are for the live service.
    pub fn line(&self) -> String {
        self.fields("new versions were checked").to_string()
    }

    fn fields(&self, message: &str) -> Value {
        let mut fields = self.summary();
        fields["level"] = if self.all_passed() { "INFO" } else { "ERROR" }.into();
        fields["message"] = message.into();
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(findings: &Findings) -> Value {
        let now = "2026-11-27T01:30:00Z".parse().unwrap();
        let mut line: Value = findings.line_with_metrics("probe", now).parse().unwrap();
        line.as_object_mut().unwrap().retain(|name, _| name.ends_with("Age"));
        line
    }

    #[test]
    fn data_age_is_in_hours_and_report_ages_in_days() {
        let mut findings = Findings::default();
        assert_eq!(metrics(&findings), json!({}));
        findings.imported_at = Some("2026-11-27T00:00:00Z".parse().unwrap());
        let reports = json!([
            { "report": "nanpa", "date": "2026-11-26" },
            { "report": "cnac", "date": "2025-09-12" },
            { "report": "npa_report", "date": null },
            { "report": "thousands_blocks", "date": "2026-11-26" },
        ]);
        findings.set_report_dates(&Response { status: 200, body: json!({ "reports": reports }) });
        let expected = json!({ "DataAge": 1.5, "NanpaReportAge": 1.0, "CnacReportAge": 441.0 });
        assert_eq!(metrics(&findings), expected);
    }
}
