//! Provenance: the builder, time and inputs of a build, as [in-toto statements](https://in-toto.io/Statement/v1) with
//! the predicate of [SLSA](https://slsa.dev/provenance/v1), which other tools can read.
//!
//! | | next to a record, `<record>.provenance` | next to a bundle, `<bundle>.provenance.json` |
//! |---|---|---|
//! | subject | the record, its object and shared object | the bundle |
//! | external parameters | command line, target, ISA level, profile | command line, targets, ISA levels |
//! | internal parameters | modules, action, flags | |
//! | resolved dependencies | repository, manifest, toolchain, sources, files of the system | repository, manifest, lock file, toolchain, records |
//!
//! The user controls the command line, so it is an external parameter. The toolchain has the SHA-256 of the compiler's
//! driver, and our hash of every file that it loads.
//!
//! Digests are SHA-256, which every tool can compute; our own hashes are annotations. Statements are written only if
//! the user names the builder, because nothing else can provide this name. The times come from `SOURCE_DATE_EPOCH`,
//! if it is set.
//!
//! Statements describe the bytes that were read. The sources are those in the archive. Manifest and lock file are
//! hashed before they are read and again at the end; if one changed during the build, no statement is written.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use precast_build::Executed;
use precast_compile::Toolchain;
use precast_ops::GENERATOR;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::keyring::Date;
use precast_store::{Archive, Outside, Record, Store};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::Failure;
use crate::kind::Kind;
use crate::{dsse, secrets, term, whole};

/// The member of an archive that describes it.
const MANIFEST: &str = "manifest.json";

/// The predicate type of the statements.
pub(crate) const PREDICATE: &str = "https://slsa.dev/provenance/v1";

/// The facts about a build that its statements contain.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The builder URI.
    id: String,
    /// The time when the command began, as text.
    started: String,
    /// The command line, without secrets.
    command: Vec<String>,
    /// The repository of the manifest: its URI and commit.
    source: Option<(String, Option<String>)>,
    /// The identifier of this run of the builder.
    invocation: Option<String>,
    /// The files that the build reads, by path, with their digests before the build.
    taken: Vec<(PathBuf, Value)>,
}

