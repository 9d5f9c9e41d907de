//! How many requests a key may make.

use store::KeyRecord;

/// The quotas of a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub per_minute: Option<u64>,
    pub per_day: Option<u64>,
}

impl Limits {
    /// The quotas of `key`; `None` if it has none.
    pub fn of(key: &KeyRecord) -> Option<Self> {
        let (per_minute, per_day) = (key.per_minute.map(u64::from), key.per_day.map(u64::from));
        let has_one = per_minute.is_some() || per_day.is_some();
        has_one.then_some(Self { per_minute, per_day })
    }
}
