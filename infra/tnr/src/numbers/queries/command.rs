//! Query command lines and their output. The options are the route's documented parameters.

use std::process::ExitCode;

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, error::ErrorKind,
};
use numbering::records::Ocn;
use shared::{described_params::DescribedParam, in_process::InProcessRoutes};

use super::{
    QUERIES, Query, View,
    pages::{ListRequest, Params, more_results_note, results},
    render::render,
};
use crate::{
    CliError,
    commands::help::with_short_help,
    data::numbering_data::with_routes,
    database::args::DataArgs,
    error::NOT_FOUND_EXIT_CODE,
    terminal::{self, show_note},
};

/// Route parameters without an option: formats have their own, and the others are for programs.
const OMITTED_PARAMS: [&str; 3] = ["format", "include", "version"];
const MAX_LISTED_VALUES: usize = 12;

#[derive(Debug)]
pub struct QueryCommand {
    query: &'static Query,
    words: Vec<String>,
    /// The API's parameters by name, except positional ones.
    options: Vec<(&'static str, String)>,
    format: Format,
    data: DataArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Csv,
}

impl Subcommand for QueryCommand {
    fn augment_subcommands(command: Command) -> Command {
        let query = |query: &Query| Command::new(query.name).about(query.about).defer(add_args);
        command.subcommands(QUERIES.iter().map(query))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Query::named(name).is_some()
    }
}

impl FromArgMatches for QueryCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand();
        let found = found.and_then(|(name, matches)| Some((Query::named(name)?, matches)));
        let (query, matches) =
            found.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        let words = query.words.iter().filter_map(|(usage, _)| matches.get_many(arg_name(usage)));
        let value = |name| Some((name, matches.get_one::<String>(name)?.clone()));
        let is_set = |flag| matches.try_get_one::<bool>(flag).ok().flatten() == Some(&true);
        Ok(Self {
            query,
            words: words.flatten().cloned().collect(),
            options: options(query).into_iter().filter_map(|param| value(param.name)).collect(),
            format: match (is_set("json"), is_set("csv")) {
                (true, _) => Format::Json,
                (_, true) => Format::Csv,
                _ => Format::Text,
            },
            data: DataArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds a query's arguments. clap only calls this for the command to run.
fn add_args(command: Command) -> Command {
    let Some(query) = Query::named(command.get_name()) else { return command };
    let flag =
        |name: &'static str, help| Arg::new(name).long(name).help(help).action(ArgAction::SetTrue);
    let json = flag("json", "Print the API response as JSON");
    let csv = query.views.iter().any(View::has_csv).then(|| {
        let help = "Print as CSV; changes have a row per changed field";
        flag("csv", help).conflicts_with("json")
    });
    let words = query.words.iter().map(|(usage, help)| positional(usage, help));
    let command = command.args(words).args(options(query).iter().map(option)).arg(json).args(csv);
    // The derived arguments would replace the summary.
    DataArgs::augment_args(command).about(query.about).mut_args(with_short_help)
}

/// The name in a usage such as `[WORDS]...`.
fn arg_name(usage: &'static str) -> &'static str {
    usage.trim_end_matches('.').trim_matches(['[', ']'])
}

fn positional(usage: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(arg_name(usage)).help(help).required(!usage.starts_with('['));
    if usage.ends_with("...") { arg.num_args(1..).action(ArgAction::Append) } else { arg }
}

fn options(query: &'static Query) -> Vec<DescribedParam<'static>> {
    let mut options: Vec<DescribedParam<'static>> = Vec::new();
    for param in query.views.iter().flat_map(View::described_params) {
        let is_known = options.iter().any(|option| option.name == param.name);
        if !is_known && !query.is_positional(param.name) && !OMITTED_PARAMS.contains(&param.name) {
            options.push(param);
        }
    }
    options
}

fn option(param: &DescribedParam<'static>) -> Arg {
    // clap borrows names for the whole run of the program.
    let long = &*option_name(param.name).leak();
    Arg::new(param.name).long(long).value_name("VALUE").help(help(param))
}

fn option_name(param: &str) -> String {
    param.replace('_', "-")
}

fn help(param: &DescribedParam<'_>) -> String {
    if param.name == "limit" {
        return "Maximum results [default: 50 in a table, otherwise all]".to_owned();
    }
    let text = param.description().replace('`', "");
    let values: Vec<&str> = param.allowed_values().take(MAX_LISTED_VALUES + 1).collect();
    match values.len() {
        1..=MAX_LISTED_VALUES => format!("{text} [values: {}]", values.join(", ")),
        _ => text,
    }
}

struct Output {
    text: String,
    /// A note about results that were left out, if any.
    note: Option<String>,
    is_empty: bool,
}

pub async fn run(command: QueryCommand) -> Result<ExitCode, CliError> {
    let views = matching_views(&command)?;
    let output = with_routes(&command.data, async |api| read(api, &command, views).await).await?;
    match command.format {
        Format::Text => terminal::print(&output.text)?,
        Format::Json | Format::Csv => terminal::print_raw(&output.text)?,
    }
    output.note.iter().for_each(|note| show_note(note));
    Ok(exit_code(!output.is_empty))
}

/// The exit code of a query, as in `grep`.
pub(super) fn exit_code(matches: bool) -> ExitCode {
    if matches { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND_EXIT_CODE) }
}

/// Reads the first suitable view with results. A four-letter word can be an OCN or the start of a name.
async fn read(
    api: &InProcessRoutes,
    command: &QueryCommand,
    views: Vec<(&View, Params<'_>)>,
) -> Result<Output, CliError> {
    let mut not_found = None;
    for (view, params) in views {
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
    api: &InProcessRoutes,
    command: &QueryCommand,
    view: &View,
    params: &Params<'_>,
) -> Result<Output, CliError> {
    let request = ListRequest::new(view.route, params, command.format == Format::Text);
    if command.format == Format::Csv {
        let (text, has_more) = request.csv(api).await?;
        let note =
            has_more.then(|| "note: there are more results; pass a higher --limit".to_owned());
        return Ok(Output { text, note, is_empty: false });
    }
    let body = &request.json(api).await?;
    // An area code without exchanges still counts as found.
    let is_record = view.params().any(|param| body[param].is_string());
    let is_empty = !is_record && body["pagination"].is_object() && results(body).is_empty();
    let text = if command.format == Format::Json {
        format!("{body}\n")
    } else {
        render(view, body, terminal::width())
    };
    Ok(Output { text, note: more_results_note(&body["pagination"], results(body).len()), is_empty })
}

/// The views that accept the words and options, with their parameters. A view whose words have the wrong form comes
/// last, so that its API message is shown.
fn matching_views(command: &QueryCommand) -> Result<Vec<(&View, Params<'_>)>, CliError> {
    let QueryCommand { query, words, options, format, .. } = command;
    let is_csv = *format == Format::Csv;
    let suits = |view: &&View| {
        options.iter().all(|(name, _)| view.takes(name)) && (!is_csv || view.has_csv())
    };
    let names = options.iter().map(|(name, _)| format!("--{}", option_name(name)));
    let names: Vec<String> = names.chain(is_csv.then(|| "--csv".to_owned())).collect();
    if !query.views.iter().any(|view| suits(&view)) {
        return Err(CliError::failed(format!("{} cannot be combined", names.join(" and "))));
    }
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
        let fit = query.views.iter().any(|view| fill(view, words).is_some());
        return Err(CliError::failed(mismatch_message(query, words, &names.join(" and "), fit)));
    }
    for (_, params) in &mut views {
        params.extend(options.iter().map(|(name, value)| (*name, value.clone().into())));
    }
    Ok(views)
}

/// Explains why no view accepts the words and options. If `fit` is set, some view accepts the words alone.
fn mismatch_message(query: &Query, words: &[String], options: &str, fit: bool) -> String {
    let usage = query.words.iter().map(|(usage, _)| *usage).collect::<Vec<_>>().join(" ");
    match words.join(" ") {
        words if words.is_empty() => format!("{options} needs {}", usage.trim_matches(['[', ']'])),
        words if fit => format!("{options} cannot be combined with '{words}'"),
        words => format!("expected {usage}, got '{words}'"),
    }
}

/// Fills a view's parameters from the words. `q` gets all words, and others get one part each: `415-234` is two.
fn fill<'a>(view: &View, words: &'a [String]) -> Option<Params<'a>> {
    if view.params == "q" {
        let q = words.join(" ");
        return Some(if q.is_empty() { Vec::new() } else { vec![("q", q.into())] });
    }
    let parts: Vec<&str> = words.iter().flat_map(|word| word.split('-')).collect();
    let filled = view.params().zip(parts.iter().map(|part| (*part).into()));
    (parts.len() == view.params().count()).then(|| filled.collect())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(subcommand)]
        query: QueryCommand,
    }

    fn parse(line: &str) -> Result<QueryCommand, String> {
        let cli = Cli::try_parse_from(["tnr"].into_iter().chain(line.split(' ')));
        cli.map(|cli| cli.query).map_err(|error| error.to_string())
    }

    #[test]
    fn a_view_fits_the_words_and_options_or_an_error_names_those_that_do_not_fit() {
        for (line, expected) in [
            ("carrier 6529 --as-of 2026-01-01", ""),
            ("carrier 65 --as-of 2026-01-01 --state CA", "--as-of and --state cannot be combined"),
            ("carrier 65 --as-of 2026-01-01 --limit 5", "--as-of and --limit cannot be combined"),
            ("carrier sprint us --state CA --limit 5", ""),
            ("carrier", "error: the following required arguments were not provided:"),
            ("area-code 415 234 --as-of 2026-01-01", ""),
            ("area-code 415 234 555", "error: unexpected argument '555' found"),
            ("area-codes --state CA --limit 5", ""),
            ("area-codes 415 --as-of 2026-01-01", ""),
            ("area-codes 415 --state CA", "--state cannot be combined with '415'"),
            ("area-codes 415 --offset 5", "--offset cannot be combined with '415'"),
            ("area-codes --as-of 2026-01-01", "--as-of needs NPA"),
            ("holders --json --csv", "error: the argument '--json' cannot be used with '--csv'"),
            ("history 415-234-5 --limit 5", "expected NPA-NXX|OCN..., got '415-234-5'"),
            ("search", ""),
            ("sources --csv", "error: unexpected argument '--csv' found"),
            ("sources --limit 5", "error: unexpected argument '--limit' found"),
            ("lookup 415", "error: unrecognized subcommand 'lookup'"),
        ] {
            let found = parse(line).and_then(|command| {
                matching_views(&command).map(drop).map_err(|error| error.to_string())
            });
            let found = found.err().unwrap_or_default();
            assert_eq!(found.lines().next().unwrap_or_default(), expected, "{line}");
        }
    }

    #[test]
    fn help_begins_with_the_summary() {
        for query in QUERIES {
            let help = add_args(Command::new(query.name)).render_long_help().to_string();
            assert!(help.starts_with(query.about), "{help}");
        }
    }

    #[test]
    fn options_are_the_parameters_of_the_route() {
        let query =
            parse("search san rafael --rate-center x --type ilec --offset 5 --csv").unwrap();
        assert_eq!(query.words, ["san", "rafael"]);
        let options = [("rate_center", "x"), ("type", "ilec"), ("offset", "5")];
        assert_eq!(query.options, options.map(|(name, value)| (name, value.to_owned())));
        assert_eq!(query.format, Format::Csv);
        assert!(parse("search --sate CA").unwrap_err().contains("argument exists: '--state'"));
    }
}
