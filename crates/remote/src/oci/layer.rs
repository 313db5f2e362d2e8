//! A release as a layer: pulled once, kept as a file, and opened from there as any bundle that has to be signed.
//!
//! ```text
//! <cache>/<digest of the manifest>.precast     the bundle      <cache>/<…>.precast.minisig     its signatures
//! <cache>/latest                               the digest that the tag meant last, for when the registry cannot be reached
//! <cache>/meant                                all that it meant (`tag.rs`)
//! ```

use std::io::Write as _;
use std::path::Path;

use precast_store::keyring::SUFFIX;
use precast_store::remote::RemoteError;
use precast_store::whole::Whole;
use precast_store::{Bundle, Event, Keyring, Layer, OpenSignedError};

use super::{Kind, Registry, Signed, Tag, is_digest};
use crate::url::Place;
use crate::{OpenRemoteError, Options};

/// Opens a release as a layer.
pub(crate) fn layer(
    place: &Place,
    keyring: &Keyring,
    cache: &Path,
    options: &Options,
) -> Result<Layer, OpenRemoteError> {
    let registry = Registry::open(place, options.patience)?;
    let kept = |source: std::io::Error| OpenRemoteError::Kept {
        place: place.to_string(),
        path: cache.to_owned(),
        source,
    };
    let latest = cache.join("latest");
    let digest = match registry.digest() {
        Ok(digest) => digest,
        Err(error @ RemoteError::Unreachable { .. }) => {
            let known = fs_err::read_to_string(&latest).map_err(|_| error)?;
            known.trim_end().to_owned()
        }
        Err(error) => return Err(error.into()),
    };
    let Some(hex) = digest.strip_prefix("sha256:").filter(|_| is_digest(&digest)) else {
        let place = place.to_string();
        return Err(RemoteError::Foreign { place, why: "its digest is no SHA-256".to_owned() }.into());
    };
    let path = cache.join(format!("{hex}.precast"));
    let name = format!("release `{place}`");
    let tell = || {
        let (tag, signed) = (Tag::read(cache)?, Signed::bundle(&fs_err::read(&path)?));
        if tag.went_back(&signed) {
            let (what, remote) = ("the release".to_owned(), place.to_string());
            options.observer.tell(&Event::WentBack { what, remote });
        }
        tag.note(&signed)
    };
    let refused = |source| OpenRemoteError::Release { place: place.to_string(), source };
    match Bundle::open_signed(&path, keyring) {
        Ok(bundle) => {
            // A cache that cannot be written any more does not know what the tag means when the registry is gone.
            let _ = write(cache, &latest, format!("{digest}\n").as_bytes());
            tell().map_err(kept)?;
            return Ok(Layer::Bundle { name, bundle: Box::new(bundle) });
        }
        // Others can change what is there: for people to decide.
        Err(error @ OpenSignedError::Open(precast_store::OpenBundleError::Untrusted(_))) => {
            return Err(refused(error));
        }
        Err(_) => {}
    }
    let release = registry.pull_digest(&digest)?;
    if release.kind != Kind::Bundle {
        return Err(OpenRemoteError::Transport {
            place: place.to_string(),
            why: "it is an export, and only bundles are layers\nhint: `precast pull`, then `precast import`"
                .to_owned(),
        });
    }
    make(cache).map_err(kept)?;
    write(cache, &path.with_extension(format!("precast{SUFFIX}")), release.signatures.as_bytes())
        .map_err(kept)?;
    write(cache, &path, &release.bytes).map_err(kept)?;
    let bundle = Bundle::open_signed(&path, keyring).map_err(refused)?;
    // What is refused is not what the tag means.
    write(cache, &latest, format!("{digest}\n").as_bytes()).map_err(kept)?;
    tell().map_err(kept)?;
    Ok(Layer::Bundle { name, bundle: Box::new(bundle) })
}

/// Makes a directory that nobody else can write.
pub(super) fn make(directory: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(directory)
}

pub(super) fn write(directory: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = Whole::with_mode(directory, 0o644)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.rename(path)
}
