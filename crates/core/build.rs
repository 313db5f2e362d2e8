//! Compiles the C files of this crate: the drivers with their copies, the matrix products, and the functions that only
//! C can name. Modules call the drivers and products through the host. They are optimised in every profile.

use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let abi = std::env::var_os("DEP_PRECAST_ABI_INCLUDE")
        .map_or_else(|| root.join("../abi/include"), PathBuf::from);
    println!("cargo::rerun-if-changed=c");
    // The drivers include the headers of the ABI.
    println!("cargo::rerun-if-changed={}", abi.display());
    let mut drivers = cc::Build::new();
    let driver = ["drivers", "linked", "grid_all"];
    drivers.files(driver.map(|name| root.join(format!("c/{name}.c")))).opt_level(3);
    // Without a fixed alignment, the position of a loop changes its time by a tenth, and any edit moves loops.
    drivers.flag_if_supported("-falign-functions=64").flag_if_supported("-falign-loops=32");
    // The source marks the loops to inline and unroll, so -O3 gains nothing. It also fixes the order of operations.
    let mut products = cc::Build::new();
    let levels = ["product", "product_all", "product_v3", "product_v4", "grid_v3", "grid_v4"];
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
