# Common commands. `just` lists them; install it with `cargo install just` or `pip install rust-just`.

[private]
default:
    @just --list --unsorted

# Run the service on http://127.0.0.1:3000 with sample data
run *ARGS:
    cargo run -- {{ ARGS }}

# Run the tests of one crate, such as `just test npa`
test CRATE *ARGS:
    cargo test -p {{ CRATE }} {{ ARGS }}

# Run the end-to-end tests, or those with FILTER in their names
e2e *FILTER:
    cargo test --workspace --test e2e -- {{ FILTER }}

# Run all tests
test-all:
    cargo test --workspace

# Check formatting and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Format the code
fmt:
    cargo fmt --all

# Update the responses to the sample events, which are the examples in the OpenAPI description
examples:
    UPDATE_EXAMPLES=1 cargo test -p tnr --test e2e api::events

# Regenerate docs/openapi.json
generate:
    cargo run -- openapi > target/openapi.json && mv target/openapi.json docs/openapi.json

# Run the Lambda functions locally; start `just run dynamodb` first
watch:
    set -a; . .local/dynamodb.env; set +a; cargo lambda watch --disable-cors --env-file infra/tnr/watch.env

# Run one benchmark: cold_start or numbers
bench NAME *ARGS:
    cargo bench -p bench --bench {{ NAME }} {{ ARGS }}

# Build small mistakes into the lines changed since BASE, and show those that no unit test catches
mutants BASE="origin/main":
    .ci/mutants --since {{ BASE }}

# Run every check that must pass before a merge
ci:
    .ci/run
