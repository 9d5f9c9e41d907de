//! The hours in which a country allows telemarketing calls. A country is a row in [`RULES`].

use formatting::PhoneNumber;
use jiff::{
    Timestamp,
    civil::{Time, Weekday},
};
use numbering::dataset::Dataset;
use serde::{Serialize, Serializer};
use strum::Display;
use utoipa::ToSchema;

use super::time_zones::TimeZoneInfo;
use crate::block::NanpParts;

/// A country's rule on the hours for telemarketing calls, in the local time of the person called.
struct Rule {
    /// ISO 3166-1 alpha-2 codes. US territories have their own.
    countries: &'static [&'static str],
    citation: &'static str,
    weekdays: CallingWindow,
    weekends: CallingWindow,
}

const RULES: [Rule; 2] = [
    Rule {
        countries: &["US", "AS", "GU", "MP", "PR", "VI"],
        citation: "47 CFR 64.1200(c)(1)",
        weekdays: window(time(8, 0), time(21, 0)),
        weekends: window(time(8, 0), time(21, 0)),
    },
    Rule {
        countries: &["CA"],
        citation: "CRTC Unsolicited Telecommunications Rules, Part III, section 23",
        weekdays: window(time(9, 0), time(21, 30)),
        weekends: window(time(10, 0), time(18, 0)),
    },
];

/// The hours in which the number's country allows telemarketing calls. This is not legal advice: states and provinces may
/// be stricter.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CallingHours {
    pub(crate) status: CallingHoursStatus,
    /// The rule that sets the hours.
    #[schema(example = "47 CFR 64.1200(c)(1)")]
    pub(crate) rule: &'static str,
    pub(crate) window: CallingWindow,
}

/// The number's local time compared with the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum CallingHoursStatus {
    /// Within the hours in all the number's time zones.
    Open,
    /// In none of them.
    Closed,
    /// In some of them.
    Depends,
}

/// The hours on the number's local day. If its time zones are on different days, the hours that both days allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CallingWindow {
    /// The first minute for calls, in local time.
    #[serde(serialize_with = "hours_and_minutes")]
    #[schema(value_type = String, pattern = "^[0-9]{2}:[0-9]{2}$", example = "08:00")]
    pub(crate) from: Time,
    /// The minute after the last, in local time.
    #[serde(serialize_with = "hours_and_minutes")]
    #[schema(value_type = String, pattern = "^[0-9]{2}:[0-9]{2}$", example = "21:00")]
    pub(crate) to: Time,
}

const fn time(hour: i8, minute: i8) -> Time {
    Time::constant(hour, minute, 0, 0)
}

const fn window(from: Time, to: Time) -> CallingWindow {
    CallingWindow { from, to }
}

impl CallingHours {
    /// Judges the time in all the number's zones. `None` if they are unknown, or no rule for the country is on file.
    pub fn find(
        number: &PhoneNumber,
        dataset: Option<&Dataset>,
        zones: &[TimeZoneInfo],
        now: Timestamp,
    ) -> Option<Self> {
        let country = country(number, dataset)?;
        let rule = RULES.iter().find(|rule| rule.countries.contains(&&*country))?;
        let times = zones.iter().filter_map(|zone| now.in_tz(zone.zone).ok());
        let times: Vec<_> =
            times.map(|local| (local.time(), rule.window_on(local.weekday()))).collect();
        let is_open = |&(time, window): &(Time, CallingWindow)| window.contains(time);
        let status = match times.iter().filter(|it| is_open(it)).count() {
            0 => CallingHoursStatus::Closed,
            open if open == times.len() => CallingHoursStatus::Open,
            _ => CallingHoursStatus::Depends,
        };
        let window = times.into_iter().map(|(_, window)| window).reduce(CallingWindow::and)?;
        Some(Self { status, rule: rule.citation, window })
    }
}

/// The number's country. For a number that is unknown to Google's rules, that of its area code.
fn country(number: &PhoneNumber, dataset: Option<&Dataset>) -> Option<String> {
    let from_area_code = || {
        let npa = NanpParts::from_number(number)?.npa_nxx.npa;
        Some(dataset?.area_code(npa)?.country?.to_string())
    };
    number.country.clone().or_else(from_area_code)
}

impl Rule {
    fn window_on(&self, day: Weekday) -> CallingWindow {
        match day {
            Weekday::Saturday | Weekday::Sunday => self.weekends,
            _ => self.weekdays,
        }
    }
}

impl CallingWindow {
    fn contains(self, time: Time) -> bool {
        (self.from..self.to).contains(&time)
    }

    /// The hours in both windows.
    fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}

/// Formats a time as in `08:00`.
pub fn hhmm(time: Time) -> String {
    time.strftime("%H:%M").to_string()
}

