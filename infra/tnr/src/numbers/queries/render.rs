//! Renders responses as text: a record as labeled lines, and a list as a table.

use std::{borrow::Cow, cmp::Reverse, iter::once};

use indicatif::HumanCount;
use itertools::Itertools;
use serde_json::{Map, Value};

use super::{
    View,
    pages::{list_name, results},
};
use crate::terminal::{self, HEADING, escape::escape_controls, styled};

const INDENT: usize = 2;
const MIN_COLUMN_WIDTH: usize = 4;
/// The number of spaces before each column.
const GAP: usize = 2;

pub(super) fn render(view: &View, body: &Value, width: usize) -> String {
    let rows = results(body);
    let (table, note) = match rows {
        [] => (String::new(), ""),
        rows if view.columns.is_empty() => {
            let records = rows.iter().map(|row| record(view, row, width));
            (records.collect::<Vec<_>>().join("\n"), view.note)
        }
        rows => {
            let has_field = |name: &&str| rows.iter().any(|row| field(row, name).is_some());
            let columns: Vec<&str> = view.columns.split_whitespace().filter(has_field).collect();
            (table(rows, &columns, width), view.note)
        }
    };
    let footer = [note, &later_changes(body), &position(body, rows.len())].concat();
    let mut parts = vec![record(view, body, width), table, footer];
    parts.retain(|part| !part.is_empty());
    // With a blank line in between.
    parts.join("\n")
}

/// A hint for how to see changes that were published after this page's, if any.
fn later_changes(body: &Value) -> String {
    if body["is_current"] != false {
        return String::new();
    }
    let until = display_text(&body["until"]["publication"]);
    format!("More was published later; to see it, pass --since {until}\n")
}

/// The record: a heading with its code, its fields, and its nested lists.
fn record(view: &View, body: &Value, width: usize) -> String {
    let Some(fields) = body.as_object() else { return String::new() };
    let code = view.params().filter_map(|param| body[param].as_str());
    let code = code.collect::<Vec<_>>().join("-");
    let heading = if code.is_empty() { code } else { styled(HEADING, &code) + "\n" };
    let list = list_name(body);
    let is_shown = |name: &str| {
        name != "pagination" && Some(name) != list && !view.params().any(|param| param == name)
    };
    let shown: Map<String, Value> =
        fields.clone().into_iter().filter(|(name, _)| is_shown(name)).collect();
    let own_lists = shown.values().filter_map(records);
    let own_lists = own_lists.map(|rows| format!("\n{}", own_list(rows, width)));
    heading + &lines(&shown, width) + &own_lists.collect::<String>()
}

fn position(body: &Value, rows: usize) -> String {
    let pagination = &body["pagination"];
    let [offset, total] = ["offset", "total"].map(|it| pagination[it].as_u64().unwrap_or_default());
    let [first, last, total_count] = [offset + 1, offset + rows as u64, total].map(HumanCount);
    if pagination.is_null() {
        String::new()
    } else if total == 0 {
        "No results.\n".to_owned()
    } else if rows == 0 {
        format!("--offset is past the last of {total_count} results.\n")
    } else {
        format!("{first} to {last} of {total_count}.\n")
    }
}

/// A list in a record: a table, or lines for each record if records contain lists or other records.
fn own_list(rows: &[Value], width: usize) -> String {
    let fields = rows.first().and_then(Value::as_object).into_iter().flatten();
    let is_flat = fields.clone().all(|(_, value)| !value.is_object() && records(value).is_none());
    if is_flat {
        return table(rows, &fields.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), width);
    }
    let rows = rows.iter().filter_map(Value::as_object);
    rows.map(|fields| lines(fields, width)).collect::<Vec<_>>().join("\n")
}

/// A list of records; `None` for an empty list or any other value.
fn records(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice).filter(|rows| rows.first().is_some_and(Value::is_object))
}

/// A record's fields as lines with aligned values. Leaves out empty fields and lists of records.
fn lines(fields: &Map<String, Value>, width: usize) -> String {
    let mut lines = Vec::new();
    fields.iter().for_each(|(name, value)| add_lines(&field_label(name), value, &mut lines));
    let label_width = lines.iter().map(|(label, _)| length(label)).max().unwrap_or_default();
    lines.iter().map(|(label, text)| line(label, text, label_width, width)).collect()
}

