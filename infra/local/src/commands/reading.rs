//! Parsing of the command line and its environment variables.

use std::{env, ffi::OsString};

use clap::{
    Arg, Command as Line, CommandFactory, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, Command, help};

impl Cli {
    /// Parses the command line. Environment variables supply missing options; empty ones count as
    /// unset. A phone number in place of a command is looked up.
    pub fn read(line: &[OsString]) -> Result<Self, clap::Error> {
        let error = match understand(line) {
            Err(error) if is_unknown(error.kind()) => error,
            read => return read,
        };
        let mut lookup = line.to_vec();
        lookup.insert(1, "lookup".into());
        match understand(&lookup) {
            Ok(cli) if cli.looks_up_digits() => Ok(cli),
            Err(about_lookup) if has_digits_of_number(&unknown_word(&error)) => Err(about_lookup),
            _ => Err(error),
        }
    }

    fn looks_up_digits(&self) -> bool {
        matches!(&self.command, Some(Command::Lookup(args)) if has_digits_of_number(&args.number))
    }
}

fn understand(line: &[OsString]) -> Result<Cli, clap::Error> {
    let known = with_arguments(help::grouped(Cli::command()), without_empty_variable);
    known.try_get_matches_from(line).and_then(|found| Cli::from_arg_matches(&found))
}

fn is_unknown(kind: ErrorKind) -> bool {
    use ErrorKind::{ArgumentConflict, InvalidSubcommand, UnknownArgument};
    // A number after `serve` options conflicts with them, as a command would.
    matches!(kind, ArgumentConflict | InvalidSubcommand | UnknownArgument)
}

/// The word that clap did not recognize.
fn unknown_word(error: &clap::Error) -> String {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    match kinds.into_iter().find_map(|kind| error.get(kind)) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    }
}

/// Returns `true` if a text may be a phone number. Command names have no digits.
fn has_digits_of_number(text: &str) -> bool {
    const MIN_DIGITS: usize = 3;
    text.chars().filter(|c| c.is_numeric()).count() >= MIN_DIGITS
}

/// Changes every argument of every command.
fn with_arguments(line: Line, change: fn(Arg) -> Arg) -> Line {
    line.mut_args(change).mut_subcommands(|command| with_arguments(command, change))
}

/// Ignores an empty variable, which Compose passes when the original is unset.
fn without_empty_variable(argument: Arg) -> Arg {
    let value = argument.get_env().and_then(env::var_os);
    let is_empty = value.is_some_and(|value| value.is_empty());
    if is_empty { argument.env(None::<&'static str>) } else { argument }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Cli, clap::Error> {
        let line: Vec<OsString> = ["tnr"].iter().chain(words).map(OsString::from).collect();
        Cli::read(&line)
    }

    #[test]
    fn phone_number_instead_of_a_command_is_looked_up() {
        for words in [
            &["3052345678"][..],
            &["+442079460958", "--json"],
            &["--json", "(305) 234-5678", "--country", "CA"],
            &["--data-dir", "x", "tel:+13052345678"],
        ] {
            assert!(matches!(read(words).unwrap().command, Some(Command::Lookup(_))), "{words:?}");
        }
        assert!(read(&["--port", "4000"]).unwrap().command.is_none());
    }

    #[test]
    fn mistyped_words_keep_their_error_and_suggestion() {
        for (words, expected) in [
            (&["verfy"][..], "a similar subcommand exists: 'verify'"),
            (&["serve", "--prot", "3000"], "a similar argument exists: '--port'"),
            (&["3052345678", "--contry", "CA"], "a similar argument exists: '--country'"),
            (&["12"], "unrecognized subcommand '12'"),
        ] {
            let error = read(words).unwrap_err().to_string();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }
}
