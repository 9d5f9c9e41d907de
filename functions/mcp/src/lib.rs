//! The API as tools for agents, over the [Model Context Protocol](https://modelcontextprotocol.io).
//!
//! A tool calls one of the API's routes in the same process. This is the only function that depends on others
//! ([decision 15](../../../docs/decisions/0015-agents.md)).

mod call;
mod endpoint;
mod server;
mod tools;

use std::sync::{Arc, LazyLock, OnceLock};

use axum::{
    extract::{Request, State},
    routing::post,
};
use shared::{
    auth::Charge,
    in_process::InProcessRoutes,
    public_address::PublicAddress,
    routes::{Route, Routes},
    state::App,
};

pub use call::ToolCall;
pub use server::ToolServer;
pub use tools::{TOOLS, Tool};

/// The function's route. It is not in the OpenAPI description, since tools describe themselves to agents.
pub fn routes() -> Routes {
    let shared_routes = Arc::new(OnceLock::new());
    let endpoint = post(
        async move |State(app): State<App>,
                    charge: Charge,
                    address: PublicAddress,
                    request: Request| {
            let routes = shared_routes.get_or_init(|| tool_routes(app.clone())).at(address);
            endpoint::handle(&app, &routes, charge, request).await
        },
    );
    Routes::new([Route::undocumented_post("/mcp", endpoint)]).with_preparation(prepare)
}

pub fn tool_routes(app: App) -> InProcessRoutes {
    InProcessRoutes::new(functions(), app)
}

fn functions() -> [Routes; 5] {
    [carriers::routes(), npa::routes(), format::routes(), search::routes(), status::routes()]
}

fn prepare() {
    formatting::load_rules();
    LazyLock::force(&TOOLS);
}
