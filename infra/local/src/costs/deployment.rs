//! What `template.yaml` deploys, as far as it costs: counted, so that it need not be written by hand.

use yaml_serde::Value;

use crate::{LocalError, template};

use super::{
    costliest::{self, Costliest},
    measures::{METRICS_OF_IMPORT, METRICS_OF_PROBE, METRICS_OF_REQUESTS},
};

/// What a deployment has that costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub api_functions: u32,
    /// The functions behind the API whose containers read keys and the manifest.
    pub keyed_functions: u32,
    /// The memory of a function behind the API, in MB.
    pub memory_mb: f64,
    /// The memory of the import, in MB.
    pub import_memory_mb: f64,
    pub metrics: u32,
    pub alarms: u32,
    /// The metrics that alarms read. AWS bills an alarm by each of them.
    pub alarm_metrics: u32,
    pub dashboards: u32,
    /// Whether Lambda logs lines of its own about each request.
    pub has_platform_lines: bool,
    /// The bytes that API Gateway logs about a request.
    pub gateway_log_bytes: u32,
    pub limits: Vec<RouteLimit>,
}

/// The limit of a route for all clients together.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteLimit {
    /// The most expensive request of the route.
    pub costliest: &'static Costliest,
    /// The requests a second at which API Gateway begins to refuse more.
    pub rate: f64,
}

impl Deployment {
    /// Reads the template, with the defaults of its parameters.
    pub fn of_template() -> Result<Self, LocalError> {
        let template = template::parse()?;
        let of_type = |kind| template::of_type(&template, kind).collect::<Vec<&Value>>();
        let alarms = of_type("AWS::CloudWatch::Alarm");
        let lambdas = of_type("AWS::Serverless::Function");
        let import = function(&lambdas, "ingest")
            .ok_or_else(|| LocalError::Template("it has no import".to_owned()))?;
        let behind_api: Vec<&&Value> = lambdas.iter().filter(|it| is_behind_api(it)).collect();
        let api_functions = behind_api.len() as u32;
        let api = &template["Resources"]["Api"]["Properties"];
        Ok(Self {
            api_functions,
            keyed_functions: behind_api.iter().filter(|it| reads_keys(it)).count() as u32,
            memory_mb: number(&template, &template["Globals"]["Function"]["MemorySize"])?,
            import_memory_mb: number(&template, &import["Properties"]["MemorySize"])?,
            metrics: api_functions * METRICS_OF_REQUESTS
                + METRICS_OF_IMPORT
                + METRICS_OF_PROBE
                + of_type("AWS::Logs::MetricFilter").len() as u32,
            alarms: alarms.len() as u32,
            alarm_metrics: alarms.iter().map(|alarm| metrics_of_alarm(alarm)).sum(),
            dashboards: of_type("AWS::CloudWatch::Dashboard").len() as u32,
            has_platform_lines: has_platform_lines(&template, &behind_api),
            gateway_log_bytes: gateway_log_bytes(api)?,
            limits: limits(&template, api)?,
        })
    }

    /// The requests a second at which API Gateway begins to refuse more, on all routes together.
    pub fn throttling_rate(&self) -> f64 {
        self.limits.iter().map(|limit| limit.rate).sum()
    }

    /// The average over all requests of a moment in which each route is at its limit.
    pub fn average_at_limits(&self, of_costliest: impl Fn(&Costliest) -> f64) -> f64 {
        let sum: f64 = self.limits.iter().map(|it| it.rate * of_costliest(it.costliest)).sum();
        sum / self.throttling_rate()
    }
}

fn function<'a>(functions: &[&'a Value], binary: &str) -> Option<&'a Value> {
    let is_it = |it: &&&Value| it["Metadata"]["BuildProperties"]["Binary"] == *binary;
    functions.iter().find(is_it).copied()
}

fn is_behind_api(function: &Value) -> bool {
    let events = function["Properties"]["Events"].as_mapping().into_iter().flatten();
    events.into_iter().any(|(_, event)| event["Type"] == "HttpApi")
}

/// Whether a policy of the function names the table of keys.
fn reads_keys(function: &Value) -> bool {
    let policies = yaml_serde::to_string(&function["Properties"]["Policies"]);
    policies.is_ok_and(|policies| policies.contains("ApiKeysTable"))
}

