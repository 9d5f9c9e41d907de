//! The keys: whether any work, and which have expired or soon will.

use std::collections::BTreeSet;

use indicatif::HumanCount;
use jiff::{SignedDuration, Timestamp};
use store::{KeyRecord, Store, StoredKeys};

use super::{
    facts::FactResult,
    finding::{Finding, section},
    remedies::Remedies,
};
use crate::terminal::next_commands::quote;

/// Keys are reported for this long before and after they expire.
const NOTICE_PERIOD: SignedDuration = SignedDuration::from_hours(14 * 24);

#[derive(Debug, Default)]
pub struct KeyFacts {
    pub keys: Vec<KeyRecord>,
    /// Names of unreadable keys.
    pub damaged: Vec<String>,
    /// The quotas of recently expired keys that had requests in the last day.
    pub used_quotas: BTreeSet<String>,
}

pub async fn gather(store: &Store, now: Timestamp) -> FactResult<KeyFacts> {
    let StoredKeys { readable: keys, damaged } = store.all_api_keys().await?;
    let damaged = damaged.into_iter().map(|key| key.name).collect();
    let mut used_quotas = BTreeSet::new();
    for key in keys.iter().filter(|key| has_expired_recently(key, now)) {
        let usage = store.usage(key.quota_id()).await?;
        if usage.counts.hours.values().any(|requests| *requests > 0) {
            used_quotas.insert(key.quota_id().to_owned());
        }
    }
    Ok(KeyFacts { keys, damaged, used_quotas })
}

/// Returns `true` if a key expired so recently that its client may not have noticed.
fn has_expired_recently(key: &KeyRecord, now: Timestamp) -> bool {
    let since_end = key.expires_at.map(|end| now.duration_since(end));
    let is_recent = since_end.is_some_and(|since| !since.is_negative() && since <= NOTICE_PERIOD);
    key.revoked_at.is_none() && is_recent
}

fn expires_soon(key: &KeyRecord, now: Timestamp) -> bool {
    key.is_live(now) && key.expires_at.is_some_and(|end| end.duration_since(now) <= NOTICE_PERIOD)
}

/// Returns `true` for a rotated key: another key with the same quota works longer.
fn is_replaced(key: &KeyRecord, keys: &[KeyRecord], now: Timestamp) -> bool {
    let outlives = |other: &KeyRecord| {
        other.is_live(now) && other.expires_at.is_none_or(|end| key.expires_at < Some(end))
    };
    keys.iter().any(|other| {
        other.key_hash != key.key_hash && other.quota_id() == key.quota_id() && outlives(other)
    })
}

pub fn findings(facts: &KeyFacts, now: Timestamp, remedies: &Remedies) -> Vec<Finding> {
    let KeyFacts { keys, damaged, used_quotas } = facts;
    let live: Vec<&KeyRecord> = keys.iter().filter(|key| key.is_live(now)).collect();
    if live.is_empty() {
        let finding = Finding::problem("keys", "no key works, so nobody can use the API")
            .remedy(remedies.tnr("keys create --name first"))
            .section(section::FIRST_IMPORT_AND_KEY);
        return vec![finding];
    }
    let mut findings: Vec<Finding> =
        damaged.iter().map(|name| damaged_key(name, remedies)).collect();
    let unreplaced = keys.iter().filter(|key| !is_replaced(key, keys, now));
    findings.extend(unreplaced.filter_map(|key| expiry_finding(key, now, used_quotas, remedies)));
    findings.extend(quota_finding(&live));
    let is_ok = |key: &&&KeyRecord| !expires_soon(key, now) || is_replaced(key, keys, now);
    let [ok, total] =
        [live.iter().filter(is_ok).count(), live.len()].map(|count| HumanCount(count as u64));
    let message = format!("{ok} of {total} live keys do not need rotation");
    findings.insert(0, Finding::ok("keys", message));
    findings
}

fn damaged_key(name: &str, remedies: &Remedies) -> Finding {
    Finding::problem(name, "damaged; its client gets 401 and needs a new key")
        .remedy(remedies.tnr(&format!("keys delete {}", quote(name))))
        .section(section::KEYS)
}

