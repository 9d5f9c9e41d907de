//! Prints the OpenAPI description, which is made from the routes themselves.

use shared::{app, errors::ErrorBody};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, OpenApi as Description, Ref, Response as OpenApiResponse,
        security::{
            ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
        },
    },
};

use crate::{LocalError, routes};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Telephone Number Reference Service",
        description = "Who holds a block of North American telephone numbers, and what any phone number of the world is.",
        license(name = "MIT", identifier = "MIT"),
        contact()
    ),
    components(schemas(ErrorBody)),
    modifiers(&Keys)
)]
struct Api;

/// The three ways a key is sent (spec section 5); public operations declare that they need none.
struct Keys;

impl Modify for Keys {
    fn modify(&self, api: &mut Description) {
        let bearer =
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key")));
        let query = SecurityScheme::ApiKey(ApiKey::Query(ApiKeyValue::new("apiKey")));
        let components = api.components.get_or_insert_default();
        for (name, scheme) in [("bearer", bearer), ("header", header), ("query", query)] {
            components.add_security_scheme(name, scheme);
            let requirement = SecurityRequirement::new(name, [""; 0]);
            api.security.get_or_insert_default().push(requirement);
        }
    }
}

/// The description of the whole API.
pub fn description() -> Description {
    let mut description = Api::openapi().merge_from(app::openapi(routes()));
    for operation in description.paths.paths.values_mut().flat_map(|path| &mut path.get) {
        let responses = &mut operation.responses.responses;
        responses.entry("503".to_owned()).or_insert_with(|| unavailable().into());
    }
    description
}

/// The answer of every operation if there is no data to answer from.
fn unavailable() -> OpenApiResponse {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
    OpenApiResponse::builder().content("application/json", body).build()
}

/// Prints the description as JSON.
///
/// # Errors
/// Returns an error if it cannot be written as JSON.
pub fn print() -> Result<(), LocalError> {
    let json = description().to_pretty_json();
    println!("{}", json.map_err(LocalError::io("cannot describe the API"))?);
    Ok(())
}
