//! Determines the requirements of the code from the shared object, not from the request. Only the CPU features come
//! from the request, because objects do not record them.

use std::collections::BTreeSet;

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, ElfFile, FileHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use precast_store::Requires;

use crate::error::CompileError;
use crate::isa::Variant;
use crate::prepared::Shown;

/// Undefined symbols that a lean unit may have: compilers call these functions implicitly, the first one for
/// thread-local variables.
const ALLOWED: &[&str] = &["__tls_get_addr", "memcmp", "memcpy", "memmove", "memset"];

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// Reads and checks a shared object. If it is not hosted, its only undefined symbols may be functions that compilers
/// call implicitly.
pub(crate) fn read(
    variant: &Variant,
    shared: &[u8],
    shown: &Shown,
    is_hosted: bool,
    no_one_defines: impl Fn(&str) -> CompileError,
) -> Result<Requires, CompileError> {
    let refuse = |what: &str| CompileError::Module { what: what.to_owned() };
    let elf = Elf::parse(shared).map_err(|error| refuse(&format!("not a 64-bit ELF file: {error}")))?;
    let arch = match elf.elf_header().e_machine(elf.endian()) {
        elf::EM_X86_64 => "x86_64",
        elf::EM_AARCH64 => "aarch64",
        other => return Err(refuse(&format!("built for ELF machine {other}"))),
    };
    if arch != variant.isa.arch() {
        return Err(refuse(&format!("built for `{arch}`, expected `{}`", variant.isa.arch())));
    }
    let undefined = undefined(&elf).map_err(|error| refuse(&error.to_string()))?;
    if !is_hosted && let Some(symbol) = undefined.iter().find(|name| !ALLOWED.contains(&name.as_str())) {
        return Err(no_one_defines(symbol));
    }
    let exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let exported: BTreeSet<&str> = exported.filter_map(|symbol| symbol.name().ok()).collect();
    let symbol = shown.symbol();
    if exported != BTreeSet::from([symbol]) {
        return Err(refuse(&format!("it exports {exported:?}, expected only `{symbol}`")));
    }
    let abi = match shown {
        Shown::Table => {
            let version = abi_version(&elf, symbol);
            let version =
                version.ok_or_else(|| refuse(&format!("`{symbol}` is truncated or has no magic number")))?;
            (version, version | 0xffff)
        }
        // An extension module does not use the ABI of the C headers.
        Shown::Init(_) => (0, u32::MAX),
    };
    let needed = needed(&elf).map_err(|error| refuse(&error.to_string()))?;
    let libc = libc(&needed);
    let libc_version = if libc.as_deref() == Some("gnu") { glibc_version(&elf) } else { None };
    Ok(Requires {
        arch: arch.to_owned(),
        os: os(&variant.target).to_owned(),
        libc,
        libc_version,
        cpu: variant.isa.cpu_features().into_iter().map(str::to_owned).collect(),
        needed,
        undefined,
        abi,
    })
}

fn os(target: &str) -> &str {
    let parts: Vec<&str> = target.split('-').collect();
    ["linux", "android", "freebsd", "netbsd", "openbsd", "none"]
        .into_iter()
        .find(|os| parts.iter().any(|part| part.starts_with(os)))
        .unwrap_or("unknown")
}

fn undefined(elf: &Elf<'_>) -> object::Result<Vec<String>> {
    let open = elf.dynamic_symbols().filter(|symbol| symbol.is_undefined() && !symbol.is_weak());
    let names: BTreeSet<String> =
        open.map(|symbol| symbol.name().map(str::to_owned)).collect::<Result<_, _>>()?;
    Ok(names.into_iter().filter(|name| !name.is_empty()).collect())
}

/// Returns the sonames of DT_NEEDED, sorted.
fn needed(elf: &Elf<'_>) -> object::Result<Vec<String>> {
    let (endian, data) = (elf.endian(), elf.data());
    let Some((entries, link)) = elf.elf_section_table().dynamic(endian, data)? else { return Ok(Vec::new()) };
    let strings = elf.elf_section_table().strings(endian, data, link)?;
    let mut names = BTreeSet::new();
    for entry in entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED) {
        names.insert(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned());
    }
    Ok(names.into_iter().collect())
}

fn libc(needed: &[String]) -> Option<String> {
    let any = |test: fn(&str) -> bool| needed.iter().any(|name| test(name));
    if any(|name| name.starts_with("libc.so.6") || name.starts_with("libm.so.6")) {
        Some("gnu".to_owned())
    } else if any(|name| name.starts_with("libc.musl") || name == "libc.so") {
        Some("musl".to_owned())
    } else {
        None
    }
}

/// Returns the highest `GLIBC_x.y` version of any symbol, which is the oldest C library that provides all of them.
fn glibc_version(elf: &Elf<'_>) -> Option<String> {
    let (endian, data) = (elf.endian(), elf.data());
    let sections = elf.elf_section_table();
    let (mut libraries, link) = sections.gnu_verneed(endian, data).ok()??;
    let strings = sections.strings(endian, data, link).ok()?;
    let mut highest: Option<Vec<u32>> = None;
    while let Ok(Some((_, mut versions))) = libraries.next() {
        while let Ok(Some(version)) = versions.next() {
            let name = String::from_utf8_lossy(version.name(endian, strings).ok()?).into_owned();
            let Some(numbers) = name.strip_prefix("GLIBC_") else { continue };
            let numbers: Option<Vec<u32>> = numbers.split('.').map(|part| part.parse().ok()).collect();
            highest = highest.max(numbers);
        }
    }
    let parts: Vec<String> = highest?.iter().map(u32::to_string).collect();
    Some(parts.join("."))
}

/// Returns the ABI version that the module was compiled against, from its exported table. Both targets are
/// little-endian.
fn abi_version(elf: &Elf<'_>, table: &str) -> Option<u32> {
    let table = elf.dynamic_symbols().find(|symbol| symbol.name() == Ok(table))?;
    let section = elf.section_by_index(table.section_index()?).ok()?;
    let start = usize::try_from(table.address().checked_sub(section.address())?).ok()?;
    let bytes = section.data().ok()?.get(start..start + 8)?;
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    // The layout tests of precast-abi check this value against `PC_MODULE_MAGIC` in the C header.
    (number(0)? == precast_abi::module::MAGIC).then(|| number(4))?
}
