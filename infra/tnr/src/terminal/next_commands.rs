//! Suggested next commands, for the same data.

use std::env;

use super::{HINT, escape::escape_controls, styled};

/// Commands with the explicit options that locate the data. Locations from the environment and
/// defaults need no options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextCommands {
    options: String,
}

impl NextCommands {
    pub fn with_options(options: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let options = options.into_iter();
        Self {
            options: options.map(|(name, value)| format!(" {name} {}", quote(&value))).collect(),
        }
    }

    pub fn tnr(&self, command: &str) -> String {
        format!("{} {command}{}", program(), self.options)
    }
}

/// `cargo run --` if Cargo started the program, otherwise its name.
fn program() -> &'static str {
    if env::var_os("CARGO").is_some() { "cargo run --" } else { "tnr" }
}

/// Escapes a shell word, and quotes it if necessary.
pub fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", escape_controls(text).replace('\'', r"'\''"))
}

/// Suggested next commands, one per line; empty without any.
pub fn next_steps(commands: &[String]) -> String {
    let labels = ["Next: "].into_iter().chain(std::iter::repeat("      "));
    let lines = labels.zip(commands).map(|(label, command)| format!("{label}{command}"));
    lines.map(|line| styled(HINT, &line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_commands_repeat_explicit_options_quoted_for_a_shell() {
        for (folder, expected) in [
            ("data", " verify --data-dir data"),
            ("my data", " verify --data-dir 'my data'"),
            ("it's", r" verify --data-dir 'it'\''s'"),
            ("$(ls)", " verify --data-dir '$(ls)'"),
            ("a\u{1b}", r" verify --data-dir 'a\u001b'"),
        ] {
            let commands = NextCommands::with_options([("--data-dir", folder.to_owned())]);
            assert!(commands.tnr("verify").ends_with(expected), "{folder}");
        }
        assert!(NextCommands::default().tnr("verify").ends_with(" verify"));
    }
}
