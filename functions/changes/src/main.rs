fn main() -> Result<(), lambda_http::Error> {
    shared::app::start(changes::routes)
}
