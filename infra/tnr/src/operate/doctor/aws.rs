//! Calls to AWS services with the Query protocol (forms in, XML out).

use std::time::Duration;

use form_urlencoded::Serializer;
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use signed_requests::{AwsAccount, CallError, MAX_RESPONSE_BYTES, Service, first_bytes};

use crate::{CliError, error::Context};

const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls an operation, and returns its result as [`xml_to_json`] converts it.
pub async fn query(
    account: &AwsAccount,
    (service, version): (Service, &str),
    action: &str,
    parameters: &[(String, String)],
) -> Result<Value, CliError> {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let body = form.finish().into_bytes();
    let failed = || format!("{action} failed");
    let response = account.call(service, Method::POST, "/", &headers, body, CALL_TIMEOUT).await;
    let response = match response {
        Err(CallError::Refused { body, .. }) => {
            let reason = xml_to_json(&body).map_or(body, |document| {
                let error = &document["Error"];
                format!("{}: {}", text(error, "Code"), text(error, "Message"))
            });
            return Err(CliError::io(failed())(reason));
        }
        response => response.context(failed())?,
    };
    let xml = first_bytes(response, MAX_RESPONSE_BYTES).await.context(failed())?;
    let mut document = xml_to_json(&String::from_utf8_lossy(&xml)).context(failed())?;
    Ok(document[format!("{action}Result")].take())
}

/// Converts an XML document's root element to objects, arrays of `member`s, and strings. Ignores
/// namespaces, which differ by service.
fn xml_to_json(xml: &str) -> Result<Value, roxmltree::Error> {
    fn to_json(node: Node<'_, '_>) -> Value {
        let children = || node.children().filter(Node::is_element);
        if children().any(|child| child.tag_name().name() == "member") {
            return children().map(to_json).collect();
        }
        if children().next().is_none() {
            return json!(node.text());
        }
        children().map(|child| (child.tag_name().name().to_owned(), to_json(child))).collect()
    }
    Ok(to_json(Document::parse(xml)?.root_element()))
}

pub fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

/// The members of a list; empty if the list is missing.
pub fn members<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map_or(&[], Vec::as_slice)
}
