//! The jobs to disturb: precast commands and host programs, with the results of undisturbed runs.

use crate::tools::cargo;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANIFEST: &str = r#"[[graph]]
name = "score"
inputs = ["x: f64[?]"]
outputs = ["out = sum(exp(-x*x)*x + tanh(x))"]

[[graph]]
name = "curve"
inputs = ["x: f64[?]"]
outputs = ["out = log1p(exp(x)) + sin(x)"]
"#;

/// The program of the Python host.
const PYTHON: &str = "import sys, numpy, precast
print(precast.load(sys.argv[1]).curve(numpy.array([0.5, 1.0, 2.0])).tolist())
";

/// The seconds after which a disturbed job counts as hanging.
const SECONDS: &str = "60";

/// A command with known results.
pub(super) struct Job {
    pub(super) name: &'static str,
    words: Vec<String>,
    /// The standard output and the files of an undisturbed run.
    expected: Results,
}

/// The standard output, and each file by name.
type Results = BTreeMap<String, Vec<u8>>;

/// The end of a disturbed job.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum End {
    /// The results equal those of an undisturbed run.
    Right,
    /// The job printed a message, returned an exit code, and gave no results.
    Refused,
    /// Any other end, with a description.
    Wrong(String),
}

/// A directory with the inputs of all jobs, removed on drop.
pub(super) struct Scene {
    folder: PathBuf,
    pub(super) jobs: Vec<Job>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.folder);
    }
}

