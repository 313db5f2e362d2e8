//! Identifies a driver by parsing its own output. The name of the program is not used.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use precast_store::ToolchainId;
use precast_store::key::Language;
use precast_store::scratch::Scratch;

use super::arguments::Arguments;
use super::compiler::{Tool, has_arch};
use super::find::Wanted;
use super::search::Search;
use super::{Compiler, Family, FindToolchainError, zig};
use crate::run::{RunError, command, run};
use crate::scratch::SEEN_AS;

/// The time limit for a query to the driver.
const LIMIT: Duration = Duration::from_secs(30);

/// Optional programs that a driver starts if they exist: before the linker, and after it for objects with another
/// compiler's intermediate code.
const OPTIONAL: &[&str] = &["collect2", "real-ld", "collect-ld", "lto-wrapper", "lto1", "liblto_plugin.so"];

/// A compiler whose contents have not been hashed yet.
pub(super) struct Probed {
    pub(super) compiler: Compiler,
    /// (role, file) of everything that the driver starts or reads, except the compiler's own headers.
    pub(super) parts: Vec<(String, PathBuf)>,
    /// Places that the driver checks before, or instead of, the place where a part was found.
    pub(super) candidates: Vec<PathBuf>,
    /// gcc's built-in specs as text.
    pub(super) specs: String,
}

impl Probed {
    pub(super) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    pub(super) fn finish(self, id: ToolchainId) -> Compiler {
        Compiler { id, ..self.compiler }
    }
}

/// Queries the driver for its identity and the location of its parts.
pub(super) fn probe(
    driver: &Tool,
    named: &Arguments,
    wanted: &Wanted,
    language: Language,
) -> Result<Probed, FindToolchainError> {
    let program = &*driver.program;
    // Used until the tools' directories are known: the driver's own directory first, then the user's `PATH` for the
    // assembler.
    let user_path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        program.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&user_path)).collect();
    let broken =
        |what: &str| FindToolchainError::Broken { program: program.to_owned(), what: what.to_owned() };
    let wide =
        std::env::join_paths(&directories).map_err(|_| broken("the name of its directory contains `:`"))?;
    let kind = if language == Language::C { "c" } else { "c++" };
    let mut asked = driver.clone();
    asked.arguments.extend(named.all().cloned());
    let words = ask(&asked, &wide, &["-v", "-E", "-x", kind, "/dev/null"])?.stderr;
    if let Some(zig) = zig::behind(&words) {
        let mut found = zig::probe(&zig, wanted, language, named)?;
        // A script that starts another zig is another compiler.
        found.candidates.push(program.to_owned());
        return Ok(found);
    }
    let (family, version) = version(&words).ok_or_else(|| broken("it is neither gcc nor clang nor zig"))?;
    let machine = words.lines().find_map(|line| line.strip_prefix("Target: ")).unwrap_or_default().to_owned();
    if family == Family::Gcc {
        check_machine(program, &machine, &wanted.target)?;
    }
    let is_cxx = language == Language::Cxx || compiles_as_cxx(&asked, &wide)?;
    let (driver, ask) = (program, |words: &[&str]| ask(&asked, &wide, words));
    let said = ask(&["-print-search-dirs"])?.stdout;
    let mut search = Search::new(&said, machine.clone(), directories);
    let ask_path = |option: &str, tool: &str| -> Result<PathBuf, FindToolchainError> {
        let said = ask(&[&format!("{option}{tool}")])?.stdout;
        Ok(PathBuf::from(said.trim()))
    };
    let mut tool = |tool: &str| -> Result<PathBuf, FindToolchainError> {
        search.locate(tool, &ask_path("-print-prog-name=", tool)?).ok_or_else(|| incomplete(driver, tool))
    };
    let own_headers = found(ask_path("-print-file-name=", "include")?, driver)?;
    let is_gcc = family == Family::Gcc;
    let back_end = match (is_gcc, is_cxx) {
        // The program that a wrapper script starts.
        (false, _) => tool("clang").ok(),
        (true, false) => Some(tool("cc1")?),
        (true, true) => Some(tool("cc1plus")?),
    };
    let assembler = if is_gcc { Some(tool("as")?) } else { None };
    let ld = tool("ld")?;
    let objcopy =
        if is_gcc { tool("objcopy")? } else { tool("objcopy").or_else(|_| tool("llvm-objcopy"))? };
    let specs = if is_gcc { ask(&["-dumpspecs"])?.stdout } else { String::new() };
    let started = [Some(driver), assembler.as_deref(), Some(&*ld)];
    let mut parts: Vec<(String, PathBuf)> = [
        ("driver", Some(driver.to_owned())),
        ("driver behind it", search.behind(driver, &words)),
        ("back end", back_end),
        ("as", assembler.clone()),
        ("ld", Some(ld.clone())),
        ("objcopy", Some(objcopy.clone())),
    ]
    .into_iter()
    .filter_map(|(role, path)| Some((role.to_owned(), path?)))
    .collect();
    let optional = OPTIONAL.iter().filter_map(|name| Some(((*name).to_owned(), search.beside(name)?)));
    parts.extend(optional.collect::<Vec<_>>());
    parts.extend(search.configuration(&words, &own_headers));
    let driver = Tool { program: driver.to_owned(), arguments: named.always.clone() };
    let compiler = Compiler {
        driver,
        family,
        description: version,
        machine,
        path: search.path(&started),
        own_headers,
        system_headers: system_headers(&words),
        ld: ld.into(),
        ar: archiver(&objcopy).into(),
        objcopy: Some(objcopy.into()),
        arguments: named.clone(),
        id: ToolchainId::from_bytes([0; 32]),
    };
    let mut candidates = search.into_candidates();
    candidates.extend(missing_headers(named));
    Ok(Probed { compiler, parts, candidates, specs })
}

