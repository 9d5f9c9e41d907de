//! The functions behind the API.

use shared::routes::Routes;

pub fn functions() -> Vec<(&'static str, Routes)> {
    vec![
        ("carriers", carriers::routes()),
        ("npa", npa::routes()),
        ("format", format::routes()),
        ("search", search::routes()),
        ("status", status::routes()),
        ("mcp", mcp::routes()),
        ("site", site::routes()),
    ]
}

pub fn routes() -> Vec<Routes> {
    functions().into_iter().map(|(_, routes)| routes).collect()
}
