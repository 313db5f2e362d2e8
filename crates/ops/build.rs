//! Digests the sources that generate C, lists the headers that modules include, and compiles the functions of `math`, which
//! `perform` calls.
//!
//! `GENERATOR`, part of every fingerprint, is a digest of those sources.
//! In this workspace that is every file of the crates below; in a package of a registry, whose files never change under
//! one version, the version stands for the crates that are not there to be read.

use std::path::{Path, PathBuf};

/// The functions of a list as C with external linkage: `pc_math_<name>_<dtype>(operands, out)`.
macro_rules! functions {
    (#[$doc:meta] $module:ident: $narrow:ident = $n:ty, $wide:ident = $w:ty;
     $($f:ident, $g:ident ($($x:ident),+) of $header:literal;)+) => {
        #[$doc]
        pub(crate) const fn $module() -> &'static str {
            concat!($(
                "#include <precast/ops/math/", $header, ">\n",
                functions!(@c $narrow $f $($x)+),
                functions!(@c $wide $g $($x)+),
            )+)
        }
    };
    (@c $d:ident $f:ident $x:ident) => { functions!(@c $d $f "(x[0])") };
    (@c $d:ident $f:ident $x:ident $y:ident) => { functions!(@c $d $f "(x[0], x[1])") };
    (@c $d:ident $f:ident $call:literal) => {
        concat!(
            "void pc_math_", stringify!($f), "(const pc_", stringify!($d), " *x, pc_", stringify!($d), " *out) {\n",
            "  *out = pc_", stringify!($f), $call, ";\n}\n",
        )
    };
}

/// The lists, and with them the functions that give their C.
#[path = "src/math/functions.rs"]
mod functions;

/// Folders whose content decides what C a graph becomes.
const SOURCES: [&str; 10] = [
    "src",
    "c",
    "../abi/include",
    "../abi/compat",
    "../abi/src",
    "../core/src/key",
    "../core/src/value",
    "../graph/src",
    "../codegen/src",
    "../codegen/c",
];

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = blake3::Hasher::new_derive_key("precast v1 generator");
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    for source in SOURCES {
        let folder = root.join(source);
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            add(&mut hasher, source, &folder)?;
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    math(&root, &out)?;
    headers(&root.join("c"), &out)?;
    let digest = hasher.finalize().to_hex();
    fs_err::write(out.join("generator.rs"), format!("\"{digest}\"\n"))
}

/// Writes the list of all headers below `precast`: logical name and content, in the order of the names.
fn headers(folder: &Path, out: &Path) -> std::io::Result<()> {
    let mut list = String::from("&[\n");
    for entry in walkdir::WalkDir::new(folder.join("precast")).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "h") {
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let name = name.to_string_lossy().replace('\\', "/");
            list += &format!("({name:?}, include_str!({:?})),\n", entry.path().display().to_string());
        }
    }
    fs_err::write(out.join("headers.rs"), list + "]\n")
}

/// Compiles the functions of `math` with the flags that give modules the same bits everywhere.
fn math(root: &Path, out: &Path) -> std::io::Result<()> {
    let source = out.join("math.c");
    // One element a call: nothing is gained by inlining everything.
    let text = ["#define PC_INLINE static inline\n", functions::floats(), functions::complex()];
    fs_err::write(&source, text.concat())?;
    compiler(root)
        .flags(["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"])
        .file(source)
        .compile("precast_math");
    Ok(())
}

/// A compiler of C that is part of the host, always optimised.
fn compiler(root: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .include(root.join("c"))
        .include(
            std::env::var_os("DEP_PRECAST_ABI_INCLUDE")
                .map_or_else(|| root.join("../abi/include"), PathBuf::from),
        )
        .std("gnu11")
        .opt_level(2)
        .flag_if_supported("-fvisibility=hidden")
        .warnings(true)
        .extra_warnings(true);
    build
}

/// Adds the names and contents of all files below a folder, in the order of their names.
fn add(hasher: &mut blake3::Hasher, name: &str, folder: &Path) -> std::io::Result<()> {
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let content = fs_err::read(entry.path())?;
        for part in [name.as_bytes(), relative.to_string_lossy().replace('\\', "/").as_bytes(), &content] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }
    Ok(())
}
