//! Responses as text: a record as labeled lines, and a list as a table with suggested next commands.

use std::cmp::Reverse;

use indicatif::HumanCount;
use serde_json::{Map, Value};

use super::{
    Query, View,
    pages::{Params, list_name, results},
    table::{display_text, field_label, length, table},
};
use crate::terminal::{
    self, HEADING, NO_BREAK_SPACE,
    escape::escape_controls,
    next_commands::{NextCommands, next_steps, quote},
    styled,
};

const INDENT: usize = 2;

pub(super) struct Rendering<'a> {
    pub view: &'a View,
    pub params: &'a Params<'a>,
    pub body: &'a Value,
    pub next: &'a NextCommands,
}

impl Rendering<'_> {
    pub fn text(&self, width: usize) -> String {
        let rows = results(self.body);
        let (table, note) = match rows {
            [] => (String::new(), ""),
            rows => {
                let columns: Vec<&str> = self.view.columns.split_whitespace().collect();
                (table(rows, &columns, width), self.view.note)
            }
        };
        let next = next_steps(&self.commands(rows));
        let footer = [note, &self.later_changes(), &self.position(rows.len()), &next].concat();
        let mut parts = vec![self.record(width), table, footer];
        parts.retain(|part| !part.is_empty());
        // With a blank line between them.
        parts.join("\n")
    }

    /// A hint for seeing changes published after the page's, if any.
    fn later_changes(&self) -> String {
        match &self.body["is_current"] {
            Value::Bool(false) => {
                let until = display_text(&self.body["until"]["publication"]);
                format!("More was published later; to see it, pass --since {until}\n")
            }
            _ => String::new(),
        }
    }

    /// The record: its code as a heading, its fields, and its own lists.
    fn record(&self, width: usize) -> String {
        let Some(fields) = self.body.as_object() else { return String::new() };
        let code = self.view.params().filter_map(|param| self.body[param].as_str());
        let code = code.collect::<Vec<_>>().join("-");
        let heading = if code.is_empty() { code } else { styled(HEADING, &code) + "\n" };
        let list = list_name(self.body);
        let is_shown = |name: &str| {
            name != "pagination"
                && Some(name) != list
                && !self.view.params().any(|param| param == name)
        };
        let shown: Map<String, Value> =
            fields.clone().into_iter().filter(|(name, _)| is_shown(name)).collect();
        let own_lists = shown.values().filter_map(|value| records(value));
        let own_lists = own_lists.map(|rows| format!("\n{}", own_list(rows, width)));
        heading + &lines(&shown, width) + &own_lists.collect::<String>()
    }

    fn position(&self, rows: usize) -> String {
        let (offset, total) = (self.count("offset"), self.count("total"));
        let [first, last, total_count] = [offset + 1, offset + rows as u64, total].map(HumanCount);
        if self.body["pagination"].is_null() {
            String::new()
        } else if total == 0 {
            "No results.\n".to_owned()
        } else if rows == 0 {
            format!("--offset is past the last of {total_count} results.\n")
        } else {
            format!("{first} to {last} of {total_count}.\n")
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.body["pagination"][name].as_u64().unwrap_or_default()
    }

    /// Commands that show more about the first records.
    fn commands(&self, rows: &[Value]) -> Vec<String> {
        let exchanges = self.body.get("total_exchanges");
        if exchanges.is_some_and(|total| total.as_u64().unwrap_or_default() == 0) {
            return Vec::new();
        }
        let records =
            if self.body["pagination"].is_null() { std::slice::from_ref(self.body) } else { rows };
        self.view.next.iter().filter_map(|command| self.command(command, records)).collect()
    }

    /// A command with the fields of the first record that has all of them. It shows the same time, if it can.
    fn command(&self, template: &str, records: &[Value]) -> Option<String> {
        let param = |name: &str| Some(&*self.params.iter().find(|(known, _)| *known == name)?.1);
        let fill = |record: &Value| {
            let mut parts = template.split('{');
            let mut command = parts.next()?.to_owned();
            for part in parts {
                let (name, rest) = part.split_once('}')?;
                let fields =
                    [record, self.body].into_iter().find_map(|fields| fields[name].as_str());
                command += &quote(fields.or_else(|| param(name))?);
                command += rest;
            }
            Some(command)
        };
        let mut command = records.iter().find_map(fill)?;
        let query = template.split(' ').next().and_then(Query::named)?;
        if let Some(as_of) =
            param("as_of").filter(|_| query.views.iter().any(|view| view.takes("as_of")))
        {
            command += &format!(" --as-of {}", quote(as_of));
        }
        Some(self.next.tnr(&command))
    }
}

