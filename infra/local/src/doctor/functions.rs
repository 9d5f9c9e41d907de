//! What the functions run with, against what the template and the parameters say. Clients reach the
//! version that the alias `live` names, which keeps its settings for as long as it exists.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde::Deserialize;
use shared::auth::OriginSecrets;
use signed_requests::{AwsAccount, Service};
use yaml_serde::Value;

use super::{
    aws::get_json,
    finding::{Finding, Section, State},
    function_settings::{ExpectedSettings, FUNCTION_TYPE, Setting, Settings, property},
    look::{Look, LookError},
    remedies::Remedies,
    template_values::TemplateValues,
};

/// The secret that requests must carry which come by way of a distribution.
const ORIGIN_SECRET: &str = "ORIGIN_SECRET";

/// A function of the stack, with what it runs with.
#[derive(Debug)]
pub struct FunctionFacts {
    /// Its name in the template.
    pub logical: String,
    /// The newest settings, which a new version would get.
    pub latest: Look<Version>,
    /// What clients reach; `None` if the function has no alias.
    pub live: Option<Look<Live>>,
}

/// One version of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    /// Its number, or `$LATEST`.
    pub name: String,
    pub settings: Settings,
    /// The hash of its code.
    pub code: String,
}

/// The version that the alias names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Live {
    pub version: Version,
    /// Other versions that get a share of the requests while a deployment goes on.
    pub shares: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration {
    #[serde(default)]
    version: String,
    #[serde(default)]
    code_sha256: String,
    runtime: Option<String>,
    #[serde(default)]
    architectures: Vec<String>,
    memory_size: Option<u32>,
    timeout: Option<u32>,
    tracing_config: Option<TracingConfig>,
    environment: Option<Environment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TracingConfig {
    mode: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Environment {
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Alias {
    routing_config: Option<RoutingConfig>,
}

impl TracingConfig {
    /// SAM leaves out what is disabled, and Lambda calls what is left out `PassThrough`.
    fn named_as_in_template(self) -> String {
        if self.mode == "PassThrough" { "Disabled".to_owned() } else { self.mode }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RoutingConfig {
    #[serde(default)]
    additional_version_weights: BTreeMap<String, f64>,
}

impl From<Configuration> for Version {
    fn from(configuration: Configuration) -> Self {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let properties = [
            (Setting::Property("Runtime"), configuration.runtime),
            (Setting::ARCHITECTURES, Some(configuration.architectures.join(", "))),
            (Setting::Property("MemorySize"), number(configuration.memory_size)),
            (Setting::Property("Timeout"), number(configuration.timeout)),
            (
                Setting::Property("Tracing"),
                configuration.tracing_config.map(TracingConfig::named_as_in_template),
            ),
        ];
        let variables = configuration.environment.map(|environment| environment.variables);
        let variables = variables.into_iter().flatten();
        let variables = variables.map(|(name, value)| (Setting::Variable(name), value));
        let properties = properties.into_iter();
        let settings = properties
            .filter_map(|(setting, value)| Some((setting, value?)))
            .chain(variables)
            .collect();
        Self { name: configuration.version, settings, code: configuration.code_sha256 }
    }
}

impl FunctionFacts {
    /// The secrets that requests must carry one of; empty if the function asks for none.
    fn origin_secrets(&self) -> Option<&str> {
        let version = match &self.live {
            Some(live) => &live.as_ref().ok()?.version,
            None => self.latest.as_ref().ok()?,
        };
        version.settings.get(&Setting::variable(ORIGIN_SECRET)).map(String::as_str)
    }
}

/// The secret with which requests reach the functions past a distribution, if they ask for one.
pub fn origin_secret(functions: &[FunctionFacts]) -> Option<String> {
    let secrets = functions.iter().find_map(FunctionFacts::origin_secrets)?;
    OriginSecrets::of(secrets).to_send().map(str::to_owned)
}

/// Reads the settings of every function of the template, side by side.
pub async fn look(account: &AwsAccount, values: &TemplateValues) -> Vec<FunctionFacts> {
    let functions = values.resources_of_type(FUNCTION_TYPE);
    let looks = functions.map(async |(logical, function)| {
        let Some(name) = values.physical_name(logical) else {
            let latest = Err(LookError::NoStack);
            return FunctionFacts { logical: logical.to_owned(), latest, live: None };
        };
        let latest = configuration(account, name, "");
        let alias = property(values, function, "AutoPublishAlias").as_str();
        let live = async {
            match alias {
                Some(alias) => Some(live(account, name, alias).await),
                None => None,
            }
        };
        let (latest, live) = tokio::join!(latest, live);
        FunctionFacts { logical: logical.to_owned(), latest, live }
    });
    join_all(looks).await
}

async fn live(account: &AwsAccount, function: &str, alias: &str) -> Look<Live> {
    let path = format!("/2015-03-31/functions/{function}/aliases/{alias}");
    let qualifier = format!("?Qualifier={alias}");
    let (named, version) = tokio::join!(
        get_json::<Alias>(account, Service::Lambda, "GetAlias", &path),
        configuration(account, function, &qualifier)
    );
    let shares =
        named?.routing_config.map(|routing| routing.additional_version_weights).unwrap_or_default();
    Ok(Live { version: version?, shares })
}

async fn configuration(account: &AwsAccount, function: &str, query: &str) -> Look<Version> {
    let path = format!("/2015-03-31/functions/{function}/configuration{query}");
    let operation = "GetFunctionConfiguration";
    let read = get_json::<Configuration>(account, Service::Lambda, operation, &path).await?;
    Ok(read.into())
}

/// What is to be said of the settings of the functions.
pub fn findings(
    functions: &[FunctionFacts],
    values: &TemplateValues,
    remedies: &Remedies,
) -> Vec<Finding> {
    let declared: BTreeMap<&str, &Value> = values.resources_of_type(FUNCTION_TYPE).collect();
    let findings = functions.iter().flat_map(|facts| match declared.get(facts.logical.as_str()) {
        Some(function) => of_function(facts, &ExpectedSettings::of(values, function), remedies),
        None => Vec::new(),
    });
    findings.collect()
}

fn of_function(
    facts: &FunctionFacts,
    expected: &ExpectedSettings,
    remedies: &Remedies,
) -> Vec<Finding> {
    let check = facts.logical.as_str();
    let latest = match &facts.latest {
        Ok(latest) => latest,
        Err(error) => return vec![error.finding(check)],
    };
    let redeploy = |finding: Finding| finding.remedy(remedies.deploy()).section(Section::Deploy);
    let drifted = expected.differences(&latest.settings);
    let unexpected = expected.unexpected(&latest.settings).into_iter();
    let mut findings: Vec<Finding> =
        unexpected.map(|what| redeploy(Finding::warning(check, what))).collect();
    let live = match &facts.live {
        None => {
            let drifted = drifted.into_iter();
            findings.extend(drifted.map(|what| redeploy(Finding::problem(check, what))));
            return or_as_expected(findings, check, latest, expected);
        }
        Some(Err(error)) => {
            findings.push(error.finding(format!("{check} live")));
            return findings;
        }
        Some(Ok(live)) => live,
    };
    findings.extend(under_way(check, live));
    // While a deployment goes on the alias still names the version before.
    let state = if live.shares.is_empty() { State::Problem } else { State::Note };
    let number = &live.version.name;
    let mut not_published = expected.differences(&live.version.settings);
    not_published.extend(expected.unpublished(&latest.settings, &live.version.settings));
    let is_up_to_date = not_published.is_empty();
    findings.extend(not_published.into_iter().map(|what| {
        let message = format!("{what} in version {number}, which clients reach");
        redeploy(Finding::new(state, check, message))
    }));
    findings.extend(drifted.into_iter().filter(|_| is_up_to_date).map(|what| {
        let message = format!("{what} in $LATEST, which the next version is made of");
        redeploy(Finding::warning(check, message))
    }));
    if live.version.code != latest.code && live.shares.is_empty() {
        let message =
            format!("the code of $LATEST is not that of version {number}, which clients reach");
        findings.push(redeploy(Finding::warning(check, message)));
    }
    or_as_expected(findings, check, &live.version, expected)
}

fn under_way(check: &str, live: &Live) -> Vec<Finding> {
    let shares = live.shares.iter().map(|(version, share)| {
        let percent = share * 100.0;
        let message = format!(
            "a deployment goes on: {percent:.0} % of the requests go to version {version}, and the \
             others to version {}",
            live.version.name
        );
        Finding::note(check, message).section(Section::Upgrade)
    });
    shares.collect()
}

/// The findings, or the one that there is nothing to say.
fn or_as_expected(
    findings: Vec<Finding>,
    check: &str,
    version: &Version,
    expected: &ExpectedSettings,
) -> Vec<Finding> {
    if !findings.is_empty() {
        return findings;
    }
    let known = expected.known().len();
    let name = &version.name;
    vec![Finding::ok(check, format!("version {name} runs with the {known} settings of the stack"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The facts of a stack of which every parameter has its default.
    fn as_deployed() -> (TemplateValues, FunctionFacts) {
        let values = TemplateValues::of_defaults().unwrap();
        let (logical, function) = values
            .resources_of_type(FUNCTION_TYPE)
            .find(|(logical, _)| *logical == "FormatFunction")
            .unwrap();
        let settings: Settings = ExpectedSettings::of(&values, function).known();
        let version = |name: &str| Version {
            name: name.to_owned(),
            settings: settings.clone(),
            code: "x".to_owned(),
        };
        let live = Live { version: version("7"), shares: BTreeMap::new() };
        let facts = FunctionFacts {
            logical: logical.to_owned(),
            latest: Ok(version("$LATEST")),
            live: Some(Ok(live)),
        };
        (values, facts)
    }

    fn found(values: &TemplateValues, facts: FunctionFacts) -> Vec<Finding> {
        findings(&[facts], values, &Remedies::of_stack("numbers"))
    }

    fn live_of(facts: &mut FunctionFacts) -> &mut Live {
        facts.live.as_mut().unwrap().as_mut().unwrap()
    }

    #[test]
    fn a_function_with_the_settings_of_the_stack_is_all_right() {
        let (values, facts) = as_deployed();
        let settings = &facts.latest.as_ref().unwrap().settings;
        assert_eq!(settings[&Setting::variable("RUST_LOG")], "info");
        assert_eq!(found(&values, facts)[0].state, State::Ok);
    }

    #[test]
    fn a_setting_that_has_not_reached_the_alias_is_a_problem() {
        let (values, mut facts) = as_deployed();
        let settings = &mut live_of(&mut facts).version.settings;
        settings.insert(Setting::variable("RUST_LOG"), "debug".to_owned());
        let found = found(&values, facts);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, State::Problem);
        assert_eq!(
            found[0].message,
            "RUST_LOG is 'debug' instead of 'info' in version 7, which clients reach"
        );
    }

    #[test]
    fn a_setting_that_somebody_changed_by_hand_is_a_warning() {
        let (values, mut facts) = as_deployed();
        let settings = &mut facts.latest.as_mut().unwrap().settings;
        settings.insert(Setting::Property("Timeout"), "3".to_owned());
        settings.insert(Setting::variable("NEW"), "secret".to_owned());
        let found = found(&values, facts);
        assert!(found.iter().all(|finding| finding.state == State::Warning), "{found:?}");
        let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages[0], "NEW is set, which the template does not set");
        assert_eq!(
            messages[1],
            "Timeout is '3' instead of '15' in $LATEST, which the next version is made of"
        );
    }

    #[test]
    fn while_a_deployment_goes_on_an_old_setting_is_only_noted() {
        let (values, mut facts) = as_deployed();
        let live = live_of(&mut facts);
        live.shares.insert("8".to_owned(), 0.1);
        live.version.settings.insert(Setting::variable("RUST_LOG"), "debug".to_owned());
        live.version.code = "before".to_owned();
        let found = found(&values, facts);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|finding| finding.state == State::Note), "{found:?}");
        assert!(found[0].message.contains("10 % of the requests go to version 8"), "{found:?}");
    }

    #[test]
    fn code_that_was_not_published_is_a_warning() {
        let (values, mut facts) = as_deployed();
        live_of(&mut facts).version.code = "before".to_owned();
        assert_eq!(found(&values, facts)[0].state, State::Warning);
    }

    #[test]
    fn the_origin_secret_is_the_one_that_every_version_knows_and_an_empty_one_is_none() {
        let (_, mut facts) = as_deployed();
        let set = |facts: &mut FunctionFacts, secrets: &str| {
            let settings = &mut live_of(facts).version.settings;
            settings.insert(Setting::variable(ORIGIN_SECRET), secrets.to_owned());
        };
        set(&mut facts, "");
        assert_eq!(origin_secret(std::slice::from_ref(&facts)), None);
        set(&mut facts, "new, old");
        assert_eq!(origin_secret(&[facts]).as_deref(), Some("old"));
    }

    #[test]
    fn a_configuration_is_read_as_lambda_writes_it() {
        let json = r#"{"FunctionName":"f","Version":"7","CodeSha256":"abc","Runtime":"provided.al2023",
            "MemorySize":512,"Timeout":15,"Architectures":["arm64"],"TracingConfig":{"Mode":"PassThrough"},
            "Environment":{"Variables":{"RUST_LOG":"info"}}}"#;
        let version: Version = serde_json::from_str::<Configuration>(json).unwrap().into();
        assert_eq!(version.name, "7");
        let settings: Vec<_> = version.settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(
            settings.join(" "),
            "Architectures=arm64 MemorySize=512 Runtime=provided.al2023 Timeout=15 \
             Tracing=Disabled RUST_LOG=info"
        );
    }
}
