//! Bodies of answers from outside, which may never end.

use reqwest::{Error, Response};

/// The most bytes of an answer to an operation of AWS, by far.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Reads the body of a response to its end, but at most its first `max` bytes.
pub async fn first_bytes(mut response: Response, max: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await? {
        let room = max - bytes.len();
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        if bytes.len() == max {
            break;
        }
    }
    Ok(bytes)
}
