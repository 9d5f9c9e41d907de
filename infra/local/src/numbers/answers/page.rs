//! A page of a list as a table, with commands to run next.

use std::env;

use indicatif::HumanCount;
use serde_json::Value;

use super::shown;
use crate::terminal::{
    HEADING, HINT,
    next_commands::{NextCommands, typed_again},
    styled, width,
};

/// The minimum width of a narrowed column.
const MIN_COLUMN: usize = 4;
/// The number of spaces before each column.
const GAP: usize = 2;

/// A page of a list.
pub(super) struct ListPage<'a> {
    pub rows: &'a [Value],
    /// `null` unless it is part of a longer list.
    pub pagination: &'a Value,
    /// The fields that the table shows.
    pub columns: &'a [&'a str],
    /// The note below the table.
    pub note: &'a str,
}

impl<'a> ListPage<'a> {
    /// The page in an answer's field `list`.
    pub fn new(answer: &'a Value, list: &str, columns: &'a [&'a str], note: &'a str) -> Self {
        let rows = answer[list].as_array().map(Vec::as_slice).unwrap_or_default();
        Self { rows, pagination: &answer["pagination"], columns, note }
    }

    /// The page for a terminal, with commands that show more about the first row.
    pub fn written(
        &self,
        of_data: &NextCommands,
        commands: impl FnOnce(&Value) -> Vec<String>,
    ) -> String {
        match self.rows.first() {
            None => self.place(),
            Some(first) => {
                format!("{}\n{}", self.table(), self.below(of_data, commands(first)))
            }
        }
    }

    /// The lines below the table: note, position in the list, and next commands.
    pub fn below(
        &self,
        of_data: &NextCommands,
        commands: impl IntoIterator<Item = String>,
    ) -> String {
        let commands = commands.into_iter().map(|command| of_data.tnr(&command));
        let commands: Vec<String> =
            self.next_page(typed_words()).into_iter().chain(commands).collect();
        [self.note.to_owned(), self.place(), next(&commands)].concat()
    }

    /// An aligned table.
    pub fn table(&self) -> String {
        self.table_within(width())
    }

    /// A table of at most this width, with the widest columns cut.
    fn table_within(&self, width: usize) -> String {
        let headings = self.columns.iter().map(|field| heading(field)).collect();
        let cells = self
            .rows
            .iter()
            .map(|row| self.columns.iter().map(|field| shown(&row[*field]).into_owned()).collect());
        let lines: Vec<Vec<String>> = std::iter::once(headings).chain(cells).collect();
        let widest = |column: usize| lines.iter().map(move |cells| length(&cells[column])).max();
        let mut widths: Vec<usize> = (0..self.columns.len()).filter_map(widest).collect();
        narrow(&mut widths, width);
        let mut aligned = lines.iter().map(|cells| {
            let padded = cells.iter().zip(&widths);
            let padded = padded.map(|(cell, &wide)| format!("{:<wide$}", shortened(cell, wide)));
            format!("{:GAP$}{}", "", padded.collect::<Vec<_>>().join("  ").trim_end())
        });
        let heading = aligned.next().map(|line| styled(HEADING, &line));
        heading.into_iter().chain(aligned).map(|line| line + "\n").collect()
    }

    /// The part of the list that the table shows.
    pub fn place(&self) -> String {
        let (offset, total) = (self.count("offset"), self.count("total"));
        let last = offset + self.rows.len() as u64;
        let [first, last_shown, of] = [offset + 1, last, total].map(HumanCount);
        if self.pagination.is_null() {
            String::new()
        } else if total == 0 {
            "Nothing is found.\n".to_owned()
        } else if self.rows.is_empty() {
            format!("There are {of} in all; --offset passes over all of them.\n")
        } else if offset == 0 && last >= total {
            format!("{of} in all.\n")
        } else {
            format!("{first} to {last_shown} of {of}.\n")
        }
    }

    /// The command that shows the next page, if any.
    fn next_page(&self, typed: impl IntoIterator<Item = String>) -> Option<String> {
        let last = self.count("offset") + self.rows.len() as u64;
        let offset = ["--offset".to_owned(), last.to_string()];
        let command = || typed_again(typed, &[], &["--offset"], offset);
        (last < self.count("total")).then(command)
    }

    fn count(&self, name: &str) -> u64 {
        self.pagination[name].as_u64().unwrap_or_default()
    }
}

fn heading(field: &str) -> String {
    match field {
        "company_name" => "COMPANY".to_owned(),
        "common_name" => "KNOWN AS".to_owned(),
        "carrier_type" => "TYPE".to_owned(),
        _ => field.to_uppercase().replace('_', " "),
    }
}

fn typed_words() -> impl Iterator<Item = String> {
    env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// Narrows the widest columns until all fit.
fn narrow(columns: &mut [usize], width: usize) {
    while columns.iter().map(|column| column + GAP).sum::<usize>() > width {
        match columns.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN => *widest -= 1,
            _ => return,
        }
    }
}

fn length(cell: &str) -> usize {
    cell.chars().count()
}

fn shortened(cell: &str, width: usize) -> String {
    if length(cell) <= width {
        return cell.to_owned();
    }
    cell.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// The commands to run next, wrapped only where needed; empty without any.
pub(super) fn next(commands: &[String]) -> String {
    const INDENT: usize = 6;
    let lines = commands.iter().map(|command| continued(command, width() - INDENT));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let text = format!("Next: {}", lines.join("\n").replace('\n', &format!("\n{:INDENT$}", "")));
    text.lines().map(|line| styled(HINT, line) + "\n").collect()
}

/// A command split into lines that a shell joins.
fn continued(command: &str, width: usize) -> String {
    if length(command) <= width { command.to_owned() } else { command.replace(" --", " \\\n  --") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_aligned_fit_and_contain_no_control_characters() {
        let rows = [json!({"a": "1", "b": null}), json!({"a": "\u{1b}[2J", "b": "é".repeat(50)})];
        let columns = &["a", "b"];
        let page = ListPage { rows: &rows, pagination: &Value::Null, columns, note: "" };
        let heading = styled(HEADING, "  A          B");
        let expected = format!("{heading}\n  1          -\n  \\u{{1b}}[2J  {}…\n", "é".repeat(16));
        assert_eq!(page.table_within(30), expected);
    }

    #[test]
    fn page_shows_its_position_and_the_next_command() {
        for (offset, total, shown, place, is_last) in [
            (0, 1792, 50, "1 to 50 of 1,792.\n", false),
            (5, 12, 5, "6 to 10 of 12.\n", false),
            (50, 60, 10, "51 to 60 of 60.\n", true),
            (0, 3, 3, "3 in all.\n", true),
            (0, 0, 0, "Nothing is found.\n", true),
            (99, 3, 0, "There are 3 in all; --offset passes over all of them.\n", true),
        ] {
            let pagination = &json!({"offset": offset, "total": total});
            let rows = &vec![Value::Null; shown];
            let page = ListPage { rows, pagination, columns: &[], note: "" };
            assert_eq!(page.place(), place);
            let typed = ["tnr", "area-code", "415", "--offset", "3", "--limit=5"];
            let next = page.next_page(typed.map(str::to_owned));
            let last = offset + shown;
            let command = format!(" area-code 415 --limit=5 --offset {last}");
            assert_eq!(next.is_none(), is_last, "{place}");
            assert!(next.is_none_or(|next| next.ends_with(&command)), "{place}");
        }
    }

    #[test]
    fn long_commands_continue_on_the_next_line() {
        assert_eq!(continued("tnr a --b c --d e", 12), "tnr a \\\n  --b c \\\n  --d e");
        assert_eq!(continued("tnr a --b c", 12), "tnr a --b c");
    }
}
