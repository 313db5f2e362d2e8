//! Says in `precast --version` which commit the command is made of, where that is known.

#[path = "src/commit.rs"]
mod commit;

/// The variable that names the commit.
const VARIABLE: &str = "PRECAST_COMMIT";

fn main() {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let here = variable("CARGO_MANIFEST_DIR").unwrap_or_default();
    let commit = commit::find(here.as_ref(), variable(VARIABLE));
    // Cargo reads what a build script prints.
    println!("cargo::rustc-env=PRECAST_OF_COMMIT={}", commit::shown(commit.as_deref()));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
}
