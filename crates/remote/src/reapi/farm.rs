//! Runs compilers on a farm.
//!
//! `job.rs` describes the actions. An action that failed for a temporary reason is retried. Inputs that the farm has
//! lost are uploaded again, and a result with lost files is computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use precast_compile::{Ended, Run, RunError, Runner};
use precast_store::ToolchainId;
use tonic::Code;

use super::access::{Access, AccessError};
use super::api::{ActionResult, Digest};
use super::connection::{CallError, Connection, passes, spoken};
use super::digest::Name;
use super::job::{Done, Job, TOOLCHAIN};
use super::report::Report;
use super::server::Server;
use super::tree::{Blobs, Content, Tree, put};
use crate::Patience;

/// The maximum size of a compiler's output file, in bytes.
const OUTPUT_LIMIT: u64 = 512 << 20;

/// The maximum size of a compiler's messages, in bytes.
const WORDS_LIMIT: u64 = 16 << 20;

/// The time that an action may wait for a worker.
const QUEUE: Duration = Duration::from_secs(3600);

/// The number of retries after the farm reports missing inputs.
const REFILLS: u32 = 3;

/// A farm that runs compilers.
pub struct Farm {
    pub(super) connection: Connection,
    properties: Vec<(String, String)>,
    /// Directories that are the same for all units.
    directories: Mutex<BTreeMap<PathBuf, Tree>>,
    /// Inputs that the farm has.
    there: Mutex<BTreeSet<Name>>,
    /// The toolchains that were checked, with the results.
    toolchains: Mutex<BTreeMap<ToolchainId, Result<(), FarmError>>>,
    /// The error after which the farm is not used any more.
    gone: OnceLock<FarmError>,
}

/// The reason why a farm did not run the compiler.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FarmError {
    /// A call to the farm failed.
    #[error("cannot use `{place}`: {error}{}", hint(error))]
    Call {
        /// The address of the farm.
        place: String,
        /// The error of the call.
        error: CallError,
    },
    /// A worker has a different toolchain.
    #[error(
        "worker `{worker}` of `{place}` has a different toolchain: {why}\nhint: give workers with the property \
         `{TOOLCHAIN}={id}` the toolchain of this machine, for example by running the same image"
    )]
    Toolchain {
        /// The address of the farm.
        place: String,
        /// The worker's name.
        worker: String,
        /// The identity of the local toolchain.
        id: ToolchainId,
        /// The difference.
        why: String,
    },
    /// A file that the compiler reads cannot be read on this machine.
    #[error("cannot read `{}`: {why}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

fn hint(error: &CallError) -> &'static str {
    match error.code() {
        Some(Code::Unauthenticated | Code::PermissionDenied)
            if matches!(error, CallError::Refused { .. }) =>
        {
            "\nhint: set a token in `PRECAST_REMOTE_TOKEN`, or use a program with `--remote-credentials`"
        }
        Some(Code::FailedPrecondition) => {
            "\nhint: check that the farm knows the properties of the actions: `precast-toolchain` and those of \
             `--remote-property`"
        }
        Some(code) if passes(code) => {
            "\nhint: build again when the farm is back; the finished artifacts are published"
        }
        _ => "",
    }
}

impl fmt::Debug for Farm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Farm").field("place", &self.connection.place).finish_non_exhaustive()
    }
}

impl Farm {
    /// Prepares a farm whose workers must also have these platform properties.
    ///
    /// # Errors
    ///
    /// Fails if certificates or credentials are unusable. An unreachable server is only detected at the first
    /// request.
    pub fn new(
        place: Server,
        access: &Access,
        patience: Patience,
        properties: Vec<(String, String)>,
    ) -> Result<Self, AccessError> {
        Ok(Self {
            connection: Connection::new(place, access, patience)?,
            properties,
            directories: Mutex::default(),
            there: Mutex::default(),
            toolchains: Mutex::default(),
            gone: OnceLock::new(),
        })
    }

