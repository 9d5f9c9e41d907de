//! What the environment says besides the command line.

use std::{env, ffi::OsString};

use clap::{Arg, Command as Line, CommandFactory, FromArgMatches};

use super::{Cli, Command, KeysCommand};

/// The options that lead to a database, which `--stack` does instead of them.
const OPTIONS_OF_DATABASES: [&str; 2] = ["data_dir", "endpoint_url"];

impl Cli {
    /// Reads the command line. Variables of the environment stand for options that are not typed; an
    /// empty one is not set.
    ///
    /// # Errors
    /// Returns an error if something on the line or in a variable is not understood, or if there is
    /// nothing to do but print the help or the version.
    pub fn read(line: &[OsString]) -> Result<Self, clap::Error> {
        let line_of = |change: fn(Arg) -> Arg| {
            let known = with_arguments(Self::command(), change);
            known.try_get_matches_from(line).and_then(|found| Self::from_arg_matches(&found))
        };
        // A typed stack wins over variables that name a database, with which it would conflict, as it
        // does with typed options. So does a folder that is to be examined.
        match line_of(without_variables_of_databases) {
            Ok(cli) if cli.needs_no_variables() => Ok(cli),
            _ => line_of(without_empty_variable),
        }
    }

    /// Whether the options alone, as they were typed, lead to the data.
    fn needs_no_variables(&self) -> bool {
        let Some(command) = &self.command else { return false };
        let data = match command {
            Command::Doctor(args) => {
                return args.stack.is_some()
                    || args.data_dir.is_some()
                    || args.endpoint_url.is_some();
            }
            Command::Format(args) => &args.data,
            Command::Lookup(args) => &args.data,
            Command::Carrier(args) => &args.answer.data,
            Command::AreaCode(args) => &args.answer.data,
            Command::Search(args) => &args.answer.data,
            Command::Export(args) => &args.data,
            Command::Import(args) => &args.change.data,
            Command::Rollback(args) => &args.data,
            Command::Verify(args) => &args.data,
            Command::Versions(args) => &args.data,
            Command::Mcp(args) => &args.data,
            Command::Keys(keys) => match keys {
                KeysCommand::Create { data, .. }
                | KeysCommand::List { data }
                | KeysCommand::Rotate { data, .. }
                | KeysCommand::Revoke { data, .. } => data,
                KeysCommand::Export(args) => &args.data,
                KeysCommand::Import(args) => &args.data,
            },
            _ => return false,
        };
        data.stack.is_some()
    }
}

/// The command line with every argument of every command changed.
fn with_arguments(line: Line, change: fn(Arg) -> Arg) -> Line {
    line.mut_args(change).mut_subcommands(|command| with_arguments(command, change))
}

fn without_variables_of_databases(argument: Arg) -> Arg {
    let names_database = OPTIONS_OF_DATABASES.iter().any(|id| argument.get_id() == id);
    if names_database { unset(argument) } else { without_empty_variable(argument) }
}

/// Compose writes an empty value where the one that it should pass on is not set.
fn without_empty_variable(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(env::var_os);
    if value.is_some_and(|value| value.is_empty()) { unset(argument) } else { argument }
}

/// The argument, which no variable stands for.
fn unset(argument: Arg) -> Arg {
    argument.env(None::<&'static str>)
}
