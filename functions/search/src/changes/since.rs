//! The version from which changes start.

use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use numbering::records::Version;
use shared::{
    errors::{ApiError, quote},
    params::Params,
    past_time::PastTime,
    state::App,
};
use store::History;
use utoipa::IntoParams;

const DEFAULT_DAYS: i64 = 30;

const RULE: &str =
    "must be a version, a date such as 2026-11-21, or a time in UTC such as 2026-11-21T09:00:03Z";

/// The requested start.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Since {
    /// Publication, version, date or time in UTC after which the changes were published. Defaults to 30 days ago.
    #[param(value_type = Option<String>, example = "2026-11-21")]
    since: Option<Start>,
}

#[derive(Debug)]
enum Start {
    Version(Version),
    Time(PastTime),
}

impl Since {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        let start = params.text("since")?.map(|text| match Version::parse(&text) {
            Some(version) => Ok(Start::Version(version)),
            None => PastTime::parse("since", RULE, &text).map(Start::Time),
        });
        Ok(Self { since: start.transpose()? })
    }

    /// Returns the history, and the position of the publication that the changes start from.
    pub async fn find(self, app: &App) -> Result<(Arc<History>, usize), ApiError> {
        let history = app.history().await?;
        if let Some(position) = self.position_in(&history, Timestamp::now()) {
            return Ok((history, position));
        }
        // Another container may have named a version that this one does not know yet. This reads the manifest again.
        let history = match &self.since {
            Some(Start::Version(version)) => {
                app.dataset.version(version.as_str()).await?;
                app.history().await?
            }
            _ => history,
        };
        match self.position_in(&history, Timestamp::now()) {
            Some(position) => Ok((history, position)),
            None => Err(self.not_in(&history)),
        }
    }

    /// The position of the start; `None` if it is not in the history.
    pub(super) fn position_in(&self, history: &History, now: Timestamp) -> Option<usize> {
        // The part of the history that can be read may begin later.
        let first = || history.gap().is_none().then_some(0);
        match &self.since {
            None => history.position_at(now - (24 * DEFAULT_DAYS).hours()).or_else(first),
            Some(Start::Version(version)) => history.position_of(version),
            Some(Start::Time(time)) => history.position_at(time.start).or_else(|| {
                // The history begins on that day.
                first().filter(|_| history.start().at <= time.end)
            }),
        }
    }

    fn not_in(&self, history: &History) -> ApiError {
        if let Err(error) = history.check_complete() {
            return error.into();
        }
        let start = history.start().at;
        ApiError::invalid(match &self.since {
            Some(Start::Time(PastTime { text, .. })) => {
                format!("since must be {start} or later, when the history begins, got '{text}'")
            }
            Some(Start::Version(version)) => format!(
                "since must be a version in the history, which begins at {start}, got '{}'",
                quote(version.as_str())
            ),
            // Only a history with a gap has no default start.
            None => format!("since must be {start} or later, when the history begins"),
        })
    }
}