fn expiry_finding(
    key: &KeyRecord,
    now: Timestamp,
    used_quotas: &BTreeSet<String>,
    remedies: &Remedies,
) -> Option<Finding> {
    let end = key.expires_at?;
    let check = format!("{} ({})", key.prefix, key.name);
    let finding = if expires_soon(key, now) {
        Finding::warning(check, format!("expires at {end}, and no key replaces it"))
            .remedy(remedies.tnr(&format!("keys rotate {}", key.prefix)))
    } else if !has_expired_recently(key, now) {
        return None;
    } else if used_quotas.contains(key.quota_id()) {
        let message = format!("expired at {end} while in use; its client now gets 401");
        Finding::warning(check, message)
            .remedy(remedies.tnr(&format!("keys create --name {}", quote(&key.name))))
    } else {
        Finding::note(check, format!("expired at {end}, and no key replaces it"))
    };
    Some(finding.section(section::KEYS))
}

fn quota_finding(live: &[&KeyRecord]) -> Option<Finding> {
    const MAX_LISTED: usize = 5;
    let unlimited: Vec<&str> = live
        .iter()
        .filter(|key| key.per_minute.is_none() && key.per_day.is_none())
        .map(|key| key.prefix.as_str())
        .collect();
    let listed = unlimited.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
    let more = match unlimited.len() {
        0 => return None,
        1..=MAX_LISTED => String::new(),
        count => format!(" and {} more", count - MAX_LISTED),
    };
    let verb = if unlimited.len() == 1 { "has" } else { "have" };
    Some(Finding::note("quotas", format!("{listed}{more} {verb} no quota")).section(section::KEYS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::new_record;

    fn now() -> Timestamp {
        "2026-11-21T12:00:00Z".parse().unwrap()
    }

    fn key(name: &str, expires_at: Option<&str>) -> KeyRecord {
        let expires_at = expires_at.map(|end| end.parse().unwrap());
        let prefix = format!("tnr_live_{name}");
        let record = new_record(name.to_owned(), &prefix, name, Timestamp::UNIX_EPOCH);
        KeyRecord { expires_at, per_minute: Some(60), ..record }
    }

    /// The state and check of each finding about these keys, plus one that never expires.
    fn summaries(keys: &[KeyRecord], used: &[&str]) -> Vec<String> {
        let keys = [keys, &[key("always", None)]].concat();
        let used_quotas = used.iter().map(|quota| (*quota).to_owned()).collect();
        let facts = KeyFacts { keys, damaged: Vec::new(), used_quotas };
        let findings = findings(&facts, now(), &Remedies::for_stack("numbers")).into_iter();
        findings
            .skip(1)
            .map(|finding| format!("{} {}", finding.state.word(), finding.check))
            .collect()
    }

    #[test]
    fn keys_that_expire_soon_or_just_did_are_reported_unless_rotated() {
        let ends = |end| key("a", Some(end));
        let revoked = KeyRecord { revoked_at: Some(now()), ..ends("2026-12-01T00:00:00Z") };
        let successor = |end| KeyRecord { quota_id: Some("a".to_owned()), ..key("b", end) };
        let rotated = |end| [ends("2026-11-25T12:00:00Z"), successor(end)];
        let unlimited = KeyRecord { per_minute: None, ..key("a", None) };
        let warning = &["warning tnr_live_a (a)"][..];
        for (keys, used, expected) in [
            (&[ends("2026-12-05T12:00:00Z")][..], &[][..], warning),
            (&[ends("2026-12-05T12:00:01Z")], &[], &[]),
            (&[revoked], &[], &[]),
            (&rotated(None), &[], &[]),
            (&rotated(Some("2026-11-24T12:00:00Z")), &[], warning),
            (&[ends("2026-11-21T11:00:00Z")], &["a"], warning),
            (&[ends("2026-11-21T11:00:00Z")], &[], &["note tnr_live_a (a)"]),
            (&[ends("2026-10-01T00:00:00Z")], &["a"], &[]),
            (&[unlimited], &[], &["note quotas"]),
        ] {
            assert_eq!(summaries(keys, used)[..], *expected, "{keys:?}");
        }
    }
}
