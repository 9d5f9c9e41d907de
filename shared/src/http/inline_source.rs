use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

/// The hash that allows one inline script or style in a content security policy.
pub fn inline_source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
