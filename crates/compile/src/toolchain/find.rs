//! Finds the compiler: a variable or the crate `cc` determines its name, and `PATH` its location.
//!
//! `cc` is used only for names. Otherwise it would start the compiler, in the user's environment, to identify it. Here
//! it gets a `PATH` without programs, and [`super::probe`] identifies the compiler instead.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use precast_store::key::Language;

use super::memo::{self, Memo};
use super::search::is_executable;
use super::{FindToolchainError, fingerprint, host_target, probe};

/// Programs that wrap a compiler.
const WRAPPERS: &[&str] = &["ccache", "sccache", "distcc", "icecc", "cachepot", "buildcache", "kache"];

/// Finds, probes and fingerprints the compiler of one language.
pub(super) fn find(
    target: &str,
    language: Language,
    explicit: Option<&Path>,
) -> Result<Memo, FindToolchainError> {
    check_target(target, language)?;
    let key = memo_key(target, language, explicit);
    if let Some(memo) = memo::get(&key)
        && memo.is_valid(which(&memo.program).as_deref())
    {
        return Ok(memo);
    }
    let program = match explicit {
        Some(driver) => sibling(driver, language),
        None => named(target, language)?,
    };
    let found = which(&program).ok_or_else(|| missing(target, language, &program))?;
    let driver = past_wrapper(found.clone())?;
    let probed = probe::probe(&driver, target, language)?;
    let fingerprint = fingerprint::fingerprint(&probed, language)?;
    let compiler = probed.finish(fingerprint.id);
    let memo = Memo::new(program, found, compiler, fingerprint.watched);
    // A compiler given by its path is a special case and leaves no file in the cache.
    memo::put(&key, memo.clone(), explicit.is_none());
    Ok(memo)
}

/// Returns the variables that `cc` reads; the first one that is set wins.
fn variables(target: &str, language: Language) -> [String; 4] {
    let base = match language {
        Language::C => "CC",
        Language::Cxx => "CXX",
    };
    let kind = if target == host_target() { "HOST" } else { "TARGET" };
    [
        format!("{base}_{target}"),
        format!("{base}_{}", target.replace('-', "_")),
        format!("{kind}_{base}"),
        base.to_owned(),
    ]
}

/// Checks that a target is a plain name: it becomes part of program names, and may come from an untrusted record.
fn check_target(target: &str, language: Language) -> Result<(), FindToolchainError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !target.is_empty() && !target.starts_with(['-', '.']) && target.chars().all(is_plain) {
        return Ok(());
    }
    Err(FindToolchainError::Unknown {
        language: spoken(language),
        target: target.escape_debug().to_string(),
        variable: "CC".to_owned(),
        reason: "a target name consists of letters, digits, `-`, `_` and `.`".to_owned(),
    })
}

/// Returns the key of all inputs that determine the program.
fn memo_key(target: &str, language: Language, explicit: Option<&Path>) -> memo::Key {
    let mut parts = vec![Some(target.into()), Some(language.name().into())];
    parts.push(explicit.map(|path| path.as_os_str().to_owned()));
    parts.extend(variables(target, language).iter().map(env::var_os));
    parts.extend(["PATH", "RUSTC_LINKER", "CROSS_COMPILE"].map(env::var_os));
    memo::key(&parts)
}

/// Returns the name or path of the compiler.
fn named(target: &str, language: Language) -> Result<PathBuf, FindToolchainError> {
    let set = variables(target, language).into_iter().find_map(|name| Some((env::var_os(&name)?, name)));
    if let Some((value, variable)) = set
        && !value.to_string_lossy().trim().is_empty()
    {
        return without_wrapper(variable, &value);
    }
    if let Some(prefix) = prefix(target) {
        let suffix = match language {
            Language::C => "-gcc",
            Language::Cxx => "-g++",
        };
        return Ok(PathBuf::from(prefix + suffix));
    }
    let mut build = cc::Build::new();
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_debug(false)
        .emit_rerun_if_env_changed(false)
        .inherit_rustflags(false)
        .no_default_flags(true)
        // The program is looked up below, not by `cc`.
        .env("PATH", "/nonexistent")
        .target(target)
        .host(&host_target())
        .opt_level(0)
        .cpp(language == Language::Cxx);
    let tool = build.try_get_compiler().map_err(|error| FindToolchainError::Unknown {
        language: spoken(language),
        target: target.to_owned(),
        variable: variable(target, language),
        reason: error.to_string(),
    })?;
    Ok(tool.path().to_owned())
}

