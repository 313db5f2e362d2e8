//! Documents with executable examples: their blocks, the expected results of commands, and how to run them.

use crate::package::root;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// A fenced code block.
#[derive(Debug)]
pub struct Block {
    /// The word after the opening fence.
    pub language: String,
    /// The lines, each with its end.
    pub text: String,
    /// The last file named in the text before the block.
    pub file: Option<String>,
}

/// The extensions of files that a document shows.
const FILES: [&str; 7] = [".toml", ".rs", ".c", ".cc", ".h", ".c.in", ".py"];

/// Returns the blocks of a document, in order.
///
/// # Panics
/// If the document is missing or a block is not closed.
#[must_use]
pub fn blocks(path: &str) -> Vec<Block> {
    let text = fs_err::read_to_string(root().join(path)).expect("the document exists");
    let (mut blocks, mut open, mut before): (Vec<Block>, Option<Block>, &str) = (Vec::new(), None, "");
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => {
                blocks.extend(open.take());
                before = "";
            }
            (Some(block), None) => {
                block.text += line;
                block.text.push('\n');
            }
            (None, Some(language)) => {
                let is_file = |word: &&str| FILES.iter().any(|ending| word.ends_with(ending));
                let file = before.split('`').skip(1).step_by(2).filter(is_file).last().map(str::to_owned);
                open = Some(Block { language: language.to_owned(), text: String::new(), file });
            }
            (None, None) if line.is_empty() => {}
            (None, None) => before = line,
        }
    }
    assert!(open.is_none(), "{path}: a block is not closed");
    blocks
}

/// A command with its expected exit code and output from a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Example<'a> {
    /// The command line, for `sh`.
    pub command: &'a str,
    /// The expected exit code.
    pub code: i32,
    /// The expected lines; `...` stands for any lines.
    pub output: Vec<&'a str>,
}

/// Returns the commands of a block: `$ ` begins one, `? ` gives its exit code.
///
/// # Panics
/// If a block does not begin with a command.
#[must_use]
pub fn examples(console: &str) -> Vec<Example<'_>> {
    let mut examples: Vec<Example<'_>> = Vec::new();
    for line in console.lines() {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => examples.push(Example { command, code: 0, output: Vec::new() }),
            (None, Some(example)) if example.output.is_empty() && line.starts_with("? ") => {
                example.code = line[2..].parse().expect("an exit code");
            }
            (None, Some(example)) => example.output.push(line),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    examples
}

impl Example<'_> {
    /// Runs the command and describes any difference from the expected result.
    ///
    /// # Panics
    /// If there is no shell.
    #[must_use]
    pub fn run(&self, directory: &Path, path: &OsStr) -> Option<String> {
        self.run_below(&[], directory, path)
    }

    /// Runs the command as the last argument of other words, such as a program that changes the user.
    ///
    /// # Panics
    /// If the program does not start.
    #[must_use]
    pub fn run_below(&self, words: &[String], directory: &Path, path: &OsStr) -> Option<String> {
        let mut all = words.iter().map(String::as_str).chain(["sh"]);
        let mut shell = Command::new(all.next().unwrap_or("sh"));
        shell
            .args(all)
            .arg("-c")
            .arg(format!("{{ {}; }} 2>&1", self.command))
            .current_dir(directory)
            .env("PATH", path);
        shell.env_remove("PRECAST_STORE").env("PRECAST_CACHE", directory.join("cache"));
        let output = shell.output().expect("the program starts");
        let (text, code) = (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code());
        let as_promised = code == Some(self.code) && fits(&self.output, &text.lines().collect::<Vec<_>>());
        (!as_promised).then(|| {
            let (command, promised) = (self.command, self.output.join("\n"));
            format!("$ {command}\nexpected code {}:\n{promised}\nfound {code:?}:\n{text}\n", self.code)
        })
    }
}

/// Returns whether lines match the expected ones; `...` matches any number of lines, including none.
#[must_use]
pub fn fits(promised: &[&str], found: &[&str]) -> bool {
    match (promised, found) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=found.len()).any(|skipped| fits(rest, &found[skipped..])),
        ([first, rest @ ..], [line, others @ ..]) => first == line && fits(rest, others),
        _ => false,
    }
}

#[test]
fn wildcards_match_any_lines() {
    assert!(fits(&["..."], &[]) && fits(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(!fits(&[], &["a"]) && !fits(&["...", "d"], &["a"]) && !fits(&["a"], &["a", "b"]));
    let found = examples("$ a b\n? 3\nout\n...\n$ c\n");
    let first = Example { command: "a b", code: 3, output: vec!["out", "..."] };
    assert_eq!(found, [first, Example { command: "c", code: 0, output: vec![] }]);
}
