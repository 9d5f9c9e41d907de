//! The embedded database's port, which every process and web page on the machine can reach.

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Server, program},
    service::http_client,
};

/// A served database with its endpoint and credential.
struct ServedDatabase {
    _data_dir: TempDir,
    server: Server,
    endpoint: String,
    credential: String,
}

impl ServedDatabase {
    async fn start() -> Self {
        let data_dir = sample_folder();
        let server = Server::on(&data_dir, &[]).await;
        let variables = std::fs::read_to_string(data_dir.path().join("dynamodb.env")).unwrap();
        let value_of = |name| variables.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let endpoint = value_of("AWS_ENDPOINT_URL_DYNAMODB=").to_owned();
        let credential = value_of("AWS_ACCESS_KEY_ID=").to_owned();
        Self { _data_dir: data_dir, server, endpoint, credential }
    }

    /// A request for the keys, without a credential.
    fn scan(&self) -> RequestBuilder {
        let request = http_client().request(Method::POST, &self.endpoint);
        let request = request.header("x-amz-target", "DynamoDB_20120810.Scan");
        let request = request.header("content-type", "application/x-amz-json-1.0");
        request.body(r#"{"TableName":"api_keys"}"#)
    }

    fn signed_scan(&self) -> RequestBuilder {
        sign(self.scan(), &self.credential)
    }
}

fn sign(request: RequestBuilder, access_key_id: &str) -> RequestBuilder {
    let signature = "SignedHeaders=host;x-amz-date, Signature=00";
    let scope = "20261101/us-east-1/dynamodb/aws4_request";
    let authorization = format!("AWS4-HMAC-SHA256 Credential={access_key_id}/{scope}, {signature}");
    request.header("authorization", authorization).header("x-amz-date", "20261101T000000Z")
}

async fn send(request: RequestBuilder) -> Response {
    request.send().await.unwrap()
}

/// Pages can bypass the same-origin policy with a host name that resolves to this machine.
#[tokio::test]
async fn the_embedded_database_rejects_requests_from_web_pages() {
    let served = ServedDatabase::start().await;
    let preflight = http_client().request(Method::OPTIONS, &served.endpoint);
    let preflight = preflight.header("access-control-request-method", "POST");
    for request in [served.signed_scan(), preflight] {
        let response = send(request.header("origin", &served.endpoint)).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        let mut headers = response.headers().keys();
        assert!(!headers.any(|name| name.as_str().starts_with("access-")));
    }
    let port = served.endpoint.rsplit(':').next().unwrap();
    for (host, expected) in [
        (&format!("example.com:{port}"), StatusCode::FORBIDDEN),
        (&format!("127.0.0.1:{port}"), StatusCode::OK),
        (&format!("localhost:{port}"), StatusCode::OK),
    ] {
        let response = send(served.signed_scan().header("host", host)).await;
        assert_eq!(response.status(), expected, "{host}");
    }
}

#[tokio::test]
async fn the_embedded_database_accepts_only_its_folders_credential() {
    let served = ServedDatabase::start().await;
    assert_eq!(send(served.scan()).await.status(), StatusCode::BAD_REQUEST);
    let own = &served.credential;
    for other in ["", &own[1..], &format!("{own}x"), &own.to_lowercase()] {
        let response = send(sign(served.scan(), other)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{other}");
        assert!(response.text().await.unwrap().contains("UnrecognizedClientException"), "{other}");
    }
    let response = send(served.signed_scan()).await.text().await.unwrap();
    assert!(response.contains(&served.server.key[..15]), "{response}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_a_data_folder() {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("new/data");
    let mut command = program(&["serve", "--no-sample", "--port", "0", "--data-dir"]);
    let server = Server::start(command.arg(&folder)).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files = || fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    assert!(files().count() >= 4);
    for file in files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert!(server.interrupt().await);
    // The owner may choose to share the folder.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(folder.join("dynamodb.sqlite"), fs::Permissions::from_mode(0o640)).unwrap();
    let mut command = program(&["serve", "--no-sample", "--port", "0", "--data-dir"]);
    let _again = Server::start(command.arg(&folder)).await;
    assert_eq!(mode(&folder), 0o750);
    assert_eq!(mode(&folder.join("dynamodb.sqlite")), 0o640);
    assert_eq!(mode(&folder.join("dynamodb.env")), 0o600);
}
