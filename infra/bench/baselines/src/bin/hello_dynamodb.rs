//! A function that reads one DynamoDB item per request, with the client from the AWS documentation.

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::{Client, types::AttributeValue};
use lambda_http::{Error, IntoResponse, Request, run, service_fn};
use serde_json::json;

/// The exchanges table, and one of its items.
const TABLE: &str = "exchanges";
const NPA_NXX: &str = "212#234";

#[tokio::main]
async fn main() -> Result<(), Error> {
    let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
    let client = Client::new(&config);
    run(service_fn(|_: Request| read_exchange(&client))).await
}

async fn read_exchange(client: &Client) -> Result<impl IntoResponse, Error> {
    let key = AttributeValue::S(NPA_NXX.to_owned());
    let output = client.get_item().table_name(TABLE).key("npa_nxx", key).send().await?;
    let attributes = output.item.ok_or("the exchange does not exist")?.len();
    Ok(json!({ "attributes": attributes }))
}
