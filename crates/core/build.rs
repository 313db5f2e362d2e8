//! Compiles the drivers and the products that modules call through the host, always optimised, and what only C can name.

use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let abi = std::env::var_os("DEP_PRECAST_ABI_INCLUDE")
        .map_or_else(|| root.join("../abi/include"), PathBuf::from);
    println!("cargo::rerun-if-changed=c");
    // The drivers stand on the headers of the ABI.
    println!("cargo::rerun-if-changed={}", abi.display());
    let mut drivers = cc::Build::new();
    drivers.file(root.join("c/drivers.c")).file(root.join("c/linked.c")).opt_level(3);
    // Where a loop lies would decide a tenth of its time, and change with every line of the text.
    drivers.flag_if_supported("-falign-functions=64").flag_if_supported("-falign-loops=32");
    // What is not inlined and unrolled where the text says so gains nothing from more; the order of operations is the text's.
    let mut products = cc::Build::new();
    let levels = ["product", "product_all", "product_v3", "product_v4"];
    products
        .files(levels.map(|name| root.join(format!("c/{name}.c"))))
        .opt_level(2)
        .flag("-ffp-contract=off");
    for (build, name) in [(&mut drivers, "precast_drivers"), (&mut products, "precast_products")] {
        build
            .include(root.join("c"))
            .include(&abi)
            .std("gnu11")
            .flag_if_supported("-fvisibility=hidden")
            .warnings(true)
            .extra_warnings(true)
            .compile(name);
    }
}
