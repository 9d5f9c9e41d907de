//! API keys for an operator: made, listed, revoked. A key is shown once, when it is made.

use rand::{RngExt, distr::Alphanumeric};
use shared::{
    auth::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS},
    store::{KeyRecord, Store},
    time::this_second,
};

use crate::LocalError;

/// Makes a key, stores its hash and prints it.
///
/// # Errors
/// Where the database refuses it.
pub async fn create(store: &Store, name: &str) -> Result<(), LocalError> {
    let key = random()?;
    register(store, &key, name).await?;
    println!("{}", key.reveal());
    eprintln!("Keep it now: only its hash is stored, and it is not shown again.");
    Ok(())
}

/// A new key of random characters.
///
/// # Errors
/// Never; the form of the key is checked all the same.
pub fn random() -> Result<ApiKey, MalformedKey> {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
    ApiKey::with_secret(&characters.map(char::from).collect::<String>())
}

/// Stores the hash of a key, so that it opens the API. A key that is there already stays as it is.
///
/// # Errors
/// Where the key has been revoked, or the database refuses it.
pub async fn register(store: &Store, key: &ApiKey, name: &str) -> Result<(), LocalError> {
    match store.api_key(&key.hash()).await? {
        Some(known) if known.is_live(this_second()) => return Ok(()),
        Some(_) => return Err(LocalError::DeadKey(key.prefix().to_owned())),
        None => (),
    }
    let record = KeyRecord {
        key_hash: key.hash(),
        prefix: key.prefix().to_owned(),
        name: name.to_owned(),
        created_at: this_second(),
        expires_at: None,
        revoked_at: None,
    };
    Ok(store.put_api_key(&record).await?)
}

/// Prints every key by its prefix.
///
/// # Errors
/// Where the database does not answer.
pub async fn list(store: &Store) -> Result<(), LocalError> {
    let now = this_second();
    println!("{:<16} {:<21} {:<8} NAME", "PREFIX", "CREATED", "STATE");
    for key in store.api_keys().await? {
        let state = match (key.is_live(now), key.revoked_at) {
            (true, _) => "live",
            (false, Some(_)) => "revoked",
            (false, None) => "expired",
        };
        println!("{:<16} {:<21} {state:<8} {}", key.prefix, key.created_at.to_string(), key.name);
    }
    Ok(())
}

/// Revokes the one key whose prefix begins with `prefix`, or that is `prefix` whole.
///
/// # Errors
/// Where none or several keys have the prefix, or the database refuses it.
pub async fn revoke(store: &Store, prefix: &str) -> Result<(), LocalError> {
    let keys = store.api_keys().await?;
    let names = |key: &&KeyRecord| match prefix.parse::<ApiKey>() {
        Ok(whole) => key.key_hash == whole.hash(),
        Err(_) => key.prefix.starts_with(prefix),
    };
    let matching: Vec<_> = keys.iter().filter(names).collect();
    let [key] = matching.as_slice() else {
        // of a whole key given by mistake only what the list shows is repeated
        let shown = prefix.chars().take(PREFIX_CHARACTERS).collect();
        return Err(LocalError::AmbiguousPrefix(matching.len(), shown));
    };
    store.revoke_api_key(&key.key_hash, this_second()).await?;
    println!("Revoked {} ({}); it stops working within a minute.", key.prefix, key.name);
    Ok(())
}
