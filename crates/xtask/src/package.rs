//! `cargo xtask package`: packs every published crate, and compiles the crates from their packages alone.
//!
//! ```text
//! cargo package ─▶ *.crate ─▶ unpacked in an empty directory, as a workspace that patches crates.io with them
//!                               ├─▶ contents: licence texts, a readme, no tests, a limited size
//!                               └─▶ cargo check, offline: with this toolchain, with the minimum Rust version
//! ```
//! The directory is outside of this tree, so a crate that reads a file outside of its package does not compile.
//! `cargo xtask tidy` checks the manifests.

use crate::steps::run as run_command;
use crate::tidy;
use crate::tools::{answers, cargo};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

/// The files that each package must contain.
const FILES: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The directories that no package may contain.
const UNPACKED: [&str; 2] = ["benches", "tests"];

/// The size limit of a compressed package in bytes.
const LIMIT: u64 = 512 * 1024;

/// The arguments of the check. Examples are part of the packages; tests are not.
const CHECK: [&str; 6] = ["check", "--workspace", "--offline", "--lib", "--bins", "--examples"];

/// The crates in an empty directory.
struct Packages {
    place: PathBuf,
    /// The name of each crate and its directory in `place`.
    crates: Vec<(String, String)>,
}

/// Packs, unpacks and checks all crates; returns `true` if all of them are complete and compile.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let place = std::env::temp_dir().join(format!("precast-package-{}", std::process::id()));
    fs_err::create_dir(&place)?;
    let fine = prove(root, &place);
    let _ = fs_err::remove_dir_all(&place);
    fine
}

fn prove(root: &Path, place: &Path) -> Result<bool> {
    let manifest: Table = fs_err::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let (version, oldest) = (inherited(&manifest, "version")?, inherited(&manifest, "rust-version")?);
    let packages = Packages::pack(root, place, version)?;
    packages.write_workspace(root)?;
    let wrong = packages.find_problems()?;
    for problem in &wrong {
        println!("FAILED  {problem}");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = std::path::absolute(target.join("package-check"))?;
    let checks =
        [Some(packages.check(Command::new(cargo()), &target)?), packages.check_oldest(oldest, &target)?];
    let failed = wrong.len() + checks.iter().filter(|check| **check == Some(false)).count();
    let passed = packages.crates.len() + checks.iter().flatten().count();
    println!("test result: {} passed; {failed} failed", passed.saturating_sub(failed));
    Ok(failed == 0)
}

/// Returns a value that the packages inherit from the workspace.
fn inherited<'a>(manifest: &'a Table, key: &str) -> Result<&'a str> {
    let value = manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get(key));
    value.and_then(Value::as_str).with_context(|| format!("Cargo.toml has no `workspace.package.{key}`"))
}

