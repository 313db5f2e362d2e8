//! `precast bridgestan`: a library and a model package as one file.

use crate::sandbox::{ISA, Sandbox};
use precast_testkit::package::root;

/// A directory with the package of `crates/density/examples/normal.toml`, and a library.
fn place() -> Sandbox {
    let place = Sandbox::new();
    let manifest = fs_err::read_to_string(root().join("crates/density/examples/normal.toml")).unwrap();
    place.write("normal.toml", format!("isa = [\"{ISA}\"]\n{manifest}"));
    place.run(&["build", "normal.toml", "--store", "store", "--bundle", "normal.precast"]).ok();
    place.write("lib.so", "\x7fELF library");
    place
}

#[test]
fn one_file_ends_with_the_package() {
    let place = place();
    let join = ["bridgestan", "normal.precast", "--library", "lib.so"];
    place.run_bare(&join).ok();
    let (package, whole) =
        (fs_err::read(place.path("normal.precast")).unwrap(), fs_err::read(place.path("normal.so")).unwrap());
    let length = (package.len() as u64).to_le_bytes();
    assert_eq!(whole, [b"\x7fELF library", &package[..], &length, b"precast-package1"].concat());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs_err::metadata(place.path("normal.so")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o755);
    place.run_bare(&[&join[..], &["--out", "other.so"]].concat()).ok();
    assert_eq!(fs_err::read(place.path("other.so")).unwrap(), whole);
    place
        .run_bare(&["bridgestan", "normal.precast", "--library", "normal.so", "-o", "twice.so"])
        .fails(1, &["normal.so"]);
}

#[test]
fn other_files_are_refused() {
    let place = place();
    place.write("sum.toml", format!("isa = [\"{ISA}\"]\n{}", crate::release::SUM));
    place.run(&["build", "sum.toml", "--store", "store", "--bundle", "sum.precast"]).ok();
    place.write("text.so", "no library");
    for (package, library) in [
        ("sum.precast", "lib.so"),
        ("absent.precast", "lib.so"),
        ("normal.precast", "text.so"),
        ("normal.precast", "absent.so"),
    ] {
        place.run_bare(&["bridgestan", package, "--library", library]).fails(1, &[]);
        assert!(!place.path("normal.so").exists() && !place.path("sum.so").exists());
    }
}
