#[tokio::main]
async fn main() -> Result<(), lambda_runtime::Error> {
    logging::init_json_logs();
    lambda_runtime::run(lambda_runtime::service_fn(ingest::handle)).await
}
