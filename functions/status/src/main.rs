#[tokio::main]
async fn main() -> Result<(), lambda_http::Error> {
    shared::app::run(status::routes()).await
}
