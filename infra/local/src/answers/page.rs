//! A page of a list as a table, and what to run next.

use indicatif::HumanCount;
use serde_json::Value;

use super::shown;
use crate::terminal::{HEADING, HINT, styled, width};

/// The fewest characters to which a column is narrowed.
const MIN_COLUMN: usize = 4;
/// What stands before each column.
const GAP: usize = 2;

/// A table of these columns, each a heading and the field of the rows that it shows, with its cells
/// below each other. Where it would be wider than the terminal, its widest columns are cut.
pub(super) fn table(columns: &[(&str, &str)], rows: &[Value]) -> String {
    table_within(width(), columns, rows)
}

fn table_within(width: usize, columns: &[(&str, &str)], rows: &[Value]) -> String {
    let headings = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let cells = rows.iter().map(|row| {
        columns.iter().map(|(_, field)| shown(&row[*field]).into_owned()).collect::<Vec<_>>()
    });
    let lines: Vec<Vec<String>> = std::iter::once(headings).chain(cells).collect();
    let widest = |column: usize| lines.iter().map(move |cells| length(&cells[column])).max();
    let mut widths: Vec<usize> = (0..columns.len()).filter_map(widest).collect();
    narrow(&mut widths, width);
    let mut aligned = lines.iter().map(|cells| {
        let padded = cells.iter().zip(&widths);
        let padded = padded.map(|(cell, &wide)| format!("{:<wide$}", shortened(cell, wide)));
        format!("{:GAP$}{}", "", padded.collect::<Vec<_>>().join("  ").trim_end())
    });
    let heading = aligned.next().map(|line| styled(HEADING, &line));
    heading.into_iter().chain(aligned).map(|line| line + "\n").collect()
}

/// Takes from the widest columns until all of them fit.
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

/// Which part of the list the table shows.
pub(super) fn place(answer: &Value, shown: usize) -> String {
    let Position { offset, last, total } = position(answer, shown);
    let [first, last_shown, of] = [offset + 1, last, total].map(HumanCount);
    if total == 0 {
        "Nothing is found.\n".to_owned()
    } else if shown == 0 {
        format!("There are {of} in all; --offset passes over all of them.\n")
    } else if offset == 0 && last >= total {
        format!("{of} in all.\n")
    } else {
        format!("{first} to {last_shown} of {of}.\n")
    }
}

/// The command that shows the next part of the list, if there is one.
pub(super) fn next_page(answer: &Value, shown: usize, command: &str) -> Option<String> {
    let Position { last, total, .. } = position(answer, shown);
    let limit = match &answer["pagination"]["limit"] {
        Value::Number(limit) if limit.as_u64() != Some(50) => format!(" --limit {limit}"),
        _ => String::new(),
    };
    (shown > 0 && last < total).then(|| format!("{command}{limit} --offset {last}"))
}

/// Where a page stands in its list.
struct Position {
    offset: u64,
    last: u64,
    total: u64,
}

fn position(answer: &Value, shown: usize) -> Position {
    let number = |name: &str| answer["pagination"][name].as_u64().unwrap_or_default();
    let offset = number("offset");
    Position { offset, last: offset + shown as u64, total: number("total") }
}

/// The commands to run next, a line each unless one does not fit; nothing without any.
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

/// A command in lines that a shell reads as one.
fn continued(command: &str, width: usize) -> String {
    if length(command) <= width { command.to_owned() } else { command.replace(" --", " \\\n  --") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_aligned_fits_and_holds_nothing_that_a_terminal_obeys() {
        let rows = [json!({"a": "1", "b": null}), json!({"a": "\u{1b}[2J", "b": "é".repeat(50)})];
        let table = table_within(30, &[("A", "a"), ("B", "b")], &rows);
        let heading = styled(HEADING, "  A          B");
        let expected = format!("{heading}\n  1          -\n  \\u{{1b}}[2J  {}…\n", "é".repeat(16));
        assert_eq!(table, expected);
    }

    #[test]
    fn a_page_says_where_it_stands_and_what_shows_the_next_one() {
        let at = |limit: u64, offset: u64, total: u64, shown| {
            let page = json!({"pagination": {"limit": limit, "offset": offset, "total": total}});
            (place(&page, shown), next_page(&page, shown, "tnr area-code 415"))
        };
        let next = |command: &str| Some(command.to_owned());
        assert_eq!(
            at(50, 0, 1792, 50),
            ("1 to 50 of 1,792.\n".to_owned(), next("tnr area-code 415 --offset 50"))
        );
        assert_eq!(
            at(5, 5, 12, 5),
            ("6 to 10 of 12.\n".to_owned(), next("tnr area-code 415 --limit 5 --offset 10"))
        );
        assert_eq!(at(50, 50, 60, 10), ("51 to 60 of 60.\n".to_owned(), None));
        assert_eq!(at(50, 0, 3, 3), ("3 in all.\n".to_owned(), None));
        assert_eq!(at(50, 0, 0, 0), ("Nothing is found.\n".to_owned(), None));
        let (beyond, none) = at(50, 99, 3, 0);
        assert!(beyond.starts_with("There are 3 in all") && none.is_none());
    }

    #[test]
    fn a_command_that_is_too_long_goes_on_in_the_next_line() {
        assert_eq!(continued("tnr a --b c --d e", 12), "tnr a \\\n  --b c \\\n  --d e");
        assert_eq!(continued("tnr a --b c", 12), "tnr a --b c");
    }
}
