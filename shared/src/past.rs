//! The history of the data, and records as they were.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures_util::future::try_join_all;
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{Record, RecordKey},
};
use store::{History, LoadedVersion, PastChange};

use crate::{errors::ApiError, lookup::record_version, past_time::PastTime, state::App};

impl App {
    /// The history up to the current version, as of the last read of the manifest.
    pub async fn history(&self) -> Result<Arc<History>, ApiError> {
        self.dataset.get().await?;
        let (_, manifest) = self.dataset.in_memory().ok_or(ApiError::Unavailable)?;
        Ok(self.history_cache.get(&manifest.publication).await?)
    }

    /// The data for a request about one record, as it was. Unless that is the current version, the dataset contains only
    /// the record, its area code with overlays, for an area code its exchanges, and the carriers that hold any of them.
    pub async fn dataset_as_of(
        &self,
        time: &PastTime,
        key: RecordKey,
    ) -> Result<PastVersion, ApiError> {
        let history = self.history().await?;
        let position = history.position_at(time.end).ok_or_else(|| before_start(&history, time))?;
        let current = self.dataset.version(history.current().version.as_str()).await?;
        let LoadedVersion { mut version, mut dataset } = current.ok_or(ApiError::Unavailable)?;
        let mut published_at = history.current().at;
        if let Some(next) = history.differences_after(position).first() {
            let past = Past { app: self, history: &history, position, current: &dataset };
            dataset = Arc::new(past.dataset(key).await?);
            (version, published_at) = (next.predecessor.version.clone(), next.predecessor.at);
        }
        record_version(&version);
        Ok(PastVersion { dataset, published_at })
    }
}

/// The data at a time in the past.
pub struct PastVersion {
    pub dataset: Arc<Dataset>,
    pub published_at: Timestamp,
}

fn before_start(history: &History, time: &PastTime) -> ApiError {
    let start = history.start().at;
    ApiError::invalid(format!(
        "as_of must be {start} or later, when the history begins, got '{}'",
        time.text
    ))
}

/// Reads records as they were after a publication.
struct Past<'a> {
    app: &'a App,
    history: &'a History,
    position: usize,
    current: &'a Dataset,
}

/// Records by key.
type Records = BTreeMap<RecordKey, Record>;

impl Past<'_> {
    async fn dataset(&self, key: RecordKey) -> Result<Dataset, ApiError> {
        let mut records = match key {
            RecordKey::Carrier(_) => self.records(&[key]).await?,
            RecordKey::Exchange(npa_nxx) => {
                self.records(&[key, RecordKey::AreaCode(npa_nxx.npa)]).await?
            }
            RecordKey::AreaCode(npa) => {
                let area_code = self.current.area_code(npa).map(Record::AreaCode);
                let exchanges = self.current.exchanges_in(npa).map(Record::Exchange);
                let current = area_code.into_iter().chain(exchanges);
                let mut records: Records = current.map(|record| (record.key(), record)).collect();
                let (store, history) = (&self.app.store, self.history);
                let changes = store.first_changes_in(history, self.position, npa).await?;
                undo(&mut records, changes);
                records
            }
        };
        let found: BTreeSet<RecordKey> = records.keys().copied().collect();
        let related: BTreeSet<RecordKey> = records.values().flat_map(related).collect();
        let related: Vec<RecordKey> = related.difference(&found).copied().collect();
        records.append(&mut self.records(&related).await?);
        let own = match key {
            RecordKey::Exchange(npa_nxx) => RecordKey::AreaCode(npa_nxx.npa),
            other => other,
        };
        // A code that is in no map of time zones has those of its state's other codes, here as they are now.
        let others: Vec<Record> = match records.get(&own) {
            Some(Record::AreaCode(area_code)) => {
                let others = self.current.area_codes();
                let others = others.filter(|it| !it.states.is_disjoint(&area_code.states));
                let others = others.map(Record::AreaCode);
                others.filter(|it| it.key() != own && !related.contains(&it.key())).collect()
            }
            _ => Vec::new(),
        };
        Ok(Dataset::from_records(records.into_values().chain(others)))
    }

    /// The records with these keys.
    async fn records(&self, keys: &[RecordKey]) -> Result<Records, ApiError> {
        let (store, history) = (&self.app.store, self.history);
        let changes = keys.iter().map(|&key| store.first_change_after(history, self.position, key));
        let changes = try_join_all(changes).await?;
        let current = keys.iter().filter_map(|&key| Some((key, self.current.record(key)?)));
        let mut records = Records::from_iter(current);
        undo(&mut records, changes.into_iter().flatten());
        Ok(records)
    }
}

/// The records that determine more about a record: an exchange's holders, and the area codes with the same area, whose
/// time zones apply.
fn related(record: &Record) -> Vec<RecordKey> {
    match record {
        Record::Carrier(_) => Vec::new(),
        Record::AreaCode(area_code) => {
            area_code.plan.overlay.iter().copied().map(RecordKey::AreaCode).collect()
        }
        Record::Exchange(exchange) => exchange.ocns().map(RecordKey::Carrier).collect(),
    }
}

/// Undoes changes, at most one for each record.
fn undo(records: &mut Records, changes: impl IntoIterator<Item = PastChange>) {
    for PastChange { pair, .. } in changes {
        match pair.before {
            Some(before) => _ = records.insert(pair.key, before),
            None => _ = records.remove(&pair.key),
        }
    }
}