/// A list in a record: a table, or lines for each record if they have lists or records themselves.
fn own_list(rows: &[Value], width: usize) -> String {
    let fields = rows.first().and_then(Value::as_object).into_iter().flatten();
    let is_flat = fields.clone().all(|(_, value)| !value.is_object() && !value.is_array());
    if is_flat {
        return table(rows, &fields.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), width);
    }
    let rows = rows.iter().filter_map(Value::as_object);
    rows.map(|fields| lines(fields, width)).collect::<Vec<_>>().join("\n")
}

/// A list of records; `None` for any other value, and for an empty list.
fn records(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice).filter(|rows| rows.first().is_some_and(Value::is_object))
}

/// A record's fields as lines with aligned values. Empty fields and lists of records are left out.
fn lines(fields: &Map<String, Value>, width: usize) -> String {
    let mut lines = Vec::new();
    fields.iter().for_each(|(name, value)| add_lines(&field_label(name), value, &mut lines));
    let label_width = lines.iter().map(|(label, _)| length(label)).max().unwrap_or_default();
    lines.iter().map(|(label, text)| line(label, text, label_width, width)).collect()
}

/// Adds a field's line, and the lines of records and lists within it.
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
        let scalars = scalars.iter().map(|(name, value)| {
            format!("{} {}", field_label(name), display_text(value))
                .replace(' ', &NO_BREAK_SPACE.to_string())
        });
        own = scalars.collect::<Vec<_>>().join(", ");
        nested = others;
    } else if let Value::Array(values) = value {
        let scalars = values.iter().filter(|value| !value.is_object());
        own = scalars.map(display_text).collect::<Vec<_>>().join(", ");
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

/// Facts that are missing or do not apply are left out.
fn is_shown(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// A label with a value, wrapped; empty without a value. A word too long for its column follows the label.
pub(super) fn line(label: &str, text: &str, label_width: usize, width: usize) -> String {
    let indent = INDENT + label_width + 1;
    if text.is_empty() {
        return String::new();
    }
    let label_width =
        if text.contains(' ') || indent + length(text) <= width { label_width } else { 0 };
    terminal::wrap(&format!("{:INDENT$}{label:<label_width$} {text}", ""), width, indent) + "\n"
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::json;

    use super::*;
    use crate::numbers::queries::view;

    static VIEW: View = view("", "npa", "nxx ocn", &[]);
    static NEXT: LazyLock<NextCommands> = LazyLock::new(NextCommands::default);
    static PARAMS: LazyLock<Params<'_>> = LazyLock::new(|| vec![("as_of", "2026-01-01".into())]);

    fn rendering(body: &Value) -> Rendering<'_> {
        Rendering { view: &VIEW, params: &PARAMS, body, next: &NEXT }
    }

    #[test]
    fn records_are_lines_and_their_lists_tables() {
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
        assert_eq!(rendering(&body).record(40), expected.join("\n"));
    }

    #[test]
    fn next_commands_take_fields_from_the_record_and_the_same_time() {
        let body = json!({ "npa": "415", "list": [{ "nxx": "200" }, { "nxx": "201", "ocn": "6010" }], "pagination": {} });
        for (template, expected) in [
            ("area-code {npa} {nxx}", Some("area-code 415 200 --as-of 2026-01-01")),
            ("carrier {ocn}", Some("carrier 6010 --as-of 2026-01-01")),
            ("search --ocn {ocn}", Some("search --ocn 6010")),
            ("holders --state {state}", None),
        ] {
            let command = rendering(&body).command(template, results(&body));
            assert_eq!(command, expected.map(|command| NEXT.tnr(command)));
        }
    }
}
