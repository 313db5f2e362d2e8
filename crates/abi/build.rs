//! Tells dependents where the headers are: `DEP_PRECAST_ABI_INCLUDE` in their build scripts.

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::metadata=include={root}/include");
    println!("cargo::rerun-if-changed=build.rs");
}
