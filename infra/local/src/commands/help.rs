//! The layout of `tnr --help`, with commands in groups.

use std::fmt::Write;

use clap::{Command as ClapCommand, builder::StyledStr};

use crate::terminal;

const MAX_WIDTH: usize = 100;

const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Use",
        &[
            "lookup",
            "format",
            "find",
            "carrier",
            "area-code",
            "area-codes",
            "holders",
            "search",
            "changes",
            "history",
            "export",
            "mcp",
        ],
    ),
    (
        "Data",
        &["import", "sources", "versions", "quality", "rollback", "verify", "backup", "restore"],
    ),
    ("Operate", &["serve", "keys", "doctor", "health", "dynamodb", "flags", "costs", "openapi"]),
];

/// Groups the commands in the help, and wraps it at the terminal's width.
pub fn group_commands(cli: ClapCommand) -> ClapCommand {
    let commands = commands(&cli);
    let header = cli.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\
         {header}Options for serve, the default command:{header:#}\n{{options}}{{after-help}}"
    );
    cli.help_template(StyledStr::from(template)).term_width(terminal::width().min(MAX_WIDTH))
}

fn commands(cli: &ClapCommand) -> String {
    let (header, literal) = (cli.get_styles().get_header(), cli.get_styles().get_literal());
    let mut text = String::new();
    for (group, names) in GROUPS {
        // Writing to a string never fails.
        _ = writeln!(text, "{header}{group}:{header:#}");
        for name in names {
            let about = cli.find_subcommand(name).and_then(ClapCommand::get_about);
            let about = about.map(StyledStr::to_string).unwrap_or_default();
            _ = writeln!(text, "  {literal}{name:<10}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn command_definitions_are_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let cli = Cli::command();
        let mut expected: Vec<&str> = cli.get_subcommands().map(ClapCommand::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        expected.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, expected);
    }
}
