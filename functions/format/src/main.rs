#[tokio::main]
async fn main() -> Result<(), lambda_http::Error> {
    shared::app::run(format::routes()).await
}
