//! Reports in S3.

use aws_config::BehaviorVersion;
use aws_sdk_s3::Client;
use shared::errors::with_causes;

use super::MOST_FETCHED;

/// The whole object; region and credentials come from the environment.
///
/// # Errors
/// Where it cannot be read or is too large; says why.
pub async fn object(bucket: &str, key: &str) -> Result<Vec<u8>, String> {
    let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let object = client.get_object().bucket(bucket).key(key).send().await;
    let mut body = object.map_err(|error| with_causes(&error))?.body;
    let mut bytes = Vec::new();
    while let Some(part) = body.next().await {
        bytes.extend_from_slice(&part.map_err(|error| with_causes(&error))?);
        if bytes.len() > MOST_FETCHED {
            return Err(format!("it has more than {MOST_FETCHED} bytes"));
        }
    }
    Ok(bytes)
}
