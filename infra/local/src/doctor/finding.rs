//! What an examination found: findings in groups, and the worst of them.

use serde::Serialize;

/// How a finding is to be taken, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// Worth knowing, and possibly meant so.
    Note,
    /// It could not be examined, for instance since a permission is missing.
    Unknown,
    /// Nobody is harmed yet.
    Warning,
    /// Clients, data or operators are harmed.
    Problem,
}

impl State {
    /// The word that stands before a finding.
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

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was checked, such as the name of a table.
    pub check: String,
    pub state: State,
    /// What is right or wrong, with the value.
    pub message: String,
    /// What to do: a command to paste wherever one does it.
    pub remedy: Option<String>,
    /// The heading in `docs/OPERATIONS.md` that says more.
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
    pub fn section(self, section: Section) -> Self {
        self.heading(section.heading())
    }

    #[must_use]
    pub fn heading(self, heading: impl Into<String>) -> Self {
        Self { section: Some(heading.into()), ..self }
    }
}

/// The headings of `docs/OPERATIONS.md` that findings lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Alarms,
    DataTooOld,
    Deploy,
    Examine,
    FirstImportAndKey,
    Keys,
    Logs,
    Restore,
    RollBackData,
    Upgrade,
    Verify,
}

impl Section {
    pub fn heading(self) -> &'static str {
        match self {
            Self::Alarms => "Alarms",
            Self::DataTooOld => "Data too old",
            Self::Deploy => "Deploy",
            Self::Examine => "Examine a deployment",
            Self::FirstImportAndKey => "First import and first key",
            Self::Keys => "Keys",
            Self::Logs => "Logs and metrics",
            Self::Restore => "Restore from backup",
            Self::RollBackData => "Roll back data",
            Self::Upgrade => "Upgrade and roll back code",
            Self::Verify => "Verify the items",
        }
    }
}

/// The findings about one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    pub name: &'static str,
    pub findings: Vec<Finding>,
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// What was examined, such as `stack numbers in us-east-1`.
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

    /// How many findings have this state.
    pub fn count(&self, state: State) -> usize {
        let findings = self.groups.iter().flat_map(|group| &group.findings);
        findings.filter(|finding| finding.state == state).count()
    }

    /// Whether nothing at all could be examined.
    pub fn saw_nothing(&self) -> bool {
        let total: usize = self.groups.iter().map(|group| group.findings.len()).sum();
        self.count(State::Unknown) == total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_that_a_finding_leads_to_exists() {
        let operations = include_str!("../../../../docs/OPERATIONS.md");
        for section in [
            Section::Alarms,
            Section::DataTooOld,
            Section::Deploy,
            Section::Examine,
            Section::FirstImportAndKey,
            Section::Keys,
            Section::Logs,
            Section::Restore,
            Section::RollBackData,
            Section::Upgrade,
            Section::Verify,
        ] {
            let heading = format!("# {}\n", section.heading());
            assert!(operations.contains(&heading), "OPERATIONS.md lacks {heading}");
        }
    }

    #[test]
    fn the_worst_finding_decides_and_an_examination_that_saw_nothing_says_so() {
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
