//! A dataset as bytes: its columns, compressed by zstd.

use super::Dataset;

/// The layout of the snapshots that this release writes, and the only one that it reads. It is the
/// first byte of a snapshot, so that no release misreads the bytes of another.
pub const LAYOUT: u8 = 4;
/// The level of zstd. It is high because a snapshot is written once and read by every container.
const LEVEL: i32 = 19;
/// The most bytes of a snapshot that is not compressed. A full numbering plan with all its
/// thousands blocks has about 40 MB.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Why bytes are no snapshot that this release can read, or a snapshot could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DamagedSnapshot {
    #[error("it is empty")]
    Empty,
    #[error("its layout is {0}, and this release reads {LAYOUT}")]
    Layout(u8),
    #[error("it cannot be compressed or decompressed")]
    Compression(#[from] std::io::Error),
    #[error("its length is missing or more than {MOST_BYTES} bytes")]
    Length,
    #[error("its {0} cannot be read")]
    Section(&'static str),
}

impl Dataset {
    /// The snapshot of this dataset; the same dataset always gives the same bytes.
    pub fn pack(&self) -> Result<Vec<u8>, DamagedSnapshot> {
        let mut bytes = vec![LAYOUT];
        bytes.extend((self.body().len() as u32).to_le_bytes());
        bytes.extend(zstd::bulk::compress(self.body(), LEVEL)?);
        Ok(bytes)
    }

    /// Reads a snapshot back.
    ///
    /// # Errors
    /// Returns an error if [`Dataset::pack`] of this layout did not write the bytes.
    pub fn unpack(bytes: &[u8]) -> Result<Self, DamagedSnapshot> {
        match bytes.split_first() {
            Some((&LAYOUT, rest)) => Self::of_body(decompress(rest)?.into()),
            Some((&layout, _)) => Err(DamagedSnapshot::Layout(layout)),
            None => Err(DamagedSnapshot::Empty),
        }
    }
}

/// Decompresses what follows the length that the bytes begin with.
fn decompress(bytes: &[u8]) -> Result<Vec<u8>, DamagedSnapshot> {
    let (&length, compressed) = bytes.split_first_chunk().ok_or(DamagedSnapshot::Length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        return Err(DamagedSnapshot::Length);
    }
    let body = zstd::bulk::decompress(compressed, length)?;
    if body.len() == length { Ok(body) } else { Err(DamagedSnapshot::Length) }
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, civil::Date};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        dataset::{CarrierSearch, Search, tests::pooled_example},
        records::Version,
    };

    fn example() -> Dataset {
        pooled_example().following(&Dataset::default(), Version::new(Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn a_packed_dataset_unpacks_the_same() {
        let dataset = example();
        let unpacked = Dataset::unpack(&dataset.pack().unwrap()).unwrap();
        assert_eq!(unpacked, dataset);
        assert!(unpacked.records().eq(dataset.records()));
        assert_eq!(pooled_example().pack().unwrap(), pooled_example().pack().unwrap());
        assert_ne!(unpacked, pooled_example(), "the versions of records count");
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = example().pack().unwrap();
        assert!(matches!(Dataset::unpack(&[]), Err(DamagedSnapshot::Empty)));
        assert!(matches!(Dataset::unpack(&[9, 9]), Err(DamagedSnapshot::Layout(9))));
        assert!(matches!(
            Dataset::unpack(&[LAYOUT, 255, 255, 255, 255]),
            Err(DamagedSnapshot::Length)
        ));
        for end in 0..bytes.len() {
            assert!(Dataset::unpack(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_body_that_ends_early_or_late_is_refused() {
        let body = example().body().to_vec();
        for end in 0..body.len() {
            assert!(Dataset::of_body(body[..end].to_vec().into()).is_err(), "{end}");
        }
        assert!(Dataset::of_body([body, vec![0]].concat().into()).is_err());
    }

    /// Reads everything that a dataset has, so that a value which the checks let through would
    /// panic.
    fn read_everything(dataset: &Dataset) {
        for record in dataset.records() {
            dataset.last_changed(record.key());
            dataset.record_of(record.key());
        }
        for area_code in dataset.area_codes() {
            dataset.exchanges_of(area_code.npa).count();
            dataset.exchanges_of(area_code.npa).for_each(drop);
        }
        dataset.statistics();
        let texts = ["a", "att mobility", "san", "t-mobile pacific", "m"];
        for day in [Date::constant(2026, 6, 1), Date::constant(2026, 7, 1)] {
            for text in texts {
                let words = Some(text.parse().unwrap());
                let carriers = CarrierSearch { words: words.clone(), ..CarrierSearch::default() };
                dataset.carriers_matching(&carriers).for_each(drop);
                let by_words = Search { words, ..Search::default() };
                let by_name = Search {
                    company: Some(text.parse().unwrap()),
                    nxx: Some("300".parse().unwrap()),
                    ..Search::default()
                };
                let by_place = Search {
                    rate_center: Some(text.parse().unwrap()),
                    country: Some("US".parse().unwrap()),
                    ..Search::default()
                };
                let by_type = Search {
                    carrier_type: Some("WIRELESS".parse().unwrap()),
                    status: Some("ASSIGNED".parse().unwrap()),
                    ..Search::default()
                };
                for search in [by_words, by_name, by_place, by_type] {
                    dataset.search(&search, day).for_each(drop);
                }
            }
        }
        let following = Version::new(Timestamp::UNIX_EPOCH);
        assert!(dataset.pack().is_ok());
        drop(Dataset::default().following(dataset, following));
    }

    /// What may happen to the bytes of a body.
    #[derive(Debug, Clone)]
    enum Damage {
        Change(u8),
        Remove(usize),
        Insert(Vec<u8>),
    }

    fn damage() -> impl Strategy<Value = Damage> {
        let byte = prop_oneof![Just(0), Just(1), Just(255), any::<u8>()];
        prop_oneof![
            4 => byte.prop_map(Damage::Change),
            1 => (1usize..20).prop_map(Damage::Remove),
            1 => proptest::collection::vec(any::<u8>(), 1..20).prop_map(Damage::Insert),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn damaged_columns_never_panic(
            damages in proptest::collection::vec((any::<prop::sample::Index>(), damage()), 1..3),
        ) {
            let mut body = example().body().to_vec();
            for (place, damage) in damages {
                let place = place.index(body.len());
                match damage {
                    Damage::Change(byte) => body[place] = byte,
                    Damage::Remove(count) => {
                        body.drain(place..(place + count).min(body.len()));
                    }
                    Damage::Insert(bytes) => {
                        body.splice(place..place, bytes);
                    }
                }
                if body.is_empty() {
                    break;
                }
            }
            if let Ok(dataset) = Dataset::of_body(body.into()) {
                read_everything(&dataset);
            }
        }
    }
}
