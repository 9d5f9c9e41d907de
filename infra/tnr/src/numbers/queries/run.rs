//! Runs a query: selects the view, reads it, and prints it.

use std::process::ExitCode;

use numbering::records::Ocn;
use shared::in_process::InProcess;

use super::{
    View,
    command::{Format, QueryCommand},
    pages::{ListRequest, Params, note_on_rest, results},
    render::Rendering,
};
use crate::{
    CliError,
    data::numbering_data::with_routes,
    error::NOT_FOUND_EXIT_CODE,
    terminal::{self, show_note},
};

/// The text that a view prints.
struct Output {
    text: String,
    /// Says how many results were left out, if any.
    note: Option<String>,
    /// `true` for a list without results.
    is_empty: bool,
}

pub async fn run(command: QueryCommand) -> Result<ExitCode, CliError> {
    let output = with_routes(&command.data, async |api| read(api, &command).await).await?;
    match command.format {
        Format::Text => terminal::print(&output.text)?,
        Format::Json | Format::Csv => terminal::print_raw(&output.text)?,
    }
    output.note.iter().for_each(|note| show_note(note));
    Ok(exit_code(!output.is_empty))
}

/// The exit code for a query, as in `grep`.
pub(super) fn exit_code(matches: bool) -> ExitCode {
    if matches { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND_EXIT_CODE) }
}

/// Reads the first suitable view that has results. A four-letter word can be an OCN or the start of a name.
async fn read(api: &InProcess, command: &QueryCommand) -> Result<Output, CliError> {
    let mut not_found = None;
    for (view, params) in suitable_views(command)? {
        match read_view(api, command, view, &params).await {
            Err(CliError::NotFound(message)) => {
                not_found.get_or_insert(message);
            }
            Ok(output) if output.is_empty && not_found.is_some() => {}
            output => return output,
        }
    }
    Err(CliError::NotFound(not_found.unwrap_or_default()))
}

async fn read_view(
    api: &InProcess,
    command: &QueryCommand,
    view: &View,
    params: &Params<'_>,
) -> Result<Output, CliError> {
    let request = ListRequest::new(view.route, params, command.format == Format::Text);
    if command.format == Format::Csv {
        let (text, note) = request.csv(api).await?;
        return Ok(Output { text, note, is_empty: false });
    }
    let body = &request.json(api).await?;
    // An area code without exchanges is found.
    let is_record = view.params().any(|param| body[param].is_string());
    let is_empty = !is_record && body["pagination"].is_object() && results(body).is_empty();
    let text = if command.format == Format::Json {
        format!("{body}\n")
    } else {
        let next = &command.data.next();
        Rendering { view, params, body, next }.text(terminal::width())
    };
    Ok(Output { text, note: note_on_rest(&body["pagination"], results(body).len()), is_empty })
}

/// The views that take the words and options, with their parameters. A view whose words have the wrong form comes
/// last, for the API's message.
fn suitable_views(command: &QueryCommand) -> Result<Vec<(&View, Params<'_>)>, CliError> {
    let QueryCommand { query, words, options, format, .. } = command;
    let suits = |view: &&View| {
        options.iter().all(|(name, _)| view.takes(name))
            && (*format != Format::Csv || view.has_csv())
    };
    let with_words = |view| Some((view, fill(view, words)?));
    let mut views: Vec<(&View, Params<'_>)> =
        query.views.iter().filter(suits).filter_map(with_words).collect();
    let has_form = |(_, params): &(&View, Params<'_>)| {
        params.iter().all(|(name, word)| *name != "ocn" || word.parse::<Ocn>().is_ok())
    };
    if views.iter().any(has_form) {
        views.retain(has_form);
    } else {
        views.truncate(1);
    }
    if views.is_empty() {
        let usage = query.words.iter().map(|(usage, _)| *usage).collect::<Vec<_>>().join(" ");
        return Err(CliError::failed(format!("expected {usage}, got '{}'", words.join(" "))));
    }
    for (_, params) in &mut views {
        params.extend(options.iter().map(|(name, value)| (*name, value.clone().into())));
    }
    Ok(views)
}

/// Fills a view's parameters with the words. `q` takes all of them, and others one part each: `415-234` is two.
fn fill<'a>(view: &View, words: &'a [String]) -> Option<Params<'a>> {
    if view.params == "q" {
        let q = words.join(" ");
        return Some(if q.is_empty() { Vec::new() } else { vec![("q", q.into())] });
    }
    let parts: Vec<&str> = words.iter().flat_map(|word| word.split('-')).collect();
    let filled = view.params().zip(parts.iter().map(|part| (*part).into()));
    (parts.len() == view.params().count()).then(|| filled.collect())
}
