//! Serves routers on free ports.

use std::net::Ipv4Addr;

use axum::Router;
use tokio::net::TcpListener;

/// Serves a router until the test's runtime ends, and returns its URL.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}
