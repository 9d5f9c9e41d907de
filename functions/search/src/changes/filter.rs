//! Filters for changes.

use std::fmt;

use numbering::{
    changed_keys::ChangedKeys,
    changes::{ChangeKind, RecordKind, RecordPair},
    records::{Npa, Ocn, RecordKey, StateCode},
};
use shared::{errors::ApiError, params::Params};
use utoipa::IntoParams;

/// A change must match all of them.
#[derive(Debug, Default, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Area code: changes to it, and to its exchanges.
    npa: Option<Npa>,
    /// Operating Company Number: changes to the carrier, and to exchanges that it held before or after.
    ocn: Option<Ocn>,
    /// State or province of the record before or after.
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

    /// Returns `false` if none of the changes with these keys can match.
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
    /// A title for changes that match.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { npa, ocn, state, kind, change } = self;
        let parts = [
            npa.map(|npa| format!("area code {npa}")),
            ocn.map(|ocn| format!("carrier {ocn}")),
            state.map(|state| format!("state {state}")),
            kind.map(|kind| format!("kind {}", kind.name())),
            change.map(|change| format!("only {}", change.name())),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            f.write_str("Numbering changes")
        } else {
            write!(f, "Numbering changes: {}", parts.join(", "))
        }
    }
}
