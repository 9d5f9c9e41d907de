//! The versions of the functions to invoke.

use std::collections::BTreeMap;

use strum::VariantArray;

use crate::request::Function;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// The versions behind the alias that the API invokes.
    Live,
    /// The newest versions, which have no traffic yet.
    New,
}

const ALIAS: &str = "live";

/// The ARN to invoke for each function.
pub type Targets = BTreeMap<Function, String>;

/// Returns the versions in the environment, or the aliases. A deployment sets the variables before it moves an alias.
pub fn targets(
    versions: Versions,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Targets, String> {
    let target = |&function: &Function| {
        let variable = format!("{}_VERSION", function.name().to_uppercase());
        let value = environment(&variable).unwrap_or_default();
        match (unqualified(&value), versions) {
            (Some(_), Versions::New) => Ok((function, value)),
            (Some(arn), Versions::Live) => Ok((function, format!("{arn}:{ALIAS}"))),
            (None, _) => Err(format!(
                "the environment variable {variable} must be the ARN of a function version, got \
                 '{value}'"
            )),
        }
    };
    Function::VARIANTS.iter().map(target).collect()
}

/// Returns a function's ARN without the version; `None` if `arn` is not a version's.
fn unqualified(arn: &str) -> Option<&str> {
    let (function, version) = arn.rsplit_once(':')?;
    let is_version = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    (is_version && function.contains(":function:")).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_variable_without_a_version() {
        for value in ["", "arn:aws:lambda:us-east-1:1:function:npa", "arn:x:function:npa:live"] {
            let environment = |variable: &str| match variable {
                "NPA_VERSION" => Some(value.to_owned()),
                _ => Some("arn:aws:lambda:us-east-1:123456789012:function:numbers-x:7".to_owned()),
            };
            let error = targets(Versions::Live, environment).unwrap_err();
            assert!(error.contains("NPA_VERSION") && error.contains(value), "{error}");
        }
    }
}
