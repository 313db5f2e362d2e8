//! The arguments of the compiler and linker. The `ActionKey` includes all of them except paths of this machine.
//!
//! | flag | reason |
//! |---|---|
//! | `-std=gnu11`, `-std=gnu++17` | precast sets the language, not the compiler's default |
//! | `-O3` | at -O2, gcc 12 does not vectorize loops of variable length |
//! | `-ffp-contract=off`, never `-ffast-math` | the same bits at every ISA level |
//! | `-fno-math-errno -fno-trapping-math` | allow vectorizing `sqrt` and selections without changing results |
//! | `-fno-tree-slp-vectorize` | SLP in gcc 12 drops the rounding of `(double)(float)x`; loops are still vectorized |
//! | `-fno-ipa-…` | a function's code does not depend on its neighbors in the unit |
//! | `-fno-stack-protector -U_FORTIFY_SOURCE` | distributions enable these, and each calls into a C library |
//! | `-fasynchronous-unwind-tables`, `--eh-frame-hdr` | unwinding through modules; tables change no instruction |
//! | `-fno-omit-frame-pointer` | profilers that follow frame pointers can unwind through modules, too |
//! | `-fcf-protection=return` (x86-64) | hardened hosts load only objects marked for shadow stacks; changes no instruction |
//! | `-ffreestanding -fbuiltin -nostdinc` (lean) | system headers are invisible; `sqrt` and `memcpy` keep their meaning |
//! | `-fno-gnu-unique` (C++) | units share no symbols; static variables of templates would be shared |
//! | `-Wa,-march=…` (gcc) | the assembler rejects instructions beyond the ISA level, also in `target` attributes and `asm` |
//! | `-Werror=date-time` | the code does not depend on the clock |
//! | `-frandom-seed`, `-ffile-prefix-map`, `-fno-ident` | the object contains no path, name or version |
//! | `-z noseparate-code` | a small module takes 5 kB instead of 13 kB, and two fewer mappings at load |
//!
//! Profilers, debuggers and backtraces use the unwind tables.

use precast_codegen::Host;
use precast_store::key::{Language, Profile};

use crate::allowed;
use crate::error::CompileError;
use crate::isa::Isa;
use crate::toolchain::Family;

/// The inputs that determine the flags.
pub(crate) struct Wanted<'a> {
    pub(crate) language: Language,
    pub(crate) family: Family,
    pub(crate) profile: Profile,
    pub(crate) isa: Isa,
    pub(crate) target: &'a str,
    pub(crate) lean: bool,
    pub(crate) host: &'a Host,
    /// Flags that ops add.
    pub(crate) added: &'a [String],
    /// Flags that ops remove.
    pub(crate) removed: &'a [String],
    /// The signature of the module that requests the flags.
    pub(crate) of: &'a str,
}

/// Arguments that contain no paths of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) compile: Vec<String>,
    pub(crate) link: Vec<String>,
    /// Whether the compiler's driver links with a C library, instead of `ld` alone.
    pub(crate) hosted_link: bool,
}

const ALWAYS: &[&str] = &[
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",
    "-fvisibility=hidden",
    "-fno-ident",
    "-fasynchronous-unwind-tables",
    "-fno-omit-frame-pointer",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-Werror=date-time",
];
const GCC: &[&str] = &[
    // This scheduling pass does not improve the loops of kernels, but takes a twentieth of the compile time.
    "-fno-schedule-insns2",
    // Without this, the alignment of a short loop can determine half of its run time.
    "-falign-loops=64",
    "-fno-ipa-icf",
    "-fno-ipa-cp",
    "-fno-ipa-sra",
    "-fno-ipa-ra",
    "-fno-ipa-pure-const",
    "-fdiagnostics-color=never",
];
const CLANG: &[&str] =
    &["-fno-color-diagnostics", "-Wno-unused-command-line-argument", "-Wno-ignored-optimization-argument"];
const LINK: &[&str] = &[
    "--build-id=none",
    "-z",
    "noexecstack",
    "-z",
    "relro",
    "-z",
    "now",
    "-z",
    "noseparate-code",
    "--hash-style=gnu",
    "--eh-frame-hdr",
];

/// Computes the argument lists.
///
/// # Errors
///
/// Fails if an op requests a flag that could make the result depend on this machine, or access files outside the unit.
pub(crate) fn flags(wanted: &Wanted<'_>) -> Result<Flags, CompileError> {
    let mut compile = compile_flags(wanted);
    compile.extend(wanted.added.iter().cloned());
    // Only flags that may be added may be removed. Removing a flag that is not in the list has no effect, so it may be
    // any text.
    let removed = wanted.removed.iter().filter(|flag| compile.contains(flag));
    for flag in wanted.added.iter().chain(removed) {
        if let Some(remedy) = allowed::remedy(flag) {
            return Err(CompileError::Flag { flag: flag.clone(), of: wanted.of.to_owned(), remedy });
        }
    }
    compile.retain(|flag| !wanted.removed.contains(flag));
    let sanitize = sanitizers(wanted.profile);
    if !sanitize.is_empty() && wanted.family == Family::Zig {
        return Err(CompileError::Sanitizer);
    }
    let hosted_link = !wanted.lean || !sanitize.is_empty();
    Ok(Flags { compile, link: link_flags(wanted, hosted_link), hosted_link })
}

