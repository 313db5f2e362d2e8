//! Compiles the drivers that modules call through the host, always optimised, and what only C can name.

use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let abi = std::env::var_os("DEP_PRECAST_ABI_INCLUDE")
        .map_or_else(|| root.join("../abi/include"), PathBuf::from);
    println!("cargo::rerun-if-changed=c");
    // The drivers stand on the headers of the ABI.
    println!("cargo::rerun-if-changed={}", abi.display());
    cc::Build::new()
        .file(root.join("c/drivers.c"))
        .file(root.join("c/linked.c"))
        .include(root.join("c"))
        .include(abi)
        .std("gnu11")
        .opt_level(3)
        .flag_if_supported("-fvisibility=hidden")
        .warnings(true)
        .extra_warnings(true)
        .compile("precast_drivers");
}
