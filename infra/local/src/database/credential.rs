//! The credential without which the embedded database of a folder answers nobody.

use std::{fs, io, path::Path};

use axum::http::{HeaderMap, header::AUTHORIZATION};
use rand::{RngExt, distr::Alphanumeric};

use crate::database::{data_folder::CREDENTIAL_FILE, private_file};

/// The random characters of a credential, which are 190 bits.
const CHARACTERS: usize = 32;
/// The variable that holds the credential for other programs.
const VARIABLE: &str = "AWS_ACCESS_KEY_ID";

/// A random access key id. Clients of DynamoDB send theirs with each request, so it serves as a
/// password: whoever knows it may use the database. Signatures are not verified, since only
/// processes of this machine reach the database. Its `Debug` form would be a way into a log, so there
/// is none.
#[derive(Clone)]
pub struct Credential(String);

impl Credential {
    pub fn random() -> Self {
        Self(rand::rng().sample_iter(Alphanumeric).take(CHARACTERS).map(char::from).collect())
    }

    /// The credential of a folder; `None` if nobody has served it yet.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(CREDENTIAL_FILE)).ok()?;
        let values = text.lines().filter_map(|line| line.split_once('='));
        let mut ids = values.filter(|(name, _)| *name == VARIABLE).map(|(_, value)| value);
        ids.next().filter(|id| id.len() == CHARACTERS).map(|id| Self(id.to_owned()))
    }

    /// Writes the credential into the folder, as the variables by which clients of DynamoDB find the
    /// database and log in to it. Only the user who owns the folder can read it.
    pub fn write_into(&self, folder: &Path, endpoint: &str) -> io::Result<()> {
        let Self(id) = self;
        let variables = format!(
            "AWS_ENDPOINT_URL_DYNAMODB={endpoint}\nAWS_REGION=us-east-1\n{VARIABLE}={id}\n\
             AWS_SECRET_ACCESS_KEY=unused\n"
        );
        private_file::replace(&folder.join(CREDENTIAL_FILE), &variables)
    }

    /// The access key id to sign requests with.
    pub fn access_key_id(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the request is signed with this credential.
    pub fn has_signed(&self, headers: &HeaderMap) -> bool {
        // `AWS4-HMAC-SHA256 Credential=ID/20261101/us-east-1/dynamodb/aws4_request, …`
        let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let scope = authorization.and_then(|text| text.split_once("Credential="));
        scope.and_then(|(_, scope)| scope.split('/').next()).is_some_and(|id| id == self.0)
    }
}
