//! From a URL to a layer.

use std::path::PathBuf;
use std::sync::Arc;

use precast_core::event::Observer;
use precast_store::remote::RemoteError;
use precast_store::{CreateError, Keyring, Layer, OpenSignedError};

use crate::Patience;
use crate::url::{Place, PlaceError};

/// How a remote is used.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where what comes is kept: a directory, made where there is none. Without it `remote/` in this user's cache, and where there
    /// is none that can be written, memory or a temporary directory for as long as the layer is there.
    pub cache: Option<PathBuf>,
    /// How long is waited.
    pub patience: Patience,
    /// Whether a tag must be compared with what it meant before; `PRECAST_REMOTE_HISTORY=required` asks for that everywhere.
    pub require_history: bool,
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
    /// A password would be sent for everybody to read.
    #[error(
        "credentials for `{place}` would be sent without encryption\nhint: `https://` encrypts; `PRECAST_ALLOW_HTTP=true` sends them nevertheless"
    )]
    Exposed {
        /// The place.
        place: String,
    },
    /// A tag cannot be compared with what it meant before, and has to be.
    #[error(
        "what `{place}` meant before is not known: {why}\nhint: `PRECAST_CACHE` names a directory that remembers, as an absolute path; a digest needs none"
    )]
    NoHistory {
        /// The place.
        place: String,
        /// Why not.
        why: String,
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
    match &place {
        #[cfg(feature = "files")]
        Place::Http { .. } | Place::S3 { .. } => {
            let source = Arc::new(crate::Files::open(&place, options.patience)?);
            let (store, temporary) = crate::cache::store(&place, options)?;
            let remote = precast_store::remote::Remote::new(source, store.trusting(keyring));
            Ok(Layer::from(temporary.into_iter().fold(remote, |remote, directory| remote.keeping(directory))))
        }
        #[cfg(feature = "oci")]
        Place::Oci { .. } => crate::oci::layer(&place, &keyring, options),
        #[cfg(not(all(feature = "files", feature = "oci")))]
        _ => {
            let feature = if matches!(place, Place::Oci { .. }) { "oci" } else { "files" };
            Err(OpenRemoteError::Feature { place: place.to_string(), feature })
        }
    }
}

/// Compares a release with what its tag meant before. A digest means one thing for ever, and needs no memory.
///
/// # Errors
///
/// There is no memory, and `options` asks for one.
#[cfg(feature = "oci")]
pub fn compare(
    place: &Place,
    signed: crate::oci::Signed,
    options: &Options,
) -> Result<crate::oci::Compared, OpenRemoteError> {
    crate::oci::Compared::new(place, signed, options)
}
