//! Hashes the sources that generate C, lists the headers that modules include, and compiles the `math` functions that
//! `perform` calls.
//!
//! `GENERATOR` is part of every fingerprint: the version with a digest of those sources. In this workspace the digest
//! covers every file of the crates below. In a registry package, whose files never change under one version, the
//! version number stands for the crates that are not in the package.

use std::path::{Path, PathBuf};

#[path = "src/rows/elementwise.rs"]
mod rows;

/// A C function that `perform` calls: its name, number of operands, dtypes and header.
type Function = (&'static str, usize, [&'static str; 2], &'static str);

/// A C function of a word that `perform` calls: its name, number of operands, kind and header.
type OfWords = (&'static str, usize, &'static str, &'static str);

/// Returns the functions of a row: one for each kind with a header and without a Rust value.
macro_rules! functions {
    ($(#[$doc:meta] $name:ident $x:tt [$($alias:ident)*] $({$keyword:ident = $default:expr})? $promotion:ident => $gives:ident,
       $cost:ident, $builder:ident $(as $c_name:literal)? { $(any = $any:expr;)? $(bool = $bool:expr;)? $(int = $int:expr;)?
       $(float $($fh:literal)? $(f32 [$($r32:ident)*])? $(f64 [$($r64:ident)*])? $(= $float:expr)?;)?
       $(complex $($ch:literal)? $(= $complex:expr)?;)? $(word $wh:literal;)? $(draw $dh:literal;)? } $(d $derivatives:tt)?)*) => {
        /// The functions of words and the draws of all rows.
        const OF_WORDS: &[OfWords] = &[$(
            $((stringify!($name), functions!(@arity $x), "word", $wh),)?
            $((stringify!($name), functions!(@arity $x), "draw", $dh),)?
        )*];

        /// The functions of all rows.
        const FUNCTIONS: &[&[Function]] = &[$(
            $(functions!(@kind $name $x ["f32", "f64"] $($fh)? $(= $float)?),)?
            $(functions!(@kind $name $x ["c64", "c128"] $($ch)? $(= $complex)?),)?
        )*];
    };
    (@arity ($($x:ident),+)) => { [$(stringify!($x)),+].len() };
    (@kind $name:ident ($($x:ident),+) $dtypes:tt $header:literal) => {
        &[(stringify!($name), [$(stringify!($x)),+].len(), $dtypes, $header)]
    };
    (@kind $name:ident $x:tt $dtypes:tt $($value:tt)+) => { &[] };
}
rows::scalar_rows!(functions);

/// Folders whose content determines the generated C.
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
    let generator = format!("precast {}+{}", env!("CARGO_PKG_VERSION"), hasher.finalize().to_hex());
    fs_err::write(out.join("generator.rs"), format!("{generator:?}\n"))
}

/// Writes the list of all headers in `precast`, sorted by name: logical name and content.
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

/// Compiles the `math` functions with the flags that give modules the same bits on all machines.
fn math(root: &Path, out: &Path) -> std::io::Result<()> {
    let source = out.join("math.c");
    // Each call computes one element, so inlining everything gains nothing.
    let mut text = String::from("#define PC_INLINE static inline\n");
    for (name, operands, dtypes, header) in FUNCTIONS.iter().copied().flatten() {
        let operands: Vec<String> = (0..*operands).map(|i| format!("x[{i}]")).collect();
        let operands = operands.join(", ");
        text += &format!("#include <precast/ops/{header}>\n");
        for d in dtypes {
            text += &format!(
                "void pc_math_{name}_{d}(const pc_{d} *x, pc_{d} *out) {{ *out = pc_{name}_{d}({operands}); }}\n"
            );
        }
    }
    for (name, operands, kind, header) in OF_WORDS {
        text += &format!("#include <precast/ops/{header}>\n");
        let is_word = *kind == "word";
        let rest =
            |i: usize| if is_word { format!(", x[{i}]") } else { format!(", pc_from_bits_f64(x[{i}])") };
        let rest: String = (1..*operands).map(rest).collect();
        let value = if is_word {
            format!("pc_{name}_u64(x[0]{rest})")
        } else {
            format!("pc_bits_f64(pc_{name}_f64(x[0]{rest}))")
        };
        text += &format!("void pc_math_{name}_{kind}(const pc_u64 *x, pc_u64 *out) {{ *out = {value}; }}\n");
    }
    fs_err::write(&source, text)?;
    compiler(root)
        .flags(["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-slp-vectorize"])
        .file(source)
        .compile("precast_math");
    Ok(())
}

/// Returns a C compiler for code that is part of the host, always with optimisation.
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

/// Hashes the names and contents of all files in a folder, sorted by name.
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
