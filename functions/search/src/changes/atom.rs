//! Changes as an Atom feed (RFC 4287).

use std::collections::BTreeSet;

use atom_syndication::{Content, Entry, Feed, FixedDateTime, Link, Person, Text};
use axum::http::Uri;
use jiff::Timestamp;
use numbering::changes::{ChangeKind, FieldChange, RecordKind, value_text};
use serde_json::Value;
use shared::{pagination::pin, public_address::PublicAddress};

use super::{ChangeList, ChangeRow};

const AUTHOR: &str = "Telephone Number Reference Service";

/// Writes a feed. Its ID consists of the service's address and the path and query as requested, without the key.
pub fn feed(address: PublicAddress, requested: &Uri, title: &str, list: &ChangeList) -> String {
    let base = address.0.unwrap_or_default();
    let url = format!("{base}{}", pin(requested, "format", "atom"));
    let entries = list.changes.iter().map(|row| entry(&base, row));
    let newest = list.changes.first().map(|newest| newest.published_at);
    let feed = Feed {
        title: Text::plain(title),
        id: url.clone(),
        updated: time(newest.unwrap_or(list.until.published_at)),
        authors: vec![Person { name: AUTHOR.to_owned(), ..Person::default() }],
        links: vec![Link { href: url, rel: "self".to_owned(), ..Link::default() }],
        entries: entries.collect(),
        ..Feed::default()
    };
    feed.to_string()
}

fn entry(base: &str, row: &ChangeRow) -> Entry {
    let ChangeRow { publication, published_at, change, kind, key, fields, .. } = row;
    let record = match (kind, key.split_once('-')) {
        (RecordKind::Exchange, Some((npa, nxx))) => format!("/v1/npa/{npa}/nxx/{nxx}/history"),
        (RecordKind::Carrier, _) => format!("/v1/carrier/{key}/history"),
        _ => format!("/v1/changes?npa={key}&kind=area_code"),
    };
    let link = format!("{base}{record}");
    let kind_name = kind.to_string().replace('_', " ");
    let names: BTreeSet<_> = fields.keys().filter_map(|name| name.split('.').next()).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let title = match change {
        ChangeKind::Changed => format!("{kind_name} {key} changed: {names}"),
        other => format!("{kind_name} {key} {other}"),
    };
    let lines: Vec<_> = fields.iter().map(|(name, field)| line(name, field)).collect();
    Entry {
        title: Text::plain(title),
        // The fragment makes it unique, and it never changes.
        id: format!("{link}#{}", publication),
        updated: time(*published_at),
        links: vec![Link { href: link, rel: "alternate".to_owned(), ..Link::default() }],
        content: Some(Content {
            value: Some(lines.join("\n")),
            content_type: Some("text".to_owned()),
            ..Content::default()
        }),
        ..Entry::default()
    }
}

/// Formats a field change, such as `rate_center: SNFC CNTRL -> SAN RAFAEL`.
fn line(name: &str, FieldChange { before, after }: &FieldChange) -> String {
    let text =
        |value: &Option<Value>| value.as_ref().map_or("none".into(), value_text).into_owned();
    format!("{name}: {} -> {}", text(before), text(after))
}

fn time(time: Timestamp) -> FixedDateTime {
    time.to_string().parse().expect("both types write times as in RFC 3339")
}