fn compile_flags(wanted: &Wanted<'_>) -> Vec<String> {
    let mut list: Vec<&str> = Vec::with_capacity(40);
    list.push(match wanted.language {
        Language::C => "-std=gnu11",
        Language::Cxx => "-std=gnu++17",
    });
    list.extend(match wanted.profile {
        Profile::Release => ["-O3"].as_slice(),
        Profile::Debug => &["-O0", "-g"],
        Profile::Asan => &["-O1", "-g"],
    });
    list.extend(sanitizers(wanted.profile));
    list.extend(wanted.isa.flags());
    list.extend(ALWAYS);
    if wanted.isa.arch() == "x86_64" {
        list.push("-fcf-protection=return");
    }
    if wanted.family == Family::Gcc {
        list.extend(wanted.isa.assembler_flag());
    }
    list.extend(match wanted.family {
        Family::Gcc => GCC,
        Family::Clang | Family::Zig => CLANG,
    });
    if wanted.language == Language::C {
        // Otherwise a misspelled function would only be detected by the linker.
        list.push("-Werror=implicit-function-declaration");
    }
    if wanted.language == Language::Cxx && wanted.family == Family::Gcc {
        list.push("-fno-gnu-unique");
    }
    if wanted.lean {
        list.extend(["-nostdinc", "-ffreestanding", "-fbuiltin"]);
        if wanted.language == Language::Cxx {
            // Exceptions need a run-time library, which lean units do not link.
            list.extend(["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]);
        }
    }
    let mut list: Vec<String> = list.into_iter().map(str::to_owned).collect();
    if wanted.family != Family::Gcc {
        list.push(format!("--target={}", wanted.target));
    }
    list
}

fn link_flags(wanted: &Wanted<'_>, hosted: bool) -> Vec<String> {
    let mut list: Vec<String> = vec!["-shared".to_owned()];
    if hosted && wanted.family == Family::Zig {
        list.extend(LINK.iter().map(|flag| (*flag).to_owned()));
        list.extend(["--exclude-libs", "ALL", "--no-undefined"].map(str::to_owned));
        if *wanted.host != Host::Native {
            list.push("--warn-unresolved-symbols".to_owned());
        }
    } else if hosted {
        list.extend(sanitizers(wanted.profile).iter().map(|flag| (*flag).to_owned()));
        if wanted.family == Family::Clang {
            list.push(format!("--target={}", wanted.target));
        }
        list.push(format!("-Wl,{}", LINK.join(",")));
        // Definitions from static libraries are private to the module, like its own functions.
        list.push("-Wl,--exclude-libs,ALL".to_owned());
        // Clang links its sanitizer run time into the program, not into libraries.
        if !(wanted.profile == Profile::Asan && wanted.family == Family::Clang) {
            list.push("-Wl,--no-undefined".to_owned());
        }
        if *wanted.host != Host::Native {
            // CPython's functions are resolved in the process. The linker lists undefined symbols, and `link` checks
            // them.
            list.push("-Wl,--warn-unresolved-symbols".to_owned());
        }
    } else {
        list.extend(LINK.iter().map(|flag| (*flag).to_owned()));
    }
    if wanted.profile == Profile::Release {
        list.push("-s".to_owned());
    }
    list
}

fn sanitizers(profile: Profile) -> &'static [&'static str] {
    match profile {
        Profile::Asan => &["-fsanitize=address,undefined"],
        Profile::Release | Profile::Debug => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'a>(added: &'a [String], removed: &'a [String]) -> Wanted<'a> {
        let (language, family, profile) = (Language::C, Family::Gcc, Profile::Release);
        Wanted {
            language,
            family,
            profile,
            isa: Isa::X86_64V3,
            target: "x86_64-unknown-linux-gnu",
            lean: true,
            host: &Host::Native,
            added,
            removed,
            of: "f",
        }
    }

    #[test]
    fn ops_may_add_and_remove_flags() {
        let found = flags(&wanted(&["-DN=3".to_owned()], &["-O3".to_owned()])).unwrap().compile;
        assert!(found.contains(&"-DN=3".to_owned()) && !found.contains(&"-O3".to_owned()));
    }

    #[test]
    fn isolating_flags_cannot_be_removed() {
        let own = flags(&wanted(&[], &[])).unwrap().compile;
        for flag in own {
            let is_ours = flags(&wanted(&[], std::slice::from_ref(&flag))).is_err();
            let kept =
                ["-march", "-Wa,", "-nostdinc", "-ffreestanding", "-fvisibility", "-fPIC", "-fno-ident"];
            assert!(is_ours || !kept.iter().any(|kept| flag.starts_with(kept)), "{flag}");
        }
        assert!(flags(&wanted(&[], &["-march=native".to_owned()])).is_ok());
    }

    #[test]
    fn rejected_flag_names_module_and_remedy() {
        let error = flags(&wanted(&["-mavx512f".to_owned()], &[])).unwrap_err().to_string();
        assert!(
            error.contains("flag `-mavx512f` of `f`") && error.contains("hint: leave the instr"),
            "{error}"
        );
    }
}
