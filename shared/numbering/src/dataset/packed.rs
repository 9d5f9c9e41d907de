//! Dataset snapshots: the columns compressed with zstd.

use super::Dataset;

/// The snapshot layout that this release reads and writes. It is a snapshot's first byte, so a release
/// never misreads another layout.
pub const LAYOUT: u8 = 7;
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

impl Dataset {
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
        assert!(matches!(Dataset::unpack(&[9, 9]), Err(SnapshotError::Layout(9))));
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
