//! Identifies a driver by parsing its own output. The name of the program is not used.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use precast_store::ToolchainId;
use precast_store::key::Language;

use super::search::Search;
use super::{Compiler, Family, FindToolchainError};
use crate::run::{RunError, command, run};

/// The time limit for a query to the driver.
const LIMIT: Duration = Duration::from_secs(30);

/// Optional programs that a driver starts if they exist: before the linker, and after it for objects with another
/// compiler's intermediate code.
const OPTIONAL: &[&str] = &["collect2", "real-ld", "collect-ld", "lto-wrapper", "lto1", "liblto_plugin.so"];

/// A compiler whose contents have not been hashed yet.
pub(super) struct Probed {
    compiler: Compiler,
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
pub(super) fn probe(driver: &Path, target: &str, language: Language) -> Result<Probed, FindToolchainError> {
    // Used until the tools' directories are known: the driver's own directory first, then the user's `PATH` for the
    // assembler.
    let user_path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        driver.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&user_path)).collect();
    let broken =
        |what: &str| FindToolchainError::Broken { program: driver.to_owned(), what: what.to_owned() };
    let wide =
        std::env::join_paths(&directories).map_err(|_| broken("the name of its directory contains `:`"))?;
    let kind = match language {
        Language::C => "c",
        Language::Cxx => "c++",
    };
    let words = ask(driver, &wide, &["-v", "-E", "-x", kind, "/dev/null"])?.stderr;
    let (family, version) = version(&words).ok_or_else(|| broken("it is neither gcc nor clang"))?;
    let machine = words.lines().find_map(|line| line.strip_prefix("Target: ")).unwrap_or_default().to_owned();
    if family == Family::Gcc && !same_arch(&machine, target) {
        return Err(FindToolchainError::Machine {
            program: driver.to_owned(),
            machine,
            target: target.to_owned(),
        });
    }
    let said = ask(driver, &wide, &["-print-search-dirs"])?.stdout;
    let mut search = Search::new(&said, machine.clone(), directories);
    let ask_path = |option: &str, tool: &str| -> Result<PathBuf, FindToolchainError> {
        let said = ask(driver, &wide, &[&format!("{option}{tool}")])?.stdout;
        Ok(PathBuf::from(said.trim()))
    };
    let mut tool = |tool: &str| -> Result<PathBuf, FindToolchainError> {
        search.locate(tool, &ask_path("-print-prog-name=", tool)?).ok_or_else(|| incomplete(driver, tool))
    };
    let own_headers = ask_path("-print-file-name=", "include")?;
    if !own_headers.is_absolute() {
        return Err(incomplete(driver, "include/stdint.h"));
    }
    let is_gcc = family == Family::Gcc;
    let back_end = match (is_gcc, language) {
        // The program that a wrapper script starts.
        (false, _) => tool("clang").ok(),
        (true, Language::C) => Some(tool("cc1")?),
        (true, Language::Cxx) => Some(tool("cc1plus")?),
    };
    let assembler = if is_gcc { Some(tool("as")?) } else { None };
    let ld = tool("ld")?;
    let objcopy =
        if is_gcc { tool("objcopy")? } else { tool("objcopy").or_else(|_| tool("llvm-objcopy"))? };
    let specs = if is_gcc { ask(driver, &wide, &["-dumpspecs"])?.stdout } else { String::new() };
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
    let compiler = Compiler {
        driver: driver.to_owned(),
        family,
        description: version,
        machine,
        path: search.path(&started),
        own_headers,
        system_headers: system_headers(&words),
        ld,
        objcopy,
        id: ToolchainId::from_bytes([0; 32]),
    };
    Ok(Probed { compiler, parts, candidates: search.into_candidates(), specs })
}

struct Answer {
    stdout: String,
    stderr: String,
}

fn ask(driver: &Path, path: &OsStr, arguments: &[&str]) -> Result<Answer, FindToolchainError> {
    let mut command = command(driver, path);
    command.args(arguments);
    let broken = |what: String| FindToolchainError::Broken { program: driver.to_owned(), what };
    let ended = run(&mut command, LIMIT).map_err(|error| match error {
        RunError::Start(source) => FindToolchainError::Start { program: driver.to_owned(), source },
        _ => broken(format!("no response to `{}` within {LIMIT:?}", arguments.join(" "))),
    })?;
    if !ended.status.success() {
        let words = ended.stderr.lines().chain(ended.stdout.lines()).find(|line| !line.trim().is_empty());
        let words = words.map(|line| format!(", `{}`", line.trim())).unwrap_or_default();
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

fn same_arch(machine: &str, target: &str) -> bool {
    let arch = |triple: &str| match triple.split('-').next().unwrap_or_default() {
        "amd64" => "x86_64".to_owned(),
        "arm64" => "aarch64".to_owned(),
        "i386" | "i486" | "i586" => "i686".to_owned(),
        other if other.starts_with("riscv64") => "riscv64".to_owned(),
        "powerpc64le" => "ppc64le".to_owned(),
        other if other.starts_with("arm") => "arm".to_owned(),
        other => other.to_owned(),
    };
    arch(machine) == arch(target)
}

/// Returns the directories that `-v` lists after `#include <...>`.
fn system_headers(words: &str) -> Vec<PathBuf> {
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
    fn versions_are_read_from_either_family() {
        let gcc = "Target: x86_64-linux-gnu\ngcc version 12.2.0 (Debian 12.2.0-14+deb12u1) \n";
        assert_eq!(version(gcc), Some((Family::Gcc, "gcc 12.2.0".to_owned())));
        let clang = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n";
        assert_eq!(version(clang), Some((Family::Clang, "clang 14.0.6".to_owned())));
        assert_eq!(version("tcc version 0.9.27"), None);
    }

    #[test]
    fn search_list_ends_at_its_mark() {
        let words = "#include \"...\" search starts here:\n#include <...> search starts here:\n /a\n /b\nEnd of search list.\n /c\n";
        assert_eq!(system_headers(words), [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn architectures_are_compared_by_meaning() {
        assert!(same_arch("x86_64-linux-gnu", "x86_64-unknown-linux-gnu"));
        assert!(!same_arch("x86_64-linux-gnu", "aarch64-unknown-linux-gnu"));
    }
}
