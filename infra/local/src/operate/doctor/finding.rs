//! Findings in groups, and the worst of them.

use serde::Serialize;

/// The severity of a finding, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Worth knowing, and possibly intended.
    Note,
    /// It could not be examined, for instance because a permission is missing.
    Unknown,
    /// Nobody is harmed yet.
    Warning,
    /// Clients, data or operators are harmed.
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

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject, such as the name of a table.
    pub check: String,
    pub state: State,
    pub message: String,
    /// The next step: a command to paste, if there is one.
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

/// The headings of `docs/OPERATIONS.md` that findings lead to.
pub mod section {
    pub const ALARMS: &str = "Alarms";
    pub const DATABASE: &str = "Database";
    pub const DATA_TOO_OLD: &str = "Data too old";
    pub const DEPLOY: &str = "Deploy";
    pub const EXAMINE: &str = "Examine a deployment";
    pub const FIRST_IMPORT_AND_KEY: &str = "First import and first key";
    pub const KEYS: &str = "Keys";
    pub const LOGS: &str = "Logs and metrics";
    pub const RESTORE: &str = "Restore from backup";
    pub const ROLL_BACK_DATA: &str = "Roll back data";
    pub const SLOW: &str = "Slow";
    pub const UPGRADE: &str = "Upgrade and roll back code";
    pub const VERIFY: &str = "Verify the items";

    #[test]
    fn every_section_exists() {
        let operations = include_str!("../../../../../docs/OPERATIONS.md");
        for heading in [
            ALARMS,
            DATABASE,
            DATA_TOO_OLD,
            DEPLOY,
            EXAMINE,
            FIRST_IMPORT_AND_KEY,
            KEYS,
            LOGS,
            RESTORE,
            ROLL_BACK_DATA,
            SLOW,
            UPGRADE,
            VERIFY,
        ] {
            assert!(operations.contains(&format!("# {heading}\n")), "{heading}");
        }
    }
}

/// The findings about one subject.
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

    /// The number of findings with this state.
    pub fn count(&self, state: State) -> usize {
        let findings = self.groups.iter().flat_map(|group| &group.findings);
        findings.filter(|finding| finding.state == state).count()
    }

    /// Returns `true` if nothing at all could be examined.
    pub fn saw_nothing(&self) -> bool {
        let total: usize = self.groups.iter().map(|group| group.findings.len()).sum();
        self.count(State::Unknown) == total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides() {
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
