//! Secret keys: created, read and used here, and never printed.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use ct_codecs::{Base64, Decoder as _};
use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox};
use precast_store::file;
use precast_store::keyring::Key;

use crate::args::{PasswordArgs, SignerArgs};
use crate::error::Failure;
use crate::kind::Kind;
use crate::{dsse, handed};

/// The largest file of a key in bytes, far above the size of any key.
const LIMIT: u64 = 1 << 16;

/// The position of the Ed25519 key in the bytes of an open minisign key.
const SECRET: std::ops::Range<usize> = 62..126;

/// A source of signatures and its public key.
pub(crate) struct Secret {
    source: Source,
    pub(crate) public: Key,
}

enum Source {
    Key(SecretKey),
    /// A program that has the key.
    Program(PathBuf),
}

impl Secret {
    /// Opens the key or names the program of a command line. Returns `None` without both.
    pub(crate) fn open(args: &SignerArgs) -> Result<Option<Self>, Failure> {
        match (&args.key, &args.signer, &args.public) {
            (Some(key), ..) => Self::open_key(key, &args.password).map(Some),
            (None, Some(program), Some(path)) => {
                Ok(Some(Self { source: Source::Program(program.clone()), public: public(path)? }))
            }
            _ => Ok(None),
        }
    }

    /// Opens a key, with its password if it has one.
    fn open_key(path: &Path, password: &PasswordArgs) -> Result<Self, Failure> {
        let refused =
            |what: String| Failure::new(format!("cannot use key `{}`", path.display())).because(what);
        let text = read(path)?;
        check_private(path)?;
        let key = match without_password(&text) {
            // The file states whether the key has a password. Without one, the user is not prompted.
            Some(key) => key,
            None if password.no_password => return Err(refused("it has a password".to_owned())),
            None => {
                let sealed = SecretKeyBox::from_string(&text).map_err(|error| refused(error.to_string()))?;
                let opened = sealed.into_secret_key(read_password(password)?);
                opened.map_err(|error| refused(error.to_string()))?
            }
        };
        let public = PublicKey::from_secret_key(&key).map_err(|error| refused(error.to_string()))?;
        let named = if handed::is_handed(path) { "key".to_owned() } else { name(path) };
        let public = Key::parse(&named, &public.to_base64())?;
        Ok(Self { source: Source::Key(key), public })
    }

    /// Signs an in-toto statement as a DSSE envelope. Returns the path of the envelope.
    pub(crate) fn attest(&self, path: &Path) -> Result<PathBuf, Failure> {
        let Source::Key(key) = &self.source else {
            return Err(Failure::usage("cannot sign an envelope with another program").hint("use `--key`"));
        };
        let bytes = key.to_bytes();
        let secret = bytes.get(SECRET).ok_or_else(|| Failure::new("cannot use the key"))?;
        dsse::sign(path, &self.public, secret)
    }

    /// Signs bytes; the file name becomes part of the trusted comment.
    pub(crate) fn sign(&self, bytes: &[u8], file: &str) -> Result<String, Failure> {
        let key = match &self.source {
            Source::Key(key) => key,
            Source::Program(program) => return handed::sign(program, bytes, file),
        };
        let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let plain: String = file.chars().filter(|c| !c.is_control()).collect();
        let comment = format!("timestamp:{}\tfile:{plain}\thashed", seconds.as_secs());
        let untrusted = format!("signature by {}", self.public.name);
        let signature = minisign::sign(None, key, bytes, Some(&comment), Some(&untrusted));
        let signature = signature.map_err(|error| Failure::new("cannot sign").because(error.to_string()))?;
        Ok(signature.into_string())
    }
}

/// Reads the file of a secret key; rejects any other file.
fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let bytes = read_private(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("key `{shown}` not found")).hint(format!(
            "create one with `precast keygen {}`",
            precast_store::trust::quoted(&secret_path(path))
        )),
        _ => error.into(),
    })?;
    let not_secret = |kind: Kind| Failure::new(format!("`{shown}` is {kind}, expected a secret key"));
    match Kind::of(&bytes) {
        Kind::SecretKey => String::from_utf8(bytes).map_err(|_| not_secret(Kind::Other)),
        Kind::PublicKey => {
            // A public key does not name its secret key, so the usual names are tried.
            let beside = [path.with_extension("key"), path.with_extension("")];
            let secret = beside.iter().find(|path| Kind::at(path).is_ok_and(|kind| kind == Kind::SecretKey));
            Err(not_secret(Kind::PublicKey).hint(match secret {
                Some(secret) => format!("use the secret key `{}`", secret.display()),
                None => "name the secret key: the other file that `precast keygen` wrote".to_owned(),
            }))
        }
        kind => Err(not_secret(kind).hint("create one with `precast keygen FILE`")),
    }
}

