//! The time zones of a number, and the local time in them.

use formatting::{PhoneNumber, time_zones_for_area_codes, time_zones_for_calling_code};
use jiff::Timestamp;
use numbering::dataset::Dataset;
use serde::Serialize;
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
    let Some((parts, dataset)) = NanpParts::from_number(number).zip(dataset) else {
        let is_in_map = known != time_zones_for_calling_code(1);
        return if is_in_map { known.to_vec() } else { Vec::new() };
    };
    let npa = parts.npa_nxx.npa;
    let area = dataset.time_zones(npa, time_zones_for_area_codes);
    let is_split = dataset.area_code(npa).is_some_and(|it| it.plan.has_several_time_zones);
    let is_precise = !known.is_empty() && known.iter().all(|zone| area.contains(zone));
    if is_precise && !is_split { known.to_vec() } else { area.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;
    use jiff::civil::Date;
    use numbering::records::{AreaCode, Country, Npa};

    use super::*;

    /// An area code that came into service in this year.
    fn area_code(npa: &str, state: &str, year: i16, overlay: &[&str]) -> AreaCode {
        let npas = |codes: &[&str]| codes.iter().map(|code| code.parse::<Npa>().unwrap()).collect();
        let mut area_code = AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: [state.parse().unwrap()].into(),
            country: Some(Country::Us),
            total_exchanges: 0,
            plan: Box::default(),
        };
        area_code.plan.in_service_on = Some(Date::constant(year, 1, 1));
        area_code.plan.overlay = npas(overlay);
        area_code
    }

    fn dataset() -> Dataset {
        let mut kentucky = ["270", "364"].map(|npa| area_code(npa, "KY", 1999, &["270", "364"]));
        kentucky.iter_mut().for_each(|it| it.plan.has_several_time_zones = true);
        let area_codes = vec![
            area_code("208", "ID", 1947, &[]),
            area_code("357", "CA", 2026, &["357", "559"]),
            area_code("407", "FL", 1988, &["407", "689"]),
            area_code("418", "QC", 1947, &["418", "581"]),
            area_code("457", "ID", 2026, &[]),
            area_code("559", "CA", 1998, &["357", "559"]),
            area_code("581", "QC", 2008, &["418", "581"]),
            area_code("689", "FL", 2005, &["407", "689"]),
            area_code("709", "NL", 1962, &["709", "879"]),
            area_code("879", "NL", 2024, &["709", "879"]),
        ];
        Dataset::new(Vec::new(), area_codes.into_iter().chain(kentucky).collect(), Vec::new())
    }

    fn number(text: &str) -> PhoneNumber {
        PhoneNumber::parse(text, DefaultCountry::default()).unwrap()
    }

    #[test]
    fn local_time_follows_each_zone() {
        let local_times = |text: &str, now: &str| {
            let zones = find(&number(text), Some(&dataset()), now.parse().unwrap())?;
            Some(zones.into_iter().map(|it| (it.local_time, it.utc_offset)).collect::<Vec<_>>())
        };
        for (text, now, expected) in [
            // Daylight saving time starts on the second Sunday in March.
            ("3052345678", "2026-03-08T06:59:59Z", vec![("2026-03-08T01:59:59-05:00", "-05:00")]),
            ("3052345678", "2026-03-08T07:00:00Z", vec![("2026-03-08T03:00:00-04:00", "-04:00")]),
            (
                "2083202345",
                "2026-07-01T14:30:00Z",
                vec![
                    ("2026-07-01T08:30:00-06:00", "-06:00"),
                    ("2026-07-01T07:30:00-07:00", "-07:00"),
                ],
            ),
            (
                "+919876543210",
                "2026-07-01T02:30:00Z",
                vec![("2026-07-01T08:00:00+05:30", "+05:30")],
            ),
        ] {
            let expected =
                expected.iter().map(|(time, offset)| (time.to_string(), offset.to_string()));
            assert_eq!(local_times(text, now), Some(expected.collect()), "{text} at {now}");
        }
        assert_eq!(local_times("8002345678", "2026-07-01T12:00:00Z"), None);
    }

    #[test]
    fn area_codes_correct_and_complete_the_map() {
        let (toronto, idaho) =
            (["America/Toronto"], ["America/Boise", "America/Denver", "America/Los_Angeles"]);
        for (text, expected) in [
            // The map has zones for the exchange or for the area code.
            ("2083202345", &["America/Boise", "America/Los_Angeles"][..]),
            ("4182345678", &toronto),
            ("5812345678", &toronto),
            // It puts 689 into Chicago's zone, and adds Puerto Rico's to 879.
            ("6892345678", &["America/New_York"]),
            ("8792345678", &["America/Halifax", "America/St_Johns"]),
            ("7092345678", &["America/Halifax", "America/St_Johns"]),
            // The report says that the area is split.
            ("3642345678", &["America/Chicago", "America/New_York"]),
            // The map does not have these codes yet.
            ("3572345678", &["America/Los_Angeles"]),
            ("4572345678", &idaho),
            ("2222345678", &[]),
            // Not tied to a place
            ("8002345678", &[]),
            ("+80012345678", &[]),
            ("+919876543210", &["Asia/Calcutta"]),
        ] {
            assert_eq!(zones(&number(text), Some(&dataset())), expected, "{text}");
        }
    }

    #[test]
    fn without_data_only_the_map_counts() {
        for (text, expected) in [
            ("3052345678", &["America/New_York"][..]),
            ("+919876543210", &["Asia/Calcutta"]),
            ("3572345678", &[]),
            ("8002345678", &[]),
        ] {
            assert_eq!(zones(&number(text), None), expected, "{text}");
        }
    }
}