fn hours_and_minutes<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hhmm(*time))
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;
    use numbering::records::{AreaCode, Country};
    use serde_json::json;

    use super::*;
    use crate::extras::time_zones;

    fn number(text: &str) -> PhoneNumber {
        PhoneNumber::parse(text, DefaultCountry::default()).unwrap()
    }

    /// 357, 257 and 247 are not in Google's rules, and 867 spans several time zones.
    fn dataset() -> Dataset {
        let area_code = |(npa, state, country): (&str, &str, _)| AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: [state.parse().unwrap()].into(),
            country,
            total_exchanges: 0,
            plan: Box::default(),
        };
        let area_codes = [
            ("357", "CA", Some(Country::Us)),
            ("559", "CA", Some(Country::Us)),
            ("257", "ON", Some(Country::Ca)),
            ("416", "ON", Some(Country::Ca)),
            ("247", "CA", None),
            ("867", "YT", Some(Country::Ca)),
        ];
        let mut area_codes = area_codes.map(area_code);
        area_codes[5].plan.has_several_time_zones = true;
        Dataset::new(Vec::new(), area_codes.into(), Vec::new())
    }

    /// A number's calling hours at a time.
    fn find(text: &str, now: &str) -> Option<CallingHours> {
        let (number, dataset, now) = (number(text), dataset(), now.parse().unwrap());
        let zones = time_zones::find(&number, Some(&dataset), now)?;
        CallingHours::find(&number, Some(&dataset), &zones, now)
    }

    /// A number's status and window at a time.
    fn hours(text: &str, now: &str) -> String {
        let CallingHours { status, window, .. } = find(text, now).unwrap();
        format!("{status} {}-{}", hhmm(window.from), hhmm(window.to))
    }

    #[test]
    fn us_numbers_are_open_from_8_am_to_9_pm_every_day() {
        // July 1, 2026 is a Wednesday, and July 5 a Sunday.
        for day in ["2026-07-01", "2026-07-04", "2026-07-05"] {
            for (time, status) in [
                ("07:59:59.999999999", "closed"),
                ("08:00:00", "open"),
                ("20:59:59.999999999", "open"),
                ("21:00:00", "closed"),
                ("00:00:00", "closed"),
            ] {
                let now = format!("{day}T{time}-04:00");
                assert_eq!(hours("3052345678", &now), format!("{status} 08:00-21:00"), "{now}");
            }
        }
    }

    #[test]
    fn canadian_numbers_have_shorter_hours_on_weekends() {
        for (day, from, to) in [
            ("2026-07-03", "09:00", "21:30"),
            ("2026-07-04", "10:00", "18:00"),
            ("2026-07-05", "10:00", "18:00"),
            ("2026-07-06", "09:00", "21:30"),
        ] {
            for (time, status) in [(format!("{from}:00"), "open"), (format!("{to}:00"), "closed")] {
                let at: Timestamp = format!("{day}T{time}-04:00").parse().unwrap();
                let just_before = at - jiff::SignedDuration::from_nanos(1);
                let other = if status == "open" { "closed" } else { "open" };
                for (now, status) in [(at, status), (just_before, other)] {
                    let expected = format!("{status} {from}-{to}");
                    assert_eq!(hours("4162345678", &now.to_string()), expected, "{now}");
                }
            }
        }
    }

    #[test]
    fn the_hours_depend_on_all_zones() {
        // The exchange is in Mountain and Pacific time.
        for (now, expected) in [
            ("2026-07-01T13:59:59Z", "closed"),
            ("2026-07-01T14:00:00Z", "depends"),
            ("2026-07-01T14:59:59Z", "depends"),
            ("2026-07-01T15:00:00Z", "open"),
            ("2026-07-02T02:59:59Z", "open"),
            ("2026-07-02T03:00:00Z", "depends"),
            ("2026-07-02T04:00:00Z", "closed"),
        ] {
            assert_eq!(hours("2083202345", now), format!("{expected} 08:00-21:00"), "{now}");
        }
    }

    #[test]
    fn zones_on_different_days_have_the_hours_that_both_allow() {
        // 867 spans Pacific to Eastern time. Late on Friday in the west, it is Saturday in the east.
        for (now, expected) in [
            ("2026-07-04T02:59:59Z", "depends 09:00-21:30"),
            ("2026-07-04T04:00:00Z", "depends 10:00-18:00"),
            ("2026-07-04T06:59:59Z", "closed 10:00-18:00"),
            ("2026-07-04T07:00:00Z", "closed 10:00-18:00"),
            ("2026-07-06T04:00:00Z", "closed 10:00-18:00"),
            ("2026-07-06T07:00:00Z", "closed 09:00-21:30"),
        ] {
            assert_eq!(hours("8672345678", now), expected, "{now}");
        }
    }

    #[test]
    fn the_rule_is_that_of_the_numbers_country() {
        const US: &str = "47 CFR 64.1200(c)(1)";
        const CANADA: &str = "CRTC Unsolicited Telecommunications Rules, Part III, section 23";
        for (text, rule) in [
            ("3052345678", Some(US)),
            ("7872345678", Some(US)),
            ("6712345678", Some(US)),
            ("6842345678", Some(US)),
            ("6702345678", Some(US)),
            ("3402345678", Some(US)),
            ("4162345678", Some(CANADA)),
            // Unknown to Google's rules
            ("3572345678", Some(US)),
            ("2572345678", Some(CANADA)),
            ("2472345678", None),
            // Without a rule on file
            ("8762345678", None),
            ("+442079460958", None),
            ("+33123456789", None),
            // Without a place
            ("8002345678", None),
            ("+80012345678", None),
        ] {
            let found = find(text, "2026-07-01T12:00:00Z").map(|hours| hours.rule);
            assert_eq!(found, rule, "{text}");
        }
    }

    #[test]
    fn calling_hours_are_sent_in_hours_and_minutes() {
        let expected = json!({
            "status": "open",
            "rule": "47 CFR 64.1200(c)(1)",
            "window": { "from": "08:00", "to": "21:00" }
        });
        assert_eq!(json!(find("3052345678", "2026-07-01T12:00:00Z")), expected);
    }

    #[test]
    fn each_country_has_at_most_one_rule() {
        let mut countries: Vec<_> = RULES.iter().flat_map(|rule| rule.countries).collect();
        let count = countries.len();
        countries.sort();
        countries.dedup();
        assert_eq!(countries.len(), count);
        assert!(countries.iter().all(|country| country.parse::<DefaultCountry>().is_ok()));
    }
}
