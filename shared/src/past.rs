//! Past versions of records.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn, Record, RecordKey},
};
use store::{History, LoadedVersion};

use crate::{
    auth::Charge,
    errors::ApiError,
    lookup::record_version,
    params::invalid_param,
    past_time::{AsOf, PastTime},
    state::App,
};

/// The read units of history per request charged.
const UNITS_PER_REQUEST: f64 = 8.0;
/// The read units per stored change.
const UNITS_PER_RECORD: f64 = 0.5;

/// The exchanges per request charged for all of an area code, since the response needs a dataset of them.
const EXCHANGES_PER_REQUEST: usize = 256;

/// The typical size of a record.
const BYTES_PER_RECORD: usize = 100;

/// The number of requests to charge for reading stored changes.
pub fn price_for_records(records: usize) -> u64 {
    price_for_units(records as f64 * UNITS_PER_RECORD)
}

/// The number of requests to charge for reading the history.
pub fn price_for_units(units: f64) -> u64 {
    (units / UNITS_PER_REQUEST).ceil() as u64
}

impl App {
    /// The history up to the current version, as of the last manifest read.
    pub async fn history(&self) -> Result<Arc<History>, ApiError> {
        let manifest = self.manifest().await?;
        Ok(self.history_cache.get(&manifest).await?)
    }

    /// The data at the requested time; `None` if the request is for current data.
    pub async fn past(&self, as_of: &AsOf) -> Result<Option<Past<'_>>, ApiError> {
        let Some(time) = &as_of.time else { return Ok(None) };
        let history = self.history().await?;
        let Some(position) = history.position_at(time.end) else {
            history.check_complete()?;
            return Err(before_start(&history, time));
        };
        let current = self.dataset.version(history.current().version.as_str()).await?;
        let LoadedVersion { dataset, .. } = current.ok_or(ApiError::Unavailable)?;
        let publication = history.publication(position).unwrap_or(history.current());
        record_version(&publication.version);
        let published_at = publication.at;
        let (charge, read) = (as_of.charge.clone(), AtomicUsize::default());
        Ok(Some(Past {
            app: self,
            history,
            position,
            current: dataset,
            published_at,
            charge,
            read,
        }))
    }
}

fn before_start(history: &History, time: &PastTime) -> ApiError {
    let start = history.start().at;
    invalid_param("as_of", &time.text, format!("must be {start} or later, when the history begins"))
}

/// The data as of a publication. The publications list the records that they changed, so only records that differ from
/// the current ones are read, and only when needed.
pub struct Past<'a> {
    app: &'a App,
    history: Arc<History>,
    position: usize,
    current: Arc<Dataset>,
    pub published_at: Timestamp,
    /// Charged for the records.
    charge: Charge,
    /// The number of records read so far.
    read: AtomicUsize,
}

pub type Records = BTreeMap<RecordKey, Record>;

