//! A release as a layer. It is pulled once and cached as a file if possible, else kept in memory. The file is opened
//! like any bundle that must be signed.
//!
//! ```text
//! <cache>/<digest of the manifest>.precast     the bundle      <cache>/<…>.precast.minisig     its signatures
//! <cache>/latest                               the digest that the tag last had, for when the registry is unreachable
//! <cache>/meant                                all releases that the tag referred to (`tag.rs`)
//! ```

use std::io::{self, Write as _};
use std::path::Path;

use precast_store::keyring::{SUFFIX, check_file};
use precast_store::remote::RemoteError;
use precast_store::whole::Whole;
use precast_store::{Bundle, Keyring, Layer, OpenBundleError, OpenSignedError};

use super::{Compared, Kind, Registry, Signed, is_digest};
use crate::url::RemoteUrl;
use crate::{OpenRemoteError, Options, cache};

/// Opens a release as a layer.
pub(crate) fn layer(
    place: &RemoteUrl,
    keyring: &Keyring,
    options: &Options,
) -> Result<Layer, OpenRemoteError> {
    let registry = Registry::open(place, options.patience)?;
    // The cache remains readable even if it is not writable.
    let cache = cache::of(place, options);
    let latest = cache.as_ref().ok().map(|cache| cache.join("latest"));
    let digest = match registry.digest() {
        Ok(digest) => digest,
        Err(error @ RemoteError::Unreachable { .. }) => {
            let known =
                latest.as_ref().and_then(|latest| fs_err::read_to_string(latest).ok()).ok_or(error)?;
            known.trim_end().to_owned()
        }
        Err(error) => return Err(error.into()),
    };
    let Some(hex) = digest.strip_prefix("sha256:").filter(|_| is_digest(&digest)) else {
        let place = place.to_string();
        return Err(
            RemoteError::Foreign { place, why: "its digest is not a SHA-256 digest".to_owned() }.into()
        );
    };
    let path = cache.as_ref().ok().map(|cache| cache.join(format!("{hex}.precast")));
    let bundle = match path.as_deref().map(|path| kept(path, place, keyring)).transpose()?.flatten() {
        Some(bundle) => bundle,
        None => fetched(&registry, &digest, path.as_deref(), place, keyring, options)?,
    };
    if let Some(latest) = &latest {
        // If the cache cannot be written, the digest of the tag is unknown while the registry is unreachable.
        let _ = write(latest, format!("{digest}\n").as_bytes());
    }
    let compared = Compared::new(place, Signed::bundle(bundle.bytes()), options)?;
    if compared.went_back() {
        compared.tell_back(options);
    }
    if let Err(error) = compared.note() {
        compared.forgets(options, &error.to_string())?;
    }
    Ok(Layer::Bundle { name: format!("release `{place}`"), bundle: Box::new(bundle) })
}

/// Returns the cached bundle, if it exists and is valid. Its permissions matter, although it is signed: the file stands for
/// the digest in its name, and another signed release could take its place.
fn kept(path: &Path, place: &RemoteUrl, keyring: &Keyring) -> Result<Option<Bundle>, OpenRemoteError> {
    match Bundle::open_unsigned(path) {
        Ok(bundle) => {
            let is_signed = check_file(path, bundle.bytes(), keyring).is_ok();
            Ok(is_signed.then_some(bundle))
        }
        // Other users can change the file. That needs a decision by a person, so it is an error.
        Err(source @ OpenBundleError::Untrusted(_)) => {
            Err(OpenRemoteError::Release { place: place.to_string(), source: source.into() })
        }
        Err(_) => Ok(None),
    }
}

/// Fetches the bundle with a digest, and caches it if possible.
fn fetched(
    registry: &Registry,
    digest: &str,
    path: Option<&Path>,
    place: &RemoteUrl,
    keyring: &Keyring,
    options: &Options,
) -> Result<Bundle, OpenRemoteError> {
    let mut release = registry.fetch_digest(digest)?;
    if release.kind() != Kind::Bundle {
        return Err(OpenRemoteError::Transport {
            place: place.to_string(),
            why: "it is an export, and only bundles can be layers\nhint: run `precast pull`, then `precast import`"
                .to_owned(),
        });
    }
    let refused = |source| OpenRemoteError::Release { place: place.to_string(), source };
    if let Err(unsigned) = release.check(keyring)? {
        let path = place.to_string().into();
        return Err(refused(OpenSignedError::Unsigned { path, unsigned }));
    }
    let release = release.read()?;
    let put = path.map_or(Ok(()), |path| put(path, &release));
    if let (Err(source), Some(path), Some(_)) = (put, path, &options.cache) {
        return Err(OpenRemoteError::Kept { place: place.to_string(), path: path.to_owned(), source });
    }
    Bundle::from_bytes(release.bytes).map_err(|error| refused(error.into()))
}

fn put(path: &Path, release: &super::Release) -> io::Result<()> {
    cache::make(path.parent().unwrap_or(path))?;
    write(&path.with_extension(format!("precast{SUFFIX}")), release.signatures.as_bytes())?;
    write(path, &release.bytes)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = Whole::with_mode(path.parent().unwrap_or(path), 0o644)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.rename(path)
}
