//! The layout of the help: grouped commands, a short form for `-h`, and examples.

use std::fmt::Write;

use clap::{Arg, Command, builder::StyledStr};

use crate::terminal;

const MAX_WIDTH: usize = 100;

/// Two example command lines for each command.
const EXAMPLES: &str = include_str!("examples.txt");

/// All groups except the first one, which has the remaining commands.
const GROUPS: [(&str, &[&str]); 2] = [
    ("Data", &["import", "versions", "quality", "rollback", "verify", "backup", "restore"]),
    ("Operate", &["serve", "keys", "doctor", "health", "dynamodb", "flags", "costs", "openapi"]),
];

/// Lays out the help, wrapped to the terminal's width.
pub fn lay_out(cli: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}{{after-help}}",
        commands(&cli)
    );
    let cli = cli.mut_args(|option| option.hide(true)).help_template(StyledStr::from(template));
    let cli = cli.mut_subcommands(|command| {
        let path = format!("tnr {}", command.get_name());
        with_examples(command, &path)
    });
    cli.term_width(terminal::width().min(MAX_WIDTH))
}

/// The commands in groups, followed by the heading of the options.
fn commands(cli: &Command) -> String {
    let (header, literal) = (cli.get_styles().get_header(), cli.get_styles().get_literal());
    let mut text = String::new();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names = cli.get_subcommands().map(Command::get_name);
    let others: Vec<&str> = names.filter(|name| !is_grouped(name)).collect();
    for (group, names) in [("Use", &*others)].into_iter().chain(GROUPS) {
        // Writing to a string never fails.
        _ = writeln!(text, "{header}{group}:{header:#}");
        for name in names {
            let about = cli.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(StyledStr::to_string).unwrap_or_default();
            _ = writeln!(text, "  {literal}{name:<10}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text + &format!("{header}Options:{header:#}\n")
}

/// Adds examples to a command and its subcommands, and shortens the output of `-h`.
fn with_examples(command: Command, path: &str) -> Command {
    if command.has_subcommands() {
        return command.mut_subcommands(|command| {
            let path = format!("{path} {}", command.get_name());
            with_examples(command, &path)
        });
    }
    let header = *command.get_styles().get_header();
    let mut text = format!("{header}Examples:{header:#}\n");
    for example in examples(path) {
        _ = writeln!(text, "  {example}");
    }
    if let Some(notes) = command.get_after_help() {
        _ = write!(text, "\n{notes}");
    }
    command.mut_args(with_short_help).after_help(StyledStr::from(text))
}

fn examples(path: &str) -> impl Iterator<Item = &'static str> {
    let is_of = move |example: &&str| {
        example.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    EXAMPLES.lines().filter(is_of)
}

/// Shortens an argument's help in `-h` to its first sentence or clause. `--help` shows all of it.
pub fn with_short_help(argument: Arg) -> Arg {
    let Some(help) = argument.get_help().filter(|_| argument.get_long_help().is_none()) else {
        return argument;
    };
    let help = help.to_string();
    let Some(end) = ["; ", ". "].iter().filter_map(|end| help.find(end)).min() else {
        return argument;
    };
    let short = help[..end].to_owned();
    argument.help(short).long_help(help)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    fn leaves(command: &Command, path: &str) -> Vec<String> {
        let path = format!("{path}{}", command.get_name());
        if !command.has_subcommands() {
            return vec![path];
        }
        command.get_subcommands().flat_map(|it| leaves(it, &format!("{path} "))).collect()
    }

    #[test]
    fn each_command_has_two_examples_that_parse() {
        let paths = leaves(&Cli::command(), "");
        for path in &paths {
            assert_eq!(examples(path).count(), 2, "{path}");
        }
        for example in EXAMPLES.lines() {
            let (command, _) = example.split_once(" > ").unwrap_or((example, ""));
            // Quoted text is at odd indexes.
            let parts = command.split('"').enumerate().flat_map(|(index, part)| match index % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let args: Vec<OsString> = parts.map(OsString::from).collect();
            assert!(Cli::parse_args(&args).is_ok(), "{example}");
        }
        assert_eq!(EXAMPLES.lines().count(), 2 * paths.len(), "each example has a command");
    }

    #[test]
    fn short_help_is_the_first_clause() {
        for (help, short, long) in [
            ("Only this", "Only this", None),
            ("Days; 0 clears it. More", "Days", Some("Days; 0 clears it. More")),
            ("File. Its 2.5 MB; more", "File", Some("File. Its 2.5 MB; more")),
        ] {
            let argument = with_short_help(Arg::new("it").help(help));
            let shown = |text: Option<&StyledStr>| text.map(StyledStr::to_string);
            assert_eq!(shown(argument.get_help()).as_deref(), Some(short));
            assert_eq!(shown(argument.get_long_help()).as_deref(), long);
        }
    }
}
