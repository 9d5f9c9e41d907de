//! Tables for a terminal, and the values in them.

use std::{borrow::Cow, iter::once};

use indicatif::HumanCount;
use serde_json::Value;

use crate::terminal::{self, HEADING, escape::escape_controls, styled};

const MIN_COLUMN_WIDTH: usize = 4;
const GAP: usize = 2;

/// A table of at most this width. The widest columns are cut. A change's fields follow its row.
pub(super) fn table(rows: &[Value], columns: &[&str], width: usize) -> String {
    let headings = columns.iter().map(|field| heading(field)).collect();
    let cells = rows
        .iter()
        .map(|row| columns.iter().map(|field| display_text(&row[*field]).into_owned()).collect());
    let lines: Vec<Vec<String>> = once(headings).chain(cells).collect();
    let widest = |column: usize| lines.iter().map(move |cells| length(&cells[column])).max();
    let mut widths: Vec<usize> = (0..columns.len()).filter_map(widest).collect();
    narrow(&mut widths, width);
    let mut aligned = lines.iter().map(|cells| {
        let padded = cells.iter().zip(&widths);
        let padded = padded.map(|(cell, &width)| format!("{:<width$}", truncate(cell, width)));
        format!("{:GAP$}{}", "", padded.collect::<Vec<_>>().join("  ").trim_end())
    });
    let heading = aligned.next().map(|line| styled(HEADING, &line) + "\n");
    let rows =
        aligned.zip(rows).map(|(line, row)| format!("{line}\n{}", changed_fields(row, width)));
    heading.into_iter().chain(rows).collect()
}

/// The fields of a change, with their values before and after.
fn changed_fields(row: &Value, width: usize) -> String {
    let fields = row["fields"].as_object().into_iter().flatten();
    let lines = fields.map(|(name, values)| {
        let [before, after] = ["before", "after"].map(|side| &values[side]);
        let text = match (row["change"].as_str(), before, after) {
            (Some("added"), _, value) | (Some("removed"), value, _) => {
                display_text(value).into_owned()
            }
            (_, before, after) => format!("{} -> {}", display_text(before), display_text(after)),
        };
        terminal::wrap(&format!("    {name}  {text}"), width, 6) + "\n"
    });
    lines.collect()
}

/// A value for a terminal; a dash for `null`.
pub(super) fn display_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "-".into(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
        Value::String(text) => escape_controls(text).into(),
        other => match other.as_u64() {
            Some(count) => HumanCount(count).to_string().into(),
            None => other.to_string().into(),
        },
    }
}

pub(super) fn field_label(name: &str) -> String {
    name.replace('_', " ")
}

fn heading(field: &str) -> String {
    match field {
        "company_name" => "COMPANY".to_owned(),
        "common_name" => "KNOWN AS".to_owned(),
        "carrier_type" => "TYPE".to_owned(),
        _ => field_label(field).to_uppercase(),
    }
}

fn narrow(columns: &mut [usize], width: usize) {
    while columns.iter().map(|column| column + GAP).sum::<usize>() > width {
        match columns.iter_mut().max() {
            Some(widest) if *widest > MIN_COLUMN_WIDTH => *widest -= 1,
            _ => return,
        }
    }
}

pub(super) fn length(cell: &str) -> usize {
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
        let rows = [
            json!({"carrier_type": "1", "b": null}),
            json!({"carrier_type": "\u{1b}[2J", "b": "é".repeat(50)}),
        ];
        let heading = styled(HEADING, "  TYPE       B");
        let expected = format!("{heading}\n  1          -\n  \\u001b[2J  {}…\n", "é".repeat(16));
        assert_eq!(table(&rows, &["carrier_type", "b"], 30), expected);
    }
}
