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

    /// The way to create missing tables outside a stack. A database with TLS may be AWS, where only the template creates them.
    pub fn create_tables(&self) -> String {
        match &self.place {
            Place::Folder(_) => self.tnr("serve"),
            Place::Endpoint(url) if is_plain_http(url) => self.tnr("serve"),
            _ => "create it as defined in template.yaml".to_owned(),
        }
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
