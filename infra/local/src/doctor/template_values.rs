//! The values that CloudFormation gives to the properties in `template.yaml` for one stack, as far
//! as they follow from its parameters and the names of its resources.

use std::collections::BTreeMap;

use yaml_serde::Value;

use crate::{LocalError, template};

/// The template, and what a stack fills into it.
#[derive(Debug)]
pub struct TemplateValues {
    template: Value,
    stack: String,
    region: String,
    parameters: BTreeMap<String, String>,
    /// The physical name of each resource, by the name that it has in the template.
    resources: BTreeMap<String, String>,
}

/// What a property is for one stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    Text(String),
    /// The property is not set.
    Absent,
    /// It follows from something that is not known here, or is secret.
    Unknown,
}

impl Resolved {
    pub fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Unknown => None,
        }
    }
}

impl TemplateValues {
    pub fn new(
        stack: &str,
        region: &str,
        parameters: BTreeMap<String, String>,
        resources: BTreeMap<String, String>,
    ) -> Result<Self, LocalError> {
        let template = template::parse()?;
        Ok(Self {
            template,
            stack: stack.to_owned(),
            region: region.to_owned(),
            parameters,
            resources,
        })
    }

    /// What the template says if every parameter has its default and nothing is deployed.
    pub fn of_defaults() -> Result<Self, LocalError> {
        let mut values = Self::new("", "", BTreeMap::new(), BTreeMap::new())?;
        let declared = values.template["Parameters"].as_mapping().into_iter().flatten();
        values.parameters = declared
            .filter_map(|(name, parameter)| {
                Some((name.as_str()?.to_owned(), scalar(&parameter["Default"])?))
            })
            .collect();
        Ok(values)
    }

    /// The parameters that the template declares.
    pub fn declared_parameters(&self) -> impl Iterator<Item = &str> {
        let declared = self.template["Parameters"].as_mapping().into_iter().flatten();
        declared.filter_map(|(name, _)| name.as_str())
    }

