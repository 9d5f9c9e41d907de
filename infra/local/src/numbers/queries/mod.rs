//! Commands that print API responses.
//!
//! They call the API's own routes in-process, so results and error messages match the API's.

mod changes;
mod lists;
mod number;
mod page;
mod pages;
mod plan;
mod sources;

use std::{borrow::Cow, process::ExitCode};

use indicatif::HumanCount;
use reqwest::StatusCode;
use serde_json::Value;
use shared::{
    auth::Charge,
    in_process::{InProcess, RouteResponse},
};

pub use changes::{changes, history};
pub use lists::{area_code, carrier, search};
pub use number::lookup;
pub use plan::{area_codes, holders};
pub use sources::sources;

use self::pages::{ListRoute, show_rest};

use crate::{
    CliError,
    data::numbering_data::with_routes,
    error::{Context, NOT_FOUND_EXIT_CODE},
    numbers::args::{PageArgs, QueryArgs},
    terminal::{self, escape::escape_controls},
};

/// Parameter names and values.
type Params<'a> = Vec<(&'a str, &'a str)>;

/// Calls an API route.
///
/// # Errors
/// Returns [`CliError::NotFound`] with the API's message for a 404.
async fn get(api: &InProcess, path: &str, params: &Params<'_>) -> Result<Value, CliError> {
    let response = api.get(path, params.iter().copied(), Charge::default()).await;
    parse_json(path, &check_status(path, response)?)
}

/// Returns a response's body, or the API's message as an error.
fn check_status(path: &str, response: RouteResponse) -> Result<Vec<u8>, CliError> {
    if response.status.is_success() {
        return Ok(response.body.to_vec());
    }
    let body = parse_json(path, &response.body)?;
    let message = lower_first(text(&body["message"]));
    match response.status {
        StatusCode::NOT_FOUND => Err(CliError::NotFound(message)),
        _ => Err(CliError::failed(message)),
    }
}

fn parse_json(path: &str, body: &[u8]) -> Result<Value, CliError> {
    serde_json::from_slice(body).context(format!("the response from {path} is not JSON"))
}

/// Lowercases the first letter to follow `error: `, unless the message starts with an abbreviation.
fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

/// Calls a route, and prints the response as JSON or with `render`. Returns the response.
async fn print_response(
    args: &QueryArgs,
    path: &str,
    params: &Params<'_>,
    render: impl FnOnce(&Value) -> String,
) -> Result<Value, CliError> {
    let response = with_routes(&args.data, async |api| get(api, path, params).await).await?;
    print(args.json, &response, render)?;
    Ok(response)
}

/// Reads the list in a response's field `list`, and prints it as JSON or a part of it with `render`. Returns the response.
async fn print_list(
    args: &QueryArgs,
    page: &PageArgs,
    (path, list): (&str, &str),
    params: Params<'_>,
    render: impl FnOnce(&Value) -> String,
) -> Result<Value, CliError> {
    let route = ListRoute::new(path, params, page, !args.json);
    let response = with_routes(&args.data, async |api| route.json(api, list).await).await?;
    print(args.json, &response, render)?;
    show_rest(&response, list);
    Ok(response)
}

fn print(
    as_json: bool,
    response: &Value,
    render: impl FnOnce(&Value) -> String,
) -> Result<(), CliError> {
    if as_json {
        terminal::print_raw(&format!("{response}\n"))
    } else {
        terminal::print(&render(response))
    }
}

/// The exit code for a query, as in `grep`.
fn exit_code(matches: bool) -> ExitCode {
    if matches { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND_EXIT_CODE) }
}

fn list_exit_code(list: &Value) -> ExitCode {
    exit_code(list.as_array().is_some_and(|items| !items.is_empty()))
}

fn given_params<'a>(params: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Params<'a> {
    params.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
}

/// A field's text, or an empty string.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A field's text for a terminal, or a dash.
fn display_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => escape_controls(text).into(),
        other => match other.as_u64() {
            Some(count) => HumanCount(count).to_string().into(),
            None => other.to_string().into(),
        },
    }
}

/// The non-empty values, separated by commas.
fn comma_separated<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let values = values.into_iter().map(|value| escape_controls(text(value)));
    values.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A line with a name and a value, wrapped to the terminal; empty without a value.
fn line(name: &str, value: impl AsRef<str>) -> String {
    const INDENT: usize = 17;
    let value = value.as_ref();
    if value.is_empty() {
        return String::new();
    }
    let line = format!("  {name:<14} {value}");
    terminal::wrap(&line, terminal::width(), INDENT) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_messages_start_in_lowercase() {
        assert_eq!(lower_first("No carrier found"), "no carrier found");
        assert_eq!(lower_first("npa must be"), "npa must be");
        assert_eq!(lower_first("NPA 999 is"), "NPA 999 is");
        assert_eq!(lower_first(""), "");
    }
}
