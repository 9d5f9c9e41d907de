//! Dates and times in the past, in UTC.

use axum::{extract::FromRequestParts, http::request::Parts};
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use numbering::time::{date_of, today};
use utoipa::IntoParams;

use crate::{
    auth::Charge,
    errors::ApiError,
    params::{Params, invalid_param},
};

const RULE: &str =
    "must be a date such as 2026-11-21, or a time in UTC such as 2026-11-21T09:00:03Z";

/// A requested date or time.
#[derive(Debug, Clone)]
pub struct PastTime {
    /// The text in the request.
    pub text: String,
    /// The start of the day, or the time.
    pub start: Timestamp,
    /// The end of the day (or now, if earlier), or the time.
    pub end: Timestamp,
}

impl PastTime {
    /// Parses a parameter's value. The error message includes `rule`.
    pub fn parse(name: &str, rule: &str, text: &str) -> Result<Self, ApiError> {
        let now = Timestamp::now();
        let range = if let Some(date) = parse_date(text) {
            let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|it| it.timestamp());
            let start = midnight(date).ok().filter(|_| date <= date_of(now));
            start.map(|start| (start, now.min(start + 24.hours() - 1.nanosecond())))
        } else {
            let time = text.parse().ok().filter(|_| text.ends_with('Z'));
            let time: Timestamp = time.ok_or_else(|| invalid_param(name, text, rule))?;
            (time <= now).then_some((time, time))
        };
        let (start, end) =
            range.ok_or_else(|| invalid_param(name, text, "must not be in the future"))?;
        Ok(Self { text: text.to_owned(), start, end })
    }
}

/// Parses a date such as `2026-11-21`. The library also accepts other formats, which this rejects.
fn parse_date(text: &str) -> Option<Date> {
    text.parse().ok().filter(|_| text.len() == "2026-11-21".len())
}

/// The requested time in the past, if any.
#[derive(Clone, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AsOf {
    /// Date or time in UTC, to get the response as of then. A date means the end of that day.
    #[param(rename = "as_of", value_type = Option<String>, example = "2026-11-21")]
    pub time: Option<PastTime>,
    /// The charge for what is read.
    #[param(ignore)]
    pub(crate) charge: Charge,
}

impl<S: Sync> FromRequestParts<S> for AsOf {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let params = Params::from_uri(&parts.uri);
        let text = params.text("as_of")?;
        if text.is_some() && params.text("version")?.is_some() {
            return Err(ApiError::invalid_param("as_of", "as_of and version cannot be combined"));
        }
        let time = text.map(|text| PastTime::parse("as_of", RULE, &text)).transpose()?;
        let charge = parts.extensions.get().cloned().unwrap_or_default();
        Ok(Self { time, charge })
    }
}

impl AsOf {
    /// The UTC date for deciding whether assignments are effective.
    pub fn date(&self) -> Date {
        self.time.as_ref().map_or_else(today, |time| date_of(time.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_covers_the_whole_day_and_today_ends_now() {
        let parse = |text: &str| PastTime::parse("since", RULE, text).unwrap();
        let day = parse("2020-02-29");
        assert_eq!(day.start.to_string(), "2020-02-29T00:00:00Z");
        assert_eq!(day.end.to_string(), "2020-02-29T23:59:59.999999999Z");
        let time = parse("2020-02-29T12:00:00Z");
        assert_eq!((time.start, time.end.to_string()), (time.end, time.text));
        assert!(parse(&today().to_string()).end <= Timestamp::now());
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
            ("9999-12-30T00:00:00Z", "must not be in the future"),
        ] {
            let error = PastTime::parse("as_of", RULE, text).unwrap_err().to_string();
            assert_eq!(error, format!("as_of {rule}, got '{text}'"));
        }
    }
}
