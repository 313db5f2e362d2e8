//! Checks that a worker's toolchain is the one whose identity the records will state.
//!
//! The identity is a hash over the contents and the paths of some 200 files. An action runs `sha256sum`, which every
//! Linux has, on the same paths on a worker. The output has a line for each existing file, so a file that exists only
//! there is detected as well as a different one.

use std::path::Path;

use precast_compile::Run;
use precast_store::ToolchainId;
use sha2::{Digest as _, Sha256};

use super::connection::CallError;
use super::digest::hex;
use super::farm::{Farm, FarmError};
use super::job::Job;
use super::tree::{Blobs, Content, Tree};

impl Farm {
    /// Lists the files of a worker, and compares them with the local ones.
    pub(super) async fn identify(&self, run: &Run<'_>, id: ToolchainId) -> Result<(), FarmError> {
        self.connection.capabilities().await.map_err(|error| self.refused(error))?;
        let files = run.toolchain.files(run.language);
        let files = files.map_err(|error| self.refused(CallError::wrong(error.to_string())))?;
        let mut expected = Vec::new();
        for path in files.iter().filter(|path| path.is_file()) {
            let read = fs_err::read(path);
            let content =
                read.map_err(|error| FarmError::Read { path: (*path).to_owned(), why: error.to_string() })?;
            expected.push(line(path, &content));
        }
        let mut blobs = Blobs::new();
        let root = Content::default().put(&mut blobs);
        let job = Job {
            arguments: ["sha256sum", "--"]
                .map(str::to_owned)
                .into_iter()
                .chain(files.iter().map(|path| path.display().to_string()))
                .collect(),
            environment: vec![("LC_ALL", "C".to_owned()), ("PATH", "/usr/bin:/bin".to_owned())],
            inputs: Tree { root, blobs },
            outputs: Vec::new(),
            toolchain: id,
            limit: run.toolchain.timeout(),
            anew: true,
        };
        let done = self.carry_out(&job).await?;
        self.connection.note(|report| report.ran = report.ran.saturating_sub(1));
        let found: Vec<&str> = done.stdout.lines().collect();
        match difference(&expected, &found) {
            None => Ok(()),
            Some(why) => {
                let (place, worker) = (self.connection.place.to_string(), done.worker);
                Err(FarmError::Toolchain { place, worker, id, why })
            }
        }
    }
}

/// Returns a line in the format of `sha256sum`.
fn line(path: &Path, content: &[u8]) -> String {
    let (name, hash) = (path.display().to_string(), hex(&Sha256::digest(content)));
    if name.contains(['\\', '\n', '\r']) {
        let name = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        return format!("\\{hash}  {name}");
    }
    format!("{hash}  {name}")
}

/// Returns the first difference from the local files.
fn difference(expected: &[String], found: &[&str]) -> Option<String> {
    let name = |line: &str| line.split_once("  ").map_or(line, |(_, name)| name).to_owned();
    if let Some(line) = expected.iter().find(|line| !found.contains(&line.as_str())) {
        let is_there = found.iter().any(|other| name(other) == name(line));
        return Some(format!(
            "`{}` is {}",
            name(line),
            if is_there { "different there" } else { "missing there" }
        ));
    }
    let more = found.iter().find(|line| !expected.iter().any(|other| other == *line))?;
    Some(format!("`{}` exists only there", name(more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_sha256sum() {
        let Ok(directory) = tempfile::tempdir() else { return };
        for name in ["plain", "with  blanks", "back\\slash", "line\nfeed"] {
            let path = directory.path().join(name);
            fs_err::write(&path, name).unwrap();
            let Ok(said) = std::process::Command::new("sha256sum").arg("--").arg(&path).output() else {
                return eprintln!("skipped: there is no sha256sum");
            };
            assert_eq!(
                format!("{}\n", line(&path, name.as_bytes())),
                String::from_utf8(said.stdout).unwrap()
            );
        }
    }

    #[test]
    fn identity_difference_lists_changes() {
        let lines = |of: &[(&str, &str)]| -> Vec<String> {
            of.iter().map(|(name, content)| line(Path::new(name), content.as_bytes())).collect()
        };
        let here = lines(&[("/bin/as", "1"), ("/bin/ld", "2")]);
        let told = |there: &[(&str, &str)]| {
            let there = lines(there);
            difference(&here, &there.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert_eq!(told(&[("/bin/as", "1"), ("/bin/ld", "2")]), None);
        assert_eq!(told(&[("/bin/as", "1"), ("/bin/ld", "3")]).unwrap(), "`/bin/ld` is different there");
        assert_eq!(told(&[("/bin/as", "1")]).unwrap(), "`/bin/ld` is missing there");
        assert_eq!(
            told(&[("/bin/as", "1"), ("/bin/ld", "2"), ("/specs", "x")]).unwrap(),
            "`/specs` exists only there"
        );
    }
}
