//! Commands suggested by findings, filled in for the deployment.

use store::is_plain_http;

use crate::{database::place::Place, terminal::next_commands::NextCommands};

#[derive(Debug)]
pub struct Remedies {
    next: NextCommands,
    place: Place,
}

impl Remedies {
    pub fn new(place: Place, next: NextCommands) -> Self {
        Self { next, place }
    }

    pub fn for_stack(stack: &str) -> Self {
        let next = NextCommands::with_options([("--stack", stack.to_owned())]);
        Self::new(Place::Stack(stack.to_owned()), next)
    }

    pub fn is_stack(&self) -> bool {
        matches!(self.place, Place::Stack(_))
    }

    pub fn tnr(&self, command: &str) -> String {
        self.next.tnr(command)
    }

    /// The command that creates missing tables. A database with TLS may be AWS, where only the
    /// template creates them.
    pub fn create_tables(&self) -> Option<String> {
        let is_possible = match &self.place {
            Place::Folder(_) => true,
            Place::Endpoint(url) => is_plain_http(url),
            Place::Stack(_) => false,
        };
        is_possible.then(|| self.tnr("serve"))
    }

    pub fn cloudformation(&self, command: &str) -> String {
        format!("aws cloudformation {command} --stack-name {}", self.stack())
    }

    /// The command that deploys the clone with the stack's parameters.
    pub fn deploy(&self) -> String {
        format!("sam build && sam deploy --stack-name {}", self.stack())
    }

    fn stack(&self) -> &str {
        if let Place::Stack(stack) = &self.place { stack } else { "STACK" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serving_creates_tables_only_outside_aws() {
        for (place, creates_tables) in [
            (Place::Folder("x".into()), true),
            (Place::Endpoint("http://127.0.0.1:8000".into()), true),
            (Place::Endpoint("https://dynamodb.example.com".into()), false),
            (Place::Stack("numbers".into()), false),
        ] {
            let command = Remedies::new(place, NextCommands::default()).create_tables();
            assert_eq!(command.is_some(), creates_tables);
        }
    }
}
