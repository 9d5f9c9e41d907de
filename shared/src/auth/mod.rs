//! Authentication: the key of a request, and whether it is live (spec section 5).

mod api_key;
mod key_ring;
pub(crate) mod middleware;

pub(crate) use api_key::START_OF_KEY;
pub use api_key::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS};
pub use key_ring::KeyRing;
