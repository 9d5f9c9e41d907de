//! A dataset as bytes: encoded by postcard, compressed by zstd.

use super::Dataset;

/// The first byte of a snapshot. It names the layout of the others, so that a release of the
/// service refuses a layout that it would misread.
const LAYOUT: u8 = 3;
/// The level of zstd. It is high because a snapshot is written once and read by every container.
const LEVEL: i32 = 17;

/// Why bytes are no snapshot that this release can read, or a snapshot could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DamagedSnapshot {
    #[error("it is empty")]
    Empty,
    #[error("its layout is {0}, and this release reads {LAYOUT}")]
    Layout(u8),
    #[error("it cannot be compressed or decompressed")]
    Compression(#[from] std::io::Error),
    #[error("it cannot be encoded or decoded")]
    Encoding(#[from] postcard::Error),
}

impl Dataset {
    /// The snapshot of this dataset; the same dataset always gives the same bytes.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory to compress it.
    pub fn pack(&self) -> Result<Vec<u8>, DamagedSnapshot> {
        let mut bytes = vec![LAYOUT];
        bytes.extend(zstd::encode_all(postcard::to_stdvec(self)?.as_slice(), LEVEL)?);
        Ok(bytes)
    }

    /// Reads a snapshot back.
    ///
    /// # Errors
    /// Returns an error if [`Dataset::pack`] of this layout did not write the bytes.
    pub fn unpack(bytes: &[u8]) -> Result<Self, DamagedSnapshot> {
        match bytes.split_first() {
            Some((&LAYOUT, compressed)) => {
                Ok(postcard::from_bytes(&zstd::decode_all(compressed)?)?)
            }
            Some((&layout, _)) => Err(DamagedSnapshot::Layout(layout)),
            None => Err(DamagedSnapshot::Empty),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::tests::example;

    #[test]
    fn a_packed_dataset_unpacks_the_same() {
        let dataset = example();
        let bytes = dataset.pack().unwrap();
        assert_eq!(Dataset::unpack(&bytes).unwrap(), dataset);
        assert_eq!(bytes, example().pack().unwrap());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = example().pack().unwrap();
        assert!(matches!(Dataset::unpack(&[]), Err(DamagedSnapshot::Empty)));
        assert!(matches!(Dataset::unpack(&[9, 9]), Err(DamagedSnapshot::Layout(9))));
        assert!(Dataset::unpack(&bytes[..bytes.len() - 1]).is_err());
    }
}
