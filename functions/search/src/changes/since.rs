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

/// The default start, in days before now.
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
        match self.since {
            None => {
                let time = Timestamp::now() - (24 * DEFAULT_DAYS).hours();
                let position = history.position_at(time).unwrap_or_default();
                Ok((history, position))
            }
            Some(Start::Time(time)) => match history.position_at(time.start) {
                Some(position) => Ok((history, position)),
                // The history begins on that day.
                None if history.start().at <= time.end => Ok((history, 0)),
                None => Err(ApiError::invalid(format!(
                    "since must be {} or later, when the history begins, got '{}'",
                    history.start().at,
                    time.text
                ))),
            },
            Some(Start::Version(version)) => find_version(app, history, &version).await,
        }
    }
}

async fn find_version(
    app: &App,
    history: Arc<History>,
    version: &Version,
) -> Result<(Arc<History>, usize), ApiError> {
    if let Some(position) = history.position_of(version) {
        return Ok((history, position));
    }
    // Another container may have named a version that this one does not know yet. This reads the manifest again.
    app.dataset.version(version.as_str()).await?;
    let history = app.history().await?;
    match history.position_of(version) {
        Some(position) => Ok((history, position)),
        None => Err(ApiError::invalid(format!(
            "since must be a version in the history, which begins at {}, got '{}'",
            history.start().at,
            quote(version.as_str())
        ))),
    }
}
