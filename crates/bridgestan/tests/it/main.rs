//! The shared library, called through its C interface. Python's tests call it with BridgeStan's own client.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod library;

use library::Model;
use precast_testkit::package::{cargo, root, target};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::null;
use std::sync::LazyLock;

/// The library as Cargo builds it, and one file with the package of `density/examples/normal.toml` behind it.
static FILES: LazyLock<(PathBuf, PathBuf, PathBuf)> = LazyLock::new(|| {
    let (target, root) = (target(env!("CARGO_TARGET_TMPDIR")), root());
    let mut build = cargo(&root, &target);
    run(build.args(["build", "--quiet", "--offline", "-p", "precast-bridgestan", "--lib"]));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bridgestan");
    fs_err::create_dir_all(&folder).unwrap();
    let manifest = root.join("crates/density/examples/normal.toml");
    let package = precast_build::Build::new().manifest(manifest).try_run_in(&root, &folder).unwrap().bundle;
    let (library, model) = (target.join("debug/libprecast_bridgestan.so"), folder.join("model.so"));
    let bytes = fs_err::read(&package).unwrap();
    let length = (bytes.len() as u64).to_le_bytes();
    let whole = [&fs_err::read(&library).unwrap(), &bytes, &length[..], b"precast-package1"].concat();
    // Each test is a process, and others may read the file.
    let written = folder.join(format!("model.so.{}", std::process::id()));
    fs_err::write(&written, whole).unwrap();
    fs_err::rename(written, &model).unwrap();
    (library, package, model)
});

fn run(command: &mut Command) {
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn one_file_holds_library_and_package() {
    let model = Model::open(&FILES.2, "").unwrap();
    assert_eq!(model.text(b"bs_name"), "normal");
    assert!(model.text(b"bs_model_info").contains("STAN_THREADS=true"));
    assert_eq!(model.text(b"bs_param_unc_names"), "mu,tau");
    assert_eq!(model.names(false, false), ["mu", "tau"]);
    assert_eq!(model.names(true, true)[2..4], ["z.1", "z.2"]);
    assert_eq!((model.names(true, true).len(), model.names(false, true).len()), (12, 7));
    // -1/2 - (0.5² + 1.5² + 2² + 1)/2 at mu = 1 and tau = 1, less the prior of mu.
    let found = model.log_density(true, [1.0, 0.0].as_ptr()).unwrap();
    assert!((found - (-0.02 - 0.5 - 0.5 * (0.25 + 2.25 + 4.0 + 1.0))).abs() < 1e-14, "{found}");
    let plain = model.log_density(false, [1.0, 0.5].as_ptr()).unwrap();
    let whole = model.log_density(true, [1.0, 0.5].as_ptr()).unwrap();
    assert!((whole - plain - 0.5).abs() < 1e-12);
}

#[test]
fn data_names_a_package_and_replaces_observations() {
    let named = format!("{{\"precast.package\": {:?}, \"y\": [1.0]}}", FILES.1.display().to_string());
    let model = Model::open(&FILES.0, &named).unwrap();
    assert_eq!(model.names(true, true), ["mu", "tau", "z.1", "obs.1"]);
    assert!((model.log_density(true, [1.0, 0.0].as_ptr()).unwrap() + 0.52).abs() < 1e-14);
    assert_eq!(model.unconstrain_json("{\"mu\": 2, \"tau\": 1}").unwrap(), [2.0, 0.0]);
}

#[test]
fn one_process_opens_several_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs_err::read_to_string(root().join("crates/density/examples/normal.toml")).unwrap();
    let manifest = folder.path().join("other.toml");
    fs_err::write(&manifest, text.replace("value = -mu", "value = 1.0 - mu")).unwrap();
    let built = precast_build::Build::new().manifest(manifest).try_run_in(root(), folder.path());
    let (copy, package) = (folder.path().join("copy.so"), built.unwrap().bundle);
    fs_err::copy(&FILES.0, &copy).unwrap();
    let data = format!("{{\"precast.package\": {:?}}}", package.display().to_string());
    let (first, second) = (Model::open(&FILES.2, "").unwrap(), Model::open(&copy, &data).unwrap());
    let at = [0.0, 0.0];
    assert_eq!(
        first.log_density(true, at.as_ptr()).unwrap() + 1.0,
        second.log_density(true, at.as_ptr()).unwrap()
    );
}

#[test]
fn mistakes_are_texts() {
    let without = Model::open(&FILES.0, "").err().unwrap();
    assert!(without.contains("this library has no package"), "{without}");
    for data in
        ["[]", "{", "{\"y\": [[1.0]]}", "{\"y\": [\"one\"]}", "{\"x\": 1}", "{\"precast.package\": 1}"]
    {
        assert!(Model::open(&FILES.2, data).is_err(), "{data}");
    }
    let model = Model::open(&FILES.2, "{}").unwrap();
    for json in ["{\"mu\": 1}", "{\"mu\": [1], \"tau\": 1}", "{\"mu\": 1, \"tau\": 1, \"nu\": 1}", "1", ""] {
        assert!(model.unconstrain_json(json).is_err(), "{json}");
    }
    assert!(model.log_density(true, null()).unwrap_err().contains("is NULL"));
}

#[test]
fn a_damaged_trailer_is_an_error() {
    let mut bytes = fs_err::read(&FILES.2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let end = bytes.len();
    for (name, at, value) in [("length", end - 17, 0xff), ("package", end - 2000, 0)] {
        let before = std::mem::replace(&mut bytes[at], value);
        let path = folder.path().join(name);
        fs_err::write(&path, &bytes).unwrap();
        // The damaged byte may belong to a part that is not read before it is used.
        if let Ok(model) = Model::open(&path, "") {
            assert!(name == "package" && model.log_density(true, [0.0; 2].as_ptr()).is_ok());
        }
        bytes[at] = before;
    }
}