impl Scene {
    /// Builds the programs, prepares the directory, and runs each job undisturbed.
    pub(super) fn new(root: &Path, proof: &str) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let built = std::path::absolute(target.join("debug"))?;
        cargo_build(&["-p", "precast-cli"])?;
        cargo_build(&["-p", "precast", "--no-default-features", "--example", "call"])?;
        let folder = std::env::temp_dir().join(format!("precast-{proof}-{}", std::process::id()));
        fs_err::create_dir_all(&folder)?;
        let mut scene = Self { folder, jobs: Vec::new() };
        let precast = built.join("precast").display().to_string();
        scene.prepare(&precast)?;
        let folder = scene.folder.display().to_string();
        let at = |name: &str| format!("{folder}/{name}");
        let entry = [
            "run",
            "--entry",
            "score",
            "-i",
            &format!("x={folder}/x.npy"),
            "-o",
            "out=out.npy",
            "--policy",
            "strict",
        ]
        .map(str::to_owned);
        let expression = [
            "run",
            "--expr",
            "out = log1p(exp(x)) + sin(x)",
            "-i",
            &format!("x={folder}/x.npy"),
            "-o",
            "out=out.npy",
        ]
        .map(str::to_owned);
        let with = |words: &[String], more: &[&str]| {
            let words = std::iter::once(&precast).chain(words).cloned();
            words.chain(more.iter().map(|&word| word.to_owned())).collect::<Vec<String>>()
        };
        scene.add("run a bundle", with(&entry, &["--bundle", &at("model.precast")]))?;
        scene.add("run from a store", with(&expression, &["--store", &at("store"), "--policy", "strict"]))?;
        scene.add("verify", with(&[], &["verify", "--store", &at("store")]))?;
        scene.add(
            "build",
            with(&[], &["build", &at("precast.toml"), "--store", "store", "--bundle", "made.precast"]),
        )?;
        scene.add("jit", with(&expression, &["--store", &at("empty"), "--policy", "jit"]))?;
        let call = built.join("examples/call").display().to_string();
        scene.add(
            "a Rust host",
            [call, at("model.precast"), "curve".into(), "0.5".into(), "1".into()].into(),
        )?;
        match python() {
            Some(python) => scene
                .add("a Python host", [python, "-c".into(), PYTHON.into(), at("model.precast")].into())?,
            None => println!(
                "skipped: a Python host: no interpreter has the package (`cargo xtask python` installs it)"
            ),
        }
        Ok(scene)
    }

    /// Writes the manifest and the input, and builds the bundle and the store that jobs read.
    fn prepare(&self, precast: &str) -> Result<()> {
        fs_err::write(self.folder.join("precast.toml"), MANIFEST)?;
        fs_err::create_dir(self.folder.join("empty"))?;
        for words in [
            &["run", "--policy", "interpret", "--expr", "x = linspace(-2, 2, 1000)", "-o", "x=x.npy"][..],
            &["build", "--store", "store", "--bundle", "model.precast"],
            &["build", "--store", "empty", "empty.toml"],
        ] {
            fs_err::write(
                self.folder.join("empty.toml"),
                "[[op]]\nname = \"add\"\ndtypes = [\"i8\"]\nndim = [1]\n",
            )?;
            let output = command(
                precast,
                &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(),
                &self.folder,
            )
            .output()?;
            if !output.status.success() {
                bail!("`precast {}` failed:\n{}", words.join(" "), String::from_utf8_lossy(&output.stderr));
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &'static str, words: Vec<String>) -> Result<()> {
        let mut job = Job { name, words, expected: Results::new() };
        let (output, results) = self.results(&job, &[])?;
        if !output.status.success() {
            bail!("`{name}` fails undisturbed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        job.expected = results;
        self.jobs.push(job);
        Ok(())
    }

    /// Runs a job, with `prefix` before its command line.
    pub(super) fn run(&self, job: &Job, prefix: &[String]) -> Result<End> {
        let (output, results) = self.results(job, prefix)?;
        let told = String::from_utf8_lossy(&output.stderr);
        let shown = || told.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
        Ok(match output.status.code() {
            // The exit code that `timeout` and shells use for a timeout.
            Some(124) => End::Wrong("no end".into()),
            None | Some(126..) => End::Wrong(format!(
                "signal {:?}: {}",
                output.status.signal().or(output.status.code()),
                shown()
            )),
            _ if told.contains("panicked") => End::Wrong(format!("a panic: {}", shown())),
            Some(0) if results == job.expected => End::Right,
            Some(0) => End::Wrong(format!("another result: {}", differences(&job.expected, &results))),
            Some(code) if told.trim().is_empty() => End::Wrong(format!("exit code {code} without a message")),
            Some(_) => End::Refused,
        })
    }

    /// Runs a job in an empty directory with an empty home.
    fn results(&self, job: &Job, prefix: &[String]) -> Result<(Output, Results)> {
        let place = self.folder.join("place");
        let _ = fs_err::remove_dir_all(&place);
        fs_err::create_dir(&place)?;
        let empty = self.folder.join("empty");
        let fresh = self.folder.join("fresh");
        let _ = fs_err::remove_dir_all(&fresh);
        let words = copied(&empty, &fresh, &job.words)?;
        let limited = ["--kill-after=5", SECONDS].map(str::to_owned);
        let words: Vec<String> = limited.iter().chain(prefix).chain(&words).cloned().collect();
        let output = command("timeout", &words, &place).output().context("cannot run `timeout`")?;
        let mut results = Results::new();
        if !job.words.contains(&"build".to_owned()) {
            // A build prints its duration.
            results.insert("standard output".to_owned(), output.stdout.clone());
        }
        for name in ["out.npy", "made.precast"] {
            if let Ok(bytes) = fs_err::read(place.join(name)) {
                results.insert(name.to_owned(), bytes);
            }
        }
        Ok((output, results))
    }
}

/// Copies the store that `jit` fills, so that each run starts from the same state; other jobs need no copy.
fn copied(empty: &Path, fresh: &Path, words: &[String]) -> Result<Vec<String>> {
    let (empty, fresh) = (empty.display().to_string(), fresh.display().to_string());
    if words.contains(&empty) {
        let copied = Command::new("cp").args(["-a", &empty, &fresh]).status()?;
        anyhow::ensure!(copied.success(), "cannot copy `{empty}`");
    }
    Ok(words.iter().map(|word| if *word == empty { fresh.clone() } else { word.clone() }).collect())
}

fn command(program: &str, words: &[String], place: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).current_dir(place).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", place).env("PRECAST_CACHE", place.join("cache"));
    command
}

/// Returns the names of results that differ.
fn differences(expected: &Results, found: &Results) -> String {
    let differs = expected.iter().filter(|(name, bytes)| found.get(*name) != Some(bytes));
    differs.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

pub(super) fn cargo_build(args: &[&str]) -> Result<()> {
    let built = Command::new(cargo()).args(["build", "--quiet", "--locked"]).args(args).status()?;
    anyhow::ensure!(built.success(), "`cargo build {}` failed", args.join(" "));
    Ok(())
}

/// Returns the interpreter of the environment that `cargo xtask python` creates, if it has the package.
pub(super) fn python() -> Option<String> {
    let python = std::path::absolute(crate::python::installed().ok()??).ok()?;
    let imports = crate::tools::answers(Command::new(&python).args(["-c", "import precast"]));
    imports.then(|| python.display().to_string())
}
