//! The settings of a function, and those that the template and the parameters say it should have.

use std::{collections::BTreeMap, fmt};

use yaml_serde::Value;

use super::template_values::{Resolved, TemplateValues};

/// The type of a function in the template.
pub const FUNCTION_TYPE: &str = "AWS::Serverless::Function";
/// The properties that are compared, by their names in the template.
const PROPERTIES: [&str; 4] = ["Runtime", "MemorySize", "Timeout", "Tracing"];
const ARCHITECTURES: &str = "Architectures";

/// One setting of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// A property, by its name in the template.
    Property(&'static str),
    /// A variable of the environment.
    Variable(String),
}

impl Setting {
    pub const ARCHITECTURES: Self = Self::Property(ARCHITECTURES);

    pub fn variable(name: &str) -> Self {
        Self::Variable(name.to_owned())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// What a function runs with.
pub type Settings = BTreeMap<Setting, String>;

/// What a function should run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedSettings(BTreeMap<Setting, Resolved>);

/// A property of a function, or the one that all functions share.
pub fn property<'a>(values: &'a TemplateValues, function: &'a Value, name: &str) -> &'a Value {
    let own = &function["Properties"][name];
    if own.is_null() { &values.globals_of_functions()[name] } else { own }
}

impl ExpectedSettings {
    /// What the template and the parameters say about a function.
    pub fn of(values: &TemplateValues, function: &Value) -> Self {
        let mut expected = BTreeMap::new();
        for name in PROPERTIES {
            let value = values.resolve(property(values, function, name));
            expected.insert(Setting::Property(name), value);
        }
        let architectures = values.resolve_list(property(values, function, ARCHITECTURES));
        let architectures = architectures.map(|all| Resolved::Text(all.join(", ")));
        expected.insert(Setting::ARCHITECTURES, architectures.unwrap_or(Resolved::Unknown));
        for holder in [values.globals_of_functions(), &function["Properties"]] {
            let variables = holder["Environment"]["Variables"].as_mapping().into_iter().flatten();
            for (name, value) in variables {
                let Some(name) = name.as_str() else { continue };
                expected.insert(Setting::variable(name), values.resolve(value));
            }
        }
        Self(expected)
    }

    /// The settings whose value is known.
    pub fn known(&self) -> Settings {
        let known = self.0.iter();
        known.filter_map(|(name, value)| Some((name.clone(), value.clone().text()?))).collect()
    }

    /// The settings that are not as expected, each as a sentence.
    pub fn differences(&self, actual: &Settings) -> Vec<String> {
        let differing =
            self.known().into_iter().filter_map(|(name, expected)| match actual.get(&name) {
                Some(actual) if *actual == expected => None,
                Some(actual) => Some(format!("{name} is '{actual}' instead of '{expected}'")),
                None => Some(format!("{name} lacks '{expected}'")),
            });
        differing.collect()
    }

    /// The variables that the template does not set, without their values, which may be secret.
    pub fn unexpected(&self, actual: &Settings) -> Vec<String> {
        let is_expected =
            |name: &Setting| self.0.get(name).is_some_and(|expected| *expected != Resolved::Absent);
        let unexpected = actual.keys().filter(|name| !is_expected(name));
        let variables = unexpected.filter(|name| matches!(name, Setting::Variable(_)));
        variables.map(|name| format!("{name} is set, which the template does not set")).collect()
    }

    /// The secret or computed settings in which `live` differs from `latest`, without their values.
    pub fn unpublished(&self, latest: &Settings, live: &Settings) -> Vec<String> {
        let hidden = self.0.iter().filter(|(_, value)| **value == Resolved::Unknown);
        let differing = hidden.filter(|(name, _)| latest.get(*name) != live.get(*name));
        differing.map(|(name, _)| format!("{name} is another one than that of $LATEST")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_every_function_follow_from_the_template() {
        let values = TemplateValues::of_defaults().unwrap();
        for (logical, function) in values.resources_of_type(FUNCTION_TYPE) {
            let known = ExpectedSettings::of(&values, function).known();
            assert_eq!(known[&Setting::ARCHITECTURES], "arm64", "{logical}");
            assert_eq!(known[&Setting::Property("Runtime")], "provided.al2023", "{logical}");
            assert_eq!(known[&Setting::variable("RUST_LOG")], "info", "{logical}");
        }
    }

    #[test]
    fn values_that_are_not_known_here_are_compared_only_with_each_other() {
        let secret = || Setting::variable("SECRET");
        let expected = ExpectedSettings([(secret(), Resolved::Unknown)].into());
        let with = |value: &str| Settings::from([(secret(), value.to_owned())]);
        assert!(expected.differences(&with("a")).is_empty());
        assert!(expected.unexpected(&with("a")).is_empty());
        assert!(expected.unpublished(&with("a"), &with("a")).is_empty());
        let said = expected.unpublished(&with("new"), &with("old"));
        assert_eq!(said, ["SECRET is another one than that of $LATEST"]);
    }

    #[test]
    fn a_variable_that_the_template_does_not_set_is_named_without_its_value() {
        let name = || Setting::variable("NEW");
        let actual = Settings::from([(name(), "secret".to_owned())]);
        for expected in [BTreeMap::new(), BTreeMap::from([(name(), Resolved::Absent)])] {
            let said = ExpectedSettings(expected).unexpected(&actual);
            assert_eq!(said, ["NEW is set, which the template does not set"]);
        }
    }
}
