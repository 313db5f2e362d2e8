//! `CI.md`: runs the commands of its pipelines, each job in its own directory, as GitHub and GitLab do.

use std::path::Path;
use std::process::Command;

use crate::document::{blocks, path};
use crate::sandbox::Sandbox;

/// A job: its name, and its commands.
type Job = (String, Vec<String>);

/// Returns the jobs of a pipeline: their names are indented less than their contents, and commands follow `- run: `
/// or `script:`.
fn jobs(text: &str) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut is_script = false;
    for line in text.lines() {
        let item = line.trim_start();
        if let Some(name) = item.strip_suffix(':').filter(|name| ["build", "release"].contains(name)) {
            jobs.push((name.to_owned(), Vec::new()));
        }
        is_script = item == "script:" || (is_script && item.starts_with("- "));
        let command = item.strip_prefix("- run: ").or_else(|| item.strip_prefix("- ").filter(|_| is_script));
        if let (Some((_, commands)), Some(command)) = (jobs.last_mut(), command) {
            commands.push(command.to_owned());
        }
    }
    jobs
}

#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]
fn execute(directory: &Path, command: &str, isa: &str, key: &str) {
    let command = command.replace("${{ matrix.isa }}", isa);
    let registry = std::env::var("PRECAST_TEST_REGISTRY");
    if command.contains("precast push") && registry.is_err() {
        eprintln!("skipped: `{command}`: `cargo xtask remotes` starts a registry");
        return;
    }
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &command]).current_dir(directory).env_clear().env("PATH", path());
    shell.env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache"));
    shell.envs([("ISA", isa), ("SIGNING_KEY", key), ("TAG", "v1")]);
    shell.env("REGISTRY", format!("{}/me/model", registry.unwrap_or_default()));
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command}\n{said}\n{}", String::from_utf8_lossy(&output.stdout));
    if command.contains("precast build") && command.contains("--store merged") {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(", 0 compiled"), "the stores were not put together: {said}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn stores_of_several_jobs_become_one_release() {
    for pipeline in blocks("crates/cli/CI.md").iter().filter(|block| block.text.contains("release:")) {
        let jobs = jobs(&pipeline.text);
        let names: Vec<&str> = jobs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["build", "release"]);
        assert!(jobs.iter().all(|(_, commands)| commands.len() >= 2), "{jobs:?}");
        let (place, _) = Sandbox::scored();
        let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
        place.write(
            "precast.toml",
            manifest.lines().filter(|line| !line.starts_with("isa")).collect::<Vec<_>>().join("\n"),
        );
        place.run(&["update"]).ok();
        place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
        let key = fs_err::read_to_string(place.path("ci.key")).unwrap();
        let checkout = |name: &str| {
            let directory = place.path(name);
            fs_err::create_dir(&directory).unwrap();
            for file in ["precast.toml", "precast.lock", "ci.pub"] {
                fs_err::copy(place.path(file), directory.join(file)).unwrap();
            }
            directory
        };
        let release = checkout("release");
        for isa in ["x86-64-v2", "x86-64-v3"] {
            let directory = checkout(isa);
            jobs[0].1.iter().for_each(|command| execute(&directory, command, isa, &key));
            let export = format!("{isa}.export");
            fs_err::copy(directory.join(&export), release.join(&export)).unwrap();
        }
        jobs[1].1.iter().for_each(|command| execute(&release, command, "", &key));
        assert!(release.join("model.precast.minisig").exists() && !release.join("ci.key").exists());
    }
}