impl Packages {
    /// Packs the published crates of the workspace at `root`, and unpacks them in `place`.
    fn pack(root: &Path, place: &Path, version: &str) -> Result<Self> {
        if !run_command(Command::new(cargo()).args(["fetch", "--locked"]).current_dir(root))? {
            bail!("the dependencies cannot be fetched");
        }
        let mut package = Command::new(cargo());
        // The check below replaces the verification, which compiles every dependency once for each crate.
        package.args(["package", "--workspace", "--offline", "--no-verify", "--allow-dirty", "--quiet"]);
        for name in tidy::unpublished(root)? {
            package.args(["--exclude", &name]);
        }
        let packed = place.join("packed");
        if !run_command(package.arg("--target-dir").arg(&packed).current_dir(root))? {
            bail!("`cargo package` failed");
        }
        let mut packages = Self { place: place.to_owned(), crates: Vec::new() };
        for entry in fs_err::read_dir(packed.join("package"))? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "crate") {
                packages.unpack(&file, version)?;
            }
        }
        packages.crates.sort();
        Ok(packages)
    }

    /// Unpacks a package.
    fn unpack(&mut self, file: &Path, version: &str) -> Result<()> {
        let folder = file.file_stem().and_then(|stem| stem.to_str()).context("a name that is not UTF-8")?;
        let name = folder.strip_suffix(&format!("-{version}"));
        let name = name.with_context(|| format!("`{folder}` does not have version {version}"))?;
        if !run_command(Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(&self.place))? {
            bail!("`{}` cannot be unpacked", file.display());
        }
        self.crates.push((name.to_owned(), folder.to_owned()));
        Ok(())
    }

    /// Makes the directory a workspace that uses the crates in it, and the locked versions of their dependencies.
    fn write_workspace(&self, root: &Path) -> Result<()> {
        fs_err::copy(root.join("Cargo.lock"), self.place.join("Cargo.lock"))?;
        fs_err::write(self.place.join("Cargo.toml"), workspace(&self.crates))?;
        Ok(())
    }

    /// Returns missing files, unwanted directories, and packages that are too large.
    fn find_problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for (name, folder) in &self.crates {
            let path = self.place.join(folder);
            let missing = FILES.iter().filter(|file| !path.join(file).is_file());
            problems.extend(missing.map(|file| format!("the package of {name} lacks `{file}`")));
            let unwanted = UNPACKED.iter().filter(|directory| path.join(directory).exists());
            problems
                .extend(unwanted.map(|directory| format!("the package of {name} contains `{directory}`")));
            let file = self.place.join("packed/package").join(format!("{folder}.crate"));
            let bytes = fs_err::metadata(file)?.len();
            if bytes > LIMIT {
                problems.push(format!("the package of {name} has {bytes} bytes, more than {LIMIT}"));
            }
        }
        Ok(problems)
    }

    /// Compiles all crates with the cargo that `command` starts.
    fn check(&self, mut command: Command, target: &Path) -> Result<bool> {
        run_command(command.args(CHECK).arg("--target-dir").arg(target).current_dir(&self.place))
    }

    /// Compiles all crates with the minimum Rust version; returns `None` if it is not installed.
    fn check_oldest(&self, version: &str, target: &Path) -> Result<Option<bool>> {
        let toolchains = [version.to_owned(), format!("{version}.0")];
        let Some(found) = toolchains.iter().find(|name| answers(with(name, "rustc").arg("--version"))) else {
            println!("skipped: the minimum Rust version: Rust {version} is not installed");
            println!("hint: `rustup toolchain install {version} --profile minimal`");
            return Ok(None);
        };
        Ok(Some(self.check(with(found, "cargo"), &target.join(found))?))
    }
}

/// Returns a command that runs a program of another toolchain.
fn with(toolchain: &str, program: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", toolchain, program]);
    // The outer Cargo's toolchain must not be inherited.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env("RUSTUP_AUTO_INSTALL", "0");
    command
}

/// Returns the manifest of a workspace whose members replace the crates of the same names on crates.io.
fn workspace(crates: &[(String, String)]) -> String {
    let members: String = crates.iter().map(|(_, folder)| format!("    {folder:?},\n")).collect();
    let patches: String =
        crates.iter().map(|(name, folder)| format!("{name} = {{ path = {folder:?} }}\n")).collect();
    format!("[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}")
}

#[cfg(test)]
mod tests {
    use super::{Packages, workspace};

    fn crates() -> Vec<(String, String)> {
        vec![("precast-core".to_owned(), "precast-core-0.1.0".to_owned())]
    }

    #[test]
    fn workspace_patches_each_member() {
        let manifest: toml::Table = workspace(&crates()).parse().unwrap();
        assert_eq!(manifest["workspace"]["members"][0].as_str(), Some("precast-core-0.1.0"));
        let patch = &manifest["patch"]["crates-io"]["precast-core"]["path"];
        assert_eq!(patch.as_str(), Some("precast-core-0.1.0"));
    }

    #[test]
    fn incomplete_packages_are_named() {
        let place = std::env::temp_dir().join(format!("precast-packages-{}", std::process::id()));
        let folder = place.join("precast-core-0.1.0");
        fs_err::create_dir_all(folder.join("tests")).unwrap();
        fs_err::create_dir_all(place.join("packed/package")).unwrap();
        fs_err::write(place.join("packed/package/precast-core-0.1.0.crate"), "").unwrap();
        for file in ["Cargo.toml", "LICENSE-MIT", "README.md"] {
            fs_err::write(folder.join(file), "").unwrap();
        }
        let problems = Packages { place: place.clone(), crates: crates() }.find_problems();
        fs_err::remove_dir_all(&place).unwrap();
        let expected = [
            "the package of precast-core lacks `LICENSE-APACHE`",
            "the package of precast-core contains `tests`",
        ];
        assert_eq!(problems.unwrap(), expected);
    }
}
