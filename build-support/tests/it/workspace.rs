//! A generated workspace. Its directory is made anew each time, its target directory is that of all packages that tests
//! build; its lock file starts as this repository's, so that nothing has to be fetched.

use precast_testkit::package;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root and what Cargo built there.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

const APP: &str = r#"
fn main() {
    println!("names: {:?}", index::NAMES);
    assert_eq!(index::KEYS.len(), index::NAMES.len());
    let bundle: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/precast.bundle"));
    assert!(!bundle.is_empty() && !index::GENERATOR.is_empty());
}

mod index {
    include!(concat!(env!("OUT_DIR"), "/precast.rs"));
}
"#;

const SCRIPT: &str = r#"
fn main() {
    precast_build::Build::new().op("add", &["f64"], &[1]).isa(ISA).run();
}
"#;

const GRAPH: &str = "inputs = [\"x: f64[?]\", \"y: f64[?]\"]\n";

impl Workspace {
    pub(crate) fn new() -> Self {
        let build_support = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = package::target(env!("CARGO_TARGET_TMPDIR"));
        let workspace = Self { root: directory.join("workspace"), target };
        if workspace.root.exists() {
            fs_err::remove_dir_all(&workspace.root).unwrap();
        }
        let head =
            |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        let root = "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"library\"]\n[workspace.metadata.precast]\nstore = \"artifacts\"\n";
        workspace.write("Cargo.toml", &format!("{root}{}", package::profiles(&package::BUILD)));
        workspace.write("library/src/lib.rs", "");
        let declared = "[[package.metadata.precast.graph]]\nname = \"of_library\"\n";
        let outputs = "outputs = [\"out = x + y\"]\n";
        workspace.write("library/Cargo.toml", &format!("{}{declared}{GRAPH}{outputs}", head("library")));
        let dependencies = format!(
            "[dependencies]\nlibrary = {{ path = \"../library\" }}\n[build-dependencies]\nprecast-build = {{ path = {:?} }}\n",
            build_support
        );
        workspace.write("app/Cargo.toml", &(head("app") + &dependencies));
        workspace.write("app/src/main.rs", APP);
        let isa = precast_compile::Isa::defaults(&precast_compile::host_target())[0].to_string();
        workspace.write("app/build.rs", &SCRIPT.replace("ISA", &format!("&[{isa:?}]")));
        let outputs = "outputs = [\"out = (x * y) + x\"]\n";
        workspace.write("app/precast.toml", &format!("[[graph]]\nname = \"mine\"\n{GRAPH}{outputs}"));
        let lock = package::root().join("Cargo.lock");
        fs_err::copy(lock, workspace.path("Cargo.lock")).unwrap();
        workspace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Runs Cargo here; gives what it wrote to standard error.
    pub(crate) fn cargo(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = package::cargo(&self.root, &self.target);
        let output = command.args(arguments).envs(variables.iter().copied()).output().unwrap();
        Ended {
            success: output.status.success(),
            words: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the program; gives what it printed.
    pub(crate) fn run(&self) -> String {
        let output = Command::new(self.target.join("debug/app")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// How a run of Cargo ended.
pub(crate) struct Ended {
    success: bool,
    words: String,
}

impl Ended {
    pub(crate) fn success(self) -> String {
        assert!(self.success, "{}", self.words);
        self.words
    }

    pub(crate) fn failure(self) -> String {
        assert!(!self.success, "an error was expected:\n{}", self.words);
        self.words
    }
}
