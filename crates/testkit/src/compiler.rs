//! The compiler of this machine, and the variants that tests compile for.

use std::path::Path;

use precast_compile::{Isa, Toolchain, Variant, host_target};
use precast_store::key::Profile;

/// Returns the toolchain of this machine.
///
/// # Panics
/// If no compiler is found.
#[must_use]
pub fn toolchain() -> Toolchain {
    Toolchain::find(None).expect("tests have a C compiler")
}

/// Returns clang of any version, if it is installed.
#[must_use]
pub fn clang() -> Option<Toolchain> {
    let names = std::iter::once("clang".to_owned()).chain((14..30).map(|version| format!("clang-{version}")));
    let mut found = names.filter_map(|name| Toolchain::at(&Path::new("/usr/bin").join(name), None).ok());
    found.next()
}

/// Returns the zig of `PRECAST_ZIG`, or `zig` or `python-zig` on `PATH`, if it is installed.
#[must_use]
pub fn zig(target: Option<&str>) -> Option<Toolchain> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places =
        std::env::split_paths(&path).flat_map(|place| ["zig", "python-zig"].map(|name| place.join(name)));
    let mut found = std::env::var_os("PRECAST_ZIG").map(Into::into).into_iter().chain(places);
    Toolchain::at(&found.find(|file| file.is_file())?, target).ok()
}

/// Returns one variant: the lowest ISA level of this machine.
///
/// # Panics
/// If this machine has no ISA level.
#[must_use]
pub fn variants() -> Vec<Variant> {
    let target = host_target();
    let isa = Isa::defaults(&target)[0];
    vec![Variant { target, isa, profile: Profile::Release }]
}
