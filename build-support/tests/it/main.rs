//! A workspace as users have it: a library crate that declares, a program whose `build.rs` calls [`precast_build::Build`],
//! and Cargo around both.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod workspace;

use workspace::Workspace;

#[test]
fn the_program_gets_what_its_library_declares() {
    let workspace = Workspace::new();
    let built = workspace.cargo(&["build", "--offline"], &[]).success();
    assert!(!built.contains("warning"), "{built}");
    assert_eq!(workspace.run(), "names: [\"mine\", \"of_library\"]\n");
    assert!(workspace.path("artifacts/STORE").is_file(), "the workspace opted in");

    // Nothing changed: the script does not run.
    let again = workspace.cargo(&["build", "--frozen", "-v"], &[]).success();
    assert!(again.contains("Fresh app"), "{again}");

    // A change of what the library declares runs it.
    let manifest = workspace.path("library/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    fs_err::write(&manifest, text.replace("of_library", "renamed")).unwrap();
    workspace.cargo(&["build", "--locked", "--offline"], &[]).success();
    assert_eq!(workspace.run(), "names: [\"mine\", \"renamed\"]\n");

    // So does a change of the package's own manifest, and a mistake there is located.
    let manifest = workspace.path("app/precast.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    fs_err::write(&manifest, text.replace("x * y", "x * z")).unwrap();
    let refused = workspace.cargo(&["build", "--offline"], &[]).failure();
    assert!(
        refused.contains("error: app@0.1.0: ") && refused.contains("app/precast.toml:4: [[graph]] 1"),
        "{refused}"
    );
    assert!(refused.contains("unknown name `z`"), "{refused}");
    fs_err::write(&manifest, text).unwrap();

    // docs.rs compiles nothing.
    workspace.cargo(&["build", "--offline"], &[("DOCS_RS", "1")]).success();
    assert_eq!(workspace.run(), "names: []\n");
}
