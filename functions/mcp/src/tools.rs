//! The tools: their descriptions for agents, and the routes they call.

use std::sync::LazyLock;

/// A tool that calls one route. Takes the route's query parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: String,
    /// The path of the route.
    pub path: &'static str,
    /// True if it takes [`NUMBERS`], sent to the route in a body.
    pub takes_numbers: bool,
}

/// The argument that holds many phone numbers.
pub const NUMBERS: &str = "numbers";
/// Maximum numbers per call. Each costs a model a few hundred tokens; larger batches are for programs.
pub const MAX_NUMBERS: usize = 25;

impl Tool {
    /// The tool of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }
}

/// Every tool, in the order agents see them. In the file, each has its name, method and path, then its title and
/// its description.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let tools = include_str!("tools.txt").split("\n\n").map(tool_in);
    tools.collect::<Option<_>>().expect("a test reads every tool of the file")
});

fn tool_in(paragraph: &'static str) -> Option<Tool> {
    let mut lines = paragraph.lines();
    let (name, route) = lines.next()?.split_once(' ')?;
    let (method, path) = route.split_once(' ')?;
    let title = lines.next()?;
    let description = lines.collect::<Vec<_>>().join(" ");
    Some(Tool { name, title, description, path, takes_numbers: method == "POST" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_numbers_description_states_its_maximum() {
        let description = &Tool::named("format_numbers").unwrap().description;
        assert!(description.contains(&format!(" up to {MAX_NUMBERS} numbers")), "{description}");
    }
}
