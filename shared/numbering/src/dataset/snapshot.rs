//! Dataset snapshots: the columns built from records, compressed with zstd.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{
    Dataset,
    blocks::Blocks,
    columns::Columns,
    exchanges::{CommonValues, Exchanges},
    names::Names,
    record_versions::RecordVersions,
    tables::{AreaCodes, Carriers},
};
use crate::records::{AreaCode, Carrier, Exchange, LAYOUT};

/// The zstd level. It is high because a snapshot is written once and read by every container.
const LEVEL: i32 = 19;
/// The maximum size of an uncompressed snapshot. A full numbering plan with all thousands blocks takes about 40
/// MB.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// A failure to read or write a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("it is empty")]
    Empty,
    #[error("its layout is {0}, but this release reads {LAYOUT}")]
    Layout(u8),
    #[error("it cannot be compressed or decompressed")]
    Compression(#[from] std::io::Error),
    #[error("its columns cannot be read")]
    Columns,
}

type Tables = (Carriers, AreaCodes, Exchanges, Blocks, Names);

/// Writes or reads records, which must be in order and without duplicates.
fn write_or_read(
    columns: &mut Columns,
    carriers: &[Carrier],
    area_codes: &[AreaCode],
    exchanges: &[Exchange],
) -> Option<Tables> {
    let common = CommonValues::new(carriers, exchanges);
    let carrier_columns = Carriers::write_or_read(columns, carriers)?;
    let area_codes = AreaCodes::write_or_read(columns, area_codes)?;
    let (exchanges, blocks) = Exchanges::write_or_read(columns, exchanges, &common)?;
    let [companies, rate_centers] =
        [&common.companies, &common.rate_centers].map(|it| it.keys().copied());
    let names = Names::write_or_read(columns, companies, rate_centers, &common.words(carriers))?;
    Some((carrier_columns, area_codes, exchanges, blocks, names))
}

impl Dataset {
    /// Builds a dataset from records. Exchanges and thousands blocks get their holder's name and type from the
    /// carrier with the same OCN. Skips blocks with an invalid digit or without such a carrier.
    pub fn new(
        carriers: Vec<Carrier>,
        area_codes: Vec<AreaCode>,
        exchanges: Vec<Exchange>,
    ) -> Self {
        let carriers = sort_and_dedup_by_key(carriers, |carrier| carrier.ocn);
        let area_codes = sort_and_dedup_by_key(area_codes, |area_code| area_code.npa);
        let exchanges = sort_and_dedup_by_key(exchanges, Exchange::npa_nxx);
        Self::written(Vec::new(), |columns| {
            write_or_read(columns, &carriers, &area_codes, &exchanges)?;
            RecordVersions::write_or_read(columns, &[], Vec::new())
        })
    }

    /// Writes columns after a dataset's existing bytes, and reads them all back.
    pub(super) fn written<T>(
        first: Vec<u8>,
        write: impl FnOnce(&mut Columns) -> Option<T>,
    ) -> Self {
        let mut columns = Columns { unread: Bytes::new(), written: Some(first) };
        write(&mut columns);
        let body = columns.written.unwrap_or_default();
        Self::from_body(body.into()).expect("the reader accepts what the writer wrote")
    }

    /// Reads a dataset from its columns; `None` unless they take up exactly these bytes.
    fn from_body(body: Bytes) -> Option<Self> {
        let mut columns = Columns { unread: body.clone(), written: None };
        let tables = write_or_read(&mut columns, &[], &[], &[])?;
        let (carriers, area_codes, exchanges, blocks, names) = tables;
        let versions_start = body.len() - columns.unread.len();
        let last_changed = RecordVersions::write_or_read(&mut columns, &[], Vec::new())?;
        let is_read = columns.unread.is_empty();
        is_read.then_some(Self {
            body,
            versions_start,
            carriers,
            area_codes,
            exchanges,
            blocks,
            names,
            last_changed,
        })
    }

    /// Packs this dataset into a snapshot. Equal datasets produce equal bytes.
    pub fn pack(&self) -> Result<Vec<u8>, SnapshotError> {
        let mut bytes = vec![LAYOUT];
        bytes.extend((self.body.len() as u32).to_le_bytes());
        bytes.extend(zstd::bulk::compress(&self.body, LEVEL)?);
        Ok(bytes)
    }

    /// Unpacks a snapshot. Verify the hash of the bytes first: this only detects other layouts.
    pub fn unpack(bytes: &[u8]) -> Result<Self, SnapshotError> {
        match bytes {
            &[LAYOUT, a, b, c, d, ref compressed @ ..] => {
                let length = u32::from_le_bytes([a, b, c, d]) as usize;
                let body = zstd::bulk::decompress(compressed, length.min(MAX_BYTES))?;
                Self::from_body(body.into()).ok_or(SnapshotError::Columns)
            }
            &[LAYOUT, ..] => Err(SnapshotError::Columns),
            &[layout, ..] => Err(SnapshotError::Layout(layout)),
            [] => Err(SnapshotError::Empty),
        }
    }
}

/// Sorts records by key. If several share a key, the last one wins.
fn sort_and_dedup_by_key<K: Ord, R>(records: Vec<R>, key: impl Fn(&R) -> K) -> Vec<R> {
    let by_key: BTreeMap<K, R> = records.into_iter().map(|record| (key(&record), record)).collect();
    by_key.into_values().collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{dataset::tests::example, records::Version};

    fn example_version() -> Dataset {
        example().into_successor(&Dataset::default(), Version::new(Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn a_packed_dataset_round_trips() {
        let dataset = example_version();
        let unpacked = Dataset::unpack(&dataset.pack().unwrap()).unwrap();
        assert_eq!(unpacked, dataset);
        assert_eq!(example().pack().unwrap(), example().pack().unwrap());
        assert_ne!(unpacked, example(), "record versions are part of a dataset");
    }

    #[test]
    fn other_layouts_and_incomplete_snapshots_are_rejected() {
        let bytes = example_version().pack().unwrap();
        let error = Dataset::unpack(&[LAYOUT + 1, 9]).unwrap_err();
        assert!(matches!(error, SnapshotError::Layout(found) if found == LAYOUT + 1), "{error}");
        for end in 0..bytes.len() {
            assert!(Dataset::unpack(&bytes[..end]).is_err(), "{end}");
        }
        let body = example_version().body.to_vec();
        for end in 0..body.len() {
            assert!(Dataset::from_body(body[..end].to_vec().into()).is_none(), "{end}");
        }
        assert!(Dataset::from_body([body, vec![0]].concat().into()).is_none());
    }
}
