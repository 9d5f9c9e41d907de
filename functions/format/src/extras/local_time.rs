//! A number's time zones, the local time in them, and the hours when its country allows telemarketing calls.

use formatting::{PhoneNumber, time_zones_for_area_codes, time_zones_for_calling_code};
use jiff::civil::{Time, Weekday};
use numbering::dataset::Dataset;
use serde::Serialize;
use utoipa::ToSchema;

use super::Facts;
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

/// The number's current time zones; `None` if they are unknown or the number is non-geographic.
pub fn find(facts: &Facts<'_>) -> Option<Vec<TimeZoneInfo>> {
    let zones = zones(facts.number?, facts.dataset).into_iter().filter_map(|zone| {
        let now = facts.now.in_tz(zone).ok()?;
        Some(TimeZoneInfo {
            zone,
            utc_offset: now.strftime("%:z").to_string(),
            local_time: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        })
    });
    Some(zones.collect::<Vec<_>>()).filter(|zones| !zones.is_empty())
}

/// A number's IANA time zones: libphonenumber's, unless they contradict the area code's or the area code has several.
pub fn zones(number: &PhoneNumber, dataset: Option<&Dataset>) -> Vec<&'static str> {
    if number.is_non_geographic {
        return Vec::new();
    }
    let known = number.time_zones();
    let Some((parts, dataset)) = NanpParts::from_number(number).zip(dataset) else {
        let is_in_map = known != time_zones_for_calling_code(1);
        return if is_in_map { known } else { Vec::new() };
    };
    let npa = parts.npa_nxx.npa;
    let area = dataset.time_zones(npa, time_zones_for_area_codes);
    let is_split = dataset.area_code(npa).is_some_and(|it| it.plan.has_several_time_zones);
    let is_precise = !known.is_empty() && known.iter().all(|zone| area.contains(zone));
    if is_precise && !is_split { known } else { area.into_iter().collect() }
}

/// A country's rule about the hours for telemarketing calls, in the called person's local time: a row in [`RULES`].
struct Rule {
    /// ISO 3166-1 alpha-2 codes. US territories have codes of their own.
    countries: &'static [&'static str],
    citation: &'static str,
    weekdays: CallingWindow,
    weekends: CallingWindow,
}

const RULES: [Rule; 2] = [
    Rule {
        countries: &["US", "AS", "GU", "MP", "PR", "VI"],
        citation: "47 CFR 64.1200(c)(1)",
        weekdays: window("08:00", "21:00"),
        weekends: window("08:00", "21:00"),
    },
    Rule {
        countries: &["CA"],
        citation: "CRTC Unsolicited Telecommunications Rules, Part III, section 23",
        weekdays: window("09:00", "21:30"),
        weekends: window("10:00", "18:00"),
    },
];

/// The hours when the number's country allows telemarketing calls. This is not legal advice: states and provinces may
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
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
    #[schema(pattern = "^[0-9]{2}:[0-9]{2}$", example = "08:00")]
    pub(crate) from: &'static str,
    /// The minute after the last, in local time.
    #[schema(pattern = "^[0-9]{2}:[0-9]{2}$", example = "21:00")]
    pub(crate) to: &'static str,
}

const fn window(from: &'static str, to: &'static str) -> CallingWindow {
    CallingWindow { from, to }
}

impl CallingHours {
    /// Checks the time in all of the number's zones. `None` if they are unknown, or the country has no rule.
    pub fn find(facts: &Facts<'_>, zones: &[TimeZoneInfo]) -> Option<Self> {
        let country = country(facts)?;
        let rule = RULES.iter().find(|rule| rule.countries.contains(&&*country))?;
        let times = zones.iter().filter_map(|zone| facts.now.in_tz(zone.zone).ok());
        let times: Vec<_> =
            times.map(|local| (rule.window_on(local.weekday()), local.time())).collect();
        let status = match times.iter().filter(|(window, time)| window.contains(*time)).count() {
            0 => CallingHoursStatus::Closed,
            open if open == times.len() => CallingHoursStatus::Open,
            _ => CallingHoursStatus::Depends,
        };
        let window = times.into_iter().map(|(window, _)| window).reduce(CallingWindow::and)?;
        Some(Self { status, rule: rule.citation, window })
    }
}

/// The number's country. If Google's rules do not know the number, the country of its area code.
fn country(facts: &Facts<'_>) -> Option<String> {
    let number = facts.number?;
    let from_area_code = || {
        let npa = NanpParts::from_number(number)?.npa_nxx.npa;
        Some(facts.dataset?.area_code(npa)?.country?.to_string())
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
    /// Compares hours and minutes as text, which sorts in time order.
    fn contains(self, time: Time) -> bool {
        (self.from..self.to).contains(&&*time.strftime("%H:%M").to_string())
    }

    fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}