/// Returns the named directories of headers that are missing. Drivers do not list them as searched.
fn missing_headers(named: &Arguments) -> impl Iterator<Item = PathBuf> {
    let names = named.headers.iter().map(|name| name.strip_prefix("-isystem").unwrap_or(name));
    names.filter(|name| name.starts_with('/')).map(PathBuf::from).filter(|path| !path.is_dir())
}

/// Returns the directory of a driver's own headers. A driver that does not find it answers with the name alone.
fn found(own_headers: PathBuf, driver: &Path) -> Result<PathBuf, FindToolchainError> {
    if own_headers.is_absolute() { Ok(own_headers) } else { Err(incomplete(driver, "include/stdint.h")) }
}

/// Checks that a driver, which has one machine, compiles for the target.
fn check_machine(driver: &Path, machine: &str, target: &str) -> Result<(), FindToolchainError> {
    if has_arch(machine, target) {
        return Ok(());
    }
    let (program, machine, target) = (driver.to_owned(), machine.to_owned(), target.to_owned());
    Err(FindToolchainError::Machine { program, machine, target })
}

/// Returns the archiver that belongs to an `objcopy`: `x86_64-linux-gnu-ar`, `llvm-ar`.
fn archiver(objcopy: &Path) -> PathBuf {
    let name = objcopy.file_name().unwrap_or_default().to_string_lossy();
    objcopy.with_file_name(name.replace("objcopy", "ar"))
}

/// Returns whether the driver compiles a C file as C++, as `g++` does.
///
/// # Errors
/// Fails if it does not compile the dialect of the units: `c99`, `clang++`.
fn compiles_as_cxx(driver: &Tool, path: &OsStr) -> Result<bool, FindToolchainError> {
    let place = scratch()?;
    let unit = place.path().join("unit.c");
    fs_err::write(unit, "").map_err(no_scratch)?;
    match ask_in(driver, path, &["-std=gnu11", "-E", "-dM", "unit.c"], place.path(), LIMIT) {
        Ok(answer) => Ok(answer.stdout.contains("#define __cplusplus")),
        Err(FindToolchainError::Broken { program, what }) => {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (is, instead) = if what.contains("C++") {
                ("a C++ compiler", c_driver(&name))
            } else if ["c99", "c89"].iter().any(|old| name.contains(old)) || what.contains("ISO C") {
                ("a compiler of an older C", "gcc".to_owned())
            } else {
                return Err(FindToolchainError::Broken { program, what });
            };
            Err(FindToolchainError::Dialect { program, is, instead })
        }
        Err(other) => Err(other),
    }
}

/// Returns the C driver that belongs to a C++ driver: `clang-19` to `clang++-19`.
fn c_driver(name: &str) -> String {
    if name.contains("clang") {
        name.replace("++", "")
    } else {
        name.replace("g++", "gcc").replace("c++", "cc")
    }
}

