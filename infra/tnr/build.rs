//! Rebuilds the crate when sample requests or responses are added or removed, because the
//! OpenAPI description embeds their folders.

fn main() {
    println!("cargo::rerun-if-changed=src/openapi/examples");
    println!("cargo::rerun-if-changed=../../events");
}
