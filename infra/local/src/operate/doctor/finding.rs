//! Findings in groups, and their worst state.

use serde::Serialize;

/// A finding's severity, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As expected.
    Ok,
    /// Worth knowing, possibly intended.
    Note,
    /// Not examined, for example because of a missing permission.
    Unknown,
    /// No harm yet.
    Warning,
    /// Harms clients, data or operators.
    Problem,
}

impl State {
    /// The word before a finding.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject, such as a table name.
    pub check: String,
    pub state: State,
    pub message: String,
    /// The next step, with a command to paste if there is one.
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

    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    #[must_use]
    pub fn section(self, heading: impl Into<String>) -> Self {
        Self { section: Some(heading.into()), ..self }
    }
}

/// Headings of `docs/OPERATIONS.md` linked from findings.
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

/// All findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// The subject, such as `stack numbers in us-east-1`.
    pub target: String,
    /// The worst state of all findings.
    pub state: State,
    pub groups: Vec<Group>,
}

impl Examination {
    pub fn new(target: String, groups: Vec<Group>) -> Self {
        let states = groups.iter().flat_map(|group| &group.findings).map(|finding| finding.state);
        let state = states.max().unwrap_or(State::Unknown);
        Self { target, state, groups }
    }

    /// The number of findings in this state.
    pub fn count(&self, state: State) -> usize {
        let findings = self.groups.iter().flat_map(|group| &group.findings);
        findings.filter(|finding| finding.state == state).count()
    }

    /// Returns `true` if nothing could be examined.
    pub fn saw_nothing(&self) -> bool {
        let total: usize = self.groups.iter().map(|group| group.findings.len()).sum();
        self.count(State::Unknown) == total
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
        assert!(partly.state == State::Unknown && !partly.saw_nothing());
        assert!(group(&[State::Unknown, State::Unknown]).saw_nothing());
    }
}
