//! The commands that findings tell to run, with the names of the deployment filled in.

use std::{env, path::Path};

use store::is_plain_http;

/// What the commands of a deployment have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedies {
    /// How this program is started.
    program: &'static str,
    stack: Option<String>,
    /// The options that lead this program to the data.
    options: String,
    /// Whether this program makes the tables that a database lacks.
    makes_tables: bool,
}

impl Remedies {
    /// The commands for a deployed stack, of which CloudFormation makes the tables.
    pub fn of_stack(stack: &str) -> Self {
        let options = format!(" --stack {}", quoted(stack));
        Self { stack: Some(stack.to_owned()), ..Self::with(options, false) }
    }

    /// The commands for the embedded database, in a folder if one was named.
    pub fn of_folder(folder: Option<&Path>) -> Self {
        let option = |folder: &Path| format!(" --data-dir {}", quoted(&folder.to_string_lossy()));
        Self::with(folder.map(option).unwrap_or_default(), true)
    }

    /// The commands for the database at an address. One with TLS may be AWS, where the template makes the
    /// tables.
    pub fn of_endpoint(endpoint: &str) -> Self {
        Self::with(format!(" --endpoint-url {}", quoted(endpoint)), is_plain_http(endpoint))
    }

    fn with(options: String, makes_tables: bool) -> Self {
        Self { program: program(), stack: None, options, makes_tables }
    }

    /// The name of the stack; empty without one.
    pub fn stack(&self) -> &str {
        self.stack.as_deref().unwrap_or_default()
    }

    /// A command of this program.
    pub fn tnr(&self, command: &str) -> String {
        format!("{} {command}{}", self.program, self.options)
    }

    /// The command that makes tables that are missing, where this program does so.
    pub fn make_tables(&self) -> Option<String> {
        self.makes_tables.then(|| self.tnr("serve"))
    }

    /// The command that deploys what is in the clone, with the parameters that the stack has.
    pub fn deploy(&self) -> String {
        format!("sam build && sam deploy --stack-name {}", self.stack())
    }

    /// The command that deploys what was built before, with another value of a parameter.
    pub fn set_parameter(&self, parameter: &str, value: &str) -> String {
        let stack = self.stack();
        format!("sam deploy --stack-name {stack} --parameter-overrides {parameter}={value}")
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
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_that_of_the_program_as_it_was_started() {
        let of = |program| Remedies { program, ..Remedies::of_stack("numbers") };
        assert_eq!(of("tnr").tnr("verify"), "tnr verify --stack numbers");
        assert_eq!(of("cargo run --").tnr("verify"), "cargo run -- verify --stack numbers");
    }

    #[test]
    fn a_folder_is_one_word_of_a_command() {
        for (folder, expected) in [
            ("data", "tnr verify --data-dir data"),
            ("my data", "tnr verify --data-dir 'my data'"),
            ("it's", r"tnr verify --data-dir 'it'\''s'"),
        ] {
            let remedies = Remedies::of_folder(Some(Path::new(folder)));
            assert_eq!(Remedies { program: "tnr", ..remedies }.tnr("verify"), expected);
        }
    }

    #[test]
    fn only_tables_of_databases_that_are_not_of_aws_are_made_by_serving() {
        assert!(Remedies::of_folder(None).make_tables().unwrap().ends_with(" serve"));
        assert!(Remedies::of_endpoint("http://127.0.0.1:8000").make_tables().is_some());
        assert_eq!(Remedies::of_endpoint("https://dynamodb.example.com").make_tables(), None);
        assert_eq!(Remedies::of_stack("numbers").make_tables(), None);
    }
}
