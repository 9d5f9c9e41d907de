fn main() -> Result<(), lambda_http::Error> {
    shared::app::start(site::routes)
}