    /// The value of a parameter; `None` if the stack has no such parameter, or its value is secret.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let is_secret = self.template["Parameters"][name]["NoEcho"].as_bool() == Some(true);
        if is_secret { None } else { self.parameters.get(name).map(String::as_str) }
    }

    /// The resources of a type that the stack has, by their names in the template.
    pub fn resources_of_type<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let resources = self.template["Resources"].as_mapping().into_iter().flatten();
        resources.filter_map(move |(name, resource)| {
            let exists = match resource["Condition"].as_str() {
                Some(condition) => self.condition(condition) != Some(false),
                None => true,
            };
            let is_meant = resource["Type"] == kind && exists;
            is_meant.then_some((name.as_str()?, resource))
        })
    }

    /// What all functions share unless they say something else.
    pub fn globals_of_functions(&self) -> &Value {
        &self.template["Globals"]["Function"]
    }

    /// The physical name of a resource.
    pub fn physical_name(&self, resource: &str) -> Option<&str> {
        self.resources.get(resource).map(String::as_str)
    }

    /// The value of a property.
    pub fn resolve(&self, value: &Value) -> Resolved {
        let Value::Tagged(tagged) = value else {
            return match value {
                Value::Null => Resolved::Absent,
                plain => scalar(plain).map_or(Resolved::Unknown, Resolved::Text),
            };
        };
        match tagged.tag.to_string().trim_start_matches('!') {
            "Ref" => tagged.value.as_str().map_or(Resolved::Unknown, |name| self.reference(name)),
            "Sub" => self.substitute(&tagged.value),
            "If" => self.choose(&tagged.value),
            _ => Resolved::Unknown,
        }
    }

    /// The texts of a list; `None` if one of them is not known.
    pub fn resolve_list(&self, value: &Value) -> Option<Vec<String>> {
        value.as_sequence()?.iter().map(|item| self.resolve(item).text()).collect()
    }

    fn reference(&self, name: &str) -> Resolved {
        let found = match name {
            "AWS::NoValue" => return Resolved::Absent,
            "AWS::StackName" => Some(self.stack.as_str()),
            "AWS::Region" => Some(self.region.as_str()),
            name => self.parameter(name).or_else(|| self.physical_name(name)),
        };
        found.map_or(Resolved::Unknown, |text| Resolved::Text(text.to_owned()))
    }

    /// `Fn::Sub` of a text; the form with a map of further values is not known.
    fn substitute(&self, value: &Value) -> Resolved {
        let Some(mut rest) = value.as_str() else { return Resolved::Unknown };
        let mut text = String::new();
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, following)) = after.split_once('}') else { return Resolved::Unknown };
            text.push_str(before);
            match (name.strip_prefix('!'), self.reference(name)) {
                (Some(literal), _) => text.push_str(&format!("${{{literal}}}")),
                (None, Resolved::Text(value)) => text.push_str(&value),
                (None, _) => return Resolved::Unknown,
            }
            rest = following;
        }
        text.push_str(rest);
        Resolved::Text(text)
    }

    fn choose(&self, value: &Value) -> Resolved {
        let condition = value[0].as_str().and_then(|name| self.condition(name));
        match condition {
            Some(true) => self.resolve(&value[1]),
            Some(false) => self.resolve(&value[2]),
            None => Resolved::Unknown,
        }
    }

    /// Whether a condition of the template holds; `None` if that is not known.
    fn condition(&self, name: &str) -> Option<bool> {
        self.holds(&self.template["Conditions"][name])
    }

    fn holds(&self, value: &Value) -> Option<bool> {
        let Value::Tagged(tagged) = value else { return None };
        let operands = &tagged.value;
        let mut all = operands.as_sequence().into_iter().flatten().map(|value| self.holds(value));
        match tagged.tag.to_string().trim_start_matches('!') {
            "Condition" => self.condition(operands.as_str()?),
            "Equals" => {
                Some(self.resolve(&operands[0]).text()? == self.resolve(&operands[1]).text()?)
            }
            "Not" => Some(!self.holds(&operands[0])?),
            "And" => all.try_fold(true, |holds, next| Some(holds & next?)),
            "Or" => all.try_fold(false, |holds, next| Some(holds | next?)),
            _ => None,
        }
    }
}

/// A text, number or bool as CloudFormation writes it.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str) -> TemplateValues {
        let texts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        TemplateValues {
            template: yaml_serde::from_str(template).unwrap(),
            stack: "numbers".to_owned(),
            region: "us-east-1".to_owned(),
            parameters: texts(&[("Level", "debug"), ("Domain", ""), ("Secret", "****")]),
            resources: texts(&[("Table", "numbers-carriers")]),
        }
    }

    #[test]
    fn properties_follow_from_parameters_conditions_and_names() {
        let values = values(
            "Parameters: { Secret: { NoEcho: true } }\n\
             Conditions:\n  HasDomain: !Not [!Equals [!Ref Domain, '']]\n  \
             IsLoud: !And [!Not [!Condition HasDomain], !Equals [!Ref Level, debug]]\n",
        );
        let resolved = |yaml: &str| values.resolve(&yaml_serde::from_str(yaml).unwrap());
        for (yaml, expected) in [
            ("512", "512"),
            ("!Ref Level", "debug"),
            ("!Ref Table", "numbers-carriers"),
            ("!Sub '${AWS::StackName}-${Level}-${!Level}'", "numbers-debug-${Level}"),
            ("!If [IsLoud, !Ref Level, quiet]", "debug"),
            ("!If [HasDomain, a, b]", "b"),
        ] {
            assert_eq!(resolved(yaml), Resolved::Text(expected.to_owned()), "{yaml}");
        }
        assert_eq!(resolved("!If [HasDomain, a, !Ref AWS::NoValue]"), Resolved::Absent);
        for unknown in ["!Ref Nothing", "!Ref Secret", "!GetAtt Table.Arn", "!Sub '${Table.Arn}'"] {
            assert_eq!(resolved(unknown), Resolved::Unknown, "{unknown}");
        }
    }
}
