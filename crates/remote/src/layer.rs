//! From a URL to a layer.

use std::path::PathBuf;
use std::sync::Arc;

use precast_core::event::Observer;
use precast_core::key::ContentId;
use precast_store::remote::RemoteError;
use precast_store::{CreateError, Keyring, Layer, OpenSignedError, user_cache};

use crate::Patience;
use crate::url::{Place, PlaceError};

/// How a remote is used.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where what comes is kept: a directory, made where there is none. Without it `remote/` in this user's cache.
    pub cache: Option<PathBuf>,
    /// How long is waited.
    pub patience: Patience,
    /// Who is told of what is met while a release is opened; what its layer meets later, those who observe that one are told.
    pub observer: Observer,
}

/// Says why a URL is no layer. That a place cannot be reached is no reason: it may be another time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenRemoteError {
    /// The text names no place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// This program was compiled without what it takes.
    #[error("`{place}` needs a precast with the feature `{feature}` of precast-remote")]
    Feature {
        /// The place.
        place: String,
        /// The feature.
        feature: &'static str,
    },
    /// The transport refuses what the URL or the environment says.
    #[error("cannot use `{place}`: {why}")]
    Transport {
        /// The place.
        place: String,
        /// What it said.
        why: String,
    },
    /// A registry is no directory of files.
    #[error("`{place}` is no bucket and no web server")]
    NotFiles {
        /// The place.
        place: String,
    },
    /// There is nowhere to keep what comes.
    #[error(
        "there is no directory to keep what comes from `{place}`\nhint: `PRECAST_CACHE` names one, as an absolute path"
    )]
    NoCache {
        /// The place.
        place: String,
    },
    /// What comes cannot be kept.
    #[error("cannot keep what comes from `{place}`")]
    Cache {
        /// The place.
        place: String,
        /// What is wrong with the directory.
        source: CreateError,
    },
    /// What comes cannot be written.
    #[error("cannot keep what comes from `{place}` in `{}`", path.display())]
    Kept {
        /// The place.
        place: String,
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A release cannot be had.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A release cannot be kept, or is not signed as it has to be.
    #[error("cannot use the release that came from `{place}`")]
    Release {
        /// The place.
        place: String,
        /// What is wrong with it.
        source: OpenSignedError,
    },
}

/// Opens the layer behind a URL. Whoever can answer for the place can answer what he likes, so there is no layer without a
/// keyring.
///
/// # Errors
///
/// The URL names no place, or what comes from there cannot be kept; a release cannot be had or is not signed as it has to be. A
/// store that cannot be reached now is a layer that has only what came from it before.
pub fn open(url: &str, keyring: Arc<Keyring>, options: &Options) -> Result<Layer, OpenRemoteError> {
    let place: Place = url.parse()?;
    let cache = cache_of(&place, options)?;
    match &place {
        #[cfg(feature = "files")]
        Place::Http { .. } | Place::S3 { .. } => {
            let source = Arc::new(crate::Files::open(&place, options.patience)?);
            let kept = |source| OpenRemoteError::Cache { place: place.to_string(), source };
            let store = precast_store::Store::create(&cache).map_err(kept)?.trusting(keyring);
            Ok(Layer::from(precast_store::remote::Remote::new(source, store)))
        }
        #[cfg(feature = "oci")]
        Place::Oci { .. } => crate::oci::layer(&place, &keyring, &cache, options),
        #[cfg(not(all(feature = "files", feature = "oci")))]
        _ => {
            let feature = if matches!(place, Place::Oci { .. }) { "oci" } else { "files" };
            Err(OpenRemoteError::Feature { place: place.to_string(), feature })
        }
    }
}

/// What the tag of a release meant before.
///
/// # Errors
/// The directory in which it is remembered cannot be named or read.
#[cfg(feature = "oci")]
pub fn tag(place: &Place, options: &Options) -> Result<crate::oci::Tag, OpenRemoteError> {
    let cache = cache_of(place, options)?;
    let kept = |source| OpenRemoteError::Kept { place: place.to_string(), path: cache.clone(), source };
    crate::oci::Tag::read(&cache).map_err(kept)
}

/// The directory of a place: each has its own, so that none answers for another.
fn cache_of(place: &Place, options: &Options) -> Result<PathBuf, OpenRemoteError> {
    let name = ContentId::of(place.to_string().as_bytes()).short();
    let users = || user_cache().map(|cache| cache.join("remote"));
    let cache = options.cache.clone().or_else(users).map(|cache| cache.join(name));
    cache.ok_or_else(|| OpenRemoteError::NoCache { place: place.to_string() })
}
