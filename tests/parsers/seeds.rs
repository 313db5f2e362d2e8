//! The real values: the outputs of one small build.

use std::path::Path;
use std::sync::LazyLock;

use precast_build::{Declared, Execution, Lock, Manifest, execute, plan_after};
use precast_compile::{Isa, Toolchain, Variant};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_store::{Archive, Bundle, Record, Store};

pub(crate) const MANIFEST: &str = r#"
[[op]]
name = "add"
dtypes = ["f32", "i64"]
ndim = [1]

[[graph]]
doc = "Documented"
name = "score"
inputs = ["x: f64[?]", "y: f64[3, ?]"]
outputs = ["out = sum(exp(-x*x)*y + 2.5)", "max(x)"]
"#;

/// The outputs of a build.
pub(crate) struct Built {
    directory: tempfile::TempDir,
    /// Each record with its archive.
    pub(crate) records: Vec<(Record, Archive)>,
    pub(crate) entries: Vec<Vec<u8>>,
    pub(crate) bundle: Vec<u8>,
    pub(crate) export: Vec<u8>,
    pub(crate) lock: String,
}

/// The build that all targets share.
pub(crate) static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let manifest = Manifest::parse(Path::new("precast.toml"), MANIFEST.to_owned()).unwrap();
    let mut declared = Declared::new(Ops::standard());
    let plan = plan_after(manifest.declare(&mut declared), &declared).unwrap();
    let toolchain = Toolchain::find(None).unwrap();
    let store = Store::create(directory.path().join("store")).unwrap();
    let variants = [Variant {
        target: toolchain.target().to_owned(),
        isa: Isa::native().unwrap(),
        profile: Profile::Release,
    }];
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    let executed = execute(&plan, &execution).unwrap();
    let lock = directory.path().join("precast.lock");
    Lock::of(&plan).pinning(executed.records()).write(&lock).unwrap();
    let records = store.records().map(Result::unwrap);
    Built {
        records: records.map(|record| (record.clone(), store.load(&record).unwrap())).collect(),
        entries: executed.entries.iter().map(precast_store::Entry::to_bytes).collect(),
        bundle: executed.bundle(&toolchain).unwrap(),
        export: store.export(None).unwrap().pack().unwrap(),
        lock: fs_err::read_to_string(lock).unwrap(),
        directory,
    }
});

impl Built {
    pub(crate) fn store(&self) -> std::path::PathBuf {
        self.directory.path().join("store")
    }

    pub(crate) fn opened(&self) -> Bundle {
        Bundle::from_bytes(self.bundle.clone()).unwrap()
    }
}

/// Converts texts to bytes.
pub(crate) fn bytes(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
