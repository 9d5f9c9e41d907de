//! A function that only responds.

use lambda_http::{Error, IntoResponse, Request, run, service_fn};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}

async fn hello(_: Request) -> Result<impl IntoResponse, Error> {
    Ok(json!({ "message": "hello" }))
}