impl Builder {
    /// Creates a builder from its URI and takes the current time.
    pub(crate) fn new(
        id: String,
        source: Option<(String, Option<String>)>,
        invocation: Option<String>,
    ) -> Result<Self, Failure> {
        let is_uri = id.split_once(':').is_some_and(|(scheme, rest)| {
            let mut letters = scheme.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic())
                && letters.all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
                && !rest.is_empty()
                && !rest.contains(char::is_whitespace)
        });
        if !is_uri {
            return Err(Failure::usage(format!("invalid builder `{id}`: expected a URI"))
                .hint("name the builder with a URI, such as `--builder https://ci.example.org/release`"));
        }
        if let Cow::Owned(shown) = secrets::hide(&id)
            && shown != id
        {
            return Err(Failure::usage(format!("the builder `{shown}` has credentials"))
                .hint("remove them: statements are published"));
        }
        let command = std::env::args_os().skip(1);
        let command = command.map(|word| secrets::hide_word(&word.to_string_lossy())).collect();
        let hidden = |text: String| secrets::hide_word(&text);
        let source = source.map(|(uri, commit)| (hidden(uri), commit.map(hidden)));
        let invocation = invocation.map(hidden);
        Ok(Self { id, started: now()?, command, source, invocation, taken: Vec::new() })
    }

    /// Records a file, if it exists, that is about to be read or that this build has written.
    pub(crate) fn take(&mut self, path: &Path) -> Result<(), Failure> {
        self.taken.retain(|(known, _)| known != path);
        if path.is_file() {
            self.taken.push((path.to_owned(), file(path)?));
        }
        Ok(())
    }

    /// States the results of this build, if its inputs did not change meanwhile.
    pub(crate) fn state(
        &self,
        store: Option<&Store>,
        bundle: Option<&(PathBuf, Vec<u8>)>,
        executed: &Executed,
        toolchain: &Toolchain,
    ) -> Result<(), Failure> {
        self.check()?;
        store.map_or(Ok(()), |store| self.state_records(store, executed, toolchain))?;
        bundle.map_or(Ok(()), |bundle| self.state_bundle(bundle, executed, toolchain))
    }

    /// Checks that the files did not change.
    fn check(&self) -> Result<(), Failure> {
        for (path, before) in &self.taken {
            if file(path).ok().as_ref() != Some(before) {
                return Err(Failure::new(format!(
                    "`{}` changed during the build, so no provenance was written",
                    path.display()
                ))
                .hint("build again: finished artifacts are reused"));
            }
        }
        Ok(())
    }

    /// Returns the repository and the files, as materials.
    fn materials(&self) -> impl Iterator<Item = Value> {
        self.repository().into_iter().chain(self.taken.iter().map(|(_, file)| file.clone()))
    }

    fn repository(&self) -> Option<Value> {
        let (uri, commit) = self.source.as_ref()?;
        let mut material = json!({"uri": uri});
        if let Some(commit) = commit {
            material["digest"] = json!({"gitCommit": commit});
        }
        Some(material)
    }

    /// States the records that this build compiled, each in a file next to it in the store.
    fn state_records(
        &self,
        store: &Store,
        executed: &Executed,
        toolchain: &Toolchain,
    ) -> Result<(), Failure> {
        for artifact in &executed.artifacts {
            let record = &artifact.record;
            if executed.fresh.contains(&record.action) {
                let statement = self.of_record(record, &store.load(record)?, toolchain)?;
                store.put_provenance(record, &render(&statement))?;
            }
        }
        Ok(())
    }

    /// States a bundle, in a file next to it.
    fn state_bundle(
        &self,
        (bundle, bytes): &(PathBuf, Vec<u8>),
        executed: &Executed,
        toolchain: &Toolchain,
    ) -> Result<(), Failure> {
        let records: Vec<&Record> = executed.artifacts.iter().map(|artifact| &artifact.record).collect();
        let mut materials: Vec<Value> = self.materials().collect();
        if let Some(record) = records.first() {
            materials.extend(tools(toolchain, record)?);
        }
        materials.extend(records.iter().map(|record| {
            let uri = format!("precast:record:{}", record.id());
            json!({"uri": uri, "digest": sha256(&record.to_bytes())})
        }));
        let all = |of: fn(&Record) -> &String| {
            let mut all: Vec<&str> = records.iter().map(|record| of(record).as_str()).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let statement = self.statement(
            json!([named(bundle, bytes)]),
            "bundle",
            json!({
                "command": self.command,
                "targets": all(|record| &record.target), "isa": all(|record| &record.isa),
            }),
            json!({}),
            materials,
        )?;
        whole::write(&beside(bundle), Kind::Text, |out| out.write_all(render(&statement).as_bytes()))?
            .commit_durably()?;
        Ok(())
    }

    fn of_record(&self, record: &Record, archive: &Archive, toolchain: &Toolchain) -> Result<Value, Failure> {
        let stated: Value =
            archive.get(MANIFEST).and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        let member = |(name, content): (&String, &Vec<u8>)| json!({"name": name, "digest": sha256(content)});
        let is_made = |name: &str| [OBJECT, SHARED_OBJECT].contains(&name);
        let (made, sources): (Vec<_>, Vec<_>) = archive
            .members
            .iter()
            .filter(|(name, _)| *name != MANIFEST)
            .partition(|(name, _)| is_made(name.as_str()));
        let id = record.id().to_string();
        let mut subject = vec![json!({"name": format!("record {id}"), "digest": sha256(&record.to_bytes())})];
        subject.extend(made.into_iter().map(member));
        let manifest = self.taken.first().map(|(_, file)| file.clone());
        let mut materials: Vec<Value> = self.repository().into_iter().chain(manifest).collect();
        materials.extend(tools(toolchain, record)?);
        materials.extend(sources.into_iter().map(member));
        materials.extend(record.outside.iter().map(|Outside { path, content }| {
            json!({"uri": format!("file://{path}"), "annotations": {"contentId": content}})
        }));
        let modules =
            record.members.iter().map(|member| json!({"signature": member.signature, "key": member.key}));
        self.statement(
            Value::Array(subject),
            record.kind.name(),
            json!({
                "command": self.command, "target": record.target, "isa": record.isa, "profile": record.profile.name(),
            }),
            json!({
                "modules": modules.collect::<Vec<_>>(), "action": record.action, "digest": record.digest,
                "flags": stated["flags"],
            }),
            materials,
        )
    }

    fn statement(
        &self,
        subject: Value,
        kind: &str,
        external: Value,
        internal: Value,
        materials: Vec<Value>,
    ) -> Result<Value, Failure> {
        let mut metadata = json!({"startedOn": self.started, "finishedOn": now()?});
        if let Some(invocation) = &self.invocation {
            metadata["invocationId"] = json!(invocation);
        }
        let (name, version) = GENERATOR.split_once(' ').unwrap_or((GENERATOR, ""));
        Ok(json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subject,
            "predicateType": PREDICATE,
            "predicate": {
                "buildDefinition": {
                    "buildType": format!("{}/provenance/{kind}/v1", env!("CARGO_PKG_REPOSITORY")),
                    "externalParameters": external,
                    "internalParameters": internal,
                    "resolvedDependencies": materials,
                },
                "runDetails": {
                    "builder": {"id": self.id, "version": {name: version}},
                    "metadata": metadata,
                },
            },
        }))
    }
}

/// Returns the path of the statement about a bundle.
fn beside(bundle: &Path) -> PathBuf {
    let mut path = bundle.as_os_str().to_owned();
    path.push(".provenance.json");
    path.into()
}

