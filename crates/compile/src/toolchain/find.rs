//! Finds the compiler: a variable or the crate `cc` determines its name, and `PATH` its location.
//!
//! `cc` is used only for names. Otherwise it would start the compiler, in the user's environment, to identify it. Here
//! it gets a `PATH` without programs, and [`super::probe`] identifies the compiler instead.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use precast_store::key::Language;
use precast_store::scratch::Scratch;

use super::arguments::{self, Arguments, Named, WRAPPERS};
use super::compiler::Tool;
use super::memo::{self, Memo};
use super::search::is_executable;
use super::{FindToolchainError, fingerprint, host_target, probe, zig};

/// The compiler that a caller wants.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// The target triple in Rust's spelling.
    pub(super) target: String,
    /// The lowest version of glibc that units link with; only zig can choose it.
    pub(super) glibc: Option<String>,
    /// The path given by the caller instead of a search.
    pub(super) explicit: Option<PathBuf>,
}

/// Finds, probes and fingerprints the compiler of one language.
pub(super) fn find(wanted: &Wanted, language: Language) -> Result<Memo, FindToolchainError> {
    check_target(&wanted.target, language)?;
    let (named, found) = choose(wanted, language)?;
    let key = memo_key(wanted, language);
    if let Some(memo) = memo::get(&key)
        && memo.is_valid(&found)
    {
        return Ok(memo);
    }
    let driver = Tool { program: past_wrapper(found.clone())?, ..named.tool };
    let probed = probe::probe(&driver, &named.arguments, wanted, language)?;
    let fingerprint = fingerprint::fingerprint(&probed, language)?;
    let memo = Memo::new(found, probed.finish(fingerprint.id), fingerprint.watched);
    // A compiler given by its path is a special case and leaves no file in the cache.
    memo::put(&key, memo.clone(), wanted.explicit.is_none());
    Ok(memo)
}

/// Returns the first compiler that exists, with its absolute path.
fn choose(wanted: &Wanted, language: Language) -> Result<(Named, PathBuf), FindToolchainError> {
    let candidates = match &wanted.explicit {
        Some(driver) => vec![command_of(sibling(driver, language), language)],
        None => candidates(&wanted.target, language)?,
    };
    let first = candidates[0].tool.program.clone();
    let found =
        candidates.into_iter().find_map(|named| which(&named.tool.program).map(|found| (named, found)));
    found.ok_or_else(|| missing(&wanted.target, language, &first))
}

/// The zig that [`offer_zig`] named.
static OFFERED: OnceLock<PathBuf> = OnceLock::new();

/// Names a zig for this process, which is used if no other compiler is found. The first call counts.
pub fn offer_zig(zig: PathBuf) {
    let _ = OFFERED.set(zig);
}

/// Returns the zig that was offered.
pub(super) fn offered() -> Option<&'static Path> {
    OFFERED.get().map(PathBuf::as_path)
}

/// Returns zig under the names that its packages install, and the one that was offered.
fn zigs() -> impl Iterator<Item = PathBuf> {
    ["zig", "python-zig"].map(PathBuf::from).into_iter().chain(offered().map(Path::to_owned))
}

/// Returns a compiler without arguments. `zig` needs the name of its compiler.
fn command_of(program: PathBuf, language: Language) -> Named {
    let is_zig = program.file_stem().is_some_and(|stem| stem == "zig" || stem == "python-zig");
    let arguments = if is_zig { vec![zig::command(language).to_owned()] } else { Vec::new() };
    Named { tool: Tool { program, arguments }, arguments: Arguments::default() }
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
fn memo_key(wanted: &Wanted, language: Language) -> memo::Key {
    let Wanted { target, glibc, explicit } = wanted;
    let mut parts = vec![Some(target.into()), Some(language.name().into()), glibc.as_ref().map(Into::into)];
    parts.push(explicit.as_ref().map(|path| path.as_os_str().to_owned()));
    parts.extend(variables(target, language).iter().map(env::var_os));
    // zig of `CC` is the compiler of C++, too.
    parts.extend(variables(target, Language::C).iter().map(env::var_os));
    parts.extend(["PATH", "RUSTC_LINKER", "CROSS_COMPILE"].map(env::var_os));
    parts.extend(arguments::SETTINGS.map(env::var_os));
    memo::key(&parts)
}

/// Returns the compiler that a variable names.
fn from_variable(target: &str, language: Language) -> Result<Option<Named>, FindToolchainError> {
    let set = variables(target, language).into_iter().find_map(|name| Some((env::var_os(&name)?, name)));
    match set.filter(|(value, _)| !value.to_string_lossy().trim().is_empty()) {
        None => Ok(None),
        Some((value, variable)) => {
            let named = arguments::read(&variable, &value, target)?;
            let has_command = !named.tool.arguments.is_empty();
            let tool = if has_command { named.tool } else { command_of(named.tool.program, language).tool };
            Ok(Some(Named { tool, arguments: named.arguments }))
        }
    }
}

/// Returns the compilers to look for, in order. There is at least one.
fn candidates(target: &str, language: Language) -> Result<Vec<Named>, FindToolchainError> {
    if let Some(named) = from_variable(target, language)? {
        return Ok(vec![named]);
    }
    let mut found = Vec::new();
    if language == Language::Cxx
        && let Some(Named { mut tool, arguments }) = from_variable(target, Language::C)?
        && tool.arguments.pop().is_some_and(|command| command == zig::command(Language::C))
    {
        tool.arguments.push(zig::command(language).to_owned());
        found.push(Named { tool, arguments });
    }
    let mut names = vec![by_name(target, language)?];
    if target == host_target() {
        let others = if language == Language::C { ["gcc", "clang"] } else { ["g++", "clang++"] };
        names.extend(others.map(PathBuf::from));
    }
    names.extend(zigs());
    found.extend(names.into_iter().map(|program| command_of(program, language)));
    Ok(found)
}

/// Returns the name of the compiler without variables that name it.
fn by_name(target: &str, language: Language) -> Result<PathBuf, FindToolchainError> {
    if target == host_target() {
        return Ok(if language == Language::C { "cc" } else { "c++" }.into());
    }
    if let Some(prefix) = prefix() {
        let suffix = match language {
            Language::C => "-gcc",
            Language::Cxx => "-g++",
        };
        return Ok(PathBuf::from(prefix + suffix));
    }
    // Without a directory, `cc` writes into that for temporary files, and creates it.
    let scratch = Scratch::new()
        .map_err(|source| FindToolchainError::Scratch { directory: env::temp_dir(), source })?;
    let mut build = cc::Build::new();
    build
        .out_dir(scratch.path())
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
fn prefix() -> Option<String> {
    let text = |name: &str| Some(env::var_os(name)?.to_string_lossy().into_owned());
    let told = text("CROSS_COMPILE").map(|prefix| prefix.trim_end_matches('-').to_owned());
    told.or_else(|| Some(text("RUSTC_LINKER")?.strip_suffix("-gcc")?.to_owned()))
}

/// Returns the C++ driver that belongs to a C driver.
fn sibling(driver: &Path, language: Language) -> PathBuf {
    let name = driver.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match language {
        Language::C => return driver.to_owned(),
        Language::Cxx if name.contains("zig") => return driver.to_owned(),
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
