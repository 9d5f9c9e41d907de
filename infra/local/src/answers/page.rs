//! A page of a list as a table.

use indicatif::HumanCount;
use serde_json::Value;

use super::shown;

/// The most characters of a cell: names of companies may be long, and terminals narrow.
const WIDEST_CELL: usize = 42;

/// A table of these columns, each a heading and the field of the rows that it shows, with its cells
/// below each other.
pub(super) fn table(columns: &[(&str, &str)], rows: &[Value]) -> String {
    let heading = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let cells = rows.iter().map(|row| {
        columns.iter().map(|(_, field)| shortened(&shown(&row[*field]))).collect::<Vec<_>>()
    });
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(cells).collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| lines.iter().map(|cells| width(&cells[column])).max().unwrap_or_default())
        .collect();
    let aligned = lines.iter().map(|cells| {
        let padded = cells.iter().zip(&widths).map(|(cell, &wide)| format!("{cell:<wide$}"));
        format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    });
    aligned.collect()
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

fn shortened(cell: &str) -> String {
    if width(cell) <= WIDEST_CELL {
        return cell.to_owned();
    }
    cell.chars().take(WIDEST_CELL - 1).chain(['…']).collect()
}

/// Which part of the list the table shows, and the command that shows the next one.
pub(super) fn place(answer: &Value, shown: usize, command: &str) -> String {
    let number = |name: &str| answer["pagination"][name].as_u64().unwrap_or_default();
    let (limit, offset, total) = (number("limit"), number("offset"), number("total"));
    let last = offset + shown as u64;
    let [first, of, to] = [offset + 1, total, last].map(|number| HumanCount(number).to_string());
    if total == 0 {
        return "Nothing is found.\n".to_owned();
    }
    if shown == 0 {
        return format!("There are {of} in all; --offset passes over all of them.\n");
    }
    if last >= total {
        return if offset == 0 {
            format!("{of} in all.\n")
        } else {
            format!("{first} to {to} of {of}.\n")
        };
    }
    let limit = if limit == 50 { String::new() } else { format!(" --limit {limit}") };
    format!("{first} to {to} of {of}; next: {command}{limit} --offset {last}\n")
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,/:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_aligned_and_holds_nothing_that_a_terminal_obeys() {
        let rows = [json!({"a": "1", "b": null}), json!({"a": "\u{1b}[2J", "b": "é".repeat(50)})];
        let table = table(&[("A", "a"), ("B", "b")], &rows);
        let expected =
            format!("  A          B\n  1          -\n  \\u{{1b}}[2J  {}…\n", "é".repeat(41));
        assert_eq!(table, expected);
    }

    #[test]
    fn a_page_says_where_it_stands_and_what_shows_the_next_one() {
        let at = |limit: u64, offset: u64, total: u64, shown| {
            let page = json!({"pagination": {"limit": limit, "offset": offset, "total": total}});
            place(&page, shown, "tnr area-code 415")
        };
        assert_eq!(at(50, 0, 1792, 50), "1 to 50 of 1,792; next: tnr area-code 415 --offset 50\n");
        assert_eq!(
            at(5, 5, 12, 5),
            "6 to 10 of 12; next: tnr area-code 415 --limit 5 --offset 10\n"
        );
        assert_eq!(at(50, 50, 60, 10), "51 to 60 of 60.\n");
        assert_eq!(at(50, 0, 3, 3), "3 in all.\n");
        assert_eq!(at(50, 0, 0, 0), "Nothing is found.\n");
        assert!(at(50, 99, 3, 0).starts_with("There are 3 in all"));
    }

    #[test]
    fn a_word_can_be_pasted_into_a_shell() {
        assert_eq!(quoted("t-mobile"), "t-mobile");
        assert_eq!(quoted("St. John's"), r"'St. John'\''s'");
        assert_eq!(quoted("$(ls)"), "'$(ls)'");
    }
}
