//! The API as tools for agents, over the [Model Context Protocol](https://modelcontextprotocol.io).
//!
//! A tool calls a route of the API in the same process. This is the only function that depends on others ([decision
//! 15](../../../docs/decisions/0015-agents.md)).

mod arguments;
mod call;
mod endpoint;
mod message;
mod schema;
mod server;
mod tools;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::{
    extract::{Request, State},
    routing::post,
};
use shared::{
    app::Routes, auth::Charge, in_process::InProcess, public_address::PublicAddress, state::App,
};
use utoipa_axum::router::OpenApiRouter;

pub use call::ToolCall;
pub use server::ToolServer;
pub use tools::{TOOLS, Tool};

/// The route of this function. The OpenAPI document omits it, since tools describe themselves to agents.
pub fn routes() -> Routes {
    let asked = Arc::new(OnceLock::new());
    let endpoint = post(
        async move |State(app): State<App>,
                    charge: Charge,
                    address: PublicAddress,
                    request: Request| {
            let origins = app.config.allowed_origins.clone();
            let routes = asked.get_or_init(|| asked_routes(app)).at(address);
            endpoint::answer(&routes, &origins, charge, request).await
        },
    );
    Routes::from(OpenApiRouter::default())
        .with_undescribed_post("/mcp", endpoint)
        .counted_by_items(&["/mcp"])
        .prepared_by(prepare)
}

/// The routes that tools call, on the data of `app`.
pub fn asked_routes(app: App) -> InProcess {
    InProcess::new(functions(), app)
}

/// The functions whose routes tools call.
fn functions() -> [Routes; 4] {
    [carriers::routes(), npa::routes(), format::routes(), search::routes()]
}

fn prepare() {
    formatting::load_rules();
    LazyLock::force(&schema::DESCRIBED_TOOLS);
}
