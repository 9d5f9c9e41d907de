//! The credential that a folder's embedded database requires.

use std::{fs, io, path::Path};

use axum::http::{HeaderMap, header::AUTHORIZATION};
use rand::distr::{Alphanumeric, SampleString as _};

use crate::database::data_folder::{CREDENTIAL_FILE, replace_private};

/// The length of a credential: 190 random bits.
const CHARACTERS: usize = 32;
const VARIABLE: &str = "AWS_ACCESS_KEY_ID";

/// A random access key ID that serves as a password. DynamoDB clients send it with each request.
/// Signatures are not verified, because only processes on this machine can reach the database.
/// It does not implement `Debug`, so it cannot leak into a log.
#[derive(Clone)]
pub struct Credential(String);

impl Credential {
    pub fn random() -> Self {
        Self(Alphanumeric.sample_string(&mut rand::rng(), CHARACTERS))
    }

    /// The folder's credential; `None` if the folder has never been served.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(CREDENTIAL_FILE)).ok()?;
        let values = text.lines().filter_map(|line| line.split_once('='));
        let mut ids = values.filter(|(name, _)| *name == VARIABLE).map(|(_, value)| value);
        ids.next().filter(|id| id.len() == CHARACTERS).map(|id| Self(id.to_owned()))
    }

    /// Writes the credential to the folder, as environment variables for DynamoDB clients.
    pub fn write_to(&self, folder: &Path, endpoint: &str) -> io::Result<()> {
        let Self(id) = self;
        let variables = format!(
            "AWS_ENDPOINT_URL_DYNAMODB={endpoint}\nAWS_REGION=us-east-1\n{VARIABLE}={id}\n\
             AWS_SECRET_ACCESS_KEY=unused\n"
        );
        replace_private(&folder.join(CREDENTIAL_FILE), &variables)
    }

    pub fn access_key_id(&self) -> &str {
        &self.0
    }

    /// Returns `true` if a request with these headers is signed with this credential.
    pub fn has_signed(&self, headers: &HeaderMap) -> bool {
        // `AWS4-HMAC-SHA256 Credential=ID/20261101/us-east-1/dynamodb/aws4_request, …`
        let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let scope = authorization.and_then(|text| text.split_once("Credential="));
        scope.and_then(|(_, scope)| scope.split('/').next()).is_some_and(|id| id == self.0)
    }
}
