//! Serves routers and files on free ports.

use std::{fs, net::Ipv4Addr, path::PathBuf};

use axum::{
    Router,
    http::{StatusCode, Uri},
};
use tokio::net::TcpListener;

/// Serves a router until the test's runtime ends, and returns its URL.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// Serves a folder's files, like a publisher, a mirror or a bucket.
pub async fn serve_files(folder: PathBuf) -> String {
    let read = async move |uri: Uri| {
        let file = folder.join(uri.path().trim_start_matches('/'));
        fs::read(file).map_err(|_| StatusCode::NOT_FOUND)
    };
    serve(Router::new().fallback(read)).await
}
