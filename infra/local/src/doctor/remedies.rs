//! The commands that findings tell to run, with the names of the deployment filled in.

/// What the commands of a deployment have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedies {
    stack: Option<String>,
    /// The options that lead this program to the data.
    options: String,
}

impl Remedies {
    pub fn of_stack(stack: &str) -> Self {
        Self { stack: Some(stack.to_owned()), options: format!(" --stack {stack}") }
    }

    /// The commands for a database that these options name.
    pub fn of_database(options: &str) -> Self {
        Self { stack: None, options: options.to_owned() }
    }

    /// The name of the stack; empty without one.
    pub fn stack(&self) -> &str {
        self.stack.as_deref().unwrap_or_default()
    }

    /// A command of this program.
    pub fn tnr(&self, command: &str) -> String {
        format!("cargo run -- {command}{}", self.options)
    }

    /// The command that deploys what is in the clone, with the parameters that the stack has.
    pub fn deploy(&self) -> String {
        format!("sam build --beta-features && sam deploy --stack-name {}", self.stack())
    }

    /// The command that deploys what was built before, with another value of a parameter.
    pub fn set_parameter(&self, parameter: &str, value: &str) -> String {
        let stack = self.stack();
        format!("sam deploy --stack-name {stack} --parameter-overrides {parameter}={value}")
    }
}

/// Text as one word of a command line.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
