//! The embedded database's HTTP server. It rejects requests from web pages. Other requests must have its credential.

use std::{fs, io, path::Path};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{
        HeaderMap, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::post,
};
use dynoxide::{Database as Dynoxide, DynoxideError};
use futures_util::{FutureExt as _, TryFutureExt as _, future::pending};
use rand::distr::{Alphanumeric, SampleString as _};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{net::TcpListener, sync::oneshot};

use crate::{
    database::data_folder::{CREDENTIAL_FILE, replace_private},
    web_pages::reject_web_pages,
};

/// The length of a credential: 190 random bits.
const CREDENTIAL_LENGTH: usize = 32;
const CREDENTIAL_VARIABLE: &str = "AWS_ACCESS_KEY_ID";

/// A random access key ID that serves as a password. DynamoDB clients send it with every request.
/// Signatures are not verified, because only processes on this machine can reach the database.
/// It does not implement `Debug`, so that it cannot leak into logs.
#[derive(Clone)]
pub struct Credential(String);

impl Credential {
    pub fn random() -> Self {
        Self(Alphanumeric.sample_string(&mut rand::rng(), CREDENTIAL_LENGTH))
    }

    /// The folder's credential; `None` if the folder has never been served.
    pub fn from_folder(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(CREDENTIAL_FILE)).ok()?;
        let values = text.lines().filter_map(|line| line.split_once('='));
        let mut ids =
            values.filter(|(name, _)| *name == CREDENTIAL_VARIABLE).map(|(_, value)| value);
        ids.next().filter(|id| id.len() == CREDENTIAL_LENGTH).map(|id| Self(id.to_owned()))
    }

    pub fn write_to(&self, folder: &Path, endpoint: &str) -> io::Result<()> {
        let Self(id) = self;
        let variables = format!(
            "AWS_ENDPOINT_URL_DYNAMODB={endpoint}\nAWS_REGION=us-east-1\n{CREDENTIAL_VARIABLE}={id}\n\
             AWS_SECRET_ACCESS_KEY=unused\n"
        );
        replace_private(&folder.join(CREDENTIAL_FILE), &variables)
    }

    pub fn access_key_id(&self) -> &str {
        &self.0
    }

    pub fn has_signed(&self, headers: &HeaderMap) -> bool {
        // `AWS4-HMAC-SHA256 Credential=ID/20261101/us-east-1/dynamodb/aws4_request, …`
        let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let scope = authorization.and_then(|text| text.split_once("Credential="));
        scope.and_then(|(_, scope)| scope.split('/').next()).is_some_and(|id| id == self.0)
    }
}

const MAX_BODY_BYTES: usize = 16 << 20;
/// The text before the operation name in `X-Amz-Target`.
const TARGET_PREFIX: &str = "DynamoDB_20120810.";

/// Serves the database until it is stopped, then finishes in-flight requests. A database without a credential is
/// public.
pub async fn serve(
    listener: TcpListener,
    database: Dynoxide,
    credential: Option<Credential>,
    stop: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let address = listener.local_addr()?.ip();
    let router = Router::new()
        .route("/", post(handle))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(credential, check_credential))
        .layer(from_fn_with_state(address, reject_web_pages))
        .with_state(database);
    // Dropping the database without closing it does not stop the server.
    let stopped = stop.or_else(|_| pending::<Result<(), ()>>());
    axum::serve(listener, router).with_graceful_shutdown(stopped.map(drop)).await
}

async fn check_credential(
    State(credential): State<Option<Credential>>,
    request: Request,
    next: Next,
) -> Response {
    if credential.is_none_or(|credential| credential.has_signed(request.headers())) {
        return next.run(request).await;
    }
    let message =
        "the access key ID must be this database's, from the file dynamodb.env in its folder";
    refusal("UnrecognizedClientException", message)
}

async fn handle(State(database): State<Dynoxide>, headers: HeaderMap, body: String) -> Response {
    let target = headers.get("x-amz-target").and_then(|value| value.to_str().ok());
    let operation = target.and_then(|target| target.strip_prefix(TARGET_PREFIX));
    match operation.and_then(|operation| execute(&database, operation, &body)) {
        Some(Ok(output)) => amz_json(StatusCode::OK, output),
        Some(Err(error)) => {
            let status = StatusCode::from_u16(error.status_code());
            amz_json(status.unwrap_or(StatusCode::BAD_REQUEST), error.to_json())
        }
        None => {
            let message = "the embedded database does not support this operation";
            refusal("UnknownOperationException", message)
        }
    }
}

/// Executes an operation; `None` if it is unknown or this service does not use it.
fn execute(database: &Dynoxide, operation: &str, body: &str) -> Option<dynoxide::Result<String>> {
    Some(match operation {
        "BatchGetItem" => call(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => call(body, |request| database.batch_write_item(request)),
        "CreateTable" => call(body, |request| database.create_table(request)),
        "DeleteItem" => call(body, |request| database.delete_item(request)),
        "DeleteTable" => call(body, |request| database.delete_table(request)),
        "DescribeTable" => call(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => call(body, |request| database.describe_time_to_live(request)),
        "GetItem" => call(body, |request| database.get_item(request)),
        "ListTables" => call(body, |request| database.list_tables(request)),
        "PutItem" => call(body, |request| database.put_item(request)),
        "Query" => call(body, |request| database.query(request)),
        "Scan" => call(body, |request| database.scan(request)),
        "UpdateItem" => call(body, |request| database.update_item(request)),
        "UpdateTable" => call(body, |request| database.update_table(request)),
        "UpdateTimeToLive" => call(body, |request| database.update_time_to_live(request)),
        _ => return None,
    })
}

fn call<Q: DeserializeOwned, A: Serialize>(
    body: &str,
    operation: impl FnOnce(Q) -> dynoxide::Result<A>,
) -> dynoxide::Result<String> {
    let unreadable =
        |error: serde_json::Error| DynoxideError::ValidationException(error.to_string());
    let output = operation(serde_json::from_str(body).map_err(unreadable)?)?;
    serde_json::to_string(&output).map_err(unreadable)
}

fn amz_json(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, "application/x-amz-json-1.0")], body).into_response()
}

fn refusal(kind: &str, message: &str) -> Response {
    let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
    amz_json(StatusCode::BAD_REQUEST, json!({ "__type": kind, "message": message }).to_string())
}
