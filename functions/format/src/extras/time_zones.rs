//! The time zones of a number, and whether a call reaches it at a reasonable hour.

use formatting::{PhoneNumber, time_zones_for_area_codes, time_zones_for_calling_code};
use jiff::{Timestamp, Zoned};
use numbering::dataset::Dataset;
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use crate::block::NanpParts;

/// A time zone where the number may be.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeZoneInfo {
    /// IANA name.
    #[schema(example = "America/New_York")]
    pub(crate) zone: &'static str,
    /// Difference from UTC now, in hours and minutes.
    #[schema(pattern = "^[+-][0-9]{2}:[0-9]{2}$", example = "-05:00")]
    utc_offset: String,
    /// Local time now (RFC 3339).
    #[schema(format = DateTime, example = "2026-11-24T14:12:31-05:00")]
    local_time: String,
}

/// The calling hours at the number's local time: 8 a.m. to 9 p.m., as for telephone solicitations in the US (47 CFR
/// 64.1200(c)(1)). This is not legal advice: states and other countries have their own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum CallingHours {
    /// Between 8 a.m. and 9 p.m. in all its time zones.
    Open,
    /// In none of them.
    Closed,
    /// In some of them.
    Depends,
}

/// The hours from 8 a.m. to 9 p.m.
const HOURS: std::ops::Range<i8> = 8..21;

/// The number's time zones now; `None` if they are unknown, or the number is not tied to a place.
pub fn find(
    number: &PhoneNumber,
    dataset: Option<&Dataset>,
    now: Timestamp,
) -> Option<Vec<TimeZoneInfo>> {
    let zones = zones(number, dataset).into_iter().filter_map(|zone| {
        let now = now.in_tz(zone).ok()?;
        Some(TimeZoneInfo {
            zone,
            utc_offset: now.strftime("%:z").to_string(),
            local_time: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        })
    });
    Some(zones.collect::<Vec<_>>()).filter(|zones| !zones.is_empty())
}

/// The IANA zones of a number: those from libphonenumber's map, unless the area code's zones contradict them or are several.
pub fn zones(number: &PhoneNumber, dataset: Option<&Dataset>) -> Vec<&'static str> {
    if number.is_non_geographic {
        return Vec::new();
    }
    let known = number.time_zones();
    let is_in_map = known != time_zones_for_calling_code(1);
    let Some((parts, dataset)) = NanpParts::from_number(number).zip(dataset) else {
        return if is_in_map { known.to_vec() } else { Vec::new() };
    };
    let npa = parts.npa_nxx.npa;
    let area = dataset.time_zones(npa, time_zones_for_area_codes);
    let is_split = dataset.area_code(npa).is_some_and(|it| it.plan.has_several_time_zones);
    let agreed: Vec<_> = known.iter().copied().filter(|zone| area.contains(zone)).collect();
    if area.is_empty() && is_in_map {
        known.to_vec()
    } else if is_split || agreed.is_empty() {
        area.into_iter().collect()
    } else {
        agreed
    }
}

impl CallingHours {
    /// Judges the time in all zones.
    pub fn new(zones: &[TimeZoneInfo], now: Timestamp) -> Option<Self> {
        let times = zones.iter().filter_map(|zone| now.in_tz(zone.zone).ok());
        let are_open: Vec<bool> = times.map(|time: Zoned| HOURS.contains(&time.hour())).collect();
        match (are_open.contains(&true), are_open.contains(&false)) {
            (true, true) => Some(Self::Depends),
            (true, false) => Some(Self::Open),
            (false, true) => Some(Self::Closed),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;
    use numbering::records::{AreaCode, Country, Npa};

    use super::*;

    fn area_code(npa: &str, state: &str, overlay: &[&str]) -> AreaCode {
        let npas = |codes: &[&str]| codes.iter().map(|code| code.parse::<Npa>().unwrap()).collect();
        let mut area_code = AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: [state.parse().unwrap()].into(),
            country: Some(Country::Us),
            total_exchanges: 0,
            plan: Box::default(),
        };
        area_code.plan.overlay = npas(overlay);
        area_code
    }

    /// A number's local times and calling hours at a time.
    fn describe(text: &str, now: &str) -> String {
        let area_codes = vec![
            area_code("208", "ID", &[]),
            area_code("357", "CA", &["357", "559"]),
            area_code("559", "CA", &["357", "559"]),
            area_code("457", "ID", &[]),
        ];
        let dataset = Dataset::new(Vec::new(), area_codes, Vec::new());
        let now = now.parse().unwrap();
        let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
        let Some(zones) = find(&number, Some(&dataset), now) else { return "unknown".to_owned() };
        let times = zones.iter().map(|it| format!("{} {}", it.zone, it.local_time));
        let hours = CallingHours::new(&zones, now).unwrap();
        format!("{hours}: {}", times.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn local_time_and_calling_hours_depend_on_all_zones() {
        let (boise, coast) = ("America/Boise 2026-07-01T", "America/Los_Angeles 2026-07-01T");
        for (text, now, expected) in [
            // Daylight saving time starts on the second Sunday in March.
            (
                "3052345678",
                "2026-03-08T06:59:59Z",
                "closed: America/New_York 2026-03-08T01:59:59-05:00",
            ),
            (
                "3052345678",
                "2026-03-08T07:00:00Z",
                "closed: America/New_York 2026-03-08T03:00:00-04:00",
            ),
            (
                "3052345678",
                "2026-07-01T11:59:59Z",
                "closed: America/New_York 2026-07-01T07:59:59-04:00",
            ),
            (
                "3052345678",
                "2026-07-01T12:00:00Z",
                "open: America/New_York 2026-07-01T08:00:00-04:00",
            ),
            (
                "3052345678",
                "2026-07-02T00:59:59Z",
                "open: America/New_York 2026-07-01T20:59:59-04:00",
            ),
            (
                "3052345678",
                "2026-07-02T01:00:00Z",
                "closed: America/New_York 2026-07-01T21:00:00-04:00",
            ),
            (
                "2083202345",
                "2026-07-01T14:30:00Z",
                &format!("depends: {boise}08:30:00-06:00, {coast}07:30:00-07:00"),
            ),
            (
                "+919876543210",
                "2026-07-01T02:30:00Z",
                "open: Asia/Calcutta 2026-07-01T08:00:00+05:30",
            ),
            ("8002345678", "2026-07-01T12:00:00Z", "unknown"),
            ("+80012345678", "2026-07-01T12:00:00Z", "unknown"),
        ] {
            assert_eq!(describe(text, now), expected, "{text} at {now}");
        }
    }

    #[test]
    fn area_codes_newer_than_the_map_have_the_zones_of_their_overlay_or_state() {
        let now = "2026-07-01T16:00:00Z";
        let coast = "open: America/Los_Angeles 2026-07-01T09:00:00-07:00";
        assert_eq!(describe("3572345678", now), coast);
        assert!(
            describe("4572345678", now).contains("America/Boise"),
            "{}",
            describe("4572345678", now)
        );
        // Not in the plan
        assert_eq!(describe("2222345678", now), "unknown");
    }
}
