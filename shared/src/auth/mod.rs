//! Authentication: the key of a request, and whether it is live (spec section 5); and whether a request
//! came through the address at which the API is published.

mod api_key;
mod charge;
mod key_ring;
pub(crate) mod middleware;
pub(crate) mod origin_secrets;

pub use api_key::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS, START_OF_KEY};
pub use charge::Charge;
pub use key_ring::KeyRing;
pub use origin_secrets::{ORIGIN_SECRET, OriginSecrets};
