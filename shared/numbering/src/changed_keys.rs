//! The keys of the records that differ between two versions, packed into about two bytes each.

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::records::{Npa, NpaNxx, Nxx, Ocn, RecordKey};

/// The zstd level. The keys are written once, and read by every container that serves past data.
const LEVEL: i32 = 19;
/// Enough for all possible keys.
const MAX_BYTES: usize = 16 << 20;

/// The sorted keys of the records that differ between two versions, with a flag for records that existed before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedKeys(Vec<u32>);

/// The lowest bit of a packed key is set if the record existed before.
const EXISTED: u32 = 1;
/// The first packed area code. OCNs, whose four characters form a number, come before it.
const AREA_CODES: u32 = 0x6000_0000;
const EXCHANGES: u32 = AREA_CODES + 1000;

/// Packs a key. Packed keys sort like keys.
fn pack(key: RecordKey) -> u32 {
    let code = match key {
        RecordKey::Carrier(ocn) => ocn.number(),
        RecordKey::AreaCode(npa) => AREA_CODES + u32::from(npa.number()),
        RecordKey::Exchange(NpaNxx { npa, nxx }) => {
            EXCHANGES + 1000 * u32::from(npa.number()) + u32::from(nxx.number())
        }
    };
    code << 1
}

fn unpack(packed: u32) -> RecordKey {
    match packed >> 1 {
        code if code >= EXCHANGES => {
            let [npa, nxx] = [(code - EXCHANGES) / 1000, (code - EXCHANGES) % 1000];
            let npa = Npa::from_number(npa as u16);
            RecordKey::Exchange(NpaNxx { npa, nxx: Nxx::from_number(nxx as u16) })
        }
        code if code >= AREA_CODES => {
            RecordKey::AreaCode(Npa::from_number((code - AREA_CODES) as u16))
        }
        code => RecordKey::Carrier(Ocn::from_number(code)),
    }
}

impl ChangedKeys {
    /// Collects keys in any order, with a flag for records that existed before.
    pub fn new(changes: impl IntoIterator<Item = (RecordKey, bool)>) -> Self {
        let packed = |(key, existed)| pack(key) | u32::from(existed);
        let mut keys: Vec<u32> = changes.into_iter().map(packed).collect();
        keys.sort_unstable();
        Self(keys)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All keys, with a flag for records that existed before.
    pub fn iter(&self) -> impl Iterator<Item = (RecordKey, bool)> {
        self.0.iter().map(|&packed| (unpack(packed), packed & EXISTED != 0))
    }

    /// Returns whether the record with this key existed before; `None` if it did not change.
    pub fn existed(&self, key: RecordKey) -> Option<bool> {
        let packed = pack(key);
        let index = self.0.partition_point(|&other| other < packed);
        let found = self.0.get(index).filter(|&&found| found & !EXISTED == packed)?;
        Some(found & EXISTED != 0)
    }

    /// The changed exchanges in an area code, with a flag for those that existed before.
    pub fn exchanges_in(&self, npa: Npa) -> impl Iterator<Item = (NpaNxx, bool)> {
        let packed =
            |number| pack(RecordKey::Exchange(NpaNxx { npa, nxx: Nxx::from_number(number) }));
        let position = |bound: u32| self.0.partition_point(|&key| key < bound);
        let (start, end) = (position(packed(0)), position(packed(999) + 2));
        self.0[start..end].iter().filter_map(|&packed| match unpack(packed) {
            RecordKey::Exchange(npa_nxx) => Some((npa_nxx, packed & EXISTED != 0)),
            _ => None,
        })
    }

    /// Packs the differences between consecutive keys.
    fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let before = [0].iter().chain(&self.0);
        let gaps = self.0.iter().zip(before).map(|(key, before)| key - before);
        let gaps: Vec<u8> = gaps.flat_map(u32::to_le_bytes).collect();
        zstd::bulk::compress(&gaps, LEVEL)
    }

