//! A static program, built as a user would build it, in a root directory that contains only the program.

use precast_testkit::package::{cargo, profiles, root, target};
use std::path::Path;
use std::process::{Command, Output};

const MANIFEST: &str = r#"[package]
name = "static-program"
version = "0.1.0"
edition = "2024"

[workspace]

"#;

const GRAPHS: &str = r#"
[[graph]]
name = "score"
inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
outputs = ["out = sum(exp(-x*x)*y + z)"]

[[graph]]
name = "larger"
inputs = ["x: f32[?]", "least: f32[]"]
outputs = ["out = maximum(x, least)"]
"#;

#[test]
fn static_program_runs_alone() {
    runs_alone("x86_64-unknown-linux-gnu");
}

#[test]
fn musl_program_runs_alone() {
    let target = "x86_64-unknown-linux-musl";
    match without(target) {
        None => runs_alone(target),
        Some(what) => println!("skipped: a program for `{target}`, which needs {what}"),
    }
}

/// Returns the missing prerequisite for building for a target that is not the host's.
fn without(target: &str) -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).output().unwrap();
    if !Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_dir() {
        return Some(format!("its standard library: `rustup target add {target}`"));
    }
    let compiler = Command::new("musl-gcc").arg("--version").output();
    let is_there = compiler.is_ok_and(|ended| ended.status.success());
    (!is_there).then(|| "`musl-gcc`: on Debian `apt-get install musl-tools`".to_owned())
}

/// The quickstart serves 400 wines, and prints the same as the program that loads its bundle. It is optimised, as the README
/// runs it: what its build script needs is then compiled already.
#[test]
fn quickstart_runs_alone() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = root().join("crates/quickstart/Cargo.toml");
    let Some(said) = said_alone(
        directory.path(),
        "x86_64-unknown-linux-gnu",
        "precast-quickstart",
        &["--release", "--manifest-path", manifest.to_str().unwrap()],
    ) else {
        return;
    };
    let figures: toml::Table = fs_err::read_to_string(root().join("crates/quickstart/model/expected.toml"))
        .unwrap()
        .parse()
        .unwrap();
    for (name, label) in
        [("accuracy", "accuracy"), ("rows", "rows"), ("held_out", "held out"), ("good", "good")]
    {
        let line = format!("{label:<14}{}\n", figures[name]);
        assert!(said.contains(&line), "no {line:?} in\n{said}");
    }
}

/// Builds the program for a target, and runs it in a root directory of its own.
fn runs_alone(triple: &str) {
    let directory = tempfile::tempdir().unwrap();
    write_package(directory.path());
    let Some(said) = said_alone(directory.path(), triple, "static-program", &[]) else { return };
    assert_eq!(said, "8.336402\n[0.5, 0.5, 0.5]\n");
}

/// Builds the program `name` in `directory` with these arguments as a static program, and returns its output in an
/// otherwise empty root directory.
#[allow(clippy::print_stderr, reason = "what is skipped is said")]
fn said_alone(directory: &Path, triple: &str, name: &str, args: &[&str]) -> Option<String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        eprintln!("skipped: a static program of `{triple}`, this host is another");
        return None;
    }
    let target = target(env!("CARGO_TARGET_TMPDIR"));
    let built = cargo(directory, &target)
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .args(["build", "--quiet", "--offline", "--target", triple])
        .args(args)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let bare = directory.join("bare");
    fs_err::create_dir(&bare).unwrap();
    let profile = if args.contains(&"--release") { "release" } else { "debug" };
    fs_err::copy(target.join(triple).join(profile).join(name), bare.join("program")).unwrap();
    let ended = match alone(&bare) {
        Ok(ended) => ended,
        Err(why) => {
            eprintln!("skipped: an empty root directory, this user cannot have one: {why}");
            return None;
        }
    };
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(fs_err::read_dir(&bare).unwrap().count(), 1, "it wrote something");
    Some(String::from_utf8(ended.stdout).unwrap())
}

/// Writes the package of the program.
fn write_package(directory: &Path) {
    let real = fs_err::canonicalize(root()).unwrap();
    let path = |name: &str| format!("{{ path = \"{}/{name}\", default-features = false }}", real.display());
    let manifest = format!(
        "{MANIFEST}[dependencies]\nndarray = \"*\"\nprecast = {}\n\n[build-dependencies]\nprecast-build = {}\n\n{}",
        path("crates/precast"),
        path("build-support"),
        profiles(),
    );
    fs_err::create_dir(directory.join("src")).unwrap();
    for (name, text) in [
        ("Cargo.toml", manifest.as_str()),
        ("precast.toml", GRAPHS),
        ("build.rs", "fn main() {\n    precast_build::Build::new().run();\n}\n"),
        ("src/main.rs", include_str!("static_program/main.rs")),
    ] {
        fs_err::write(directory.join(name), text).unwrap();
    }
    fs_err::copy(real.join("Cargo.lock"), directory.join("Cargo.lock")).unwrap();
}

/// Runs `/program` in the root directory `bare`, without environment; the error is the reason why this user cannot.
fn alone(bare: &Path) -> Result<Output, String> {
    // Debian installs it outside of the search path of users.
    let places = ["/usr/sbin/chroot", "/sbin/chroot", "/usr/bin/chroot"];
    let chroot = places.into_iter().find(|place| Path::new(place).exists()).unwrap_or("chroot");
    let mut tried = Vec::new();
    for words in [&[chroot][..], &["unshare", "--map-root-user", chroot]] {
        let ended = Command::new(words[0]).args(&words[1..]).arg(bare).arg("/program").env_clear().output();
        match ended {
            Ok(ended) if ended.status.success() || ended.status.code() == Some(1) => return Ok(ended),
            Ok(ended) => tried.push(String::from_utf8_lossy(&ended.stderr).trim().to_owned()),
            Err(error) => tried.push(error.to_string()),
        }
    }
    Err(tried.join("; "))
}
