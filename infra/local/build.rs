//! Rebuilds the crate when sample requests or response snapshots are added or removed, because the
//! OpenAPI description embeds their folders.

fn main() {
    println!("cargo::rerun-if-changed=tests/e2e/api/snapshots");
    println!("cargo::rerun-if-changed=../../events");
}
