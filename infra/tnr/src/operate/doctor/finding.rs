//! Groups of findings, and their worst state.

use std::time::Duration;

use logging::with_causes;
use serde::Serialize;
use strum::IntoStaticStr;
use tokio::time::timeout;

use crate::error::Cause;

/// A finding's severity, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum State {
    /// As expected.
    Ok,
    /// Worth knowing, but possibly intended.
    Note,
    /// Not checked, for example because of a missing permission.
    Unknown,
    /// Not harmful yet.
    Warning,
    /// Harmful to clients, data or operators.
    Problem,
}

/// The findings of related checks, or the reason why the checks failed to run.
pub type CheckResult = Result<Vec<Finding>, Cause>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject, such as a table name.
    pub check: String,
    pub state: State,
    pub message: String,
    /// The next step, usually a command to paste.
    pub remedy: Option<String>,
    /// A heading in `docs/OPERATIONS.md`.
    pub section: Option<String>,
}

impl Finding {
    pub fn new(state: State, check: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check: check.into(), state, message: message.into(), remedy: None, section: None }
    }

    pub fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Ok, check, message)
    }

    pub fn note(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Note, check, message)
    }

    pub fn warning(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Warning, check, message)
    }

    pub fn problem(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Problem, check, message)
    }

    /// The state and subject, such as `ok items`.
    #[cfg(test)]
    pub fn summary(&self) -> String {
        format!("{} {}", <&str>::from(self.state), self.check)
    }

    /// The finding without the remedy, such as `ok items: all 9 match`.
    #[cfg(test)]
    pub fn line(&self) -> String {
        format!("{}: {}", self.summary(), self.message)
    }

    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    #[must_use]
    pub fn section(self, heading: impl Into<String>) -> Self {
        Self { section: Some(heading.into()), ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    pub name: &'static str,
    pub findings: Vec<Finding>,
}

impl Group {
    /// Runs checks. If they fail to run or take too long, returns only that as a finding.
    pub async fn check(
        name: &'static str,
        limit: Duration,
        checks: impl Future<Output = CheckResult>,
    ) -> Self {
        let unknown = |reason: String| {
            let message = format!("could not be checked; {reason}");
            vec![Finding::new(State::Unknown, name, message).section("Examine a deployment")]
        };
        let findings = match timeout(limit, checks).await {
            Ok(Ok(findings)) => findings,
            Ok(Err(error)) => unknown(with_causes(&*error)),
            Err(_) => {
                unknown(format!("it took longer than {limit:?}; pass --timeout to wait longer"))
            }
        };
        Self { name, findings }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorReport {
    /// The subject, such as `stack numbers in us-east-1`.
    pub target: String,
    pub state: State,
    pub groups: Vec<Group>,
}

impl DoctorReport {
    pub fn new(target: String, groups: Vec<Group>) -> Self {
        let mut examination = Self { target, state: State::Unknown, groups };
        examination.state = examination.states().max().unwrap_or(State::Unknown);
        examination
    }

    fn states(&self) -> impl Iterator<Item = State> {
        self.groups.iter().flat_map(|group| &group.findings).map(|finding| finding.state)
    }

    pub fn count(&self, state: State) -> usize {
        self.states().filter(|found| *found == state).count()
    }

    pub fn is_unknown(&self) -> bool {
        self.states().all(|state| state == State::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_refers_to_an_existing_section() {
        let operations = include_str!("../../../../../docs/OPERATIONS.md");
        let sources = [
            include_str!("data.rs"),
            include_str!("endpoints.rs"),
            include_str!("keys.rs"),
            include_str!("mod.rs"),
            include_str!("stack.rs"),
        ];
        let sources = sources.concat();
        let sections = sources.split(".section(\"").skip(1);
        for heading in sections.filter_map(|rest| rest.split('"').next()) {
            assert!(operations.contains(&format!("# {heading}\n")), "{heading}");
        }
    }

    #[test]
    fn worst_finding_determines_the_state() {
        let group = |states: &[State]| {
            let findings = states.iter().map(|state| Finding::new(*state, "x", "y")).collect();
            DoctorReport::new("z".to_owned(), vec![Group { name: "g", findings }])
        };
        assert_eq!(group(&[State::Ok, State::Note]).state, State::Note);
        assert_eq!(group(&[State::Problem, State::Warning]).state, State::Problem);
        let partly = group(&[State::Ok, State::Unknown]);
        assert!(partly.state == State::Unknown && !partly.is_unknown());
        assert!(group(&[State::Unknown, State::Unknown]).is_unknown());
    }

    #[tokio::test]
    async fn checks_that_fail_to_run_or_take_too_long_are_unknown() {
        let denied = async { Err("AccessDenied: not authorized".into()) };
        let found = Group::check("tables", Duration::MAX, denied).await;
        let expected = "unknown tables: could not be checked; AccessDenied: not authorized";
        assert_eq!(found.findings[0].line(), expected);
        let found = Group::check("keys", Duration::ZERO, std::future::pending()).await;
        let expected = "unknown keys: could not be checked; it took longer than 0ns; pass --timeout \
                        to wait longer";
        assert_eq!(found.findings[0].line(), expected);
    }
}
