//! The tools, with their descriptions and routes.

use std::sync::LazyLock;

/// A tool that calls one route. Its arguments are the route's query parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: String,
    pub path: &'static str,
    /// `true` if it takes [`NUMBERS`], which the route expects in a body.
    pub takes_numbers: bool,
}

pub const NUMBERS: &str = "numbers";
/// Maximum numbers per call, since each costs a model a few hundred tokens.
pub const MAX_NUMBERS: usize = 25;

impl Tool {
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }
}

/// All tools, in order. In the file, each has its name, method and path, then its title, then its description.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let tools = include_str!("tools.txt").split("\n\n").map(parse_tool);
    tools.collect::<Option<_>>().expect("the file is valid, as a test checks")
});

fn parse_tool(paragraph: &'static str) -> Option<Tool> {
    let mut lines = paragraph.lines();
    let (name, route) = lines.next()?.split_once(' ')?;
    let (method, path) = route.split_once(' ')?;
    let title = lines.next()?;
    let description = lines.collect::<Vec<_>>().join(" ");
    Some(Tool { name, title, description, path, takes_numbers: method == "POST" })
}
