//! The compiler of this machine, and what tests compile for.

use std::path::Path;

use precast_compile::{Isa, Toolchain, Variant, host_target};
use precast_store::key::Profile;

/// The toolchain that is found here.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn toolchain() -> Toolchain {
    Toolchain::find(None).expect("tests have a C compiler")
}

/// clang, if it is here, whatever its version.
#[must_use]
pub fn clang() -> Option<Toolchain> {
    let names = std::iter::once("clang".to_owned()).chain((14..30).map(|version| format!("clang-{version}")));
    let mut found = names.filter_map(|name| Toolchain::at(&Path::new("/usr/bin").join(name), None).ok());
    found.next()
}

/// One variant: this machine's lowest ISA level.
///
/// # Panics
/// When this machine has none.
#[must_use]
pub fn variants() -> Vec<Variant> {
    let target = host_target();
    let isa = Isa::defaults(&target)[0];
    vec![Variant { target, isa, profile: Profile::Release }]
}
