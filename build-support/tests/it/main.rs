//! A realistic workspace: a library crate with declarations, a program whose `build.rs` calls
//! [`precast_build::Build`], and Cargo. The program calls functions of both crates' graphs and is run without access
//! to either crate.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod workspace;
mod zig;

use workspace::Workspace;

#[test]
fn program_gets_the_artifacts_of_its_library() {
    let workspace = Workspace::new("workspace");
    let built = workspace.cargo(&["build", "--offline"], &[]).success();
    assert!(!built.contains("warning"), "{built}");
    let arrays = "mine: [11, 42], of_library: [11, 22]\n";
    let natively = "gauss: 0.5, order: -4 3, power: 81, ";
    let said = workspace.run();
    let expected = format!(
        "names: [\"__MODEL\", \"gauss\", \"inner\", \"mine\", \"of_library\", \"order\", \"power\"]\n{arrays}{natively}"
    );
    assert!(said.starts_with(&expected) && said.contains("negative"), "{said}");
    assert!(workspace.path("artifacts/STORE").is_file(), "the workspace opted in");

    // Without changes, the script does not run.
    let again = workspace.cargo(&["build", "--frozen", "-v"], &[]).success();
    assert!(again.contains("Fresh app"), "{again}");

    // The library tests its own declarations.
    workspace.cargo(&["test", "--offline", "-p", "library"], &[]).success();

    // A change of the library's declarations reruns the script. Calls with the old name or dtype no longer compile.
    let manifest = workspace.path("library/Cargo.toml");
    let text = fs_err::read_to_string(&manifest).unwrap();
    fs_err::write(&manifest, text.replace("x: f64[?]", "x: f32[?]")).unwrap();
    let refused = workspace.cargo(&["check", "--locked", "--offline"], &[]).failure();
    let words = ["model::of_library(&x, &y)?", "ArrayBase", "f32", "f64"];
    assert!(refused.contains("error[E0277]") && words.iter().all(|word| refused.contains(word)), "{refused}");
    fs_err::write(&manifest, text.replace("of_library", "renamed")).unwrap();
    let refused = workspace.cargo(&["check", "--locked", "--offline"], &[]).failure();
    assert!(refused.contains("cannot find function `of_library` in module `model`"), "{refused}");
    let (main, program) = (workspace.path("app/src/main.rs"), workspace.read("app/src/main.rs"));
    fs_err::write(&main, program.replace("model::of_library", "model::renamed")).unwrap();
    workspace.cargo(&["build", "--locked", "--offline"], &[]).success();
    assert!(workspace.run().contains("\"renamed\"]\n"));

    // So does a change of the package's own manifest; errors there have a position.
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

    // On docs.rs nothing is compiled: functions have their signatures, and calling them returns a readable error.
    workspace.cargo(&["doc", "--offline", "--no-deps", "-p", "app"], &[("DOCS_RS", "1")]).success();
    let refused = workspace.cargo(&["run", "--offline", "-p", "app"], &[("DOCS_RS", "1")]).failure();
    assert!(refused.contains("\nError: cannot load `mine`: "), "{refused}");
}
