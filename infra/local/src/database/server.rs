//! The embedded database's HTTP server. Any page in a local browser could send it requests, so
//! requests with an `Origin` are rejected. Others need the server's host and its credential.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CONTENT_TYPE, HOST, ORIGIN},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::post,
};
use dynoxide::{Database as Dynoxide, DynoxideError};
use futures_util::{FutureExt as _, TryFutureExt as _, future::pending};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{net::TcpListener, sync::oneshot};

use crate::database::credential::Credential;

/// DynamoDB's request size limit.
const MAX_BODY_BYTES: usize = 16 << 20;
/// The prefix of the operation name in `X-Amz-Target`.
const TARGET_PREFIX: &str = "DynamoDB_20120810.";

struct AccessRules {
    address: SocketAddr,
    /// `None` for a public database.
    credential: Option<Credential>,
}

/// Serves the database until stopped, then finishes in-flight requests.
pub async fn serve(
    listener: TcpListener,
    database: Dynoxide,
    credential: Option<Credential>,
    stop: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let rules = Arc::new(AccessRules { address: listener.local_addr()?, credential });
    let router = Router::new()
        .route("/", post(handle))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(rules, admit))
        .with_state(database);
    // Dropping the database without closing it does not stop the server.
    let stopped = stop.or_else(|_| pending::<Result<(), ()>>());
    axum::serve(listener, router).with_graceful_shutdown(stopped.map(drop)).await
}

async fn admit(State(rules): State<Arc<AccessRules>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    if headers.contains_key(ORIGIN) {
        let message = "the embedded database rejects requests from web pages";
        return refusal(StatusCode::FORBIDDEN, "AccessDeniedException", message);
    }
    if !rules.matches_host(headers.get(HOST)) {
        let message = "the embedded database accepts requests only at its own address";
        return refusal(StatusCode::FORBIDDEN, "AccessDeniedException", message);
    }
    if rules.credential.as_ref().is_some_and(|credential| !credential.has_signed(headers)) {
        let message = "the access key ID must be this database's, from the file dynamodb.env in \
                       its folder";
        return refusal(StatusCode::BAD_REQUEST, "UnrecognizedClientException", message);
    }
    next.run(request).await
}

impl AccessRules {
    /// Returns `true` if the `Host` header is this server's address. A web page whose domain resolves
    /// to this machine sends that domain.
    fn matches_host(&self, host: Option<&HeaderValue>) -> bool {
        let (address, port) = (self.address, self.address.port());
        let own = [address.to_string(), format!("localhost:{port}")];
        host.is_some_and(|host| own.iter().any(|own| host == own.as_str()))
    }
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
            refusal(StatusCode::BAD_REQUEST, "UnknownOperationException", message)
        }
    }
}

/// Executes an operation; `None` if it is unknown or unused by this service.
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

fn refusal(status: StatusCode, kind: &str, message: &str) -> Response {
    let kind = format!("com.amazonaws.dynamodb.v20120810#{kind}");
    amz_json(status, json!({ "__type": kind, "message": message }).to_string())
}
