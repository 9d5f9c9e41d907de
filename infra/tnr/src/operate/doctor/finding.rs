//! Findings in groups, and their worst state.

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
    /// Worth knowing, possibly intended.
    Note,
    /// Not checked, for example because of a missing permission.
    Unknown,
    /// Harmless so far.
    Warning,
    /// Harms clients, data or operators.
    Problem,
}

/// The findings of related checks, or the reason why they could not run.
pub type Findings = Result<Vec<Finding>, Cause>;

/// The result of a check.
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

    /// The finding without advice, such as `ok items: all 9 match`.
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

/// Headings in `docs/OPERATIONS.md` that findings refer to.
pub mod section {
    macro_rules! sections {
        ($($name:ident = $heading:literal,)*) => {
            $(pub const $name: &str = $heading;)*

            #[test]
            fn every_section_exists() {
                let operations = include_str!("../../../../../docs/OPERATIONS.md");
                for heading in [$($heading),*] {
                    assert!(operations.contains(&format!("# {heading}\n")), "{heading}");
                }
            }
        };
    }

    sections! {
        ALARMS = "Alarms",
        DATABASE = "Database",
        DATA_TOO_OLD = "Data too old",
        DEPLOY = "Deploy",
        EXAMINE = "Examine a deployment",
        FIRST_IMPORT_AND_KEY = "First import and first key",
        KEYS = "Keys",
        LOGS = "Logs and metrics",
        PUBLISHER_STALLED = "Publisher stalled",
        RESTORE = "Restore from backup",
        ROLL_BACK_DATA = "Roll back data",
        SLOW = "Slow",
        UPGRADE = "Upgrade and roll back code",
        VERIFY = "Verify the items",
    }
}

/// Findings about one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    pub name: &'static str,
    pub findings: Vec<Finding>,
}

impl Group {
    /// Runs checks. If they fail to run or take too long, that is the only finding.
    pub async fn check(
        name: &'static str,
        limit: Duration,
        checks: impl Future<Output = Findings>,
    ) -> Self {
        let unknown = |reason: String| {
            let message = format!("could not be checked; {reason}");
            vec![Finding::new(State::Unknown, name, message).section(section::EXAMINE)]
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
pub struct Examination {
    /// The subject, such as `stack numbers in us-east-1`.
    pub target: String,
    pub state: State,
    pub groups: Vec<Group>,
}

impl Examination {
    pub fn new(target: String, groups: Vec<Group>) -> Self {
        let states = groups.iter().flat_map(|group| &group.findings).map(|finding| finding.state);
        let state = states.max().unwrap_or(State::Unknown);
        Self { target, state, groups }
    }

    pub fn count(&self, state: State) -> usize {
        let findings = self.groups.iter().flat_map(|group| &group.findings);
        findings.filter(|finding| finding.state == state).count()
    }

    /// Returns `true` if every check failed to run.
    pub fn is_unknown(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.findings).all(|it| it.state == State::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_finding_decides_the_state() {
        let group = |states: &[State]| {
            let findings = states.iter().map(|state| Finding::new(*state, "x", "y")).collect();
            Examination::new("z".to_owned(), vec![Group { name: "g", findings }])
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
