//! Reads the value of `CC` or `CXX`: a wrapper, the compiler, and its arguments.
//!
//! The value is split as the crate `cc` splits it: a value that is the path of a file is that file, a known wrapper
//! (`ccache`) is skipped, and blanks separate arguments. With `CC_SHELL_ESCAPED_FLAGS=1`, quotes and backslashes protect
//! blanks, as in a shell. `cc` itself cannot be asked: it starts the compiler to detect its family.
//!
//! Arguments that say where the parts of a toolchain are, and those that change nothing, are accepted ([`ACCEPTED`]).
//! Their paths are in no key: the identity covers the files that the compiler finds there. Other arguments would change
//! results, or contradict the arguments of precast, and are refused with a remedy ([`REFUSED`]).

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FindToolchainError;
use super::compiler::{Tool, has_arch, same_system};

#[cfg(test)]
mod tests;

/// Programs that wrap a compiler.
pub(super) const WRAPPERS: &[&str] =
    &["ccache", "sccache", "distcc", "icecc", "cachepot", "buildcache", "kache"];

/// Variables that change the meaning of `CC`.
pub(super) const SETTINGS: [&str; 2] = ["CC_SHELL_ESCAPED_FLAGS", "CC_KNOWN_WRAPPER_CUSTOM"];

/// A compiler as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The program, and the words that select its compiler: `python -m ziglang cc`.
    pub(super) tool: Tool,
    pub(super) arguments: Arguments,
}

/// The accepted arguments, by use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Arguments {
    /// For every run of the compiler.
    pub(crate) always: Vec<String>,
    /// For preprocessing a unit that includes system headers.
    pub(crate) headers: Vec<String>,
    /// For linking a unit with libraries.
    pub(crate) link: Vec<String>,
    /// Those without a path, which are part of the identity.
    pub(crate) plain: Vec<String>,
}

impl Arguments {
    /// Returns all arguments, for queries to the compiler.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        self.always.iter().chain(&self.headers).chain(&self.link)
    }
}

/// The effect of an accepted argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Every run gets it, and it is part of the identity.
    Plain,
    /// Every run gets its directory.
    Parts,
    /// The preprocessor and the linker get its directory.
    System,
    Headers,
    Libraries,
    /// It must name the target of the build, which the compiler gets anyway.
    Target,
    /// It is dropped: precast passes it itself, or it changes no byte.
    Dropped,
}

/// The accepted options. Those that take a value take it as the next argument or after `=`, and options of one letter
/// or of `-i…` directly.
const ACCEPTED: &[(&str, Role)] = &[
    ("-m64", Role::Plain),
    ("-B", Role::Parts),
    ("--sysroot", Role::System),
    ("-isysroot", Role::Headers),
    ("-isystem", Role::Headers),
    ("-idirafter", Role::Headers),
    ("-L", Role::Libraries),
    ("--gcc-toolchain", Role::System),
    ("--gcc-install-dir", Role::System),
    ("-target", Role::Target),
    ("--target", Role::Target),
    ("-pipe", Role::Dropped),
    ("-fPIC", Role::Dropped),
    ("-fpic", Role::Dropped),
    ("-w", Role::Dropped),
];

/// The beginnings of refused options, the reason, and the remedy. The first match counts.
const REFUSED: &[(&[&str], &str, &str)] = &[
    (
        &["-m32", "-mx32", "-m16"],
        "it selects another machine",
        "name the target: `--target` of the command line",
    ),
    (
        &["-march", "-mcpu", "-mtune", "-m"],
        "the ISA levels of the build select the instructions",
        "name the levels: `isa = [\"x86-64-v3\"]` in the manifest, or `--isa x86-64-v3`",
    ),
    (
        &[
            "-Ofast",
            "-ffast-math",
            "-funsafe-math",
            "-fassociative",
            "-freciprocal",
            "-ffinite",
            "-ffp-",
            "-frounding",
        ],
        "it changes results",
        "remove it; results have the same bits from every compiler",
    ),
    (
        &["-O"],
        "the profile of the build selects the optimization",
        "remove it, or build with the profile `debug`",
    ),
    (&["-fsanitize"], "the profile of the build selects sanitizers", "build with the profile `asan`"),
    (&["-g"], "the profile of the build selects debug information", "build with the profile `debug`"),
    (&["-std", "-ansi", "-x"], "precast selects the language", "remove it"),
    (
        &["-D", "-U", "-I", "-include", "-imacros", "-iquote"],
        "it changes the text of every unit",
        "return it from `c_compile_args` or `c_header_dirs` of the op that needs it",
    ),
    (&["-l", "-u"], "modules link only the libraries of their ops", "return the library from `c_libraries`"),
    (
        &["-Wl,", "-Wa,", "-Wp,", "-X", "-T", "-z"],
        "precast passes its own arguments to the tools",
        "remove it",
    ),
    (
        &["-fuse-ld", "-stdlib", "-nostd", "-static", "-rtlib"],
        "precast selects what modules are linked with",
        "remove it",
    ),
    (&["-f"], "precast selects the code generation", "remove it"),
];

/// Warnings change no byte. `-Wl,` and similar arguments are refused first.
const WARNING: &str = "-W";