    /// Unpacks the keys; `None` if the bytes are not packed keys. The containing item's checksum detects any other
    /// damage.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let gaps = zstd::bulk::decompress(bytes, MAX_BYTES).ok()?;
        let (gaps, rest) = gaps.as_chunks();
        let keys = gaps.iter().scan(0, |key: &mut u32, gap| {
            *key = key.wrapping_add(u32::from_le_bytes(*gap));
            Some(*key)
        });
        rest.is_empty().then(|| Self(keys.collect()))
    }
}

impl Serialize for ChangedKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for ChangedKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::deserialize(deserializer)?;
        Self::from_bytes(&bytes).ok_or_else(|| de::Error::custom("the keys cannot be unpacked"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and last code of each kind, and some others, in order.
    fn keys_of_every_kind() -> Vec<RecordKey> {
        let carriers = ["0000", "0051", "9ZZZ", "A000", "ZZZZ"];
        let exchanges = ["000-000", "414-999", "415-000", "415-999", "416-000", "999-999"];
        let carriers = carriers.map(|ocn| RecordKey::Carrier(ocn.parse().unwrap()));
        let area_codes = ["000", "999"].map(|npa| RecordKey::AreaCode(npa.parse().unwrap()));
        [&carriers[..], &area_codes, &exchanges.map(exchange)].concat()
    }

    fn exchange(npa_nxx: &str) -> RecordKey {
        RecordKey::Exchange(npa_nxx.parse().unwrap())
    }

    #[test]
    fn keys_round_trip_in_their_order() {
        let all = keys_of_every_kind();
        let changes: Vec<_> = all.into_iter().zip([true, false].into_iter().cycle()).collect();
        let keys = ChangedKeys::new(changes.iter().copied().rev());
        let keys = ChangedKeys::from_bytes(&keys.to_bytes().unwrap()).unwrap();
        assert_eq!(keys.iter().collect::<Vec<_>>(), changes);
        assert!(changes.is_sorted_by_key(|(key, _)| *key));
        assert_eq!((keys.len(), ChangedKeys::default().len()), (changes.len(), 0));
        for (key, existed) in changes {
            assert_eq!(keys.existed(key), Some(existed), "{key}");
        }
        let carrier = RecordKey::Carrier("0001".parse().unwrap());
        let area_code = RecordKey::AreaCode("415".parse().unwrap());
        for missing in [carrier, area_code, exchange("415-001")] {
            assert_eq!(keys.existed(missing), None, "{missing}");
        }
    }

    #[test]
    fn area_code_includes_exchanges_000_to_999() {
        for existed in [false, true] {
            let keys = ChangedKeys::new(keys_of_every_kind().into_iter().map(|key| (key, existed)));
            let found: Vec<_> = keys.exchanges_in("415".parse().unwrap()).collect();
            let expected = ["415-000", "415-999"].map(|it| (it.parse().unwrap(), existed));
            assert_eq!(found, expected);
            assert_eq!(keys.exchanges_in("417".parse().unwrap()).count(), 0);
        }
    }

    #[test]
    fn keys_of_all_exchanges_fit_in_an_item() {
        let all = (0..1_000_000).map(|number| {
            let [npa, nxx] = [number / 1000, number % 1000].map(|code| code as u16);
            let npa_nxx = NpaNxx { npa: Npa::from_number(npa), nxx: Nxx::from_number(nxx) };
            (RecordKey::Exchange(npa_nxx), npa % 2 == 0)
        });
        let bytes = ChangedKeys::new(all).to_bytes().unwrap();
        assert!(bytes.len() < 100_000, "{}", bytes.len());
    }

    #[test]
    fn truncated_and_unrelated_bytes_are_rejected() {
        let keys = ChangedKeys::new(keys_of_every_kind().into_iter().map(|key| (key, true)));
        let bytes = keys.to_bytes().unwrap();
        let truncated = (1..bytes.len()).map(|length| &bytes[..length]);
        let three_bytes = zstd::bulk::compress(&[1, 2, 3], LEVEL).unwrap();
        for bytes in truncated.chain([&three_bytes[..], b"not packed"]) {
            assert_eq!(ChangedKeys::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
