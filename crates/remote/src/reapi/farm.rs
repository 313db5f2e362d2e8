//! Compilers on a farm.
//!
//! What one is asked for stands in `job.rs`. An action that failed for a reason that passes is tried again; inputs that the farm has
//! lost are given again, and a result whose files it has lost is made anew.

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

/// The most bytes that a compiler may write.
const OUTPUT_LIMIT: u64 = 512 << 20;

/// The most bytes that it may say.
const WORDS_LIMIT: u64 = 16 << 20;

/// How long an action may wait for a worker.
const QUEUE: Duration = Duration::from_secs(3600);

/// How often an action is repeated for inputs that the farm says are missing.
const REFILLS: u32 = 3;

/// A farm that runs compilers.
pub struct Farm {
    pub(super) connection: Connection,
    properties: Vec<(String, String)>,
    /// Directories that are the same for all units.
    directories: Mutex<BTreeMap<PathBuf, Tree>>,
    /// Inputs that the farm has.
    there: Mutex<BTreeSet<Name>>,
    /// The toolchains that were looked at.
    toolchains: Mutex<BTreeMap<ToolchainId, Result<(), FarmError>>>,
    /// Why the farm is not asked any more.
    gone: OnceLock<FarmError>,
}

/// Says why a farm did not run the compiler.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FarmError {
    /// The farm does not do what it is asked for.
    #[error("`{place}` is of no use: {error}{}", hint(error))]
    Call {
        /// The farm.
        place: String,
        /// What it answered.
        error: CallError,
    },
    /// A worker has another toolchain.
    #[error(
        "the toolchain of worker `{worker}` of `{place}` is another: {why}\nhint: workers with the property `{TOOLCHAIN}={id}` must have the toolchain of this machine, most simply by running the same image"
    )]
    Toolchain {
        /// The farm.
        place: String,
        /// The worker's name.
        worker: String,
        /// The identity here.
        id: ToolchainId,
        /// In what it differs.
        why: String,
    },
    /// A file that the compiler reads cannot be read here.
    #[error("cannot read `{}`: {why}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

fn hint(error: &CallError) -> &'static str {
    match error.code() {
        Some(Code::Unauthenticated | Code::PermissionDenied)
            if matches!(error, CallError::Refused { .. }) =>
        {
            "\nhint: who asks is said by the token in `PRECAST_REMOTE_TOKEN`, or by the program of `--remote-credentials`"
        }
        Some(Code::FailedPrecondition) => {
            "\nhint: the farm may not know a property that actions ask for; each has `precast-toolchain`, and those of `--remote-property`"
        }
        Some(code) if passes(code) => {
            "\nhint: what was compiled is published; build again when the farm is back"
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
    /// Prepares a farm whose workers are chosen by these platform properties too.
    ///
    /// # Errors
    ///
    /// Certificates or credentials are of no use. Whether the server is there is found out when it is first asked.
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

    /// Tells what happened.
    #[must_use]
    pub fn report(&self) -> Report {
        self.connection.report()
    }

    pub(super) fn refused(&self, error: CallError) -> FarmError {
        FarmError::Call { place: self.connection.place.to_string(), error }
    }

    /// Looks at the toolchain of a worker, once a toolchain; others who want the same wait.
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

    /// Puts the input tree together.
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

    /// Reads a directory; one that lies outside of the unit's own is the same for all, and is read once.
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

    /// Has a job done, however often it takes within patience.
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
                // What it had of the inputs, it has no more.
                Some(Code::FailedPrecondition) if refills < REFILLS => {
                    refills += 1;
                    lock(&self.there).retain(|name| !blobs.contains_key(name));
                    "inputs were gone"
                }
                Some(Code::FailedPrecondition) => return Err(self.give_up(error)),
                // An earlier result whose files are gone, or are others.
                Some(Code::NotFound) | None => {
                    anew = true;
                    "a result was damaged"
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

    /// Makes of an error the end of a job, and, where all others would end so after as long a time, of theirs.
    fn give_up(&self, error: CallError) -> FarmError {
        let is_away = match &error {
            CallError::Refused { code, .. } => {
                matches!(code, Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded)
            }
            error => matches!(error, CallError::Untrusted { .. } | CallError::Broken { .. }),
        };
        let error = self.refused(error);
        if is_away {
            // The first one is as good as any.
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

    /// Brings what the compiler wrote and said.
    async fn fetch(&self, result: &ActionResult, job: &Job<'_>) -> Result<Done, Trouble> {
        let wrong = |what: String| Trouble::Again(CallError::wrong(what));
        let mut wanted = Vec::new();
        // What a compiler that refuses leaves behind is nobody's.
        let outputs = if result.exit_code == 0 { &job.outputs[..] } else { &[] };
        for path in outputs {
            let file = result.output_files.iter().find(|file| file.path == *path);
            let name = file.and_then(|file| Name::read(file.digest.as_ref()));
            wanted.push((name.ok_or_else(|| wrong(format!("a result without `{path}`")))?, OUTPUT_LIMIT));
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

/// Why a job was not done.
enum Trouble {
    /// It may be done if it is tried again.
    Again(CallError),
    /// It was tried for long enough, or is refused.
    Final(CallError),
}

impl Trouble {
    fn of(error: CallError) -> Self {
        // What has taken all the time that there was would take it again.
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
