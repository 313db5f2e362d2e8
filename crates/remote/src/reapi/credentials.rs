//! The credentials of the caller: a token, or the response of a credential helper.
//!
//! A helper follows Bazel's protocol. It is started as `PROGRAM get`, reads `{"uri": "https://host:port/"}`, and
//! responds with `{"headers": {"Authorization": ["Bearer …"]}, "expires": "2026-01-31T12:00:00Z"}`. The response is
//! kept until it expires, or for half an hour without an expiry time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use super::access::{Access, AccessError};
use super::server::Server;
use crate::shortened;

/// The time limit of a credential helper.
const HELPER: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 10 });

/// The time that a response without an expiry time is kept.
const KEPT: Duration = Duration::from_secs(30 * 60);

/// The time before its expiry at which a response counts as expired: calls take time, and clocks differ.
const EARLY: Duration = Duration::from_secs(10);

/// The time during which a failed helper is not started again, so that all calls that wait for it fail.
const FAILED: Duration = Duration::from_secs(5);

/// The source of the caller's credentials.
#[derive(Clone)]
pub enum Credentials {
    /// A bearer token.
    Token(String),
    /// A program with the protocol of Bazel's credential helpers.
    Helper(PathBuf),
}

/// Omits the token.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(_) => f.write_str("Token(…)"),
            Self::Helper(program) => f.debug_tuple("Helper").field(program).finish(),
        }
    }
}

/// The headers with the caller's credentials.
#[derive(Clone, Default)]
pub(super) struct Headers(Arc<[(AsciiMetadataKey, AsciiMetadataValue)]>);

impl Headers {
    fn of(headers: BTreeMap<String, Vec<String>>) -> Option<Self> {
        let each = headers.into_iter().flat_map(|(name, values)| {
            values.into_iter().map(move |value| {
                let key = AsciiMetadataKey::from_bytes(name.to_ascii_lowercase().as_bytes()).ok()?;
                let mut value: AsciiMetadataValue = value.parse().ok()?;
                value.set_sensitive(true);
                Some((key, value))
            })
        });
        each.collect::<Option<Arc<_>>>().map(Self)
    }
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        for (name, value) in &*self.0 {
            request.metadata_mut().append(name, value.clone());
        }
        Ok(request)
    }
}

/// Provides the headers of each call.
pub(super) struct Teller {
    helper: Option<PathBuf>,
    kept: tokio::sync::Mutex<Kept>,
}

/// The known credentials.
#[derive(Default)]
struct Kept {
    headers: Headers,
    /// The expiry time, if a helper returned the headers and they are still valid.
    until: Option<SystemTime>,
    /// The time when a helper returned the headers.
    given: Option<Instant>,
    /// The time and the reason of the helper's last failure.
    failed: Option<(Instant, String)>,
}

impl Teller {
    pub(super) fn new(access: &Access, place: &Server) -> Result<Self, AccessError> {
        if !place.is_private() {
            access.suits(place)?;
        }
        let (helper, headers) = match &access.credentials {
            Some(Credentials::Helper(program)) => (Some(program.clone()), Headers::default()),
            Some(Credentials::Token(token)) => {
                let headers = [("authorization".to_owned(), vec![format!("Bearer {token}")])];
                (None, Headers::of(headers.into()).ok_or(AccessError::Token)?)
            }
            None => (None, Headers::default()),
        };
        Ok(Self { helper, kept: tokio::sync::Mutex::new(Kept { headers, ..Kept::default() }) })
    }

    /// Returns the headers of a call that starts now; concurrent callers wait while the helper runs.
    pub(super) async fn headers(&self, place: &Server) -> Result<Headers, Status> {
        let mut kept = self.kept.lock().await;
        let is_fresh = kept.until.is_some_and(|end| SystemTime::now() + EARLY < end);
        if let Some(program) = self.helper.as_deref().filter(|_| !is_fresh) {
            let failed = |why: &str| {
                Status::unauthenticated(format!("the credential helper `{}` {why}", program.display()))
            };
            if let Some((_, why)) = kept.failed.as_ref().filter(|(when, _)| when.elapsed() < FAILED) {
                return Err(failed(why));
            }
            match ask(program, place).await {
                Ok((headers, end)) => {
                    *kept = Kept { headers, until: Some(end), given: Some(Instant::now()), failed: None };
                }
                Err(why) => {
                    let status = failed(&why);
                    kept.failed = Some((Instant::now(), why));
                    return Err(status);
                }
            }
        }
        Ok(kept.headers.clone())
    }

    /// Discards a helper's response from before `began`, the start of a call that the server rejected as
    /// unauthenticated. Returns whether the helper may have a new response.
    pub(super) async fn forget(&self, began: Instant) -> bool {
        let mut kept = self.kept.lock().await;
        // A concurrent call may have discarded it already.
        if kept.given.is_some_and(|given| given <= began) {
            kept.until = None;
        }
        self.helper.is_some() && kept.given.is_some() && kept.failed.is_none()
    }
}

