//! Names the shared library by the version of its ABI, so that a program never loads an incompatible one.

/// `PRECAST_ABI_VERSION` of include/precast.h; a test compares them.
const ABI_VERSION: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=PRECAST_ABI_VERSION={ABI_VERSION}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libprecast.so.{ABI_VERSION}");
}