fn metrics_of_alarm(alarm: &Value) -> u32 {
    match alarm["Properties"]["Metrics"].as_sequence() {
        Some(listed) => {
            listed.iter().filter(|metric| !metric["MetricStat"].is_null()).count() as u32
        }
        None => 1,
    }
}

/// Whether Lambda writes lines about the requests of any of these functions. It does so at the level
/// INFO, which is the default; what a function says wins over what all of them share.
fn has_platform_lines(template: &Value, functions: &[&&Value]) -> bool {
    const LEVEL: &str = "SystemLogLevel";
    let shared = &template["Globals"]["Function"]["LoggingConfig"][LEVEL];
    let is_quiet = |function: &&&Value| {
        let own = &function["Properties"]["LoggingConfig"][LEVEL];
        (if own.is_null() { shared } else { own }) == "WARN"
    };
    !functions.iter().all(is_quiet)
}

/// The limits of the routes, each of which must have one of its own and a measured request.
fn limits(template: &Value, api: &Value) -> Result<Vec<RouteLimit>, LocalError> {
    let routes = api["RouteSettings"].as_mapping();
    let routes = routes.ok_or_else(|| LocalError::Template("no route has a limit".to_owned()))?;
    let limit_of = |(route, settings): (&Value, &Value)| {
        let route = route.as_str().unwrap_or_default();
        let unknown =
            || LocalError::Template(format!("the most expensive request of '{route}' is unknown"));
        Ok(RouteLimit {
            costliest: costliest::of_route(route).ok_or_else(unknown)?,
            rate: number(template, &settings["ThrottlingRateLimit"])?,
        })
    };
    routes.iter().map(limit_of).collect()
}

/// A number, or the default of the parameter that stands for one.
fn number(template: &Value, value: &Value) -> Result<f64, LocalError> {
    let plain = match value {
        Value::Tagged(tagged) => {
            let parameter = tagged.value.as_str().unwrap_or_default();
            &template["Parameters"][parameter]["Default"]
        }
        plain => plain,
    };
    plain.as_f64().ok_or_else(|| LocalError::Template(format!("{value:?} is no number")))
}

/// The line of API Gateway's access log, with a usual value in place of each variable; none if there is
/// no such log.
fn gateway_log_bytes(api: &Value) -> Result<u32, LocalError> {
    const VARIABLE: &str = "$context.";
    let format = api["AccessLogSettings"]["Format"].as_str().unwrap_or_default();
    let mut parts = format.split(VARIABLE);
    let mut bytes = parts.next().unwrap_or_default().len();
    for part in parts {
        let name_ends = |character: char| !character.is_ascii_alphanumeric() && character != '.';
        let (name, rest) = part.split_at(part.find(name_ends).unwrap_or(part.len()));
        let unknown = || LocalError::Template(format!("no length is known for '{VARIABLE}{name}'"));
        bytes += usual_length(name).ok_or_else(unknown)? + rest.len();
    }
    Ok(bytes as u32)
}