pub(super) struct Answer {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

fn no_scratch(source: std::io::Error) -> FindToolchainError {
    FindToolchainError::Scratch { directory: std::env::temp_dir(), source }
}

fn scratch() -> Result<Scratch, FindToolchainError> {
    Scratch::new().map_err(no_scratch)
}

pub(super) fn ask(driver: &Tool, path: &OsStr, arguments: &[&str]) -> Result<Answer, FindToolchainError> {
    ask_in(driver, path, arguments, scratch()?.path(), LIMIT)
}

/// Runs a driver in a directory, where zig also has its cache.
pub(super) fn ask_in(
    driver: &Tool,
    path: &OsStr,
    arguments: &[&str],
    directory: &Path,
    limit: Duration,
) -> Result<Answer, FindToolchainError> {
    let program = || driver.program.clone();
    let mut command = command(&driver.program, path);
    command.args(&driver.arguments).args(arguments).current_dir(directory);
    // The names are in the libraries that zig builds, so they are the same everywhere.
    command.envs(["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"].map(|name| (name, "zig-cache")));
    command.envs([("PWD", SEEN_AS), ("TMPDIR", "."), ("ZIG_VERBOSE_LINK", "1")]);
    let broken = |what: String| FindToolchainError::Broken { program: program(), what };
    let ended = run(&mut command, limit).map_err(|error| match error {
        RunError::Start(source) => FindToolchainError::Start { program: program(), source },
        _ => broken(format!("no response to `{}` within {limit:?}", arguments.join(" "))),
    })?;
    if !ended.status.success() {
        let words = ended.stderr.lines().chain(ended.stdout.lines());
        let words = words.filter(|line| !line.trim().is_empty() && !line.contains("warning: "));
        let words = words.take(1).map(|line| format!(", `{}`", line.trim())).collect::<String>();
        return Err(broken(format!("`{}` failed with {}{words}", arguments.join(" "), ended.status)));
    }
    Ok(Answer { stdout: ended.stdout, stderr: ended.stderr })
}

/// Parses `gcc version 12.2.0 (Debian …)` or `Debian clang version 14.0.6`.
fn version(words: &str) -> Option<(Family, String)> {
    [(Family::Gcc, "gcc"), (Family::Clang, "clang")].into_iter().find_map(|(family, name)| {
        let mark = format!("{name} version ");
        let rest = words.lines().find_map(|line| line.split_once(&mark).map(|(_, rest)| rest))?;
        let number = rest.split_whitespace().next()?;
        Some((family, format!("{name} {number}")))
    })
}

/// Returns the directories that `-v` lists after `#include <...>`.
pub(super) fn system_headers(words: &str) -> Vec<PathBuf> {
    let list = words.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
    let list = list.take_while(|line| line.starts_with(' '));
    list.map(|line| PathBuf::from(line.trim())).collect()
}

fn incomplete(driver: &Path, tool: &str) -> FindToolchainError {
    let package = match tool {
        "cc1plus" => "g++",
        "cc1" | "include/stdint.h" => "gcc",
        _ => "binutils",
    };
    FindToolchainError::Incomplete { program: driver.to_owned(), tool: tool.to_owned(), package }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_parse_for_gcc_and_clang() {
        let gcc = "Target: x86_64-linux-gnu\ngcc version 12.2.0 (Debian 12.2.0-14+deb12u1) \n";
        assert_eq!(version(gcc), Some((Family::Gcc, "gcc 12.2.0".to_owned())));
        let clang = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n";
        assert_eq!(version(clang), Some((Family::Clang, "clang 14.0.6".to_owned())));
        assert_eq!(version("tcc version 0.9.27"), None);
    }

    #[test]
    fn c_drivers_are_named_after_their_cxx_drivers() {
        let names = ["clang++-19", "clang++", "g++", "aarch64-linux-gnu-g++-12", "c++"].map(c_driver);
        assert_eq!(names, ["clang-19", "clang", "gcc", "aarch64-linux-gnu-gcc-12", "cc"]);
    }

    #[test]
    fn search_list_ends_at_its_mark() {
        let words = "#include \"...\" search starts here:\n#include <...> search starts here:\n /a\n /b\nEnd of search list.\n /c\n";
        assert_eq!(system_headers(words), [PathBuf::from("/a"), PathBuf::from("/b")]);
    }
}