/// The response of a helper.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    headers: BTreeMap<String, Vec<String>>,
    expires: Option<chrono::DateTime<chrono::FixedOffset>>,
}

async fn ask(program: &Path, place: &Server) -> Result<(Headers, SystemTime), String> {
    let mut command = tokio::process::Command::new(program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let uri = format!("{}/", place.uri().replacen("http://", "https://", 1));
    let answering = async {
        if let Some(mut input) = child.stdin.take() {
            // A helper with a fixed response need not read the request.
            let _ = input.write_all(format!("{}\n", serde_json::json!({ "uri": uri })).as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let ended = tokio::time::timeout(HELPER, answering).await;
    let ended = ended.map_err(|_| format!("did not respond within {HELPER:?}"))?;
    let ended = ended.map_err(|error| format!("did not respond: {error}"))?;
    if !ended.status.success() {
        let said = shortened(&String::from_utf8_lossy(&ended.stderr));
        return Err(format!("failed with {}: {said}", ended.status));
    }
    // The output may be secret, so errors do not contain it.
    let answer: Option<Answer> = serde_json::from_slice(&ended.stdout).ok();
    let read = answer.and_then(|answer| Some((Headers::of(answer.headers)?, answer.expires)));
    let (headers, expires) = read.ok_or("did not return headers in JSON")?;
    Ok((headers, expires.map_or_else(|| SystemTime::now() + KEPT, SystemTime::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Server {
        text.parse().unwrap()
    }

    /// Writes a helper script; returns the access settings that use it.
    #[cfg(unix)]
    fn helper(directory: &Path, text: &str) -> Access {
        use std::os::unix::fs::PermissionsExt;
        let path = directory.join("helper");
        fs_err::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        Access { credentials: Some(Credentials::Helper(path)), ..Access::default() }
    }

    #[cfg(unix)]
    fn told(access: &Access, times: usize) -> Result<Vec<String>, String> {
        let place = place("grpcs://cache.example.org:8443/main");
        let teller = Teller::new(access, &place).unwrap();
        let all = crate::wait::drive(async || {
            let mut all = Vec::new();
            for _ in 0..times {
                let Headers(headers) =
                    teller.headers(&place).await.map_err(|status| status.message().to_owned())?;
                let each = headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
                all.push(each.collect::<Vec<_>>().join(", "));
            }
            Ok(all)
        });
        all.unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn helper_answer_is_reused_until_expiry() {
        let directory = tempfile::tempdir().unwrap();
        // The script counts its calls by the length of a file, and echoes the request.
        let count = format!("f={}; echo >> $f; n=$(wc -l < $f); ", directory.path().join("n").display());
        let answer = |expires: &str| {
            format!(
                "test $1 = get || exit 1; read q; q=$(echo $q | tr -d '{{}}\"'); {count} \
                 echo '{{\"headers\": {{\"X-Who\": [\"'$n $q'\", \"b\"]}}{expires}}}'"
            )
        };
        let asked = "uri:https://cache.example.org:8443/, x-who: b";
        let access = helper(directory.path(), &answer(", \"expires\": \"2999-01-01T00:00:00+01:00\""));
        let first = format!("x-who: 1 {asked}");
        assert_eq!(told(&access, 2).unwrap(), [first.clone(), first]);
        let access = helper(directory.path(), &answer(""));
        assert_eq!(told(&access, 2).unwrap(), vec![format!("x-who: 2 {asked}"); 2]);
        let access = helper(directory.path(), &answer(", \"expires\": \"2001-01-01T00:00:00Z\""));
        assert_eq!(told(&access, 2).unwrap(), [format!("x-who: 3 {asked}"), format!("x-who: 4 {asked}")]);
    }

    #[cfg(unix)]
    #[test]
    fn helper_errors_hide_its_output() {
        let directory = tempfile::tempdir().unwrap();
        for (script, why) in [
            ("echo nobody is logged in >&2; exit 3", "exit status: 3: nobody is logged in"),
            ("echo secret", "did not return headers in JSON"),
            ("echo '{\"headers\": {\"a b\": [\"secret\"]}}'", "did not return headers in JSON"),
            ("echo '{\"headers\": {\"a\": [\"secret\"]}, \"expires\": \"soon\"}'", "did not return headers"),
        ] {
            let error = told(&helper(directory.path(), script), 1).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
        let access =
            Access { credentials: Some(Credentials::Helper("/no/such".into())), ..Access::default() };
        assert!(told(&access, 1).unwrap_err().contains("cannot be started"));
    }

    #[cfg(unix)]
    #[test]
    fn failed_helper_pauses_and_short_token_refreshes() {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("n");
        let started = || fs_err::read_to_string(&count).unwrap().lines().count();
        let place = place("grpcs://cache.example.org");
        let ask = |script: &str| {
            let access = helper(directory.path(), &format!("echo >> {}; {script}", count.display()));
            let teller = Teller::new(&access, &place).unwrap();
            let ask = async || teller.headers(&place).await.is_ok();
            crate::wait::drive(async || [ask().await, ask().await]).unwrap()
        };
        assert_eq!((ask("exit 1"), started()), ([false; 2], 1));
        let soon = chrono::DateTime::<chrono::Utc>::from(SystemTime::now() + EARLY / 2).to_rfc3339();
        let answer = format!("echo '{{\"headers\": {{}}, \"expires\": \"{soon}\"}}'");
        assert_eq!((ask(&answer), started()), ([true; 2], 3));
    }

    #[cfg(unix)]
    #[test]
    fn rejected_credential_is_dropped_unless_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let count = directory.path().join("n");
        let script = "f=FILE; echo >> $f; n=$(wc -l < $f); echo '{\"headers\": {\"X\": [\"'$n'\"]}}'";
        let access = helper(directory.path(), &script.replace("FILE", count.to_str().unwrap()));
        let place = place("grpcs://cache.example.org");
        let teller = Teller::new(&access, &place).unwrap();
        let told = async || {
            let Headers(headers) = teller.headers(&place).await.unwrap();
            headers[0].1.to_str().unwrap().to_owned()
        };
        let told = crate::wait::drive(async || {
            let before = Instant::now();
            let first = told().await;
            // A call that started earlier carried other headers, so the newer response may be valid.
            assert!(teller.forget(before).await);
            let kept = told().await;
            assert!(teller.forget(Instant::now()).await);
            [first, kept, told().await, told().await]
        });
        assert_eq!(told.unwrap(), ["1", "1", "2", "2"]);
        let token = Access { credentials: Some(Credentials::Token("t".into())), ..Access::default() };
        let teller = Teller::new(&token, &place).unwrap();
        assert!(
            !crate::wait::drive(async || teller.forget(Instant::now()).await).unwrap(),
            "it stays what it is"
        );
    }

    #[cfg(unix)]
    #[test]
    fn hanging_helper_is_not_awaited() {
        let directory = tempfile::tempdir().unwrap();
        let access = helper(directory.path(), "sleep 60");
        // A helper that reads nothing, with a request too long for a pipe.
        for host in ["h".to_owned(), "h".repeat(1 << 20)] {
            let (place, begin) = (place(&format!("grpcs://{host}")), Instant::now());
            let teller = Teller::new(&access, &place).unwrap();
            let refused = crate::wait::drive(async || teller.headers(&place).await.err()).unwrap().unwrap();
            assert!(refused.message().contains("did not respond within"), "{refused}");
            assert!(begin.elapsed() < HELPER * 5);
        }
    }

    #[test]
    fn certificates_without_tls_are_an_error() {
        let file = PathBuf::from("a.pem");
        let authorities = Access { authorities: Some(file.clone()), ..Access::default() };
        let identity = Access { identity: Some((file.clone(), file)), ..Access::default() };
        for access in [authorities, identity] {
            for text in ["grpcs://far.example.org", "grpc://127.0.0.1:1"] {
                assert!(Teller::new(&access, &place(text)).is_ok(), "{text}");
            }
            let error = Teller::new(&access, &place("grpc://far.example.org:1")).err().unwrap().to_string();
            assert!(error.contains("would be unencrypted\nhint: use `grpcs://`"), "{error}");
        }
        let token =
            |token: &str| Access { credentials: Some(Credentials::Token(token.into())), ..Access::default() };
        let error = Teller::new(&token("a\nb"), &place("grpcs://h")).err().unwrap().to_string();
        assert!(error.contains("`PRECAST_REMOTE_TOKEN`"), "{error}");
    }

    #[test]
    fn credentials_travel_encrypted_and_stay_hidden() {
        let access = Access { credentials: Some(Credentials::Token("secret".into())), ..Access::default() };
        assert!(!format!("{access:?}").contains("secret"));
        for text in ["grpcs://far.example.org", "grpc://127.0.0.1:1"] {
            assert!(Teller::new(&access, &place(text)).is_ok(), "{text}");
        }
        let error = Teller::new(&access, &place("grpc://far.example.org:1")).err().unwrap().to_string();
        assert!(error.contains("unencrypted\nhint: ") && !error.contains("secret"), "{error}");
        let access = Access { credentials: Some(Credentials::Token("a\nb".into())), ..Access::default() };
        assert!(matches!(Teller::new(&access, &place("grpcs://h")), Err(AccessError::Token)));
    }
}
