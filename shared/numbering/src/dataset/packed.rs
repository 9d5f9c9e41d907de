//! A dataset as bytes: its columns, compressed by zstd.

use super::Dataset;

/// The first byte of a snapshot. It names the layout of the others, so that a release of the
/// service refuses a layout that it would misread.
const LAYOUT: u8 = 4;
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
    ///
    /// # Errors
    /// Returns an error if there is not enough memory to compress it.
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
