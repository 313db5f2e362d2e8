//! Says in `precast --version` which commit the command is made of, where that is known.

#[path = "src/commit.rs"]
mod commit;

/// The variable that names the commit.
const VARIABLE: &str = "PRECAST_COMMIT";

fn main() {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let here = variable("CARGO_MANIFEST_DIR").unwrap_or_default();
    // A command that is being worked on is of no commit, and is not made anew after each.
    let is_release = variable("PROFILE").is_some_and(|profile| profile == "release");
    let found = commit::find(here.as_ref(), variable(VARIABLE), is_release);
    let version = variable("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match &found.commit {
        Some(commit) => format!("{version} ({})", commit.get(..12).unwrap_or(commit)),
        None => version,
    };
    // Cargo reads what a build script prints.
    println!("cargo::rustc-env=PRECAST_VERSION={version}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={}", VARIABLE);
    found.files.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
}