impl Past<'_> {
    /// Returns `true` if the record with this key existed. Does not read the history table.
    pub fn existed(&self, key: RecordKey) -> bool {
        match self.history.first_change_after(self.position, key) {
            Some((_, existed)) => existed,
            None => self.current.record(key).is_some(),
        }
    }

    /// The exchanges that existed in an area code. Does not read the history table.
    pub fn exchanges_in(&self, npa: Npa) -> Vec<NpaNxx> {
        let current = self.current.exchange_codes_in(npa).map(|npa_nxx| (npa_nxx, true));
        let mut existed: BTreeMap<NpaNxx, bool> = current.collect();
        existed.append(&mut self.history.exchanges_changed_after(self.position, npa));
        existed.into_iter().filter_map(|(npa_nxx, existed)| existed.then_some(npa_nxx)).collect()
    }

    pub async fn carrier(&self, ocn: Ocn) -> Result<Option<Carrier>, ApiError> {
        let key = RecordKey::Carrier(ocn);
        match self.records([key]).await?.remove(&key) {
            Some(Record::Carrier(carrier)) => Ok(Some(carrier)),
            _ => Ok(None),
        }
    }

    pub async fn exchange(&self, npa_nxx: NpaNxx) -> Result<Option<Exchange>, ApiError> {
        let key = RecordKey::Exchange(npa_nxx);
        match self.records([key]).await?.remove(&key) {
            Some(Record::Exchange(exchange)) => Ok(Some(exchange)),
            _ => Ok(None),
        }
    }

    /// The records with these keys that existed. Charges for those that differ from the current ones, and reads them.
    pub async fn records(
        &self,
        keys: impl IntoIterator<Item = RecordKey>,
    ) -> Result<Records, ApiError> {
        let (mut records, mut changed) = (Records::new(), Vec::new());
        for key in keys {
            match self.history.first_change_after(self.position, key) {
                Some((position, true)) => changed.push((position, key)),
                Some((_, false)) => (),
                None => records.extend(self.current.record(key).map(|record| (key, record))),
            }
        }
        let read = self.read.fetch_add(changed.len(), Ordering::Relaxed) + changed.len();
        self.charge.raise_to(price_for_records(read)).await?;
        let pairs = self.app.store.changes(&self.history, &changed).await;
        let pairs = self.app.history_cache.check(pairs)?;
        records.extend(pairs.into_iter().filter_map(|pair| Some((pair.key, pair.before?))));
        Ok(records)
    }

    /// A dataset with everything that determines a record: the record, its area code with overlays, an area code's
    /// exchanges, and the carriers that hold any of them.
    pub async fn dataset(&self, key: RecordKey) -> Result<Arc<Dataset>, ApiError> {
        if self.history.differences_after(self.position).is_empty() {
            return Ok(Arc::clone(&self.current));
        }
        let (own, exchanges) = match key {
            RecordKey::AreaCode(npa) => (key, self.exchanges_in(npa)),
            RecordKey::Exchange(npa_nxx) => (RecordKey::AreaCode(npa_nxx.npa), vec![npa_nxx]),
            RecordKey::Carrier(_) => (key, Vec::new()),
        };
        self.charge.raise_to(exchanges.len().div_ceil(EXCHANGES_PER_REQUEST) as u64).await?;
        let exchanges = exchanges.into_iter().map(RecordKey::Exchange);
        let mut records = self.records([own].into_iter().chain(exchanges)).await?;
        let found: BTreeSet<RecordKey> = records.keys().copied().collect();
        let related: BTreeSet<RecordKey> = records.values().flat_map(related).collect();
        records.append(&mut self.records(related.difference(&found).copied()).await?);
        // A code that the time zone map lacks gets the zones of its state's other codes, as they are now.
        if let Some(Record::AreaCode(area_code)) = records.get(&own) {
            let is_other = |it: &AreaCode| !it.states.is_disjoint(&area_code.states);
            let others = self.current.area_codes().filter(is_other);
            let others = others.map(|it| (RecordKey::AreaCode(it.npa), Record::AreaCode(it)));
            let is_missing = |key| key != own && !related.contains(&key);
            let others: Vec<_> = others.filter(|(key, _)| is_missing(*key)).collect();
            records.extend(others);
        }
        let bytes = records.len() * BYTES_PER_RECORD;
        let records = records.into_values();
        Ok(Arc::new(self.app.heavy_work.run(bytes, || Dataset::from_records(records)).await?))
    }
}

/// Other records that this record depends on: an exchange's holders, and the overlay codes whose time zones apply to an
/// area code.
fn related(record: &Record) -> Vec<RecordKey> {
    match record {
        Record::Carrier(_) => Vec::new(),
        Record::AreaCode(area_code) => {
            area_code.plan.overlay.iter().copied().map(RecordKey::AreaCode).collect()
        }
        Record::Exchange(exchange) => exchange.ocns().map(RecordKey::Carrier).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_records_or_eight_read_units_cost_a_request() {
        assert_eq!([0, 1, 16, 17, 32].map(price_for_records), [0, 1, 1, 2, 2]);
        assert_eq!([0.0, 0.5, 8.0, 8.5].map(price_for_units), [0, 1, 1, 2]);
    }
}