/// Returns the prefix of a cross compiler's name from the environment, as `cc` reads it.
fn prefix(target: &str) -> Option<String> {
    if target == host_target() {
        return None;
    }
    let text = |name: &str| Some(env::var_os(name)?.to_string_lossy().into_owned());
    let told = text("CROSS_COMPILE").map(|prefix| prefix.trim_end_matches('-').to_owned());
    told.or_else(|| Some(text("RUSTC_LINKER")?.strip_suffix("-gcc")?.to_owned()))
}

/// Returns the compiler in `ccache gcc`. Rejects `gcc -m32`, because such arguments would change the output.
fn without_wrapper(variable: String, value: &OsStr) -> Result<PathBuf, FindToolchainError> {
    let whole = value.to_string_lossy();
    if Path::new(value).is_file() {
        return Ok(PathBuf::from(value));
    }
    let words: Vec<&str> = whole.split_whitespace().collect();
    let stem = |word: &str| Path::new(word).file_stem().map(OsStr::to_owned);
    let is_wrapper =
        |word: &str| stem(word).is_some_and(|stem| WRAPPERS.iter().any(|wrapper| stem == **wrapper));
    match words.as_slice() {
        [compiler] => Ok(PathBuf::from(compiler)),
        [wrapper, compiler] if is_wrapper(wrapper) => Ok(PathBuf::from(compiler)),
        _ => Err(FindToolchainError::Arguments { variable, value: whole.into_owned() }),
    }
}

/// Returns the C++ driver that belongs to a C driver.
fn sibling(driver: &Path, language: Language) -> PathBuf {
    let name = driver.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match language {
        Language::C => return driver.to_owned(),
        Language::Cxx if name.contains("gcc") => name.replace("gcc", "g++"),
        Language::Cxx if name.contains("clang") => name.replace("clang", "clang++"),
        Language::Cxx => "c++".to_owned(),
    };
    driver.with_file_name(name)
}

/// Finds a program as a shell would. The path is absolute, since compilers are started in a different directory.
fn which(program: &Path) -> Option<PathBuf> {
    let found = if program.components().count() > 1 {
        program.is_file().then(|| program.to_owned())
    } else {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|directory| directory.join(program)).find(|file| is_executable(file))
    };
    std::path::absolute(found?).ok()
}

/// Skips directories with links to `ccache` and similar tools that precede the compilers on `PATH`. The store already
/// caches results, and these tools need a home directory.
fn past_wrapper(driver: PathBuf) -> Result<PathBuf, FindToolchainError> {
    let is_wrapper = |file: &Path| {
        let real = fs_err::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        real.file_stem().is_some_and(|stem| WRAPPERS.iter().any(|wrapper| *stem == **wrapper))
    };
    if !is_wrapper(&driver) {
        return Ok(driver);
    }
    let name = driver.file_name().unwrap_or_default().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&path).map(|directory| directory.join(&name));
    let found = candidates.find(|file| is_executable(file) && !is_wrapper(file));
    found.ok_or_else(|| FindToolchainError::Broken {
        program: driver,
        what: "it is a compiler cache without a compiler on PATH".to_owned(),
    })
}

fn missing(target: &str, language: Language, program: &Path) -> FindToolchainError {
    FindToolchainError::Missing {
        language: spoken(language),
        target: target.to_owned(),
        program: program.display().to_string(),
        package: package(target, language, program),
        variable: variable(target, language),
    }
}

/// Returns the Debian package of the compiler: `riscv64-linux-gnu-gcc` is in `gcc-riscv64-linux-gnu`.
fn package(target: &str, language: Language, program: &Path) -> String {
    let (name, suffix) = match language {
        Language::C => ("gcc", "-gcc"),
        Language::Cxx => ("g++", "-g++"),
    };
    let program = program.display().to_string();
    match program.strip_suffix(suffix) {
        _ if target.contains("musl") => "musl-tools".to_owned(),
        Some(prefix) if target != host_target() => format!("{name}-{prefix}"),
        _ => name.to_owned(),
    }
}

/// Returns the variable to set: the plain one for the host, the target-specific one for a cross compiler.
fn variable(target: &str, language: Language) -> String {
    let [_, own, _, plain] = variables(target, language);
    if target == host_target() { plain } else { own }
}

fn spoken(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Cxx => "C++",
    }
}
