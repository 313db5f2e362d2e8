//! Modules for a static program: a library with one object that exports no symbols and lists its modules in a section.
//!
//! The tables of all artifacts, with their digests, form an array in the section `precast_linked`. The linker
//! concatenates the arrays of all packages of a program, and `precast-core` reads them from there (`precast/linked.h`).

use precast_store::Digest;
use precast_store::archive::OBJECT;
use precast_store::key::Language;

use crate::error::CompileError;
use crate::isa::Variant;
use crate::join::{TABLE_OBJECT, compile_table, part_name, table_flags};
use crate::link::Tools;
use crate::object::RAW;
use crate::prepared::TABLE;
use crate::scratch::Scratch;
use crate::symbols;
use crate::toolchain::Toolchain;

/// Creates the library of some artifacts from their `unit.o` files, and returns the bytes of a linker archive.
///
/// # Errors
///
/// Fails if the linker rejects them or cannot run; see [`CompileError`].
pub fn static_library(
    artifacts: &[(Digest, &[u8])],
    toolchain: &Toolchain,
    variant: &Variant,
) -> Result<Vec<u8>, CompileError> {
    let compiler = toolchain.compiler(Language::C)?;
    let scratch = Scratch::new()?;
    let tools = Tools { toolchain, compiler, scratch: &scratch };
    compile_table(tools, &table_flags(compiler, variant)?, &table(artifacts))?;
    let mut objects = vec![TABLE_OBJECT.to_owned()];
    for (at, (digest, object)) in artifacts.iter().enumerate() {
        let (given, renamed) = (format!("given{at}.o"), part_name(at));
        scratch.write(&given, object)?;
        let symbol = symbol(digest);
        let rename = format!("--redefine-sym={TABLE}={symbol}");
        let keep = format!("--keep-global-symbol={symbol}");
        match &compiler.objcopy {
            Some(objcopy) => tools.run(objcopy, &[rename, keep, given, renamed.clone()])?,
            None => scratch.write(&renamed, symbols::rename(scratch.read(&given)?, TABLE, &symbol)?)?,
        }
        objects.push(renamed);
    }
    let first = ["-r", "-o", RAW].map(str::to_owned);
    tools.run(&compiler.ld, &[first.as_slice(), &objects].concat())?;
    // `objcopy` rejects an empty list, so it gets a name that no symbol has.
    tools.localise([SECTION.to_owned()], Language::C)?;
    // Deterministic: without time and owner.
    tools.run(&compiler.ar, &["rcsD", LIBRARY, OBJECT].map(str::to_owned))?;
    scratch.read(LIBRARY)
}

const LIBRARY: &str = "unit.a";
const SECTION: &str = "precast_linked";

fn symbol(digest: &Digest) -> String {
    format!("precast_module_{digest}")
}

/// Returns the C text of the section.
fn table(artifacts: &[(Digest, &[u8])]) -> String {
    let tables = artifacts.iter().map(|(digest, _)| format!("extern const pc_module {};\n", symbol(digest)));
    let rows = artifacts.iter().map(|(digest, _)| {
        let bytes: Vec<String> = digest.as_bytes().iter().map(u8::to_string).collect();
        format!("  {{{{{}}}, &{}}},\n", bytes.join(","), symbol(digest))
    });
    format!(
        "#include <precast/linked.h>\n\n{}\nPC_LINKED = {{\n{}}};\n",
        tables.collect::<String>(),
        rows.collect::<String>()
    )
}
