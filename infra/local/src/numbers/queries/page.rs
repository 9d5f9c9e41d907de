//! A page of a list as a table, with suggested next commands.

use std::env;

use indicatif::HumanCount;
use serde_json::Value;

use super::display_text;
use crate::terminal::{
    HEADING,
    next_commands::{NextCommands, next_steps, rebuild_command},
    styled, width,
};

/// Columns are not narrowed below this width.
const MIN_COLUMN_WIDTH: usize = 4;
/// Spaces before each column.
const GAP: usize = 2;

pub(super) struct ListPage<'a> {
    pub rows: &'a [Value],
    /// The response's `pagination`, or `null`.
    pub pagination: &'a Value,
    /// The fields to show.
    pub columns: &'a [&'a str],
    /// The note below the table.
    pub note: &'a str,
}

impl<'a> ListPage<'a> {
    /// The page in a response's field `list`.
    pub fn new(response: &'a Value, list: &str, columns: &'a [&'a str], note: &'a str) -> Self {
        let rows = response[list].as_array().map(Vec::as_slice).unwrap_or_default();
        Self { rows, pagination: &response["pagination"], columns, note }
    }

    /// The whole page. `commands` returns commands that show more about the first row.
    pub fn render(
        &self,
        next: &NextCommands,
        commands: impl FnOnce(&Value) -> Vec<String>,
    ) -> String {
        match self.rows.first() {
            None => self.position(),
            Some(first) => format!("{}\n{}", self.table(), self.footer(next, commands(first))),
        }
    }

    /// The lines below the table: note, position in the list, and next commands.
    pub fn footer(
        &self,
        next: &NextCommands,
        commands: impl IntoIterator<Item = String>,
    ) -> String {
        let argv = env::args_os().map(|word| word.to_string_lossy().into_owned());
        let commands = commands.into_iter().map(|command| next.tnr(&command));
        let commands: Vec<String> = self.next_page(argv).into_iter().chain(commands).collect();
        [self.note.to_owned(), self.position(), next_steps(&commands)].concat()
    }

    pub fn table(&self) -> String {
        self.table_with_width(width())
    }

    /// A table of at most this width. The widest columns are cut.
    fn table_with_width(&self, width: usize) -> String {
        let headings = self.columns.iter().map(|field| heading(field)).collect();
        let cells = self.rows.iter().map(|row| {
            self.columns.iter().map(|field| display_text(&row[*field]).into_owned()).collect()
        });
        let lines: Vec<Vec<String>> = std::iter::once(headings).chain(cells).collect();
        let widest = |column: usize| lines.iter().map(move |cells| length(&cells[column])).max();
        let mut widths: Vec<usize> = (0..self.columns.len()).filter_map(widest).collect();
        narrow(&mut widths, width);
        let mut aligned = lines.iter().map(|cells| {
            let padded = cells.iter().zip(&widths);
            let padded = padded.map(|(cell, &width)| format!("{:<width$}", truncate(cell, width)));
            format!("{:GAP$}{}", "", padded.collect::<Vec<_>>().join("  ").trim_end())
        });
        let heading = aligned.next().map(|line| styled(HEADING, &line));
        heading.into_iter().chain(aligned).map(|line| line + "\n").collect()
    }

    /// The page's position in the list.
    pub fn position(&self) -> String {
        let (offset, total) = (self.count("offset"), self.count("total"));
        let last = offset + self.rows.len() as u64;
        let [first, last, total_count] = [offset + 1, last, total].map(HumanCount);
        if self.pagination.is_null() {
            String::new()
        } else if total == 0 {
            "No results.\n".to_owned()
        } else if self.rows.is_empty() {
            format!("--offset is past the last of {total_count} results.\n")
        } else {
            format!("{first} to {last} of {total_count}.\n")
        }
    }

    /// The command that shows the next page, if any.
    fn next_page(&self, argv: impl IntoIterator<Item = String>) -> Option<String> {
        let last = self.count("offset") + self.rows.len() as u64;
        let offset = ["--offset".to_owned(), last.to_string()];
        let command = || rebuild_command(argv, &[], &["--offset"], offset);
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

/// Narrows the widest columns until the table fits.
fn narrow(columns: &mut [usize], width: usize) {
    while columns.iter().map(|column| column + GAP).sum::<usize>() > width {
        match columns.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN_WIDTH => *widest -= 1,
            _ => return,
        }
    }
}

fn length(cell: &str) -> usize {
    cell.chars().count()
}

fn truncate(cell: &str, width: usize) -> String {
    if length(cell) <= width {
        return cell.to_owned();
    }
    cell.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_fit_the_width_without_control_characters() {
        let rows = [json!({"a": "1", "b": null}), json!({"a": "\u{1b}[2J", "b": "é".repeat(50)})];
        let columns = &["a", "b"];
        let page = ListPage { rows: &rows, pagination: &Value::Null, columns, note: "" };
        let heading = styled(HEADING, "  A          B");
        let expected = format!("{heading}\n  1          -\n  \\u001b[2J  {}…\n", "é".repeat(16));
        assert_eq!(page.table_with_width(30), expected);
    }

    #[test]
    fn page_shows_its_position_and_the_next_command() {
        for (offset, total, length, position, is_last) in [
            (0, 1792, 50, "1 to 50 of 1,792.\n", false),
            (5, 12, 5, "6 to 10 of 12.\n", false),
            (50, 60, 10, "51 to 60 of 60.\n", true),
            (0, 0, 0, "No results.\n", true),
            (99, 3, 0, "--offset is past the last of 3 results.\n", true),
        ] {
            let pagination = &json!({"offset": offset, "total": total});
            let rows = &vec![Value::Null; length];
            let page = ListPage { rows, pagination, columns: &[], note: "" };
            assert_eq!(page.position(), position);
            let argv = ["tnr", "area-code", "415", "--offset", "3", "--limit=5"];
            let next = page.next_page(argv.map(str::to_owned));
            let command = format!(" area-code 415 --limit=5 --offset {}", offset + length);
            assert_eq!(next.is_none(), is_last, "{position}");
            assert!(next.is_none_or(|next| next.ends_with(&command)), "{position}");
        }
    }
}
