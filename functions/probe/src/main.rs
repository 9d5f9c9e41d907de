#[tokio::main]
async fn main() -> Result<(), lambda_runtime::Error> {
    logging::log_as_json();
    lambda_runtime::run(lambda_runtime::service_fn(probe::handle)).await
}
