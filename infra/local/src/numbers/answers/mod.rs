//! API answers for a terminal.
//!
//! The commands call the API's own routes in-process, so results and error messages match the
//! API's.

mod lists;
mod number;
mod page;

use std::{borrow::Cow, process::ExitCode};

use reqwest::StatusCode;
use serde_json::Value;
use shared::in_process::InProcess;

pub use lists::{area_code, carrier, search};
pub use number::lookup;

use crate::{
    CliError,
    data::{numbering_data::on_routes, report::printable},
    error::{Context, NOT_FOUND_EXIT_CODE},
    numbers::args::{AnswerArgs, PageArgs},
    terminal,
};

/// Names and values of the typed parameters.
type Params<'a> = Vec<(&'a str, &'a str)>;

/// Calls an API route.
///
/// # Errors
/// Returns [`CliError::NotFound`] with the API's message for a 404.
async fn ask(api: &InProcess, path: &str, params: &Params<'_>) -> Result<Value, CliError> {
    let answer = api.get(path, params.iter().copied()).await;
    let value: Value = serde_json::from_slice(&answer.body)
        .context(format!("{path} answers with something else than JSON"))?;
    if answer.status.is_success() {
        return Ok(value);
    }
    let message = printable(&lower_first(text(&value["message"])));
    Err(failure(answer.status, message))
}

fn failure(status: StatusCode, message: String) -> CliError {
    match status {
        StatusCode::NOT_FOUND => CliError::NotFound(message),
        _ => CliError::failed(message),
    }
}

/// The message as it follows `error: `, in lower case unless it starts with an abbreviation.
fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

/// Calls a route and prints the answer as JSON or with `write`. Returns the answer.
async fn print_answer(
    args: &AnswerArgs,
    path: &str,
    params: &Params<'_>,
    write: impl FnOnce(&Value) -> String,
) -> Result<Value, CliError> {
    let answer = on_routes(&args.data, async |api| ask(api, path, params).await).await?;
    print(args.json, &answer, write)?;
    Ok(answer)
}

fn print(
    as_json: bool,
    answer: &Value,
    write: impl FnOnce(&Value) -> String,
) -> Result<(), CliError> {
    if as_json {
        terminal::print_raw(&format!("{answer}\n"))
    } else {
        terminal::print(&write(answer))
    }
}

/// The exit code of an answer, as in `grep`.
fn exit_code(is_found: bool) -> ExitCode {
    if is_found { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND_EXIT_CODE) }
}

/// The exit code of a list.
fn exit_code_of_list(list: &Value) -> ExitCode {
    exit_code(list.as_array().is_some_and(|entries| !entries.is_empty()))
}

/// The parameters that were typed.
fn typed<'a>(params: impl IntoIterator<Item = (&'a str, &'a Option<String>)>) -> Params<'a> {
    params.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
}

impl PageArgs {
    fn params(&self) -> Params<'_> {
        typed([("limit", &self.limit), ("offset", &self.offset)])
    }
}

/// The text of a field, or an empty string.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The text of a field for a terminal, or a dash.
fn shown(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => printable(text).into(),
        other => other.to_string().into(),
    }
}

/// The non-empty parts, separated by commas.
fn listed<'a>(parts: impl IntoIterator<Item = &'a Value>) -> String {
    let parts = parts.into_iter().map(|part| printable(text(part)));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A line with a name and a value, wrapped if needed; empty without a value.
fn line(name: &str, value: impl AsRef<str>) -> String {
    const INDENT: usize = 17;
    let value = value.as_ref();
    if value.is_empty() {
        return String::new();
    }
    let line = format!("  {name:<14} {value}");
    terminal::wrapped(&line, terminal::width(), INDENT) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_404_means_not_found() {
        let failed = |status| failure(status, String::new());
        assert!(matches!(failed(StatusCode::NOT_FOUND), CliError::NotFound(_)));
        for status in [StatusCode::BAD_REQUEST, StatusCode::SERVICE_UNAVAILABLE] {
            assert!(matches!(failed(status), CliError::Failed { .. }), "{status}");
        }
    }

    #[test]
    fn api_messages_start_in_lower_case() {
        assert_eq!(lower_first("No carrier found"), "no carrier found");
        assert_eq!(lower_first("npa must be"), "npa must be");
        assert_eq!(lower_first("NPA 999 is"), "NPA 999 is");
        assert_eq!(lower_first(""), "");
    }
}
