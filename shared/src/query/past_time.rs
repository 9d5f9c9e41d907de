//! Times in the past, as dates or times in UTC.

use std::ops::RangeInclusive;

use axum::{extract::FromRequestParts, http::request::Parts};
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use numbering::time::{date_of, today};
use utoipa::IntoParams;

use crate::{
    errors::ApiError,
    params::{Params, invalid_param},
};

const RULE: &str =
    "must be a date such as 2026-11-21, or a time in UTC such as 2026-11-21T09:00:03Z";

/// Parses a date or a time, or rejects it with a rule. A date stands for all of the day, up to now.
pub fn parse_past(
    name: &str,
    rule: &str,
    text: &str,
) -> Result<RangeInclusive<Timestamp>, ApiError> {
    let now = Timestamp::now();
    let future = || Err(invalid_param(name, text, "must not be in the future"));
    if let Some(date) = parse_date(text) {
        let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|it| it.timestamp());
        return match (date <= date_of(now), midnight(date)) {
            (true, Ok(start)) => Ok(start..=now.min(start + 24.hours() - 1.nanosecond())),
            _ => future(),
        };
    }
    match text.parse::<Timestamp>() {
        Ok(time) if text.ends_with('Z') && time <= now => Ok(time..=time),
        Ok(_) if text.ends_with('Z') => future(),
        _ => Err(invalid_param(name, text, rule)),
    }
}

/// Parses a date such as `2026-11-21`. The library accepts other formats, too.
fn parse_date(text: &str) -> Option<Date> {
    text.parse().ok().filter(|_| text.len() == "2026-11-21".len())
}

/// The requested time in the past.
#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AsOf {
    /// Date or time in UTC, to answer as this service did then. A date stands for its end.
    #[param(rename = "as_of", value_type = Option<String>, example = "2026-11-21")]
    pub time: Option<Timestamp>,
}

impl<S: Sync> FromRequestParts<S> for AsOf {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::parse(&Params::from_uri(&parts.uri))
    }
}

impl AsOf {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        let text = params.text("as_of")?;
        let range = text.map(|text| parse_past("as_of", RULE, &text)).transpose()?;
        if range.is_some() && params.text("version")?.is_some() {
            return Err(ApiError::invalid("as_of and version cannot be combined"));
        }
        Ok(Self { time: range.map(|range| *range.end()) })
    }

    /// The date in UTC on which assignments must be effective.
    pub fn date(self) -> Date {
        self.time.map_or_else(today, date_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_the_whole_day_and_today_ends_now() {
        let range = |text: &str| parse_past("since", RULE, text).unwrap();
        let day = range("2020-02-29");
        assert_eq!(day.start().to_string(), "2020-02-29T00:00:00Z");
        assert_eq!(day.end().to_string(), "2020-02-29T23:59:59.999999999Z");
        let time = "2020-02-29T12:00:00Z".parse().unwrap();
        assert_eq!(range("2020-02-29T12:00:00Z"), time..=time);
        assert!(*range(&today().to_string()).end() <= Timestamp::now());
    }

    #[test]
    fn other_texts_and_future_times_are_rejected() {
        let tomorrow = today().tomorrow().unwrap().to_string();
        for (text, rule) in [
            ("yesterday", RULE),
            ("2020-02-30", RULE),
            ("20200229", RULE),
            ("2020-02-29T12:00:00", RULE),
            ("2020-02-29T12:00:00-08:00", RULE),
            (&tomorrow, "must not be in the future"),
            ("9999-12-31", "must not be in the future"),
        ] {
            let error = parse_past("as_of", RULE, text).unwrap_err().to_string();
            assert_eq!(error, format!("as_of {rule}, got '{text}'"));
        }
    }
}