/// How long the value of a variable of API Gateway usually is; `None` for one that nobody has looked at.
fn usual_length(variable: &str) -> Option<usize> {
    let length = match variable {
        "requestTime" => "22/Nov/2026:09:00:00 +0000".len(),
        "requestId" | "extendedRequestId" => "AbCdEfGhIjKlMnOp=".len(),
        "identity.sourceIp" => "203.0.113.123".len(),
        "routeKey" => "ANY /v1/npa/{npa}/nxx/{nxx}".len(),
        "protocol" => "HTTP/1.1".len(),
        "status" | "integrationStatus" => "200".len(),
        "responseLatency" | "integrationLatency" => "10".len(),
        "responseLength" => "1234".len(),
        // Requests that fail have more.
        "error.responseType" | "integrationErrorMessage" => "-".len(),
        _ => return None,
    };
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Value {
        yaml_serde::from_str(text).unwrap()
    }

    #[test]
    fn an_alarm_counts_each_metric_that_it_reads_and_no_expression() {
        let plain = yaml("Properties: { MetricName: Errors }");
        let expression = yaml(
            "Properties: { Metrics: [{ Id: sum, Expression: a + b }, { Id: a, MetricStat: {} }, \
             { Id: b, MetricStat: {} }] }",
        );
        assert_eq!((metrics_of_alarm(&plain), metrics_of_alarm(&expression)), (1, 2));
    }

    #[test]
    fn each_route_has_its_limit_and_parameters_stand_for_their_defaults() {
        let template = yaml("Parameters: { Rate: { Default: 200 } }");
        let api = yaml(
            "RouteSettings: { ANY /mcp: { ThrottlingRateLimit: !Ref Rate }, \
             $default: { ThrottlingRateLimit: 50 } }",
        );
        let limits = limits(&template, &api).unwrap();
        assert_eq!(limits.iter().map(|limit| limit.rate).collect::<Vec<_>>(), [200.0, 50.0]);
        assert_eq!(limits[0].costliest.kind.target, "/mcp");
        assert!(super::limits(&template, &yaml("{}")).is_err());
    }

    #[test]
    fn a_route_whose_most_expensive_request_nobody_knows_is_an_error() {
        let api = yaml("RouteSettings: { ANY /v1/new: { ThrottlingRateLimit: 50 } }");
        let error = limits(&yaml("{}"), &api).unwrap_err().to_string();
        assert!(error.contains("'ANY /v1/new'"), "{error}");
    }

    #[test]
    fn each_route_is_measured_once_and_is_one_of_the_template() {
        let template = template::parse().unwrap();
        let settings = template["Resources"]["Api"]["Properties"]["RouteSettings"].as_mapping();
        let deployed = settings.unwrap().iter().map(|(route, _)| route.as_str().unwrap());
        let mut deployed: Vec<&str> = deployed.collect();
        let measured = costliest::COSTLIEST.iter().flat_map(|costliest| costliest.routes);
        let mut measured: Vec<&str> = measured.copied().collect();
        deployed.sort_unstable();
        measured.sort_unstable();
        assert_eq!(deployed, measured);
    }

    #[test]
    fn a_route_weighs_as_much_as_its_limit() {
        let limit =
            |route, rate| RouteLimit { costliest: costliest::of_route(route).unwrap(), rate };
        let deployment = Deployment {
            limits: vec![limit("ANY /v1/format", 300.0), limit("ANY /docs", 100.0)],
            ..Deployment::of_template().unwrap()
        };
        assert_eq!(deployment.throttling_rate(), 400.0);
        let units = deployment.average_at_limits(|costliest| costliest.kind.read_units);
        assert_eq!(units, 500.0 * 0.75);
    }

    #[test]
    fn a_line_of_the_gateway_has_a_value_for_each_variable() {
        let api = yaml(
            r#"AccessLogSettings: { Format: '{"status":"$context.status","x":"$context.error.responseType"}' }"#,
        );
        let expected = r#"{"status":"200","x":"-"}"#.len() as u32;
        assert_eq!(gateway_log_bytes(&api).unwrap(), expected);
        assert_eq!(gateway_log_bytes(&yaml("{}")).unwrap(), 0);
    }

    #[test]
    fn a_variable_of_the_gateway_whose_length_nobody_knows_is_an_error() {
        let api = yaml("AccessLogSettings: { Format: '$context.authorizer.claims' }");
        let error = gateway_log_bytes(&api).unwrap_err().to_string();
        assert!(error.contains("'$context.authorizer.claims'"), "{error}");
    }

    #[test]
    fn lambda_logs_no_lines_of_its_own_at_a_higher_level() {
        let as_shared = &yaml("Properties: { LoggingConfig: { LogFormat: JSON } }");
        let info = &yaml("Properties: { LoggingConfig: { SystemLogLevel: INFO } }");
        let warn = &yaml("Properties: { LoggingConfig: { SystemLogLevel: WARN } }");
        let nothing = yaml("{}");
        let quiet = yaml("Globals: { Function: { LoggingConfig: { SystemLogLevel: WARN } } }");
        assert!(has_platform_lines(&nothing, &[&as_shared]));
        assert!(!has_platform_lines(&nothing, &[&warn, &warn]));
        assert!(has_platform_lines(&nothing, &[&warn, &as_shared]), "one of two is quiet");
        assert!(!has_platform_lines(&quiet, &[&warn, &as_shared]));
        assert!(has_platform_lines(&quiet, &[&as_shared, &info]), "its own level wins");
    }
}
