//! The action cache: results of actions, by a digest that every precast process computes the same way.
//!
//! # Layout
//!
//! ```text
//! ActionKey ─▶ Command { arguments: ["precast", "action", "<64 digits>"], output_paths: ["documents", "object", "record", "signatures"] }
//!              Action  { command_digest, input_root_digest: of the empty directory, salt: "precast action 1" }
//!              ActionResult { output_files: documents, object (the archive in its frame), record, signatures if any }
//! ```
//! Such an action is never executed. It represents the whole unit, including the archive and its record, which a farm
//! does not know. It therefore never collides with an action that another program executes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt as _;
use precast_store::event::chain;
use precast_store::keyring::{Keyring, SIGNATURES_LIMIT};
use precast_store::{ActionCache, ActionKey, CachedAction, CachedBytes};
use prost::Message as _;
use tonic::Code;

use super::access::{Access, AccessError};
use super::api::action_cache_client::ActionCacheClient;
use super::api::{
    Action, ActionResult, Command, GetActionResultRequest, OutputFile, UpdateActionResultRequest,
};
use super::connection::{CallError, Connection, passes};
use super::digest::Name;
use super::report::{Report, count};
use super::server::Server;
use super::tree::{Blobs, Content, put};
use crate::Patience;

/// The salt that separates these actions from unrelated ones and from those of precast versions with another format.
const SALT: &[u8] = b"precast action 1";

/// The files of a result: the name and the maximum size of each.
const FILES: [(&str, u64); 4] =
    [("documents", 64 << 20), ("object", 512 << 20), ("record", 64 << 20), ("signatures", SIGNATURES_LIMIT)];

/// The number of actions that are requested at once.
const AT_ONCE: usize = 16;

/// A cache of the Remote Execution API.
pub struct RemoteCache {
    connection: Connection,
    keyring: Option<Arc<Keyring>>,
    /// Set after an error that every later request would share. A build does not wait for an unreachable server again
    /// for each unit.
    is_off: AtomicBool,
}

impl fmt::Debug for RemoteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteCache").field(&self.connection).finish()
    }
}

impl RemoteCache {
    /// Prepares a cache. With a keyring, the cache returns only results that enough of its keys have signed.
    ///
    /// # Errors
    ///
    /// Fails if certificates or credentials are unusable. An unreachable server is only detected at the first
    /// request.
    pub fn new(
        place: Server,
        access: &Access,
        patience: Patience,
        keyring: Option<Arc<Keyring>>,
    ) -> Result<Self, AccessError> {
        let connection = Connection::new(place, access, patience)?;
        Ok(Self { connection, keyring, is_off: AtomicBool::new(false) })
    }

