//! The hours in which a country allows telemarketing calls. A country is a row in [`RULES`].

use jiff::civil::{Time, Weekday};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use super::{Facts, time_zones::TimeZoneInfo};
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
    /// Checks the time in all the number's zones. `None` if they are unknown, or no rule for the country is on file.
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

/// The number's country. For a number that is unknown to Google's rules, that of its area code.
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
    /// Compares hours and minutes as text, which sorts like time.
    fn contains(self, time: Time) -> bool {
        (self.from..self.to).contains(&&*time.strftime("%H:%M").to_string())
    }

    fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}
