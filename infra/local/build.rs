//! Has the crate built again when a sample request or the snapshot of an answer is added or removed,
//! since the OpenAPI description embeds their folders.

fn main() {
    println!("cargo::rerun-if-changed=tests/e2e/api/snapshots");
    println!("cargo::rerun-if-changed=../../events");
}