/// Splits the value of a variable.
pub(super) fn read(variable: &str, value: &OsStr, target: &str) -> Result<Named, FindToolchainError> {
    let whole = value.to_string_lossy();
    if Path::new(whole.trim()).is_file() {
        return Ok(Named { tool: PathBuf::from(whole.trim()).into(), arguments: Arguments::default() });
    }
    let mut words = split(&whole).into_iter().peekable();
    let mut program = words.next().unwrap_or_default();
    if is_wrapper(&program) && words.peek().is_some_and(|word| !word.starts_with('-')) {
        program = words.next().unwrap_or_default();
    }
    let mut words: Vec<String> = words.collect();
    // `zig cc`, `python -m ziglang cc`: the compiler is a command of another program.
    let command = words.iter().position(|word| word == "cc" || word == "c++").map_or(0, |at| at + 1);
    let rest = words.split_off(command);
    let tool = Tool { program: program.into(), arguments: words };
    let refuse = |argument: &str, (reason, remedy): (&'static str, String)| FindToolchainError::Argument {
        variable: variable.to_owned(),
        argument: argument.to_owned(),
        reason,
        remedy,
    };
    let arguments = judge(&rest, target).map_err(|(argument, why)| refuse(&argument, why))?;
    Ok(Named { tool, arguments })
}

fn split(value: &str) -> Vec<String> {
    let is_set = env::var_os("CC_SHELL_ESCAPED_FLAGS")
        .is_some_and(|set| !["", "0", "false", "no", "off"].iter().any(|off| set.eq_ignore_ascii_case(off)));
    if is_set {
        return shlex::Shlex::new(value).collect();
    }
    value.split_whitespace().map(str::to_owned).collect()
}

fn is_wrapper(program: &str) -> bool {
    let stem = Path::new(program).file_stem().unwrap_or_default();
    let custom = env::var_os("CC_KNOWN_WRAPPER_CUSTOM");
    WRAPPERS.iter().any(|wrapper| stem.eq_ignore_ascii_case(wrapper))
        || custom.is_some_and(|custom| stem.eq_ignore_ascii_case(custom))
}

/// An argument with the reason for its refusal and the remedy.
type Refusal = (String, (&'static str, String));

/// Sorts arguments by their use.
fn judge(words: &[String], target: &str) -> Result<Arguments, Refusal> {
    let mut found = Arguments::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some((option, role, joined)) = accepted(word) else { return Err(refusal(word)) };
        let mut value = || {
            let value = joined.map(str::to_owned).or_else(|| words.next().cloned());
            let missing = "its value is missing";
            value.ok_or_else(|| (word.clone(), (missing, "name the directory after it".to_owned())))
        };
        match role {
            Role::Dropped => {}
            Role::Plain => {
                found.always.push(word.clone());
                found.plain.push(word.clone());
            }
            Role::Target => {
                let named = value()?;
                if !has_arch(&named, target) || !same_system(&named, target) {
                    let remedy = format!("build for it with `--target`; the target is `{target}`");
                    return Err((format!("{word} {named}"), ("it names another target", remedy)));
                }
            }
            role => {
                let argument = located(option, &value()?);
                let lists: &mut [&mut Vec<String>] = match role {
                    Role::Parts => &mut [&mut found.always],
                    Role::Headers => &mut [&mut found.headers],
                    Role::Libraries => &mut [&mut found.link],
                    _ => &mut [&mut found.headers, &mut found.link],
                };
                lists.iter_mut().for_each(|list| list.extend(argument.clone()));
            }
        }
    }
    Ok(found)
}

/// Returns the option of an argument, its role, and the value in the same word.
fn accepted(word: &str) -> Option<(&'static str, Role, Option<&str>)> {
    if word.starts_with(WARNING) && refused(word).is_none() {
        return Some((WARNING, Role::Dropped, None));
    }
    ACCEPTED.iter().find_map(|(option, role)| {
        let rest = word.strip_prefix(option)?;
        let is_direct = option.len() == 2 || option.starts_with("-i");
        match (rest, role) {
            ("", _) => Some((*option, *role, None)),
            (_, Role::Plain | Role::Dropped) => None,
            (rest, _) if rest.starts_with('=') && !is_direct => Some((*option, *role, Some(&rest[1..]))),
            (rest, _) => is_direct.then_some((*option, *role, Some(rest))),
        }
    })
}

/// Returns the words of an option with a directory. Compilers run in another directory, so the path is absolute, except
/// one that begins with `=`, for the sysroot.
fn located(option: &str, directory: &str) -> Vec<String> {
    let path = match directory.starts_with('=') {
        true => directory.to_owned(),
        false => {
            std::path::absolute(directory).map_or(directory.to_owned(), |path| path.display().to_string())
        }
    };
    match option {
        _ if option.starts_with("--") => vec![format!("{option}={path}")],
        _ if option.len() == 2 => vec![format!("{option}{path}")],
        _ => vec![option.to_owned(), path],
    }
}

fn refused(word: &str) -> Option<&'static (&'static [&'static str], &'static str, &'static str)> {
    REFUSED.iter().find(|(starts, ..)| starts.iter().any(|start| word.starts_with(start)))
}

fn refusal(word: &str) -> Refusal {
    let why = match refused(word) {
        Some((_, reason, remedy)) => (*reason, (*remedy).to_owned()),
        None if word.starts_with('-') => ("its effect on modules is unknown", "remove it".to_owned()),
        None => {
            ("it is not an option", "quote a path with blanks and set `CC_SHELL_ESCAPED_FLAGS=1`".to_owned())
        }
    };
    (word.to_owned(), why)
}
