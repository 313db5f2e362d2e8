//! `CI.md`: runs the commands of its pipelines, each job in its own directory, as GitHub and GitLab do. Only the last job
//! has the key.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::document::{blocks, path};
use crate::sandbox::{Ended, Sandbox};

/// The jobs of a pipeline, in order.
const JOBS: [&str; 3] = ["build", "release", "sign"];

/// A job: its name, and its commands.
type Job = (String, Vec<String>);

/// Returns the jobs of a pipeline: their names are indented less than their contents, and commands follow `- run: `
/// or `script:`.
fn jobs(text: &str) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut is_script = false;
    for line in text.lines() {
        let item = line.trim_start();
        if let Some(name) = item.strip_suffix(':').filter(|name| JOBS.contains(name)) {
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

/// Returns the commands before those of each job.
fn before(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_start).skip_while(|line| *line != "before_script:").skip(1);
    lines.map_while(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

/// Returns the jobs that a YAML parser finds, or `None` if Python has none.
fn parsed(text: &str) -> Option<Vec<Job>> {
    let script = "import json, sys, yaml\nprint(json.dumps(yaml.safe_load(sys.argv[1])))";
    let output = Command::new("python3").args(["-c", script, text]).output().ok()?;
    let found: Value = serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success())?;
    let job = |name: &str| {
        let steps = found["jobs"][name]["steps"].as_array();
        let script = found[name]["script"].as_array();
        let runs = steps.into_iter().flatten().filter_map(|step| step["run"].as_str());
        let lines = script.into_iter().flatten().filter_map(Value::as_str);
        (name.to_owned(), runs.chain(lines).map(str::to_owned).collect())
    };
    Some(JOBS.map(job).to_vec())
}

#[allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]
fn execute(directory: &Path, before: &str, command: &str, isa: &str, key: Option<&str>) {
    let command = format!("{before}{}", command.replace("${{ matrix.isa }}", isa));
    let registry = std::env::var("PRECAST_TEST_REGISTRY");
    if command.contains("precast push") && registry.is_err() {
        eprintln!("skipped: `{command}`: `cargo xtask remotes` starts a registry");
        return;
    }
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &command]).current_dir(directory).env_clear().env("PATH", path());
    shell.env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache"));
    shell.envs([
        ("ISA", isa),
        ("TAG", "v1"),
        ("BUILDER", "https://ci.example.org/release"),
        ("COMMIT", "c0ffee"),
    ]);
    shell.envs([
        ("SOURCE", "git+https://git.example.org/model"),
        ("INVOCATION", "https://ci.example.org/jobs/7"),
    ]);
    shell.env("CI_BUILDS_DIR", directory.parent().and_then(Path::parent).unwrap());
    shell.envs(key.map(|key| ("SIGNING_KEY", key)));
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
        assert_eq!(names, JOBS);
        assert!(jobs.iter().all(|(_, commands)| commands.len() >= 2), "{jobs:?}");
        match parsed(&pipeline.text) {
            Some(parsed) => assert_eq!(parsed, jobs),
            None => eprintln!("skipped in part: Python has no yaml"),
        }
        let key_at = pipeline.text.find("SIGNING_KEY").unwrap();
        assert!(pipeline.text.find("sign:").unwrap() < key_at, "another job than `sign` has the key");
        let (place, _) = Sandbox::scored();
        let manifest = fs_err::read_to_string(place.path("precast.toml")).unwrap();
        place.write(
            "precast.toml",
            manifest.lines().filter(|line| !line.starts_with("isa")).collect::<Vec<_>>().join("\n"),
        );
        place.run(&["update"]).ok();
        place.run_bare(&["keygen", "ci.key", "--no-password"]).ok();
        place.run_bare(&["trust", "new", "--expires", "2999-01-01", "ci.pub"]).ok();
        let key = fs_err::read_to_string(place.path("ci.key")).unwrap();
        // A runner with a container lets everybody change the files and directories of a checkout.
        let before = before(&pipeline.text);
        let is_open = !before.is_empty();
        let before = match is_open {
            true => format!("umask 000\n{}\n", before.join("\n")),
            false => String::new(),
        };
        let open = |path: &Path, mode: u32| {
            if is_open {
                fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        let checkout = |name: &str| {
            let directory = place.path("builds/group").join(name);
            fs_err::create_dir_all(&directory).unwrap();
            for file in ["precast.toml", "precast.lock", "precast.keyring"] {
                fs_err::copy(place.path(file), directory.join(file)).unwrap();
                open(&directory.join(file), 0o666);
            }
            directory.ancestors().take(3).for_each(|directory| open(directory, 0o777));
            directory
        };
        let (release, sign) = (checkout("release"), checkout("sign"));
        for isa in ["x86-64-v2", "x86-64-v3"] {
            let directory = checkout(isa);
            if is_open {
                let said = ["is writable by everybody", "in a directory that only you can write to"];
                let mut command = place.command(["build", "--locked", "--store", "shard"]);
                Ended::of(command.current_dir(&directory).output().unwrap()).fails(1, &said);
            }
            jobs[0].1.iter().for_each(|command| execute(&directory, &before, command, isa, None));
            let export = format!("{isa}.export");
            fs_err::copy(directory.join(&export), release.join(&export)).unwrap();
        }
        jobs[1].1.iter().for_each(|command| execute(&release, &before, command, "", None));
        for file in fs_err::read_dir(&release).unwrap().map(|file| file.unwrap()) {
            let name = file.file_name();
            if name.to_string_lossy().starts_with("model.") {
                fs_err::copy(file.path(), sign.join(&name)).unwrap();
                open(&sign.join(name), 0o666);
            }
        }
        jobs[2].1.iter().for_each(|command| execute(&sign, &before, command, "", Some(&key)));
        for beside in ["minisig", "intoto.jsonl"] {
            assert!(sign.join(format!("model.precast.{beside}")).exists());
        }
    }
}