/// Adds a line for a field, and lines for the records and lists in it.
fn add_lines(label: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    let mut own = String::new();
    let mut nested = Vec::new();
    if let Some(time) = value["published_at"].as_str() {
        // A publication.
        own = escape_controls(time);
    } else if let Value::Object(fields) = value {
        let (scalars, others): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(_, value)| !value.is_object() && !value.is_array());
        let mut scalars: Vec<_> =
            scalars.into_iter().filter(|(_, value)| is_shown(value)).collect();
        // The largest counts come first.
        scalars.sort_by_key(|(_, value)| Reverse(value.as_u64()));
        let scalars = scalars
            .iter()
            .map(|(name, value)| format!("{} {}", field_label(name), display_text(value)));
        own = scalars.collect::<Vec<_>>().join(", ");
        nested = others;
    } else if let Value::Array(values) = value {
        let scalars = values.iter().filter(|value| !value.is_object());
        own = scalars.map(display_text).join(", ");
    } else if is_shown(value) {
        own = display_text(value).into_owned();
    }
    if !own.is_empty() {
        lines.push((label.to_owned(), own));
    }
    for (name, value) in nested {
        add_lines(&format!("{label} {}", field_label(name)), value, lines);
    }
}

/// Returns `false` for values that are missing or do not apply.
fn is_shown(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// A label with a wrapped value; empty if the value is. A word that is too long for its column follows the label.
pub(super) fn line(label: &str, text: &str, label_width: usize, width: usize) -> String {
    let indent = INDENT + label_width + 1;
    if text.is_empty() {
        return String::new();
    }
    let label_width =
        if text.contains(' ') || indent + length(text) <= width { label_width } else { 0 };
    terminal::wrap(&format!("{:INDENT$}{label:<label_width$} {text}", ""), width, indent) + "\n"
}

/// A table of at most this width. The widest columns are truncated. A change's fields come after its row.
fn table(rows: &[Value], columns: &[&str], width: usize) -> String {
    let headings = columns.iter().map(|field| heading(field)).collect();
    let cells = rows.iter().map(|row| columns.iter().map(|name| cell(row, name)).collect());
    let lines: Vec<Vec<String>> = once(headings).chain(cells).collect();
    let widest = |column: usize| lines.iter().map(move |cells| length(&cells[column])).max();
    let mut widths: Vec<usize> = (0..columns.len()).filter_map(widest).collect();
    shrink_columns(&mut widths, width);
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

/// A field, which may be in a record in the row.
fn field<'a>(row: &'a Value, name: &str) -> Option<&'a Value> {
    row.pointer(&format!("/{name}"))
}

fn cell(row: &Value, name: &str) -> String {
    field(row, name).map_or("-".into(), display_text).into_owned()
}

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

/// A value as text for a terminal; a dash for `null`.
pub(super) fn display_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "-".into(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
        Value::String(text) => escape_controls(text).into(),
        Value::Array(values) => values.iter().map(display_text).join(", ").into(),
        other => match other.as_u64() {
            Some(count) => HumanCount(count).to_string().into(),
            None => other.to_string().into(),
        },
    }
}

fn field_label(name: &str) -> String {
    name.replace(['_', '/'], " ")
}

fn heading(field: &str) -> String {
    match field {
        "company_name" => "COMPANY".to_owned(),
        "common_name" => "KNOWN AS".to_owned(),
        "carrier_type" => "TYPE".to_owned(),
        "data/publisher" => "DATA FROM".to_owned(),
        _ => field_label(field).to_uppercase(),
    }
}

fn shrink_columns(columns: &mut [usize], width: usize) {
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
    use crate::numbers::queries::view;

    #[test]
    fn records_render_as_lines_and_lists_as_tables() {
        let body = json!({
            "npa": "415", "state": null, "states": ["CA", "NV"], "total_exchanges": 1790, "is_planned": false, "is_new": true,
            "relief": { "status": "a\u{1b}", "letters": ["PL-1"], "by_state": { "CA": 1, "NV": 1200 } },
            "sha": "0123456789abcdef0123456789", "holders": [{ "ocn": "6010" }],
            "reports": [{ "rows": 1 , "more": {"a": 1}}, { "rows": 2, "more": {} }],
        });
        let expected = [
            &styled(HEADING, "415"),
            "  states          CA, NV",
            "  total exchanges 1,790",
            "  is new          yes",
            "  relief          status a\\u001b",
            "  relief letters  PL-1",
            "  relief by state NV 1,200, CA 1",
            "  sha 0123456789abcdef0123456789",
            "",
            &styled(HEADING, "  OCN"),
            "  6010",
            "",
            "  rows 1",
            "  more a 1",
            "",
            "  rows 2",
            "",
        ];
        let view = view("", "npa", "nxx ocn");
        assert_eq!(record(&view, &body, 40), expected.join("\n"));
    }

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
