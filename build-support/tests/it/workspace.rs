//! A generated workspace. Its directory is new for each test; the target directory is shared by all packages that
//! tests build. Its lock file starts as a copy of this repository's, so that nothing is fetched.

use precast_testkit::package;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root directory and the target directory.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

const APP: &str = r#"
mod model {
    precast::include_model!();
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("names: {:?}", index::NAMES);
    let (x, y) = (precast::ndarray::array![1.0, 2.0], precast::ndarray::array![10.0, 20.0]);
    println!("mine: {}, of_library: {}", model::mine(&x, &y)?, model::of_library(&x, &y)?);
    // A graph of numbers: called natively by its function, and as often as one likes by a handle.
    let gauss = model::loader()?.entry("gauss")?.native::<fn(f64) -> f64>()?;
    assert_eq!(model::gauss(0.0)?.to_bits(), gauss.call(0.0).to_bits());
    let (low, high) = model::order(3, -4)?;
    println!("gauss: {}, order: {low} {high}, power: {}, {}", gauss.call(0.0), model::power(3, 4)?, model::power(3, -1).unwrap_err());
    // Names that Rust, or the generated module, has a use for.
    assert_eq!(model::__MODEL(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)?, 654321.0);
    // A library calls its graphs by type, from the program's bundle.
    assert!(library::sum(&x, &y).is_err());
    assert!(library::model::use_loader(model::loader()?));
    assert_eq!(library::sum(&x, &y)?, 33.0);
    assert_eq!(index::KEYS.len(), index::NAMES.len());
    let bundle: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/precast.bundle"));
    assert!(!bundle.is_empty() && !index::GENERATOR.is_empty() && index::FORMAT > 0);
    Ok(())
}

mod index {
    include!(concat!(env!("OUT_DIR"), "/precast.rs"));
}
"#;

/// A library that calls its own graphs.
const LIBRARY: &str = r#"
pub mod model {
    precast::include_model!();
}

type Vector = precast::ndarray::Array1<f64>;

/// The sum of both vectors' elements.
pub fn sum(x: &Vector, y: &Vector) -> Result<f64, precast::model::ModelError> {
    model::inner(x, y)
}
"#;

/// A graph that the library itself calls.
const INNER: &str = r#"
[[package.metadata.precast.graph]]
name = "inner"
inputs = ["a: f64[?]", "b: f64[?]"]
outputs = ["out = sum(a + b)"]
"#;

/// The library's test of its own declarations.
const TEST: &str = r#"
#[test]
fn declarations_are_right() {
    let (package, out) = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"));
    let built = precast_build::Build::new().try_run_in(package, out).unwrap();
    assert_eq!(built.warnings, Vec::<String>::new());
    let loader: &'static precast::Loader = Box::leak(Box::new(precast::Loader::open(built.bundle).unwrap()));
    let declared = loader.entry("of_library").unwrap();
    let (x, y) = (precast::ndarray::array![1.0, 2.0], precast::ndarray::array![10.0, 20.0]);
    let results = declared.call(&[x.view().into(), y.view().into()]).unwrap();
    assert!(library::model::use_loader(loader));
    assert_eq!(library::sum(&x, &y).unwrap(), 33.0);
    assert_eq!(results, [precast::Array::from((x + y).into_dyn())]);
}
"#;

const SCRIPT: &str = r#"
fn main() {
    precast_build::Build::new().op("add", &["f64"], &[1]).isa(ISA).run();
}
"#;

const GRAPH: &str = "inputs = [\"x: f64[?]\", \"y: f64[?]\"]\n";

/// Graphs of C scalars.
const NUMBERS: &str = r#"
[[graph]]
name = "gauss"
inputs = ["x: f64"]
outputs = ["exp(-x*x)*0.5"]

[[graph]]
name = "order"
inputs = ["x: i32", "y: i32"]
outputs = ["low = minimum(x, y)", "high = maximum(x, y)"]

[[graph]]
name = "power"
inputs = ["x: i64", "y: i64"]
outputs = ["x ** y"]

[[graph]]
name = "__MODEL"
inputs = ["Ok: f64", "Some: f64", "Err: f64", "__FUNCTION: f64", "ä: f64", "P: f64"]
outputs = ["Ok + Some*10 + Err*100 + __FUNCTION*1000 + ä*10000 + P*100000"]
"#;

impl Workspace {
    /// Writes the workspace to a directory of this name, below that of Cargo's tests.
    pub(crate) fn new(name: &str) -> Self {
        let build_support = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = package::target(env!("CARGO_TARGET_TMPDIR"));
        let workspace = Self { root: directory.join(name), target };
        if workspace.root.exists() {
            fs_err::remove_dir_all(&workspace.root).unwrap();
        }
        let head =
            |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        let root = "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"library\"]\n[workspace.metadata.precast]\nstore = \"artifacts\"\n";
        workspace.write("Cargo.toml", &format!("{root}{}", package::profiles()));
        workspace.write("library/src/lib.rs", LIBRARY);
        workspace
            .write("library/build.rs", "fn main() {\n    precast_build::Build::new().library().run();\n}\n");
        let declared = "[[package.metadata.precast.graph]]\nname = \"of_library\"\n";
        let outputs = "outputs = [\"out = x + y\"]\n";
        let builds = format!("precast-build = {{ path = {build_support:?} }}\n");
        let precast = build_support.join("../crates/precast");
        let calls = format!("precast = {{ path = {precast:?}, default-features = false }}\n");
        let tests =
            format!("[dependencies]\n{calls}[build-dependencies]\n{builds}[dev-dependencies]\n{builds}");
        let table = format!("{}{tests}{declared}{GRAPH}{outputs}{INNER}", head("library"));
        workspace.write("library/Cargo.toml", &table);
        workspace.write("library/tests/graphs.rs", TEST);
        let library = "library = { path = \"../library\" }\n";
        let dependencies = format!("[dependencies]\n{library}{calls}[build-dependencies]\n{builds}");
        workspace.write("app/Cargo.toml", &(head("app") + &dependencies));
        workspace.write("app/src/main.rs", APP);
        let isa = precast_compile::Isa::defaults(&precast_compile::host_target())[0].to_string();
        workspace.write("app/build.rs", &SCRIPT.replace("ISA", &format!("&[{isa:?}]")));
        let outputs = "outputs = [\"out = (x * y) + x\"]\n";
        workspace
            .write("app/precast.toml", &format!("[[graph]]\nname = \"mine\"\n{GRAPH}{outputs}{NUMBERS}"));
        let lock = package::root().join("Cargo.lock");
        fs_err::copy(lock, workspace.path("Cargo.lock")).unwrap();
        workspace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    /// Gives the workspace a target directory of its own, for a build with another compiler.
    pub(crate) fn with_own_target(mut self) -> Self {
        self.target = self.path("target");
        self
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Runs Cargo in the workspace; returns its standard error.
    pub(crate) fn cargo(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = package::cargo(&self.root, &self.target);
        // The cache is new with each workspace, so that the first build compiles.
        command.env("PRECAST_CACHE", self.path("cache"));
        let output = command.args(arguments).envs(variables.iter().copied()).output().unwrap();
        Ended {
            success: output.status.success(),
            words: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the program as deployed: alone in an empty directory, with an empty environment. Returns its output.
    pub(crate) fn run(&self) -> String {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("app");
        fs_err::copy(self.target.join("debug/app"), &program).unwrap();
        let output = Command::new(&program).current_dir(directory.path()).env_clear().output().unwrap();
        assert_eq!(fs_err::read_dir(directory.path()).unwrap().count(), 1, "a program leaves nothing behind");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The result of running Cargo.
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