/// Returns whether a statement is provenance of these bytes.
#[cfg(feature = "remote")]
pub(crate) fn is_about_bytes(statement: &Value, bytes: &[u8]) -> bool {
    statement["predicateType"] == PREDICATE && has_subject(statement, bytes)
}

fn has_subject(statement: &Value, bytes: &[u8]) -> bool {
    let digest = sha256(bytes);
    let mut subjects = statement["subject"].as_array().into_iter().flatten();
    subjects.any(|subject| subject["digest"]["sha256"] == digest["sha256"])
}

/// Removes the statement about a bundle, and its signatures, unless it matches the bytes that are being written.
pub(crate) fn forget(bundle: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let path = beside(bundle);
    let text = precast_store::file::read_text(&path).unwrap_or_default();
    let statement: Value = serde_json::from_str(&text).unwrap_or_default();
    if statement["predicateType"] != PREDICATE || has_subject(&statement, bytes) {
        return Ok(());
    }
    let mut signatures = path.clone().into_os_string();
    signatures.push(precast_store::keyring::SUFFIX);
    for old in [path, signatures.into(), dsse::path_of(bundle)] {
        match fs_err::remove_file(&old) {
            Ok(()) => {
                term::note(&format!("removed `{}`, which belonged to another bundle", old.display()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn render(statement: &Value) -> String {
    format!("{statement:#}\n")
}

/// Returns a digest in the form of in-toto.
pub(crate) fn sha256(bytes: &[u8]) -> Value {
    json!({"sha256": hex(&Sha256::digest(bytes))})
}

/// Formats bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Describes a file by its name, without its directory, which is private.
fn file(path: &Path) -> Result<Value, Failure> {
    Ok(named(path, &precast_store::file::read(path, u64::MAX)?))
}

fn named(path: &Path, bytes: &[u8]) -> Value {
    json!({"name": path.file_name().unwrap_or_default().to_string_lossy(), "digest": sha256(bytes)})
}

/// Returns whether a statement is about this record: every subject is the record or an object of its archive, and the
/// record is a subject.
pub(crate) fn is_about(statement: &Value, record: &Record, archive: &Archive) -> bool {
    let own = sha256(&record.to_bytes());
    let made = [OBJECT, SHARED_OBJECT].into_iter().filter_map(|name| archive.get(name)).map(sha256);
    let mut known: Vec<Value> = made.collect();
    known.push(own.clone());
    let subjects: Vec<&Value> =
        statement["subject"].as_array().into_iter().flatten().map(|subject| &subject["digest"]).collect();
    subjects.contains(&&own) && subjects.into_iter().all(|digest| known.contains(digest))
}

/// Describes the toolchain of a record: its hash covers every byte that its tools load. Its driver has a hash that other
/// tools can compute.
fn tools(toolchain: &Toolchain, record: &Record) -> Result<[Value; 2], Failure> {
    let id = record.toolchain.map(|id| id.to_string()).unwrap_or_default();
    let uri = format!("precast:toolchain:{id}");
    let all = json!({"name": toolchain.description(), "uri": uri, "digest": {"precastToolchain": id}});
    Ok([all, file(toolchain.driver())?])
}

/// Returns the time in the form of RFC 3339, from `SOURCE_DATE_EPOCH`, else from the clock.
fn now() -> Result<String, Failure> {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok(stated_time()?.unwrap_or_else(|| rendered(clock())))
}

/// Returns the time of `SOURCE_DATE_EPOCH`, if it is set.
pub(crate) fn stated_time() -> Result<Option<String>, Failure> {
    let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let seconds = text.parse().map_err(|_| {
        Failure::usage(format!("invalid `SOURCE_DATE_EPOCH` `{text}`: expected a number of seconds"))
    })?;
    Ok(Some(rendered(seconds)))
}

fn rendered(seconds: u64) -> String {
    // The last second of the year 9999: a date has four digits for the year.
    let seconds: u64 = u64::min(seconds, 253_402_300_799);
    let (day, second) = (Date::of_days(seconds / 86_400), seconds % 86_400);
    format!("{day}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_changed_during_build_gets_no_statement() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("precast.toml");
        fs_err::write(&path, "[[graph]]\n").unwrap();
        let mut builder = Builder::new("https://ci.example.org".to_owned(), None, None).unwrap();
        builder.take(&path).unwrap();
        builder.check().unwrap();
        fs_err::write(&path, "[[graph]]\n\n").unwrap();
        let told = builder.check().unwrap_err().render().message;
        assert!(told.contains("changed during the build"), "{told}");
        // Files that the build wrote itself are recorded again.
        builder.take(&path).unwrap();
        builder.check().unwrap();
        assert_eq!(builder.materials().count(), 1);
        fs_err::remove_file(&path).unwrap();
        assert!(builder.check().is_err());
    }
}
