//! Findings about keys: no working keys, and keys that expired or expire soon.

use indicatif::HumanCount;
use jiff::{SignedDuration, Timestamp};
use shared::quota::LimitType;
use store::{KeyRecord, Store, StoredKeys};

use super::{
    CheckContext,
    finding::{CheckResult, Finding},
};
use crate::terminal::{NextCommands, quote};

/// The time before and after expiry during which keys are reported.
const NOTICE_PERIOD: SignedDuration = SignedDuration::from_hours(14 * 24);

pub async fn check(store: &Store, CheckContext { now, next, .. }: &CheckContext) -> CheckResult {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    let mut findings = findings(&readable, *now, next);
    findings.extend(damaged.iter().map(|key| {
        Finding::problem(&key.name, "damaged; its client gets 401 and needs a new key")
            .remedy(next.tnr(&format!("keys delete {}", quote(&key.name))))
            .section("Keys")
    }));
    Ok(findings)
}

fn findings(keys: &[KeyRecord], now: Timestamp, next: &NextCommands) -> Vec<Finding> {
    let live: Vec<&KeyRecord> = keys.iter().filter(|key| key.is_live(now)).collect();
    if live.is_empty() {
        let finding = Finding::problem("keys", "no key works, so nobody can use the API")
            .remedy(next.tnr("keys create --name first"))
            .section("First import and first key");
        return vec![finding];
    }
    let unreplaced = keys.iter().filter(|key| !is_replaced(key, &live));
    let expiring: Vec<Finding> =
        unreplaced.filter_map(|key| expiry_finding(key, now, next)).collect();
    let count = HumanCount(live.len() as u64);
    let mut findings = vec![Finding::ok("keys", format!("{count} work"))];
    findings.extend(expiring);
    findings.extend(quota_finding(&live));
    findings
}

/// Returns `true` for a rotated key: a live key with the same quota works for longer.
fn is_replaced(key: &KeyRecord, live: &[&KeyRecord]) -> bool {
    let outlives =
        |other: &KeyRecord| other.expires_at.is_none_or(|end| key.expires_at < Some(end));
    live.iter().any(|other| {
        other.key_hash != key.key_hash && other.quota_id() == key.quota_id() && outlives(other)
    })
}

/// A finding about a key that expires soon, or expired so recently that the client may not have noticed.
fn expiry_finding(key: &KeyRecord, now: Timestamp, next: &NextCommands) -> Option<Finding> {
    let end = key.expires_at?;
    if key.revoked_at.is_some() || end.duration_since(now).abs() > NOTICE_PERIOD {
        return None;
    }
    let check = format!("{} ({})", key.prefix, key.name);
    let finding = if key.is_live(now) {
        Finding::warning(check, format!("expires at {end}, and no key replaces it"))
            .remedy(next.tnr(&format!("keys rotate {}", key.prefix)))
    } else {
        Finding::note(check, format!("expired at {end}, and no key replaces it"))
    };
    Some(finding.section("Keys"))
}

fn quota_finding(live: &[&KeyRecord]) -> Option<Finding> {
    let is_unlimited = |key: &KeyRecord| LimitType::ALL.iter().all(|it| it.limit_of(key).is_none());
    let count = live.iter().filter(|key| is_unlimited(key)).count();
    let message = format!("{} of {} live keys have no quota", count, live.len());
    (count > 0).then(|| Finding::note("quotas", message).section("Keys"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_expired_and_expiring_keys_are_reported_unless_rotated() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let key = |name: &str, expires_at: Option<&str>| {
            let expires_at = expires_at.map(|end| end.parse().unwrap());
            let prefix = format!("tnr_live_{name}");
            let record = KeyRecord::new(name.to_owned(), &prefix, name, Timestamp::UNIX_EPOCH);
            KeyRecord { expires_at, per_minute: Some(60), ..record }
        };
        let ends = |end| key("a", Some(end));
        let revoked = KeyRecord { revoked_at: Some(now), ..ends("2026-12-01T00:00:00Z") };
        let successor = |end| KeyRecord { quota_id: Some("a".to_owned()), ..key("b", end) };
        let rotated = |end| vec![ends("2026-11-25T12:00:00Z"), successor(end)];
        let unlimited = KeyRecord { per_minute: None, ..key("a", None) };
        let warning = "warning tnr_live_a (a)";
        for (keys, expected) in [
            (vec![ends("2026-12-05T12:00:00Z")], warning),
            (vec![ends("2026-12-05T12:00:01Z")], ""),
            (vec![revoked], ""),
            (rotated(None), ""),
            (rotated(Some("2026-11-24T12:00:00Z")), warning),
            (vec![ends("2026-11-07T12:00:00Z")], "note tnr_live_a (a)"),
            (vec![ends("2026-11-07T11:59:59Z")], ""),
            (vec![unlimited], "note quotas"),
        ] {
            let always = key("always", None);
            let found = findings(&[&keys[..], &[always]].concat(), now, &NextCommands::default());
            let found: Vec<String> = found[1..].iter().map(Finding::summary).collect();
            assert_eq!(found.join(", "), expected, "{keys:?}");
        }
    }
}
