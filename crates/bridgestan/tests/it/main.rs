//! The shared library, called through its C interface. Python's tests call it with BridgeStan's own client.
#![allow(unsafe_code, reason = "a C interface is called")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the contract of the interface is followed")]

use libloading::Library;
use precast_testkit::package::{cargo, root, target};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::LazyLock;

/// The library as Cargo builds it, and one file with the package of `density/examples/normal.toml` behind it.
static FILES: LazyLock<(PathBuf, PathBuf, PathBuf)> = LazyLock::new(|| {
    let (target, root) = (target(env!("CARGO_TARGET_TMPDIR")), root());
    let mut build = cargo(&root, &target);
    run(build.args(["build", "--quiet", "--offline", "-p", "precast-bridgestan", "--lib"]));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bridgestan");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = root.join("crates/density/examples/normal.toml");
    let package = precast_build::Build::new().manifest(manifest).try_run_in(&root, &folder).unwrap().bundle;
    let (library, model) = (target.join("debug/libprecast_bridgestan.so"), folder.join("model.so"));
    let bytes = std::fs::read(&package).unwrap();
    let length = (bytes.len() as u64).to_le_bytes();
    let whole = [&std::fs::read(&library).unwrap(), &bytes, &length[..], b"precast-package1"].concat();
    std::fs::write(&model, whole).unwrap();
    (library, package, model)
});

fn run(command: &mut Command) {
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

type Text = *mut c_char;
type Density = unsafe extern "C" fn(*const c_void, bool, bool, *const f64, *mut f64, *mut Text) -> c_int;

/// A model of the library.
struct Model {
    library: Library,
    model: *mut c_void,
}

impl Model {
    fn open(path: &PathBuf, data: &str) -> Result<Self, String> {
        let library = unsafe { Library::new(path).unwrap() };
        let data = CString::new(data).unwrap();
        let mut text: Text = null_mut();
        let model = unsafe {
            let open = library
                .get::<unsafe extern "C" fn(*const c_char, c_uint, *mut Text) -> *mut c_void>(b"bs_model_construct");
            open.unwrap()(data.as_ptr(), 1, &raw mut text)
        };
        if model.is_null() { Err(taken(&library, text)) } else { Ok(Self { library, model }) }
    }

    fn text(&self, name: &[u8]) -> String {
        unsafe {
            let call = self.library.get::<unsafe extern "C" fn(*const c_void) -> *const c_char>(name).unwrap();
            CStr::from_ptr(call(self.model)).to_str().unwrap().to_owned()
        }
    }

    fn names(&self, transformed: bool, generated: bool) -> Vec<String> {
        type Names = unsafe extern "C" fn(*const c_void, bool, bool) -> *const c_char;
        let text = unsafe {
            let call = self.library.get::<Names>(b"bs_param_names").unwrap();
            CStr::from_ptr(call(self.model, transformed, generated)).to_str().unwrap().to_owned()
        };
        text.split(',').map(str::to_owned).collect()
    }

    fn log_density(&self, jacobian: bool, q: *const f64) -> Result<f64, String> {
        let (mut value, mut text) = (0.0, null_mut());
        let status = unsafe {
            let call = self.library.get::<Density>(b"bs_log_density").unwrap();
            call(self.model, true, jacobian, q, &raw mut value, &raw mut text)
        };
        if status == 0 { Ok(value) } else { Err(taken(&self.library, text)) }
    }

    fn unconstrain_json(&self, json: &str) -> Result<[f64; 2], String> {
        type Unconstrain = unsafe extern "C" fn(*const c_void, *const c_char, *mut f64, *mut Text) -> c_int;
        let (mut q, mut text, json) = ([0.0; 2], null_mut(), CString::new(json).unwrap());
        let status = unsafe {
            let call = self.library.get::<Unconstrain>(b"bs_param_unconstrain_json").unwrap();
            call(self.model, json.as_ptr(), q.as_mut_ptr(), &raw mut text)
        };
        if status == 0 { Ok(q) } else { Err(taken(&self.library, text)) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { self.library.get::<unsafe extern "C" fn(*mut c_void)>(b"bs_model_destruct").unwrap()(self.model) }
    }
}

/// Returns the text of an error and frees it.
fn taken(library: &Library, text: Text) -> String {
    unsafe {
        let copied = CStr::from_ptr(text).to_str().unwrap().to_owned();
        library.get::<unsafe extern "C" fn(Text)>(b"bs_free_error_msg").unwrap()(text);
        copied
    }
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
fn mistakes_are_texts() {
    let without = Model::open(&FILES.0, "").err().unwrap();
    assert!(without.contains("this library has no package"), "{without}");
    for data in ["[]", "{", "{\"y\": [[1.0]]}", "{\"y\": [\"one\"]}", "{\"x\": 1}", "{\"precast.package\": 1}"] {
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
    let mut bytes = std::fs::read(&FILES.2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let end = bytes.len();
    for (name, at, value) in [("length", end - 17, 0xff), ("package", end - 2000, 0)] {
        let before = std::mem::replace(&mut bytes[at], value);
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        // The damaged byte may belong to a part that is not read before it is used.
        if let Ok(model) = Model::open(&path, "") {
            assert!(name == "package" && model.log_density(true, [0.0; 2].as_ptr()).is_ok());
        }
        bytes[at] = before;
    }
}
