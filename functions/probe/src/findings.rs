//! What the checks have found: for the log, the metrics, and whoever asked.

use jiff::{Timestamp, Unit as TimeUnit};
use logging::{Metric, Unit, metrics_line, with_causes};
use serde::Serialize;
use serde_json::{Value, json};

use crate::expectations::Wrong;

/// A check that failed.
#[derive(Debug, Serialize)]
pub struct Failure {
    pub check: String,
    pub reason: String,
}

/// What the checks have found.
#[derive(Debug, Default, Serialize)]
pub struct Findings {
    /// How many checks were made.
    pub checks: u32,
    pub failures: Vec<Failure>,
    /// When the data was imported; `None` before the first import, or if the service does not tell.
    pub imported_at: Option<Timestamp>,
    /// Whether the service says that nothing has been imported yet.
    pub is_empty: bool,
}

impl Findings {
    /// Counts a check, and gives what it has found unless it failed.
    pub fn note<T>(&mut self, check: impl Into<String>, outcome: Result<T, Wrong>) -> Option<T> {
        self.checks += 1;
        match outcome {
            Ok(found) => Some(found),
            Err(wrong) => {
                let reason = with_causes(&wrong);
                self.failures.push(Failure { check: check.into(), reason });
                None
            }
        }
    }

    /// Adds other checks.
    pub fn add(&mut self, others: Self) {
        self.checks += others.checks;
        self.failures.extend(others.failures);
        self.imported_at = self.imported_at.or(others.imported_at);
        self.is_empty |= others.is_empty;
    }

    /// Whether every check succeeded.
    pub fn are_good(&self) -> bool {
        self.failures.is_empty()
    }

    /// The line of the log about the versions that serve, from which CloudWatch also reads metrics.
    pub fn line_with_metrics(&self, function: &str, now: Timestamp) -> String {
        let failed = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
        let mut metrics = vec![
            Metric::count("ChecksMade", f64::from(self.checks)),
            Metric::count("ChecksFailed", f64::from(failed)),
            Metric::count("NoData", f64::from(u8::from(self.is_empty))),
        ];
        if let Some(hours) = self.age_in_hours(now) {
            metrics.push(Metric { name: "DataAge", unit: Unit::None, value: hours });
        }
        metrics_line(function, now, self.fields("the service was checked"), &metrics)
    }

    /// The line of the log about new versions. It has no metrics, which tell how the service is.
    pub fn line(&self) -> String {
        self.fields("new versions were checked").to_string()
    }

    fn fields(&self, message: &str) -> Value {
        json!({
            "level": if self.are_good() { "INFO" } else { "ERROR" },
            "message": message,
            "checks": self.checks,
            "failures": self.failures,
            "imported_at": self.imported_at,
        })
    }

    fn age_in_hours(&self, now: Timestamp) -> Option<f64> {
        now.since(self.imported_at?).ok()?.total(TimeUnit::Hour).ok()
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;

    fn parsed(line: &str) -> Value {
        serde_json::from_str(line).unwrap()
    }

    fn failed() -> Wrong {
        Wrong::Status { expected: 200, actual: 503, error: "service_unavailable".to_owned() }
    }

    #[test]
    fn a_line_tells_what_failed_and_why_and_how_old_the_data_is() {
        let mut findings =
            Findings { imported_at: Some(Timestamp::UNIX_EPOCH), ..Findings::default() };
        assert_eq!(findings.note("status /v1/health", Ok(1)), Some(1));
        assert_eq!(findings.note::<u8>("npa /v1/npa/{npa}", Err(failed())), None);
        let now = Timestamp::UNIX_EPOCH + 90.minutes();
        let line = parsed(&findings.line_with_metrics("CodeDeployHook_numbers", now));
        assert_eq!((&line["ChecksMade"], &line["ChecksFailed"]), (&json!(2.0), &json!(1.0)));
        assert_eq!((&line["DataAge"], &line["level"]), (&json!(1.5), &json!("ERROR")));
        let failure = json!({
            "check": "npa /v1/npa/{npa}",
            "reason": "the status is 503 (service_unavailable), and must be 200",
        });
        assert_eq!(line["failures"], json!([failure]));
    }

    #[test]
    fn before_the_first_import_the_data_has_no_age() {
        let empty = Findings { is_empty: true, ..Findings::default() };
        let line = empty.line_with_metrics("probe", Timestamp::UNIX_EPOCH);
        assert!(parsed(&line).get("DataAge").is_none(), "{line}");
        assert_eq!(parsed(&line)["NoData"], 1.0);
        let line = Findings::default().line_with_metrics("probe", Timestamp::UNIX_EPOCH);
        assert_eq!(parsed(&line)["NoData"], 0.0, "a service that is ill says nothing of its data");
        assert!(!Findings::default().line().contains("_aws"));
    }
}
