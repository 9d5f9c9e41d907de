//! The layout of `tnr --help`, with commands in groups.

use std::fmt::Write;

use clap::{Command as ClapCommand, builder::StyledStr};

use crate::terminal;

const MAX_WIDTH: usize = 100;

/// The groups after the first one, which has all other commands.
const GROUPS: [(&str, &[&str]); 2] = [
    ("Data", &["import", "versions", "quality", "rollback", "verify", "backup", "restore"]),
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
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names = cli.get_subcommands().map(ClapCommand::get_name);
    let others: Vec<&str> = names.filter(|name| !is_grouped(name)).collect();
    for (group, names) in [("Use", &*others)].into_iter().chain(GROUPS) {
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

    use crate::commands::Cli;

    #[test]
    fn command_definitions_are_valid() {
        Cli::command().debug_assert();
    }
}