/// Reads a key without a password. The program `minisign` writes no checksum into such keys; damage shows only when
/// the signature is not valid.
fn without_password(text: &str) -> Option<SecretKey> {
    let bytes = Base64::decode_to_vec(text.lines().nth(1)?, None).ok()?;
    let key = SecretKey::from_bytes(&bytes).ok()?;
    let has_none = bytes.get(2..4)? == [0, 0];
    has_none.then_some(key)
}

/// Returns the file of the secret key; the file of its public key may be given instead.
fn secret_path(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|ending| ending == "pub") {
        path.with_extension("key")
    } else {
        path.to_owned()
    }
}

/// Creates a key pair and writes both files, neither of which may exist. Returns the public one.
pub(crate) fn make(path: &Path, password: &PasswordArgs) -> Result<(PathBuf, Key), Failure> {
    let refused = |error: minisign::PError| Failure::new("cannot create a key").because(error.to_string());
    let public_path = path.with_extension("pub");
    if path == public_path {
        return Err(Failure::new(format!("`{}` is a name for a public key", path.display())).hint(format!(
            "name the secret key; `precast keygen {}` writes both",
            precast_store::trust::quoted(&secret_path(path))
        )));
    }
    for taken in [path, &public_path] {
        if fs_err::symlink_metadata(taken).is_ok() {
            return Err(Failure::new(format!("`{}` already exists", taken.display()))
                .hint("name another file; a lost key cannot be recreated"));
        }
    }
    let (pair, is_open) = match password.no_password {
        true => (KeyPair::generate_unencrypted_keypair(), true),
        false => (KeyPair::generate_encrypted_keypair(read_password(password)?), false),
    };
    let pair = pair.map_err(|error| {
        refused(error).hint(
            "without a terminal, pass the password with `--password-file FILE`, or create a key \
                             without one with `--no-password`",
        )
    })?;
    let what =
        if is_open { "precast secret key, without a password" } else { "precast encrypted secret key" };
    let secret = pair.sk.to_box(Some(what)).map_err(refused)?.into_string();
    let public = pair.pk.to_box().map_err(refused)?.into_string();
    write_new(path, secret.as_bytes(), 0o600)?;
    write_new(&public_path, public.as_bytes(), 0o644)?;
    let key = Key::parse(&name(path), &pair.pk.to_base64())?;
    Ok((public_path, key))
}

/// Returns the name of a key: its file name without the extension.
pub(crate) fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a public key.
pub(crate) fn public(path: &Path) -> Result<Key, Failure> {
    let bytes = file::read(path, LIMIT)?;
    let shown = path.display();
    if Kind::of(&bytes) == Kind::SecretKey {
        let beside = path.with_extension("pub");
        let is_there = Kind::at(&beside).is_ok_and(|kind| kind == Kind::PublicKey);
        let failure = Failure::new(format!("`{shown}` is a secret key, expected a public key"));
        return Err(failure.hint(match is_there {
            true => format!("use the public key `{}`", beside.display()),
            false => "name the public key: the other file that `precast keygen` wrote".to_owned(),
        }));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::new(format!("`{shown}` is not a public key: not UTF-8")))?;
    Key::parse(&name(path), &text)
        .map_err(|error| Failure::new(format!("cannot use key `{shown}`")).because(error))
}

fn read_password(args: &PasswordArgs) -> Result<Option<String>, Failure> {
    let Some(path) = &args.password_file else { return Ok(None) };
    let bytes = read_private(path)?;
    check_private(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::new(format!("the password in `{}` is not UTF-8", path.display())))?;
    let first = text.lines().next().unwrap_or_default();
    if first.is_empty() {
        return Err(Failure::new(format!("the first line of `{}` is empty", path.display()))
            .hint("use `--no-password` for keys without a password"));
    }
    Ok(Some(first.to_owned()))
}

/// Reads a file with a secret, or the descriptor that is named in its place.
fn read_private(path: &Path) -> std::io::Result<Vec<u8>> {
    if handed::is_handed(path) { handed::read(path, LIMIT) } else { file::read(path, LIMIT) }
}

/// Rejects a secret file that other users can read. A descriptor is private: whoever opened it decided to use it.
#[cfg(unix)]
fn check_private(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    if handed::is_handed(path) {
        return Ok(());
    }
    let mode = fs_err::metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let quoted = precast_store::trust::quoted(path);
    Err(Failure::new(format!("`{}` is readable by other users", path.display()))
        .hint(format!("run `chmod 600 {quoted}` if nobody has read the file; otherwise create a new one"))
        .hint(format!("if its mode is fixed, as that of Docker's secrets, redirect it: `-` as its name, and `< {quoted}`")))
}

#[cfg(not(unix))]
fn check_private(_path: &Path) -> Result<(), Failure> {
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}