    /// Returns the counts and warnings so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.connection.report()
    }

    pub(super) fn refused(&self, error: CallError) -> FarmError {
        FarmError::Call { place: self.connection.place.to_string(), error }
    }

    /// Checks a worker's toolchain, once per toolchain; concurrent callers wait.
    fn check(&self, run: &Run<'_>, id: ToolchainId) -> Result<(), FarmError> {
        let mut known = lock(&self.toolchains);
        if let Some(found) = known.get(&id) {
            return found.clone();
        }
        let found = self.waiting(async || self.identify(run, id).await);
        known.insert(id, found.clone());
        found
    }

    fn compile(&self, run: &Run<'_>, id: ToolchainId) -> Result<Ended, FarmError> {
        self.check(run, id)?;
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let job = Job {
            arguments: std::iter::once(run.program.display().to_string())
                .chain(run.arguments.iter().cloned())
                .collect(),
            environment: run.environment.iter().map(|(name, value)| (*name, text(value))).collect(),
            inputs: self.inputs(run)?,
            outputs: run.outputs.iter().map(|name| (*name).to_owned()).collect(),
            toolchain: id,
            limit: run.toolchain.timeout(),
            anew: false,
        };
        let done = self.waiting(async || self.carry_out(&job).await)?;
        let Done { exit_code, stdout, stderr, files, .. } = done;
        Ok(Ended { status: status(exit_code), stdout, stderr, files })
    }

    /// Waits on this thread.
    fn waiting<T: Send>(
        &self,
        what: impl AsyncFnOnce() -> Result<T, FarmError> + Send,
    ) -> Result<T, FarmError> {
        self.connection.wait(what).map_err(|error| self.refused(error))?
    }

    /// Creates the input tree.
    fn inputs(&self, run: &Run<'_>) -> Result<Tree, FarmError> {
        let (mut blobs, mut root) = (Blobs::new(), Content::default());
        for (name, path) in run.inputs {
            let unread =
                |error: io::Error| FarmError::Read { path: (*path).to_owned(), why: error.to_string() };
            if path.is_dir() {
                let tree = self.directory(path, run.directory).map_err(unread)?;
                root.directory(name, tree.root);
                blobs.extend(tree.blobs);
            } else {
                let content = put(&mut blobs, fs_err::read(path).map_err(unread)?);
                root.file(name, content);
            }
        }
        let root = root.put(&mut blobs);
        Ok(Tree { root, blobs })
    }

    /// Reads a directory. A directory outside the unit's own is the same for all units and is read once.
    fn directory(&self, path: &Path, unit: &Path) -> io::Result<Tree> {
        if path.starts_with(unit) {
            return Tree::read(path);
        }
        let mut known = lock(&self.directories);
        if let Some(tree) = known.get(path) {
            return Ok(tree.clone());
        }
        let tree = Tree::read(path)?;
        known.insert(path.to_owned(), tree.clone());
        Ok(tree)
    }

    /// Runs a job, with retries within the configured patience.
    pub(super) async fn carry_out(&self, job: &Job<'_>) -> Result<Done, FarmError> {
        let (blobs, action) = job.action(&self.properties);
        let (mut anew, mut refills) = (job.anew, 0);
        for number in 1.. {
            let error = match self.once(&action, &blobs, job, anew).await {
                Ok(done) => return Ok(done),
                Err(Trouble::Final(error)) => return Err(self.give_up(error)),
                Err(Trouble::Again(error)) => error,
            };
            let reason = match error.code() {
                // The farm has lost inputs that it had.
                Some(Code::FailedPrecondition) if refills < REFILLS => {
                    refills += 1;
                    lock(&self.there).retain(|name| !blobs.contains_key(name));
                    "missing inputs"
                }
                Some(Code::FailedPrecondition) => return Err(self.give_up(error)),
                // The files of an earlier result are missing or differ.
                Some(Code::NotFound) | None => {
                    anew = true;
                    "damaged result"
                }
                Some(code) => spoken(code),
            };
            if number >= self.connection.patience.tries {
                return Err(self.give_up(error));
            }
            self.connection.pause(number, reason).await;
        }
        Err(self.refused(CallError::wrong("no result")))
    }

    /// Turns an error into the failure of a job. If all later jobs would fail after the same wait, it also becomes
    /// theirs.
    fn give_up(&self, error: CallError) -> FarmError {
        let is_away = match &error {
            CallError::Refused { code, .. } => {
                matches!(code, Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded)
            }
            error => matches!(error, CallError::Untrusted { .. } | CallError::Broken { .. }),
        };
        let error = self.refused(error);
        if is_away {
            // Any of these errors will do, so the first one stays.
            let _ = self.gone.set(error.clone());
        }
        error
    }

    async fn once(&self, action: &Name, blobs: &Blobs, job: &Job<'_>, anew: bool) -> Result<Done, Trouble> {
        let connection = &self.connection;
        let new: Blobs = {
            let there = lock(&self.there);
            blobs
                .iter()
                .filter(|(name, _)| !there.contains(name))
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect()
        };
        connection.upload(&new).await.map_err(Trouble::Final)?;
        lock(&self.there).extend(new.into_keys());
        let limit = QUEUE.saturating_add(job.limit);
        let (result, is_known) = connection.execute(action, anew, limit).await.map_err(Trouble::of)?;
        let done = self.fetch(&result, job).await?;
        connection.note(|report| *(if is_known { &mut report.known } else { &mut report.ran }) += 1);
        Ok(done)
    }

    /// Downloads the compiler's output files and messages.
    async fn fetch(&self, result: &ActionResult, job: &Job<'_>) -> Result<Done, Trouble> {
        let wrong = |what: String| Trouble::Again(CallError::wrong(what));
        let mut wanted = Vec::new();
        // The output files of a failed compiler are ignored.
        let outputs = if result.exit_code == 0 { &job.outputs[..] } else { &[] };
        for path in outputs {
            let file = result.output_files.iter().find(|file| file.path == *path);
            let name = file.and_then(|file| Name::read(file.digest.as_ref()));
            wanted.push((name.ok_or_else(|| wrong(format!("result without `{path}`")))?, OUTPUT_LIMIT));
        }
        let words = |raw: &[u8], digest: &Option<Digest>| match digest {
            Some(_) if raw.is_empty() => Name::read(digest.as_ref()).filter(|name| name.size > 0),
            _ => None,
        };
        let said = [
            words(&result.stdout_raw, &result.stdout_digest),
            words(&result.stderr_raw, &result.stderr_digest),
        ];
        wanted.extend(said.iter().flatten().map(|name| (name.clone(), WORDS_LIMIT)));
        let mut contents = match self.connection.download(&wanted).await {
            Ok(contents) => contents.into_iter(),
            Err(error) if error.code().is_some_and(|code| code != Code::NotFound) => {
                return Err(Trouble::Final(error));
            }
            Err(error) => return Err(Trouble::Again(error)),
        };
        let files = outputs.iter().cloned().zip(contents.by_ref()).collect();
        let mut said = said.into_iter().zip([&result.stdout_raw, &result.stderr_raw]).map(|(name, raw)| {
            let bytes = if name.is_some() { contents.next() } else { None };
            String::from_utf8_lossy(bytes.as_deref().unwrap_or(raw)).into_owned()
        });
        let (stdout, stderr) = (said.next().unwrap_or_default(), said.next().unwrap_or_default());
        let worker = result.execution_metadata.as_ref().map(|metadata| metadata.worker.clone());
        Ok(Done { exit_code: result.exit_code, stdout, stderr, files, worker: worker.unwrap_or_default() })
    }
}

