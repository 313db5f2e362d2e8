//! zig, which contains a clang, a linker and the sources of the C libraries of every target.
//!
//! ```text
//! zig clang     compiles, with the flags of clang               every unit
//! zig ld.lld    links, with the flags of GNU ld                 every unit
//! zig cc        lists the headers of a target's C library       once, by `-v`
//!               builds the libraries to link with               once, for the first unit that needs them
//! zig ar        packs the modules of a static program
//! ```
//! `zig cc` itself compiles no unit. It adds flags of its own, such as checks of undefined behavior, refuses options of
//! the linker that modules need, and takes seconds to build its libraries for each cache directory. It runs in scratch
//! directories, with its cache inside. The libraries that it builds there are kept in the user's cache:
//!
//! ```text
//! <cache>/zig-v1/<toolchain>-<zig's target>/libc.so, libm.so, …, libcompiler_rt.a, order
//! ```
//! zig cannot localize symbols, so precast does ([`crate::symbols`]).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use precast_store::key::Language;
use precast_store::{scratch, user_cache, whole};

use super::FindToolchainError;
use super::arguments::Arguments;
use super::compiler::{Compiler, Family, Tool};
use super::find::Wanted;
use super::probe::{Answer, Probed, ask, ask_in, system_headers};
use crate::private;
use precast_store::ToolchainId;

/// Returns the zig that a driver started, from the driver's answer to `-v`: the first word of the command line of
/// clang's front end.
pub(super) fn behind(words: &str) -> Option<PathBuf> {
    // No other driver hides the directories of the system and of clang.
    let line = words.lines().find(|line| line.contains(" -cc1 ") && line.contains(" -nobuiltininc "))?;
    let (program, _) = line.trim_start().split_once(" -cc1 ")?;
    Some(PathBuf::from(program.trim_end().trim_end_matches(" clang").trim_matches('"')))
}

/// Returns a target in zig's spelling, with the lowest supported glibc: `x86_64-linux-gnu.2.28`.
pub(super) fn target(target: &str, glibc: Option<&str>) -> String {
    let mut parts: Vec<&str> = target.split('-').collect();
    if parts.len() == 4 {
        parts.remove(1);
    }
    let version = glibc.map(|version| format!(".{version}")).unwrap_or_default();
    format!("{}{version}", parts.join("-"))
}

/// Returns the name of a compiler in zig.
pub(super) fn command(language: Language) -> &'static str {
    match language {
        Language::C => "cc",
        Language::Cxx => "c++",
    }
}

/// Describes the compiler in a zig.
pub(super) fn probe(
    zig: &Path,
    wanted: &Wanted,
    language: Language,
    named: &Arguments,
) -> Result<Probed, FindToolchainError> {
    let kind = if language == Language::C { "c" } else { "c++" };
    let own = target(&wanted.target, wanted.glibc.as_deref());
    let none = OsStr::new("");
    let at = |words: &[&str]| ask(&Tool::of(zig, &[]), none, words);
    let words = at(&[command(language), "-target", &own, "-v", "-E", "-x", kind, "/dev/null"])?.stderr;
    let broken = |what: &str| FindToolchainError::Broken { program: zig.to_owned(), what: what.to_owned() };
    let front =
        words.lines().find(|line| line.contains(" -cc1 ")).ok_or_else(|| broken("it has no clang"))?;
    let Answer { stdout: version, .. } = at(&["version"])?;
    let clang = words.lines().find_map(|line| line.split_once("clang version ")).map_or("", |(_, rest)| rest);
    let clang = clang.split_whitespace().next().unwrap_or_default();
    let machine = words.lines().find_map(|line| line.strip_prefix("Target: ")).unwrap_or_default().to_owned();
    let system = system_headers(&words);
    let own_headers = system.iter().find(|directory| directory.ends_with("lib/include")).cloned();
    let own_headers = own_headers.ok_or_else(|| broken("it has no `lib/include`"))?;
    let mut driver = Tool::of(zig, &["clang", "--no-default-config"]);
    driver.arguments.extend(named.always.iter().cloned());
    let mut headers = header_arguments(front);
    headers.extend(named.headers.iter().cloned());
    let compiler = Compiler {
        driver,
        family: Family::Zig,
        description: format!("zig {} (clang {clang})", version.trim()),
        machine,
        path: none.to_owned(),
        own_headers,
        system_headers: system,
        ld: Tool::of(zig, &["ld.lld"]),
        objcopy: None,
        ar: Tool::of(zig, &["ar"]),
        arguments: Arguments { headers, ..named.clone() },
        id: ToolchainId::from_bytes([0; 32]),
    };
    let parts = vec![("driver".to_owned(), zig.to_owned())];
    Ok(Probed { compiler, parts, candidates: Vec::new(), specs: String::new() })
}

/// Returns the directories and macros of the target's C library from the front end's command line.
fn header_arguments(front: &str) -> Vec<String> {
    let mut found = vec!["-nostdinc".to_owned()];
    let mut words = shlex::Shlex::new(front);
    while let Some(word) = words.next() {
        let value = (word == "-isystem" || word == "-D").then(|| words.next()).flatten();
        match (word.as_str(), value) {
            ("-D", Some(value)) => found.push(format!("-D{value}")),
            (_, Some(value)) => found.extend([word, value]),
            _ => {}
        }
    }
    found
}

