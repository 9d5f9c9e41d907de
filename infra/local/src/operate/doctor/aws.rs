//! Calls to Lambda, and to AWS services with the Query protocol (forms in, XML out).

use std::time::Duration;

use form_urlencoded::Serializer;
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use signed_requests::{AwsAccount, CallError, MAX_ANSWER_BYTES, Service, first_bytes};

use super::examined::{ExaminationError, Examined};

/// Timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Calls a Query protocol operation and returns its result, as [`json_of_xml`].
pub async fn query(
    account: &AwsAccount,
    service: Service,
    version: &str,
    action: &'static str,
    parameters: &[(String, String)],
) -> Examined<Value> {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let body = form.finish().into_bytes();
    let answer = account.call(service, Method::POST, "/", &headers, body, CALL_TIMEOUT).await;
    let xml = text_of(answer, action).await?;
    let mut answer = json_of_xml(&xml).map_err(unreadable(action))?;
    Ok(answer[format!("{action}Result")].take())
}

/// Reads a Lambda resource.
pub async fn get_json(
    account: &AwsAccount,
    operation: &'static str,
    path: &str,
) -> Examined<Value> {
    let (service, method) = (Service::Lambda, Method::GET);
    let answer = account.call(service, method, path, &[], Vec::new(), CALL_TIMEOUT).await;
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
    if let Ok(answer) = json_of_xml(body) {
        let error = &answer["Error"];
        return Some((text(error, "Code")?.to_owned(), text_or_empty(error, "Message")));
    }
    let error: Value = serde_json::from_str(body).ok()?;
    let message = text(&error, "message").or_else(|| text(&error, "Message"))?;
    // REST errors are named in a header, which is gone here; the message is enough.
    let is_denial = message.contains("not authorized to perform");
    let code = text(&error, "__type").unwrap_or(if is_denial { "AccessDenied" } else { "Error" });
    Some((code.rsplit('#').next().unwrap_or(code).to_owned(), message.to_owned()))
}

/// The content of an XML document's root element: objects, lists of `member`s, and texts. Namespaces are ignored, since
/// they differ by service.
pub fn json_of_xml(xml: &str) -> Result<Value, roxmltree::Error> {
    fn json_of(node: Node<'_, '_>) -> Value {
        let children = || node.children().filter(Node::is_element);
        if children().any(|child| child.tag_name().name() == "member") {
            return children().map(json_of).collect();
        }
        if children().next().is_none() {
            return json!(node.text());
        }
        children().map(|child| (child.tag_name().name().to_owned(), json_of(child))).collect()
    }
    Ok(json_of(Document::parse(xml)?.root_element()))
}

/// The text of a field; `None` if missing or empty.
pub fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object[name].as_str()
}

/// The text of a field, or an empty one.
pub fn text_or_empty(object: &Value, name: &str) -> String {
    text(object, name).unwrap_or_default().to_owned()
}

/// The members of a list; none if it is missing or empty.
pub fn members<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map_or(&[], Vec::as_slice)
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
