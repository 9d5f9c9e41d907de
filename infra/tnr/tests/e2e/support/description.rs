//! Validates the service's responses against its OpenAPI description.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderName, Method, StatusCode,
        header::{CONTENT_ENCODING, CONTENT_TYPE},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use boon::{Compiler, Schemas};
use serde_json::{Value, json};
use tnr::openapi;

use super::{
    endpoints::undocumented_paths,
    template::{DEFAULT_ROUTE, route_for},
};

/// The URL under which the compiler finds the description.
const LOCATION: &str = "https://example.com/openapi.json";

/// Headers for browsers, caches and HTTP itself, which need no description.
const STANDARD_HEADERS: [&str; 9] = [
    "access-control-allow-origin",
    "access-control-expose-headers",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "vary",
    "x-content-type-options",
];

/// The description, with a compiled schema for each body.
struct CompiledDescription {
    description: Value,
    schemas: Schemas,
    /// By path, method, status and content type, each escaped.
    body_schemas: BTreeMap<String, boon::SchemaIndex>,
}

static COMPILED: LazyLock<CompiledDescription> = LazyLock::new(|| compile(openapi::description()));

/// The description without required fields, for responses limited by `fields`.
static WITHOUT_REQUIRED: LazyLock<CompiledDescription> = LazyLock::new(|| {
    let mut description = openapi::description();
    for schema in description["components"]["schemas"].as_object_mut().unwrap().values_mut() {
        schema.as_object_mut().unwrap().remove("required");
    }
    compile(description)
});

fn compile(description: Value) -> CompiledDescription {
    // Closes response enums, which the description leaves open for future values.
    let closed = description.to_string().replace(openapi::KNOWN_VALUES, "enum");
    let mut description: Value = serde_json::from_str(&closed).unwrap();
    forbid_undocumented_fields(&mut description);
    inline_shared_responses(&mut description);
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler.add_resource(LOCATION, description.clone()).unwrap();
    compiler.enable_format_assertions();
    let mut body_schemas = BTreeMap::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                for (content_type, _) in response["content"].as_object().into_iter().flatten() {
                    let pointer = body_schema([path, method, status, content_type]);
                    let location = format!("{LOCATION}#{pointer}");
                    let index = compiler.compile(&location, &mut schemas).unwrap();
                    body_schemas.insert(pointer, index);
                }
            }
        }
    }
    CompiledDescription { description, schemas, body_schemas }
}

static UNDOCUMENTED_PATHS: LazyLock<BTreeSet<String>> = LazyLock::new(undocumented_paths);

/// The JSON pointer to the schema of a response body, escaped for a URL fragment.
fn body_schema(names: [&str; 4]) -> String {
    let [path, method, status, content_type] = names.map(|name| {
        let name = name.replace('~', "~0").replace('/', "~1");
        name.replace('{', "%7B").replace('}', "%7D")
    });
    format!("/paths/{path}/{method}/responses/{status}/content/{content_type}/schema")
}

/// Replaces references to the responses that operations share.
fn inline_shared_responses(description: &mut Value) {
    let shared = description["components"]["responses"].take();
    let items = description["paths"].as_object_mut().unwrap().values_mut();
    for operation in items.flat_map(|item| item.as_object_mut().unwrap().values_mut()) {
        for response in operation["responses"].as_object_mut().unwrap().values_mut() {
            if let Some(reference) = response["$ref"].as_str() {
                *response = shared[reference.rsplit('/').next().unwrap()].clone();
            }
        }
    }
}

/// Closes object schemas, which the description leaves open for future fields. Schemas that are part of
/// another schema stay open, because the outer one is closed.
fn forbid_undocumented_fields(description: &mut Value) {
    let text = description.to_string();
    for (name, schema) in description["components"]["schemas"].as_object_mut().unwrap() {
        let is_part =
            text.contains(&format!(r##""allOf":[{{"$ref":"#/components/schemas/{name}""##));
        let is_object = schema["type"] == "object" || schema["allOf"].is_array();
        if is_object && !is_part {
            schema["unevaluatedProperties"] = json!(false);
        }
    }
}

/// The first violation of the description in the response to a request for `target`.
pub fn violation(
    method: &Method,
    target: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<String> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (route, _) = route_for(path);
    if route == DEFAULT_ROUTE || method == Method::OPTIONS || UNDOCUMENTED_PATHS.contains(&route) {
        return None;
    }
    let path = route.replace("+}", "}");
    let has_fields_parameter = query.split('&').any(|pair| pair.starts_with("fields="));
    let CompiledDescription { description, schemas, body_schemas } =
        if has_fields_parameter { &*WITHOUT_REQUIRED } else { &*COMPILED };
    // Responses to unknown methods are described under `GET`.
    let lowercase = method.as_str().to_lowercase();
    let is_documented = description["paths"][&path][&lowercase].is_object();
    let method = if is_documented { lowercase } else { "get".to_owned() };
    let response = &description["paths"][&path][&method]["responses"][status.as_str()];
    if response.is_null() {
        return Some(format!("{path} has no description of {status} responses"));
    }
    if let Some(name) = undocumented_header(response, headers) {
        return Some(format!("{path} has the undocumented header {name} in {status} responses"));
    }
    if response["content"].is_null() {
        return (!body.is_empty()).then(|| format!("{path} {status} has a body"));
    }
    let Some(content_type) = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap()) else {
        return Some(format!("{path} {status} has no Content-Type"));
    };
    let media_type = content_type.split(';').next().unwrap();
    let pointer = body_schema([&path, &method, status.as_str(), media_type]);
    let Some(&index) = body_schemas.get(&pointer) else {
        return Some(format!("{path} has no description of {status} responses as {content_type}"));
    };
    let parsed = if media_type.ends_with("/json") || media_type.ends_with("+json") {
        serde_json::from_slice(body).ok()
    } else {
        str::from_utf8(body).ok().map(Value::from)
    };
    let Some(body) = parsed else {
        return Some(format!("{path} {status} has a body that is not {content_type}"));
    };
    let error = schemas.validate(&body, index).err()?;
    Some(format!("{path} {status}: {error:#}\n{body}"))
}

fn undocumented_header(response: &Value, headers: &HeaderMap) -> Option<String> {
    let described = response["headers"].as_object().unwrap();
    let is_documented = |name: &str| {
        STANDARD_HEADERS.contains(&name)
            || described.keys().any(|described| described.eq_ignore_ascii_case(name))
    };
    headers.keys().map(HeaderName::as_str).find(|name| !is_documented(name)).map(str::to_owned)
}

/// Replaces a response that violates the description, so that the test fails.
pub async fn enforce(request: Request, next: Next) -> Response {
    let (method, target) = (request.method().clone(), request.uri().to_string());
    let response = next.run(request).await;
    // The compression tests compare compressed with plain bodies.
    if method == Method::HEAD || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let body: Bytes = to_bytes(body, usize::MAX).await.unwrap();
    match violation(&method, &target, parts.status, &parts.headers, &body) {
        None => Response::from_parts(parts, Body::from(body)),
        Some(violation) => {
            eprintln!("a response violates the OpenAPI description: {violation}");
            (StatusCode::IM_A_TEAPOT, violation).into_response()
        }
    }
}
