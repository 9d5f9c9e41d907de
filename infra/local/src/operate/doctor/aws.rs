//! Calls to Lambda, and to AWS services with the Query protocol (forms in, XML out).

use std::time::Duration;

use form_urlencoded::Serializer;
use roxmltree::{Document, Node};
use serde_json::Value;
use signed_requests::{AwsAccount, CallError, MAX_ANSWER_BYTES, Service, first_bytes};

use super::examined::{ExaminationError, Examined};

/// Timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls a Query protocol operation and returns its XML.
pub async fn query(
    account: &AwsAccount,
    service: Service,
    version: &str,
    action: &'static str,
    parameters: &[(String, String)],
) -> Examined<String> {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let body = form.finish().into_bytes();
    let method = reqwest::Method::POST;
    let answer = account.call(service, method, "/", &headers, body, CALL_TIMEOUT).await;
    text_of(answer, action).await
}

/// Reads a Lambda resource.
pub async fn get_json(
    account: &AwsAccount,
    operation: &'static str,
    path: &str,
) -> Examined<Value> {
    let method = reqwest::Method::GET;
    let answer = account.call(Service::Lambda, method, path, &[], Vec::new(), CALL_TIMEOUT).await;
    serde_json::from_str(&text_of(answer, operation).await?).map_err(unreadable(operation))
}

async fn text_of(
    answer: Result<reqwest::Response, CallError>,
    operation: &'static str,
) -> Examined<String> {
    let response = answer.map_err(|error| match &error {
        CallError::Refused { body, .. } => match error_of(body) {
            Some((code, message)) => ExaminationError::refused(operation, code, message),
            None => ExaminationError::Call(error),
        },
        _ => ExaminationError::Call(error),
    })?;
    let body = first_bytes(response, MAX_ANSWER_BYTES).await.map_err(unreadable(operation))?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Makes an error from an unreadable answer, for `map_err`.
fn unreadable<E: std::error::Error + Send + Sync + 'static>(
    operation: &'static str,
) -> impl FnOnce(E) -> ExaminationError {
    move |error| ExaminationError::Failed {
        what: format!("reading the answer to {operation}"),
        source: error.into(),
    }
}

/// The code and message of an XML or JSON error.
fn error_of(body: &str) -> Option<(String, String)> {
    if let Ok(document) = Document::parse(body) {
        let error = document.descendants().find(|node| node.tag_name().name() == "Error")?;
        return Some((text(error, "Code")?, text(error, "Message").unwrap_or_default()));
    }
    let error: Value = serde_json::from_str(body).ok()?;
    let field = |name: &str| error[name].as_str();
    let message = field("message").or_else(|| field("Message"))?;
    // REST errors are named in a header, which is gone here; the message is enough.
    let is_denial = message.contains("not authorized to perform");
    let code = field("__type").unwrap_or(if is_denial { "AccessDenied" } else { "Error" });
    Some((code.rsplit('#').next().unwrap_or(code).to_owned(), message.to_owned()))
}

/// Parses an operation's XML.
pub fn parse<'a>(operation: &'static str, answer: &'a str) -> Examined<Document<'a>> {
    Document::parse(answer).map_err(unreadable(operation))
}

/// The child element `name`, ignoring its namespace, which differs by service.
fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.tag_name().name() == name)
}

/// The text of the child element `name`; `None` if missing or empty.
pub fn text(node: Node<'_, '_>, name: &str) -> Option<String> {
    child(node, name)?.text().map(ToOwned::to_owned)
}

/// The members of the list `name` in an element.
pub fn members<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Vec<Node<'a, 'input>> {
    let list = child(node, name).into_iter();
    list.flat_map(|list| list.children().filter(Node::is_element)).collect()
}

/// The element with an operation's result.
pub fn result<'a, 'input>(answer: &'a Document<'input>) -> Option<Node<'a, 'input>> {
    answer.root_element().children().find(|child| child.tag_name().name().ends_with("Result"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_parsed_from_xml_and_json() {
        let xml = r#"<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
            <Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error>
            <RequestId>1</RequestId></ErrorResponse>"#;
        assert_eq!(error_of(xml).unwrap(), ("AccessDenied".to_owned(), "no".to_owned()));
        let json = r#"{"__type":"com.amazon#ResourceNotFoundException","message":"none"}"#;
        assert_eq!(error_of(json).unwrap().0, "ResourceNotFoundException");
        let lambda = r#"{"Message":"User: x is not authorized to perform: lambda:GetAlias"}"#;
        assert_eq!(error_of(lambda).unwrap().0, "AccessDenied");
        assert_eq!(error_of("<html>"), None);
    }
}
