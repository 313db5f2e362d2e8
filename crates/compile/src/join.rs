//! Joins several artifacts of one variant into one, so that a program with a thousand modules opens only one shared
//! object.
//!
//! ```text
//! unit.o … ─┐
//! table.o ──┴─ ld -r ── objcopy ──▶ unit.o ── ld -shared ──▶ unit.so      the machine code of the parts is unchanged
//! ```
//! The result is an ordinary artifact. Its text is the table, its members are those of its parts, and its action is
//! `link` over the digests of the parts.

use precast_abi::{HEADERS, LINKED_HEADERS};
use precast_codegen::{Host, Unit};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::{ActionInputs, ActionKind, HostAbi, Language};
use precast_store::{Member, Record};

use crate::compile::{Compiled, Files, Made, pack};
use crate::error::CompileError;
use crate::flags::{Flags, Wanted, flags};
use crate::isa::Variant;
use crate::link::{Tools, shared_object};
use crate::object::RAW;
use crate::prepared::{OWN_HEADERS, Shown, exports};
use crate::requires;
use crate::scratch::Scratch;
use crate::toolchain::{Compiler, Toolchain};

/// An artifact to join with other artifacts.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Its record.
    pub record: &'a Record,
    /// Its `unit.o`.
    pub object: &'a [u8],
}

/// Returns whether an artifact can be joined: it must not use system libraries or other files outside its sources.
#[must_use]
pub fn can_be_joined(record: &Record) -> bool {
    let Record { requires, outside, .. } = record;
    requires.libc.is_none() && requires.needed.is_empty() && outside.is_empty()
}

/// Joins artifacts of one variant and language, in the given order.
///
/// # Errors
///
/// Fails if the linker rejects them or cannot run; see [`CompileError`].
pub fn join(parts: &[Part<'_>], toolchain: &Toolchain, variant: &Variant) -> Result<Compiled, CompileError> {
    let compiler = toolchain.compiler(Language::C)?;
    let members = members(parts);
    let language = parts.first().map_or(Language::C, |part| part.record.language);
    let flags = table_flags(compiler, variant)?;
    let scratch = Scratch::new()?;
    let tools = Tools { toolchain, compiler, scratch: &scratch };
    let text = table(&members);
    compile_table(tools, &flags, &text)?;
    for (at, part) in parts.iter().enumerate() {
        scratch.write(&part_name(at), part.object)?;
    }
    let names: Vec<String> = (0..parts.len()).map(part_name).collect();
    // Each part has its own table under the same name; the linker keeps the first definition, which is the joined
    // table.
    let first = ["-r", "-z", "muldefs", "-o", RAW, TABLE_OBJECT].map(str::to_owned);
    tools.run(&compiler.ld, &[first.as_slice(), &names].concat())?;
    tools.localise(exports(members.iter().map(|member| &member.key)), Language::C)?;
    tools.run(&compiler.ld, &shared_object(&flags))?;
    let (object, shared) = (scratch.read(OBJECT)?, scratch.read(SHARED_OBJECT)?);
    let undefined = |symbol: &str| CompileError::Undefined { symbol: symbol.to_owned(), place: None };
    let requires = requires::read(variant, &shared, &Shown::Table, false, undefined)?;
    if let Some(path) = toolchain.changed(Language::C)? {
        return Err(CompileError::Changed { path: path.to_owned() });
    }
    let inputs = ActionInputs {
        kind: ActionKind::Link,
        inputs: parts.iter().map(|part| *part.record.digest.as_bytes()).collect(),
        target: variant.target.clone(),
        isa: variant.isa.to_string(),
        flags: arguments(&flags).into_iter().chain(shared_object(&flags)).collect(),
        toolchain: Some(compiler.id),
        linked: Vec::new(),
    };
    let host_abi = HostAbi::Native;
    let made = Made { members, host_abi, language, requires, outside: Vec::new(), generation: None };
    let headers = HEADERS.iter().map(|(name, text)| (*name, text.as_bytes()));
    pack(&inputs, compiler, variant, made, Files { text: (TEXT, text.as_bytes()), headers, object, shared })
}

/// Returns the flags for compiling a table, which is a lean C unit.
pub(crate) fn table_flags(compiler: &Compiler, variant: &Variant) -> Result<Flags, CompileError> {
    flags(&Wanted {
        language: Language::C,
        family: compiler.family,
        profile: variant.profile,
        isa: variant.isa,
        target: &variant.target,
        lean: true,
        host: &Host::Native,
        added: &[],
        removed: &[],
        of: "a table",
    })
}

const TEXT: &str = "unit.c";
/// The name of a table's object.
pub(crate) const TABLE_OBJECT: &str = "table.o";

/// Returns the name of a part's object in the directory.
pub(crate) fn part_name(at: usize) -> String {
    format!("part{at}.o")
}

/// Returns the members of the parts, sorted by key as in any unit, with their slots in the joined table.
fn members(parts: &[Part<'_>]) -> Vec<Member> {
    let mut members: Vec<&Member> = parts.iter().flat_map(|part| &part.record.members).collect();
    members.sort_by_key(|member| member.key);
    members.dedup_by_key(|member| member.key);
    (0_u32..).zip(members).map(|(slot, member)| Member { slot, ..member.clone() }).collect()
}

/// Returns the text of the table.
fn table(members: &[Member]) -> String {
    let symbols: Vec<String> = members.iter().map(|member| Unit::entry_symbol(&member.key)).collect();
    let declared: String = symbols.iter().map(|name| format!("extern const pc_entry {name};\n")).collect();
    let listed: String = symbols.iter().map(|name| format!("  &{name},\n")).collect();
    format!(
        "#include <precast/module.h>\n\n#pragma GCC visibility push(hidden)\n{declared}#pragma GCC visibility pop\n\n\
         static const pc_entry *const entries[] = {{\n{listed}}};\nPC_MODULE(entries)\n"
    )
}

/// Compiles a table to [`TABLE_OBJECT`].
pub(crate) fn compile_table(tools: Tools<'_>, flags: &Flags, text: &str) -> Result<(), CompileError> {
    let Tools { compiler, scratch, .. } = tools;
    scratch.write(TEXT, text)?;
    for (name, text) in HEADERS.iter().chain(LINKED_HEADERS) {
        scratch.write(&format!("include/{name}"), text)?;
    }
    scratch.link(OWN_HEADERS, &compiler.own_headers)?;
    tools.run(&compiler.driver, &arguments(flags))
}

/// Returns the arguments that compile the table.
fn arguments(flags: &Flags) -> Vec<String> {
    let places = ["-Iinclude", "-isystem", OWN_HEADERS, "-pipe", "-c", TEXT, "-o", TABLE_OBJECT];
    flags.compile.iter().cloned().chain(places.map(str::to_owned)).collect()
}
