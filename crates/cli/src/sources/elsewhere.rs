//! The remote parts of a build: the shared cache and the compile farm.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use precast_compile::{Parallel, Toolchain};
use precast_core::event::split_hints;
use precast_core::redact::UrlText;
use precast_remote::Patience;
use precast_remote::reapi::{Access, Credentials, Farm, ParseServerError, RemoteCache, Report, Server};
use precast_store::{ActionCache, Keyring};

use crate::args::ElsewhereArgs;
use crate::error::Failure;
use crate::{secret, term};

/// The number of attempts per request: a farm that restarts is back within a minute.
const TRIES: u32 = 9;

/// The default number of compilers that run on a farm at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// The cache and the farm that a command line names.
pub(crate) struct Elsewhere {
    cache: Option<RemoteCache>,
    farm: Option<Arc<Farm>>,
}

impl Elsewhere {
    /// Prepares the cache and the farm; no request is sent yet.
    pub(crate) fn new(args: &ElsewhereArgs, keyring: Option<Arc<Keyring>>) -> Result<Self, Failure> {
        if args.remote_cache.is_none() && args.remote_exec.is_none() {
            return Ok(Self { cache: None, farm: None });
        }
        let (cache, exec) = (server(args.remote_cache.as_ref())?, server(args.remote_exec.as_ref())?);
        let access = access(args)?;
        let cache = cache
            .map(|server| RemoteCache::new(server, &access, Patience::default(), keyring))
            .transpose()?;
        let patience = Patience { tries: TRIES, ..Patience::default() };
        let farm = exec
            .map(|server| Farm::new(server, &access, patience, args.remote_property.clone()))
            .transpose()?;
        Ok(Self { cache, farm: farm.map(Arc::new) })
    }

    /// Returns a toolchain whose compiler runs on the farm, if there is a farm.
    pub(crate) fn compiling(&self, toolchain: Toolchain) -> Toolchain {
        match &self.farm {
            Some(farm) => toolchain.running_on(Arc::<Farm>::clone(farm)),
            None => toolchain,
        }
    }

    pub(crate) fn cache(&self) -> Option<&dyn ActionCache> {
        self.cache.as_ref().map(|cache| cache as &dyn ActionCache)
    }

    /// Returns how many compilers run at once.
    pub(crate) fn parallel(&self, jobs: Option<NonZeroUsize>) -> Parallel {
        let jobs = jobs.or(self.farm.as_ref().map(|_| AT_ONCE));
        jobs.map_or(Parallel::Auto, Parallel::Jobs)
    }

    /// Reports remote activity, also after a failed build.
    pub(crate) fn tell(&self) {
        if let Some(farm) = &self.farm {
            let report = farm.report();
            term::note(&format!("the farm compiled {} unit(s), and had {} cached", report.ran, report.known));
            repetitions("farm", &report);
        }
        if let Some(cache) = &self.cache {
            let report = cache.report();
            repetitions("cache", &report);
            for (warning, count) in &report.warnings {
                let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
                term::warning(&format!("{warning}{times}"));
            }
        }
    }
}

/// Parses a server URL. Clap does not do it, because its error would show an invalid URL in full, with any secret in
/// it.
fn server(text: Option<&UrlText>) -> Result<Option<Server>, Failure> {
    text.map(|text| text.expose().parse()).transpose().map_err(|error: ParseServerError| {
        let (message, hints) = split_hints(&error.to_string());
        hints.into_iter().fold(Failure::usage(message), Failure::hint)
    })
}

/// Returns how to access both servers: from the command line, else from the environment. Secrets never come from the
/// command line, which other users can read.
fn access(args: &ElsewhereArgs) -> Result<Access, Failure> {
    let file = |given: &Option<PathBuf>, option: &str, name: &str| {
        let variable = || std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let found = match given {
            Some(path) => Some((path.clone(), option)),
            None => variable().map(|path| (path, name)),
        };
        found.map(|(path, from)| secret::check_path(from, &path).map(|()| path)).transpose()
    };
    let certificate = file(&args.remote_certificate, "--remote-certificate", "PRECAST_REMOTE_CERTIFICATE")?;
    let key = file(&args.remote_key, "--remote-key", "PRECAST_REMOTE_KEY")?;
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            return Err(Failure::usage(
                "incomplete client certificate: expected both a certificate and a key",
            )
            .hint("set both `PRECAST_REMOTE_CERTIFICATE` and `PRECAST_REMOTE_KEY`"));
        }
    };
    let helper = file(&args.remote_credentials, "--remote-credentials", "PRECAST_REMOTE_CREDENTIALS")?;
    let helper = helper.map(Credentials::Helper);
    let token = || match std::env::var("PRECAST_REMOTE_TOKEN") {
        Err(std::env::VarError::NotUnicode(_)) => {
            Some(Err(Failure::usage("`PRECAST_REMOTE_TOKEN` is not UTF-8")))
        }
        token => token.ok().filter(|token| !token.is_empty()).map(|token| Ok(Credentials::Token(token))),
    };
    let credentials = helper.map(Ok).or_else(token).transpose()?;
    let authorities = file(&args.remote_ca, "--remote-ca", "PRECAST_REMOTE_CA")?;
    Ok(Access { authorities, identity, credentials })
}

fn repetitions(of: &str, report: &Report) {
    if let Some(repeated) = report.repetitions() {
        term::note(&format!("retried requests to the {of}: {repeated}"));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        elsewhere: ElsewhereArgs,
        /// The options of the table below conflict with this one.
        #[arg(long, id = "frozen")]
        _frozen: bool,
    }

    #[test]
    fn secrets_in_urls_are_hidden() {
        for option in ["--remote-cache", "--remote-exec"] {
            for url in ["grpcs://user:secret@host", "grpcs://user:a/secret@host", "http://user:secret@host"] {
                let line = Line::try_parse_from(["precast", option, url]).unwrap();
                let failure = Elsewhere::new(&line.elsewhere, None).err().unwrap();
                let shown = failure.render();
                let text = format!("{failure:?} {shown:?}");
                assert!(text.contains("://host`") && !text.contains("secret"), "{text}");
                assert!(shown.hints.iter().any(|hint| hint.contains("grpcs://HOST")), "{text}");
            }
        }
    }
}
