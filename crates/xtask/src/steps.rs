//! Runs steps one after the other, each with a headline and its time; a failed step does not stop the next one.

use crate::tools::cargo;
use anyhow::Result;
use std::process::Command;
use std::time::{Duration, Instant};

/// The finished steps.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<(String, bool, Duration)>,
}

impl Steps {
    /// Runs one step. It fails if `work` returns `false` or an error.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<bool>) {
        println!("\n== {name}");
        let start = Instant::now();
        let fine = work().unwrap_or_else(|error| {
            println!("error: {error:#}");
            false
        });
        let took = start.elapsed();
        println!("== {name}: {} in {:.1} s", verdict(fine), took.as_secs_f64());
        self.done.push((name.to_owned(), fine, took));
    }

    /// Runs `cargo` with `args` and the additional `environment` as one step.
    pub(crate) fn cargo(&mut self, name: &str, args: &[&str], environment: &[(&str, &str)]) {
        self.step(name, || {
            let mut command = Command::new(cargo());
            command.args(args).envs(environment.iter().copied());
            run(&mut command)
        });
    }

    /// Prints the times; returns `true` if every step succeeded.
    pub(crate) fn finish(&self) -> bool {
        println!();
        for (name, fine, took) in &self.done {
            println!("{:>8.1} s  {:<7} {name}", took.as_secs_f64(), verdict(*fine));
        }
        let total: Duration = self.done.iter().map(|(_, _, took)| *took).sum();
        println!("{:>8.1} s  in all", total.as_secs_f64());
        self.done.iter().all(|(_, fine, _)| *fine)
    }
}

fn verdict(fine: bool) -> &'static str {
    if fine { "ok" } else { "FAILED" }
}

/// Prints and runs a command with our own output; returns `true` if it succeeded.
pub(crate) fn run(command: &mut Command) -> Result<bool> {
    println!("{}", line(command));
    Ok(command.status()?.success())
}

/// Returns a command as a line of a transcript, with the name of its program in place of the path.
pub(crate) fn line(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let program =
        std::path::Path::new(&*words[0]).file_name().map_or(words[0].clone(), |n| n.to_string_lossy());
    format!("$ {program} {}", words[1..].join(" "))
}
