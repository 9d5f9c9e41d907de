//! The commands that messages tell a reader to run next, which lead to the same data.

use std::env;

/// Commands with the options that were typed to say where the data is. What came from the environment
/// or is the default needs no option.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextCommands {
    options: String,
}

impl NextCommands {
    pub fn with_options(options: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let options = options.into_iter();
        Self {
            options: options.map(|(name, value)| format!(" {name} {}", quoted(&value))).collect(),
        }
    }

    /// A command of this program, to paste into a shell.
    pub fn tnr(&self, command: &str) -> String {
        format!("{} {command}{}", program(), self.options)
    }
}

/// How this program is started: by cargo, which says so in the environment, or by its name.
fn program() -> &'static str {
    if env::var_os("CARGO").is_some() { "cargo run --" } else { "tnr" }
}

/// Text as one word of a command line, quoted if it needs that.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_commands_repeat_the_typed_options_as_words_of_a_shell() {
        for (folder, expected) in [
            ("data", " verify --data-dir data"),
            ("my data", " verify --data-dir 'my data'"),
            ("it's", r" verify --data-dir 'it'\''s'"),
            ("$(ls)", " verify --data-dir '$(ls)'"),
        ] {
            let commands = NextCommands::with_options([("--data-dir", folder.to_owned())]);
            assert!(commands.tnr("verify").ends_with(expected), "{folder}");
        }
        assert!(NextCommands::default().tnr("verify").ends_with(" verify"));
    }
}