/// Directories of libraries that no user cache keeps, for the lifetime of this process.
static KEPT: Mutex<Vec<(String, scratch::Scratch)>> = Mutex::new(Vec::new());

/// The time limit for building a target's libraries.
const BUILD: Duration = Duration::from_secs(600);

/// The file that lists a directory's libraries in the order of the linker.
const ORDER: &str = "order";

/// Returns the arguments that link with the target's C library, which zig builds at the first call.
///
/// # Errors
/// Fails if zig cannot build the libraries, or no directory can be written.
pub(crate) fn libraries(
    compiler: &Compiler,
    language: Language,
    own: &str,
) -> Result<Vec<String>, FindToolchainError> {
    let id = compiler.id.to_string();
    let name = format!("{}-{own}", id.trim_start_matches("b3:"));
    let kept = user_cache().map(|cache| cache.join("zig-v1").join(&name)).and_then(|directory| {
        if !private::is_private(&directory) {
            let parent = directory.parent()?;
            whole::create_dir_all(parent).ok()?;
            let new = tempfile::Builder::new().prefix(".new-").tempdir_in(parent).ok()?;
            build(compiler, language, own, new.path()).ok()?;
            // Another process may have been faster.
            let _ = fs_err::rename(new.path(), &directory);
        }
        arguments(&directory).filter(|_| private::is_private(&directory))
    });
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |source| FindToolchainError::Scratch { directory: std::env::temp_dir(), source };
    if !all.iter().any(|(other, _)| *other == name) {
        let new = scratch::Scratch::new().map_err(failed)?;
        build(compiler, language, own, new.path())?;
        all.push((name.clone(), new));
    }
    let found = all.iter().find(|(other, _)| *other == name);
    found
        .and_then(|(_, directory)| arguments(directory.path()))
        .ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))
}

fn arguments(directory: &Path) -> Option<Vec<String>> {
    let order = fs_err::read_to_string(directory.join(ORDER)).ok()?;
    let files = order.lines().map(|name| directory.join(name).display().to_string());
    let first = [format!("-L{}", directory.display()), "--as-needed".to_owned()];
    Some(first.into_iter().chain(files).collect())
}

/// Lets zig build the libraries of a target, and copies them to a directory.
fn build(compiler: &Compiler, language: Language, own: &str, to: &Path) -> Result<(), FindToolchainError> {
    let failed = |source| FindToolchainError::Scratch { directory: to.to_owned(), source };
    let zig = &compiler.driver.program;
    let place = scratch::Scratch::new().map_err(failed)?;
    fs_err::write(place.path().join("empty.c"), "").map_err(failed)?;
    let arguments = [
        command(language),
        "-target",
        own,
        "-O2",
        "-s",
        "-shared",
        "-o",
        "empty.so",
        "-x",
        "c",
        "empty.c",
        "-lm",
    ];
    let said = ask_in(&Tool::of(zig, &[]), OsStr::new(""), &arguments, place.path(), BUILD)?;
    let line = said.stderr.lines().rfind(|line| line.starts_with("ld.lld ")).unwrap_or_default();
    let mut order = String::new();
    for word in shlex::Shlex::new(line) {
        let Some(name) = Path::new(&word).file_name().and_then(OsStr::to_str) else { continue };
        let library = match name.split_once(".so") {
            Some((stem, _)) if name.starts_with("lib") => format!("{stem}.so"),
            _ if name.starts_with("lib") && name.ends_with(".a") => name.to_owned(),
            _ => continue,
        };
        fs_err::copy(place.path().join(&word), to.join(&library)).map_err(failed)?;
        order.extend([library.as_str(), "\n"]);
    }
    // musl has its other libraries in `libc.so`.
    for name in ["libm", "libpthread", "libdl", "librt"] {
        if !to.join(format!("{name}.so")).exists() {
            fs_err::write(to.join(format!("{name}.a")), "!<arch>\n").map_err(failed)?;
        }
    }
    fs_err::write(to.join(ORDER), order).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_spelled_like_zig() {
        assert_eq!(target("x86_64-unknown-linux-gnu", None), "x86_64-linux-gnu");
        assert_eq!(target("aarch64-unknown-linux-gnu", Some("2.28")), "aarch64-linux-gnu.2.28");
        assert_eq!(target("aarch64-unknown-linux-musl", None), "aarch64-linux-musl");
    }

    #[test]
    fn zig_is_recognized_behind_a_driver() {
        let zig = " \"/a b/zig\" -cc1 -triple x -nostdsysteminc -nobuiltininc -isystem /a -D A=1 -x c\n";
        assert_eq!(behind(zig), Some(PathBuf::from("/a b/zig")));
        assert_eq!(header_arguments(zig), ["-nostdinc", "-isystem", "/a", "-DA=1"]);
        assert_eq!(behind(" \"/usr/lib/llvm-14/bin/clang\" -cc1 -triple x -x c\n"), None);
    }
}
