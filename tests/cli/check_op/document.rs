//! `crates/cli/DEBUGGING.md`, chapter "Debug mode": every example is executed, in order, in one directory.
//!
//! A block of `c` or `toml` is written to the last file that the text before it names. A block of `console` is run by
//! `sh`, and its output and `? code` are compared; `...` stands for any lines.

use crate::document::fits;
use crate::sandbox::Sandbox;
use std::path::Path;
use std::process::Command;

/// Returns the language, the text, and the line before each block.
fn blocks() -> Vec<(String, String, String)> {
    let document = include_str!("../../../crates/cli/DEBUGGING.md");
    let chapter = document.split_once("\n# Debug mode\n").expect("the chapter is there").1;
    let (mut blocks, mut open, mut before) = (Vec::new(), None::<(String, String)>, String::new());
    for line in chapter.lines() {
        match (open.as_mut(), line.strip_prefix("```")) {
            (Some(_), Some(_)) => {
                let (language, text) = open.take().unwrap();
                blocks.push((language, text, std::mem::take(&mut before)));
            }
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (None, None) if line.is_empty() => {}
            (None, None) => before = line.to_owned(),
        }
    }
    blocks
}

fn run(place: &Sandbox, example: &str) {
    let mut lines = example.lines().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("a command is expected: {line}"));
        let code = lines.next_if(|line| line.starts_with("? ")).map_or(0, |line| line[2..].parse().unwrap());
        let promised: Vec<&str> =
            std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("$ "))).collect();
        let precast = place.command([""]);
        let directory = Path::new(precast.get_program()).parent().unwrap().to_owned();
        let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(place.path(".")).env_clear().env("PATH", path);
        shell.envs(
            precast
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?)))
                .filter(|(name, _)| *name != "PATH"),
        );
        let output = shell.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "$ {command}\n{text}{told}");
        assert!(
            fits(&promised, &text.lines().collect::<Vec<_>>()),
            "$ {command}\npromised {promised:#?}\nfound\n{text}{told}"
        );
    }
}

#[test]
fn every_example_of_the_chapter_works() {
    let place = Sandbox::new();
    place.npy("x.npy", &[3], vec![0.0, 1.0, 2.0]);
    let mut ran = 0;
    for (language, text, before) in blocks() {
        match language.as_str() {
            "console" => {
                run(&place, &text);
                ran += 1;
            }
            "c" | "toml" => {
                let named = before.split('`').skip(1).step_by(2);
                let file = named.filter(|word| word.ends_with(&format!(".{language}"))).last();
                place.write(file.unwrap_or_else(|| panic!("which file is this? {before}")), text);
            }
            other => panic!("nothing executes a block of `{other}`"),
        }
    }
    assert!(ran >= 6, "only {ran} examples were run");
}