    /// Returns the counts and warnings so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.connection.report()
    }

    /// Runs one request; a failure is recorded.
    async fn attempt<T>(&self, what: impl AsyncFnOnce() -> Result<T, Trouble>) -> Option<T> {
        if self.is_off.load(Ordering::Relaxed) {
            return None;
        }
        match what().await {
            Ok(given) => Some(given),
            Err(trouble) => {
                self.warn(&trouble);
                None
            }
        }
    }

    /// Records a failure.
    fn warn(&self, trouble: &Trouble) {
        let place = &self.connection.place;
        let warning = match trouble {
            Trouble::Item(why) => format!("invalid data from cache `{place}`: {why}"),
            Trouble::Call(error) => {
                let is_away = error.code().is_some_and(passes_or_refused);
                if is_away && self.is_off.swap(true, Ordering::Relaxed) {
                    return;
                }
                let rest = if is_away { " (skipped for the rest of this build)" } else { "" };
                format!("cannot use cache `{place}`{rest}: {error}")
            }
        };
        self.connection.note(|report| count(&mut report.warnings, warning));
    }

    /// Runs `what` for each item, several at once; every result is `None` if no request can be sent.
    fn each<A: Sync, T: Send>(
        &self,
        all: &[A],
        what: impl AsyncFn(&A) -> Result<T, Trouble> + Send + Sync,
    ) -> Vec<Option<T>> {
        let work = async || {
            let tries = all.iter().map(async |one| self.attempt(async || what(one).await).await);
            futures_util::stream::iter(tries).buffered(AT_ONCE).collect().await
        };
        self.connection.wait(work).unwrap_or_else(|error| {
            self.warn(&error.into());
            all.iter().map(|_| None).collect()
        })
    }

    async fn find_one(&self, key: &ActionKey) -> Result<Option<CachedAction>, Trouble> {
        let connection = &self.connection;
        let request = GetActionResultRequest {
            instance_name: connection.instance(),
            action_digest: Some(action(key, &mut Blobs::new()).digest()),
            ..GetActionResultRequest::default()
        };
        let asked = connection.call("query an action", async || {
            ActionCacheClient::new(connection.channel().await?).get_action_result(request.clone()).await
        });
        let result = match asked.await {
            Ok(result) => result.into_inner(),
            Err(error) if error.code() == Some(Code::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let wanted = wanted(&result)?;
        // A cache may have dropped blobs of a result that it still lists.
        let names: Vec<Name> = wanted.iter().map(|(_, name, _)| name.clone()).collect();
        if !connection.missing(&names).await?.is_empty() {
            return Ok(None);
        }
        // The files that decide whether the archive is wanted are downloaded first.
        let mut bytes = CachedBytes::default();
        for is_archive in [false, true] {
            let part = || wanted.iter().filter(move |(file, ..)| (*file == "object") == is_archive);
            let most =
                if is_archive { bytes.archive_limit(key, self.keyring.as_deref()) } else { Ok(u64::MAX) };
            let most = most.map_err(|error| Trouble::Item(chain(&error)))?;
            let sized: Vec<(Name, u64)> =
                part().map(|(_, name, limit)| (name.clone(), (*limit).min(most))).collect();
            let contents = match connection.download(&sized).await {
                Ok(contents) => contents,
                Err(error) if error.code() == Some(Code::NotFound) => return Ok(None),
                Err(error @ CallError::Wrong { .. }) => return Err(Trouble::Item(error.to_string())),
                Err(error) => return Err(error.into()),
            };
            for ((file, ..), content) in part().zip(contents) {
                *match *file {
                    "documents" => &mut bytes.documents,
                    "object" => &mut bytes.object,
                    "record" => &mut bytes.record,
                    _ => &mut bytes.signatures,
                } = content;
            }
        }
        let found = CachedAction::verify(&bytes, key, self.keyring.as_deref());
        found.map(Some).map_err(|error| Trouble::Item(chain(&error)))
    }

    async fn put_one(&self, given: &CachedAction) -> Result<(), Trouble> {
        let connection = &self.connection;
        let Some(bytes) = given.to_bytes() else { return Ok(()) };
        let mut blobs = Blobs::new();
        let action = action(&given.record.action, &mut blobs);
        let files = [bytes.documents, bytes.object, bytes.record, bytes.signatures];
        let files = FILES.iter().zip(files).filter(|(_, content)| !content.is_empty());
        let output_files = files.map(|((path, _), content)| OutputFile {
            path: (*path).to_owned(),
            digest: Some(put(&mut blobs, content).digest()),
            ..OutputFile::default()
        });
        let result = ActionResult { output_files: output_files.collect(), ..ActionResult::default() };
        // The blobs must exist before the result that refers to them.
        connection.upload(&blobs).await?;
        let request = UpdateActionResultRequest {
            instance_name: connection.instance(),
            action_digest: Some(action.digest()),
            action_result: Some(result),
            ..UpdateActionResultRequest::default()
        };
        let put = connection.call("store an action", async || {
            ActionCacheClient::new(connection.channel().await?).update_action_result(request.clone()).await
        });
        put.await?;
        Ok(())
    }
}

impl ActionCache for RemoteCache {
    fn find(&self, actions: &[ActionKey]) -> Vec<Option<CachedAction>> {
        let found: Vec<_> = self.each(actions, async |key| self.find_one(key).await);
        let found: Vec<_> = found.into_iter().map(Option::flatten).collect();
        let count = found.iter().flatten().count() as u64;
        self.connection.note(|report| report.found += count);
        found
    }

    fn put(&self, results: &[CachedAction]) {
        let put = self.each(results, async |given| self.put_one(given).await);
        let count = put.iter().flatten().count() as u64;
        self.connection.note(|report| report.given += count);
    }
}

/// The reason why a cache request failed.
enum Trouble {
    /// The call failed.
    Call(CallError),
    /// The returned content is unusable.
    Item(String),
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

/// Returns whether every other request would fail in the same way.
fn passes_or_refused(code: Code) -> bool {
    passes(code) || matches!(code, Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented)
}

/// Creates the action that represents a key.
fn action(key: &ActionKey, blobs: &mut Blobs) -> Name {
    let command = Command {
        arguments: vec!["precast".to_owned(), "action".to_owned(), key.to_string()],
        output_paths: FILES.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ..Command::default()
    };
    let action = Action {
        command_digest: Some(put(blobs, command.encode_to_vec()).digest()),
        input_root_digest: Some(Content::default().put(blobs).digest()),
        salt: SALT.to_vec(),
        ..Action::default()
    };
    put(blobs, action.encode_to_vec())
}

/// Returns the files of a result: the name, the blob, and the maximum size of each.
fn wanted(result: &ActionResult) -> Result<Vec<(&'static str, Name, u64)>, Trouble> {
    let of = |path: &str| {
        let file = result.output_files.iter().find(|file| file.path == path);
        file.map(|file| Name::read(file.digest.as_ref()).ok_or_else(|| format!("missing digest of `{path}`")))
    };
    let mut wanted = Vec::new();
    for (path, limit) in FILES {
        match of(path) {
            Some(name) => wanted.push((path, name.map_err(Trouble::Item)?, limit)),
            None if path == "signatures" => {}
            None => return Err(Trouble::Item(format!("result without `{path}`"))),
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_of_a_key_is_stable() {
        // The value comes from BuildGrid's own messages. A different mapping would share nothing with older builds.
        let mut blobs = Blobs::new();
        let name = action(&ActionKey::from_bytes([0xab; 32]), &mut blobs);
        let hash = "6d55ec0631692529b7fb0474ff31dc605a138b98daa268110f42317e2dd75f1b".to_owned();
        assert_eq!((name, blobs.len()), (Name { hash, size: 156 }, 3));
    }

    #[test]
    fn limits_match_the_store() {
        assert_eq!(FILES[1].1, precast_store::Limits::default().size);
    }
}