impl Runner for Farm {
    fn run(&self, run: &Run<'_>) -> Result<Ended, RunError> {
        let elsewhere = |error: FarmError| match &error {
            FarmError::Call { error: CallError::Late, .. } => RunError::Timeout,
            _ => RunError::Elsewhere(Box::new(error)),
        };
        if let Some(error) = self.gone.get() {
            return Err(elsewhere(error.clone()));
        }
        let id = run.toolchain.id(run.language).map_err(|error| RunError::Elsewhere(Box::new(error)))?;
        self.compile(run, id).map_err(elsewhere)
    }
}

/// The reason why a job failed.
enum Trouble {
    /// A temporary error; retry.
    Again(CallError),
    /// A permanent error, or one that was retried often enough.
    Final(CallError),
}

impl Trouble {
    fn of(error: CallError) -> Self {
        // A call that used up the whole time limit would do so again.
        let may_pass = |code| {
            code != Code::DeadlineExceeded
                && (passes(code) || matches!(code, Code::FailedPrecondition | Code::NotFound))
        };
        if error.code().is_none_or(may_pass) { Self::Again(error) } else { Self::Final(error) }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn status(exit_code: i32) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(exit_code << 8)
}

#[cfg(windows)]
fn status(exit_code: i32) -> ExitStatus {
    std::os::windows::process::ExitStatusExt::from_raw(exit_code.unsigned_abs())
}
