#[tokio::main]
async fn main() -> Result<(), lambda_http::Error> {
    shared::app::run(npa::routes()).await
}
