//! Filters for changes, and the version to start from.

use std::{fmt, sync::Arc};

use jiff::{Timestamp, ToSpan};
use numbering::{
    changed_keys::ChangedKeys,
    changes::{ChangeKind, RecordKind, RecordPair},
    records::{Npa, Ocn, RecordKey, StateCode, Version},
};
use shared::{
    errors::{ApiError, quote},
    params::Params,
    past_time::PastTime,
    state::App,
};
use store::History;
use utoipa::IntoParams;

/// A change must match all of them.
#[derive(Debug, Default, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Area code: changes to it, and to its exchanges.
    npa: Option<Npa>,
    /// Operating Company Number: changes to the carrier, and to exchanges that it held before or after the change.
    ocn: Option<Ocn>,
    /// State or province of the record before or after the change.
    state: Option<StateCode>,
    /// Kind of record.
    #[param(inline)]
    kind: Option<RecordKind>,
    /// Kind of change.
    #[param(inline)]
    change: Option<ChangeKind>,
}

impl Filter {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        Ok(Self {
            npa: params.parse("npa")?,
            ocn: params.parse("ocn")?,
            state: params.parse("state")?,
            kind: params.parse_variant("kind")?,
            change: params.parse_variant("change")?,
        })
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns `false` if no change with these keys can match.
    pub fn may_match(&self, keys: &ChangedKeys) -> bool {
        let is_in = |key: RecordKey| self.npa.is_none_or(|npa| key.is_in_area_code(npa));
        let is_kind = |key: RecordKey| self.kind.is_none_or(|kind| RecordKind::from(key) == kind);
        let has_change = |existed: bool| match self.change {
            None => true,
            Some(ChangeKind::Added) => !existed,
            Some(ChangeKind::Removed | ChangeKind::Changed) => existed,
        };
        keys.iter().any(|(key, existed)| is_in(key) && is_kind(key) && has_change(existed))
    }

    pub fn matches(&self, pair: &RecordPair) -> bool {
        self.npa.is_none_or(|npa| pair.key.is_in_area_code(npa))
            && self.ocn.is_none_or(|ocn| pair.concerns_carrier(ocn))
            && self.state.is_none_or(|state| pair.is_in_state(state))
            && self.kind.is_none_or(|kind| RecordKind::from(pair.key) == kind)
            && self.change.is_none_or(|change| pair.change() == Some(change))
    }
}

impl fmt::Display for Filter {
    /// A title for the changes that match.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { npa, ocn, state, kind, change } = self;
        let parts = [
            npa.map(|npa| format!("area code {npa}")),
            ocn.map(|ocn| format!("carrier {ocn}")),
            state.map(|state| format!("state {state}")),
            kind.map(|kind| format!("kind {kind}")),
            change.map(|change| format!("only {change}")),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            f.write_str("Numbering changes")
        } else {
            write!(f, "Numbering changes: {}", parts.join(", "))
        }
    }
}

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

    /// Returns the history, and the position of the publication to start from.
    pub async fn find(self, app: &App) -> Result<(Arc<History>, usize), ApiError> {
        let history = app.history().await?;
        if let Some(position) = self.position_in(&history, Timestamp::now()) {
            return Ok((history, position));
        }
        // Another container may have returned a version that this one does not know yet. This reads the manifest again.
        let history = match &self.since {
            Some(Start::Version(version)) => {
                app.dataset.version(version.as_str()).await?;
                app.history().await?
            }
            _ => history,
        };
        match self.position_in(&history, Timestamp::now()) {
            Some(position) => Ok((history, position)),
            None => Err(self.not_in_history_error(&history)),
        }
    }

    /// The position of the first publication; `None` if it is not in the history.
    pub(super) fn position_in(&self, history: &History, now: Timestamp) -> Option<usize> {
        // The readable part of the history may start later.
        let first = || history.gap().is_none().then_some(0);
        match &self.since {
            None => history.position_at(now - (24 * DEFAULT_DAYS).hours()).or_else(first),
            Some(Start::Version(version)) => history.position_of(version),
            Some(Start::Time(time)) => history.position_at(time.start).or_else(|| {
                // The history starts on that day.
                first().filter(|_| history.start().at <= time.end)
            }),
        }
    }

    fn not_in_history_error(&self, history: &History) -> ApiError {
        if let Err(error) = history.check_complete() {
            return error.into();
        }
        let start = history.start().at;
        let message = match &self.since {
            Some(Start::Time(PastTime { text, .. })) => {
                format!("since must be {start} or later, when the history begins, got '{text}'")
            }
            Some(Start::Version(version)) => format!(
                "since must be a version in the history, which begins at {start}, got '{}'",
                quote(version.as_str())
            ),
            // Only a history with a gap has no default start.
            None => format!("since must be {start} or later, when the history begins"),
        };
        ApiError::invalid_param("since", message)
    }
}
