//! Calls to AWS services with the Query protocol (forms in, XML out).

use std::time::Duration;

use form_urlencoded::Serializer;
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use signed_requests::{AwsAccount, CallError, MAX_RESPONSE_BYTES, Service, first_bytes};

use super::facts::{FactError, FactResult};

const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls an operation with the Query protocol. [`xml_to_json`] converts the result.
pub async fn query(
    account: &AwsAccount,
    service: Service,
    version: &str,
    action: &'static str,
    parameters: &[(String, String)],
) -> FactResult<Value> {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let body = form.finish().into_bytes();
    let result = account.call(service, Method::POST, "/", &headers, body, CALL_TIMEOUT).await;
    let xml = response_text(result, action).await?;
    let mut document = xml_to_json(&xml).map_err(unreadable(action))?;
    Ok(document[format!("{action}Result")].take())
}

async fn response_text(
    result: Result<reqwest::Response, CallError>,
    operation: &'static str,
) -> FactResult<String> {
    let response = result.map_err(|error| match &error {
        CallError::Refused { body, .. } => match parse_error(body) {
            Some((code, message)) => FactError::refused(operation, code, message),
            None => FactError::Call(error),
        },
        _ => FactError::Call(error),
    })?;
    let body = first_bytes(response, MAX_RESPONSE_BYTES).await.map_err(unreadable(operation))?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Makes an error from an unreadable response, for `map_err`.
fn unreadable<E: std::error::Error + Send + Sync + 'static>(
    operation: &'static str,
) -> impl FnOnce(E) -> FactError {
    move |error| FactError::Failed {
        what: format!("reading the response to {operation}"),
        source: error.into(),
    }
}

fn parse_error(body: &str) -> Option<(String, String)> {
    let document = xml_to_json(body).ok()?;
    let error = &document["Error"];
    Some((text(error, "Code")?.to_owned(), text_or_empty(error, "Message")))
}

/// Converts an XML document's root element to objects, arrays of `member`s, and strings. Ignores
/// namespaces, which differ by service.
pub fn xml_to_json(xml: &str) -> Result<Value, roxmltree::Error> {
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

/// A text field; `None` if missing or empty.
pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object[name].as_str()
}

pub fn text_or_empty(object: &Value, name: &str) -> String {
    text(object, name).unwrap_or_default().to_owned()
}

/// The members of a list; empty if the list is missing.
pub fn members<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_parsed() {
        let xml = r#"<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
            <Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error>
            <RequestId>1</RequestId></ErrorResponse>"#;
        assert_eq!(parse_error(xml).unwrap(), ("AccessDenied".to_owned(), "no".to_owned()));
        assert_eq!(parse_error("<html>"), None);
    }
}
