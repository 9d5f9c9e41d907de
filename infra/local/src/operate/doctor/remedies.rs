//! Commands suggested by findings, filled in for the deployment.

use store::is_plain_http;

use crate::{database::place::Place, terminal::next_commands::NextCommands};

/// The common parts of a deployment's commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedies {
    next: NextCommands,
    stack: Option<String>,
    /// `true` if this program creates missing tables.
    makes_tables: bool,
}

impl Remedies {
    /// Commands for a deployed stack, whose tables CloudFormation creates.
    pub fn for_stack(stack: &str) -> Self {
        let next = NextCommands::with_options([("--stack", stack.to_owned())]);
        Self { next, stack: Some(stack.to_owned()), makes_tables: false }
    }

    /// Commands for a database without a stack. With TLS it may be AWS, where the template creates
    /// the tables.
    pub fn new(place: &Place, next: NextCommands) -> Self {
        let makes_tables = match place {
            Place::Folder(_) => true,
            Place::Endpoint(url) => is_plain_http(url),
            Place::Stack(_) => false,
        };
        Self { next, stack: None, makes_tables }
    }

    pub fn is_of_stack(&self) -> bool {
        self.stack.is_some()
    }

    /// A command of this program.
    pub fn tnr(&self, command: &str) -> String {
        self.next.tnr(command)
    }

    /// The command that creates missing tables, if this program does.
    pub fn make_tables(&self) -> Option<String> {
        self.makes_tables.then(|| self.tnr("serve"))
    }

    /// A CloudFormation command.
    pub fn cloudformation(&self, command: &str) -> String {
        format!("aws cloudformation {command} --stack-name {}", self.stack())
    }

    /// The command that deploys the clone with the stack's parameters.
    pub fn deploy(&self) -> String {
        format!("sam build && sam deploy --stack-name {}", self.stack())
    }

    /// The command that deploys the last build with a parameter changed.
    pub fn set_parameter(&self, parameter: &str, value: &str) -> String {
        let stack = self.stack();
        format!("sam deploy --stack-name {stack} --parameter-overrides {parameter}={value}")
    }

    fn stack(&self) -> &str {
        self.stack.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serving_creates_tables_only_outside_aws() {
        let made = |place| Remedies::new(&place, NextCommands::default()).make_tables();
        assert!(made(Place::Folder("x".into())).unwrap().ends_with(" serve"));
        assert!(made(Place::Endpoint("http://127.0.0.1:8000".into())).is_some());
        assert_eq!(made(Place::Endpoint("https://dynamodb.example.com".into())), None);
        assert_eq!(Remedies::for_stack("numbers").make_tables(), None);
    }
}
