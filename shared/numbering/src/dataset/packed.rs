//! A dataset as bytes: postcard for the shape, zstd for the size.

use super::Dataset;

/// Says which layout follows, so that an older reader refuses what it would misread.
const LAYOUT: u8 = 3;
/// zstd's level: the snapshot is written once and read by every container.
const LEVEL: i32 = 17;

/// Bytes that are no snapshot of this version of the service.
#[derive(Debug, thiserror::Error)]
pub enum DamagedSnapshot {
    #[error("its layout is {0:?}, this version reads {LAYOUT}")]
    Layout(Option<u8>),
    #[error("it cannot be decompressed: {0}")]
    Compression(#[from] std::io::Error),
    #[error("it cannot be decoded: {0}")]
    Encoding(#[from] postcard::Error),
}

impl Dataset {
    /// The snapshot of this dataset; the same dataset always gives the same bytes.
    ///
    /// # Errors
    /// Where there is no memory left to compress into.
    pub fn pack(&self) -> Result<Vec<u8>, DamagedSnapshot> {
        let mut bytes = vec![LAYOUT];
        bytes.extend(zstd::encode_all(postcard::to_stdvec(self)?.as_slice(), LEVEL)?);
        Ok(bytes)
    }

    /// Reads a snapshot back.
    ///
    /// # Errors
    /// Where the bytes are not what [`Dataset::pack`] of this layout wrote.
    pub fn unpack(bytes: &[u8]) -> Result<Self, DamagedSnapshot> {
        match bytes.split_first() {
            Some((&LAYOUT, compressed)) => {
                Ok(postcard::from_bytes(&zstd::decode_all(compressed)?)?)
            }
            other => Err(DamagedSnapshot::Layout(other.map(|(&layout, _)| layout))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::tests::example;

    #[test]
    fn what_was_packed_unpacks_the_same() {
        let dataset = example();
        let bytes = dataset.pack().unwrap();
        assert_eq!(Dataset::unpack(&bytes).unwrap(), dataset);
        assert_eq!(bytes, example().pack().unwrap());
    }

    #[test]
    fn refuses_damaged_bytes() {
        let bytes = example().pack().unwrap();
        assert!(matches!(Dataset::unpack(&[]), Err(DamagedSnapshot::Layout(None))));
        assert!(matches!(Dataset::unpack(&[9, 9]), Err(DamagedSnapshot::Layout(Some(9)))));
        assert!(Dataset::unpack(&bytes[..bytes.len() - 1]).is_err());
    }
}
