//! Which program is the compiler: the crate `cc` names it, `PATH` says where it is.

use std::env;
use std::path::{Path, PathBuf};

use precast_store::key::Language;

use super::memo::{self, Memo};
use super::{Compiler, FindToolchainError, fingerprint, host_target, probe};

/// Programs that stand in front of a compiler and are not one.
const WRAPPERS: &[&str] = &["ccache", "sccache", "distcc", "icecc", "cachepot", "buildcache", "kache"];

/// Finds, probes and fingerprints the compiler of one language.
pub(super) fn find(
    target: &str,
    language: Language,
    explicit: Option<&Path>,
) -> Result<Compiler, FindToolchainError> {
    let key = memo_key(target, language, explicit);
    if let Some(memo) = memo::get(&key)
        && memo.is_valid(which(&memo.program).as_deref())
    {
        return Ok(memo.compiler);
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
    let memo = Memo::new(program, found, compiler.clone(), fingerprint.watched);
    // A compiler named by its path is an exception: nothing is left behind for it.
    memo::put(&key, memo, explicit.is_none());
    Ok(compiler)
}

/// The variables that `cc` reads, the first one set wins.
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

/// Everything that decides which program is taken.
fn memo_key(target: &str, language: Language, explicit: Option<&Path>) -> memo::Key {
    let variables = variables(target, language);
    let value = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let mut parts = vec![Some(target.to_owned()), Some(language.name().to_owned())];
    parts.push(explicit.map(|path| path.to_string_lossy().into_owned()));
    parts.extend(variables.iter().map(|name| value(name)));
    parts.extend(["PATH", "RUSTC_LINKER", "CROSS_COMPILE"].map(value));
    memo::key(&parts)
}

/// Asks `cc` for the compiler's name.
fn named(target: &str, language: Language) -> Result<PathBuf, FindToolchainError> {
    let variables = variables(target, language);
    let set = variables.iter().find_map(|name| Some((name, env::var(name).ok()?)));
    if let Some((variable, value)) = set {
        check_arguments(variable, &value)?;
    }
    let mut build = cc::Build::new();
    build
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_debug(false)
        .emit_rerun_if_env_changed(false)
        .inherit_rustflags(false)
        .no_default_flags(true)
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

/// Refuses `CC="gcc -m32"`: the arguments would decide what comes out, and `cc` mixes them with those of `CFLAGS`.
fn check_arguments(variable: &str, value: &str) -> Result<(), FindToolchainError> {
    let mut words = value.split_whitespace().peekable();
    let stem = |word: &&str| Path::new(word).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if words.peek().and_then(stem).is_some_and(|stem| WRAPPERS.contains(&stem.as_str())) {
        words.next();
    }
    if words.count() > 1 && !Path::new(value).exists() {
        return Err(FindToolchainError::Arguments { variable: variable.to_owned(), value: value.to_owned() });
    }
    Ok(())
}

/// The C++ driver that belongs to a C driver.
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

/// Finds a program as a shell would; the path is absolute, as compilers are started in another directory.
fn which(program: &Path) -> Option<PathBuf> {
    let found = if program.components().count() > 1 {
        program.is_file().then(|| program.to_owned())
    } else {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|directory| directory.join(program)).find(|file| is_executable(file))
    };
    std::path::absolute(found?).ok()
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Steps over a directory of links to `ccache` and its like, which is put in front of the compilers on `PATH`: a cache of
/// ours stands already, and theirs wants a home directory.
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
        what: "it is a compiler cache with no compiler behind it".to_owned(),
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

/// The Debian package that has the compiler: `riscv64-linux-gnu-gcc` is in `gcc-riscv64-linux-gnu`.
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

/// The variable to set: the plain one serves the host, the target's own a cross compiler.
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
