//! The OpenAPI description. Paths, parameters and schemas come from the routes. This module adds
//! examples, and what the layers around all handlers do.

mod examples;
mod layers;
pub mod sample_requests;

use clap::ValueEnum;
use serde_json::{Map, Value};
use shared::{
    app,
    errors::{ErrorBody, Problem},
    json::change_objects,
};
use utoipa::OpenApi;

use crate::{CliError, routes, terminal};

pub use layers::KNOWN_VALUES;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Telephone Number Reference Service",
        description = "Carrier, area code and exchange data for North America; validation and \
                       formatting for phone numbers worldwide.\n\n\
                       A number's carrier is the one its block is assigned to. The number may have \
                       been ported since then; open data does not show porting.",
        license(name = "MIT", identifier = "MIT")
    ),
    servers((
        url = "{address}", description = "A deployment",
        variables(("address" = (
            default = "http://127.0.0.1:3000",
            description = "Scheme, host and base path, such as `https://api.example.com/numbers`"
        )))
    )),
    external_docs(url = "/docs", description = "Guides, errors and test numbers"),
    tags(
        (name = "Look up", description = "One number, carrier, area code or exchange"),
        (name = "Lists and pages", description = "Carriers, area codes and exchanges by words and filters"),
        (name = "Batches", description = "Many numbers in one request, and numbers in text"),
        (name = "Changes", description = "What imports changed, and the history of a carrier or exchange"),
        (name = "Status", description = "Health, statistics and sources, without a key")
    ),
    components(schemas(ErrorBody, Problem)),
    // Public operations override this.
    security(("bearer" = []), ("header" = []), ("query" = []))
)]
struct Api;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OpenapiVersion {
    #[value(name = "3.1")]
    V3_1,
    #[value(name = "3.0")]
    V3_0,
}

/// The API's OpenAPI 3.1 description.
///
/// # Panics
/// Panics if a route's description is not JSON.
pub fn description() -> Value {
    let openapi = Api::openapi().merge_from(app::openapi(routes()));
    let mut description = serde_json::to_value(openapi).expect("a description is JSON");
    layers::describe(&mut description);
    layers::open_response_enums(&mut description);
    examples::add(&mut description);
    change_objects(&mut description, &mut join_lines);
    description
}

pub fn description_3_0() -> Value {
    site::version_3_0::convert(description())
}

pub fn print(version: OpenapiVersion) -> Result<(), CliError> {
    let description = match version {
        OpenapiVersion::V3_1 => description(),
        OpenapiVersion::V3_0 => description_3_0(),
    };
    terminal::print_raw(&format!("{description:#}\n"))
}

fn operations(description: &mut Value) -> impl Iterator<Item = (&str, &str, &mut Value)> {
    let paths = description["paths"].as_object_mut().expect("a description has paths");
    paths.iter_mut().flat_map(|(path, item)| {
        let operations = item.as_object_mut().into_iter().flatten();
        operations.map(|(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// Returns `true` if an operation needs a key. Public operations override the default security.
pub fn needs_key(operation: &Value) -> bool {
    operation["security"].is_null()
}

/// A component's name in a reference to it.
fn component_name(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or_default()
}

/// Joins the lines of each paragraph in descriptions, which are wrapped in doc comments.
fn join_lines(fields: &mut Map<String, Value>) {
    for name in ["description", "summary"] {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            let paragraphs = text.split("\n\n").map(|lines| lines.replace('\n', " "));
            *text = paragraphs.collect::<Vec<_>>().join("\n\n");
        }
    }
}
