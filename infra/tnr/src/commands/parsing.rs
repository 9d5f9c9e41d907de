//! Parses the command line and its environment variables.

use std::{env, ffi::OsString};

use clap::{
    Arg, Command as ClapCommand, CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, Command, help};

impl Cli {
    /// Parses the command line. Environment variables are defaults for options, unless empty. If there is a phone
    /// number instead of a command, looks it up.
    pub fn parse_args(args: &[OsString]) -> Result<Self, clap::Error> {
        let error = match parse_command(args) {
            Err(error) if is_unknown(error.kind()) && !has_command(args) => error,
            result => return result,
        };
        let mut lookup = args.to_vec();
        lookup.insert(1, "lookup".into());
        match parse_command(&lookup) {
            Ok(cli) if cli.looks_up_number() => Ok(cli),
            Err(lookup_error) if may_be_number(&unknown_word(&error)) => Err(lookup_error),
            _ => Err(error),
        }
    }

    fn looks_up_number(&self) -> bool {
        matches!(&self.command, Some(Command::Lookup(args)) if may_be_number(&args.number))
    }
}

fn parse_command(args: &[OsString]) -> Result<Cli, clap::Error> {
    let command = map_arguments(help::lay_out(Cli::command()), ignore_empty_variable);
    command.try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches))
}

fn has_command(args: &[OsString]) -> bool {
    let word = args.get(1).and_then(|word| word.to_str());
    word.is_some_and(|word| Cli::command().find_subcommand(word).is_some())
}

fn is_unknown(kind: ErrorKind) -> bool {
    use ErrorKind::{ArgumentConflict, InvalidSubcommand, UnknownArgument};
    // A number after `serve` options is a conflict, as a command would be.
    matches!(kind, ArgumentConflict | InvalidSubcommand | UnknownArgument)
}

fn unknown_word(error: &clap::Error) -> String {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    match kinds.into_iter().find_map(|kind| error.get(kind)) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    }
}

/// Returns `true` if a word may be a phone number. Command names do not have digits.
fn may_be_number(text: &str) -> bool {
    const MIN_DIGITS: usize = 3;
    text.chars().filter(|c| c.is_numeric()).count() >= MIN_DIGITS
}

fn map_arguments(command: ClapCommand, change: fn(Arg) -> Arg) -> ClapCommand {
    command.mut_args(change).mut_subcommands(|command| map_arguments(command, change))
}

/// Ignores an argument's environment variable if it is empty, because Compose sets unset ones to empty.
fn ignore_empty_variable(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(env::var_os);
    let is_empty = value.is_some_and(|value| value.is_empty());
    if is_empty { argument.env(None::<&'static str>) } else { argument }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sessions `folders` and `queries` cover mistyped commands, and numbers in place of a command.
    #[test]
    fn command_definitions_are_valid() {
        Cli::command().debug_assert();
    }
}
