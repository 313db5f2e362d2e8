//! Secret keys: created, read and used here, and never printed.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use ct_codecs::{Base64, Decoder as _};
use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use precast_store::file;
use precast_store::keyring::{Date, EXPIRES, Key, expiry, names_of};

use crate::args::{PasswordArgs, SignerArgs};
use crate::error::Failure;
use crate::kind::Kind;
use crate::whole::WriteError;
use crate::{dsse, handed, secrets};

/// The largest file of a key in bytes, far above the size of any key.
const LIMIT: u64 = 1 << 16;

/// The position of the Ed25519 key in the bytes of an open minisign key.
const SECRET: std::ops::Range<usize> = 62..126;

/// The remedy for a missing password.
const PASSWORD: &str = "without a terminal, pass the password with `--password-file FILE`";

/// A source of signatures and its public key.
pub(crate) struct Secret {
    source: Source,
    pub(crate) public: Key,
    /// The first day on which the signatures do not count.
    expires: Option<Date>,
    /// The name that the signature of the file must state.
    name: Option<String>,
}

enum Source {
    Key(SecretKey),
    /// A program that has the key.
    Program(PathBuf),
}

impl Secret {
    /// Opens the key or names the program of a command line. Returns `None` without both.
    pub(crate) fn open(args: &SignerArgs) -> Result<Option<Self>, Failure> {
        args.expires.map_or(Ok(()), |day| check_day(day, "the signature would never count"))?;
        let (source, public) = match (&args.key, &args.signer, &args.public) {
            (Some(key), ..) => Self::open_key(key, &args.password)?,
            (None, Some(program), Some(path)) => {
                check_path("--public", path)?;
                (Source::Program(program.clone()), public(path)?)
            }
            _ if args.expires.is_some() => {
                return Err(Failure::usage("`--expires` needs `--key` or `--signer`"));
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { source, public, expires: args.expires, name: None }))
    }

    /// Requires that a program states this name where it signs the file of this name.
    pub(crate) fn naming(self, name: Option<&str>) -> Self {
        Self { name: name.map(str::to_owned), ..self }
    }

    /// Opens a key, with its password if it has one.
    fn open_key(path: &Path, password: &PasswordArgs) -> Result<(Source, Key), Failure> {
        check_path("--key", path)?;
        let refused =
            |what: String| Failure::new(format!("cannot use key `{}`", path.display())).because(what);
        let text = read(path)?;
        check_private(path)?;
        let key = match without_password(&text) {
            // The file states whether the key has a password. Without one, the user is not prompted.
            Some(key) => {
                password.password_file.iter().try_for_each(|path| check_there(path))?;
                key
            }
            None if password.no_password => {
                return Err(
                    refused("it has a password".to_owned()).hint(format!("omit `--no-password`; {PASSWORD}"))
                );
            }
            None => {
                let sealed = SecretKeyBox::from_string(&text).map_err(|error| refused(error.to_string()))?;
                let opened = sealed.into_secret_key(read_password(password)?);
                let hint = match &password.password_file {
                    Some(_) => {
                        "the password is the first line of the file of `--password-file`: check that it is of this key"
                    }
                    None => PASSWORD,
                };
                opened.map_err(|error| refused(error.to_string()).hint(hint))?
            }
        };
        let public = PublicKey::from_secret_key(&key).map_err(|error| refused(error.to_string()))?;
        let mut public = Key::parse("key", &public.to_base64())?;
        // A descriptor has no name, so the key is named as `minisign` shows it.
        public.name = if handed::is_handed(path) { dsse::raw(&public)?.0 } else { name(path) };
        Ok((Source::Key(key), public))
    }

    /// Signs an in-toto statement as a DSSE envelope. Returns the path of the envelope.
    pub(crate) fn attest(&self, path: &Path) -> Result<PathBuf, Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        dsse::sign(path, &self.public, |bytes| match &self.source {
            Source::Key(key) => {
                let key = key.to_bytes();
                let secret = key.get(SECRET).ok_or_else(|| Failure::new("cannot use the key"))?;
                dsse::sign_bytes(bytes, secret)
            }
            Source::Program(program) => {
                dsse::of_minisign(&handed::sign(program, bytes, &name, &self.comment(&name))?)
            }
        })
    }

    /// Returns the trusted comment of a signature.
    fn comment(&self, file: &str) -> String {
        let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let plain: String = file.chars().filter(|c| !c.is_control()).collect();
        let expires = self.expires.map(|day| format!("\t{EXPIRES}{day}")).unwrap_or_default();
        format!("timestamp:{}\tfile:{plain}\thashed{expires}", seconds.as_secs())
    }

    /// Signs bytes; the file name becomes part of the trusted comment.
    pub(crate) fn sign(&self, bytes: &[u8], file: &str) -> Result<String, Failure> {
        let comment = self.comment(file);
        let key = match &self.source {
            Source::Key(key) => key,
            Source::Program(program) => {
                let signature = handed::sign(program, bytes, file, &comment)?;
                if SignatureBox::from_string(&signature).is_err() {
                    let shown = program.display();
                    return Err(Failure::new(format!("the signer `{shown}` printed no minisign signature"))
                        .hint("print the signature of the file in the first argument to standard output"));
                }
                return self.check(signature, file);
            }
        };
        let untrusted = format!("signature by {}", self.public.name);
        let signature = minisign::sign(None, key, bytes, Some(&comment), Some(&untrusted));
        let signature = signature.map_err(|error| Failure::new("cannot sign").because(error.to_string()))?;
        Ok(signature.into_string())
    }

    /// Checks that a program has signed the day of expiry, and the name.
    fn check(&self, signature: String, file: &str) -> Result<String, Failure> {
        let comment = signature.lines().nth(2).and_then(|line| line.strip_prefix("trusted comment: "));
        let found = comment.and_then(|comment| expiry(comment).ok().flatten());
        let unsigned = |what: String| {
            Err(Failure::new(format!("the signer did not sign {what}"))
                .hint("pass the second argument of the program to minisign: `-t \"$2\"`"))
        };
        if let Some(day) = self.expires.filter(|day| found != Some(*day)) {
            return unsigned(format!("the expiry date {day}"));
        }
        if self.name.as_deref() == Some(file) && names_of(&signature) != [file] {
            return unsigned(format!("the name `{file}`"));
        }
        Ok(signature)
    }
}

/// Rejects a day of expiry that is not later than today. The hint is a reason or a remedy.
pub(crate) fn check_day(expires: Date, hint: &str) -> Result<(), Failure> {
    let today = Date::today();
    if expires > today {
        return Ok(());
    }
    Err(Failure::new(format!("invalid expiry date {expires}: today is {today}"))
        .hint(format!("use a later date; {hint}")))
}

/// Rejects a secret in place of the path of its file. The value is not shown.
pub(crate) fn check_path(option: &str, path: &Path) -> Result<(), Failure> {
    let value = path.to_string_lossy();
    if !secrets::is_content(&value) && !value.contains(['\n', '\r']) {
        return Ok(());
    }
    let wrong = |expected: &str| {
        Failure::usage(format!("the value of `{option}` is not a path: expected {expected}"))
    };
    let failure = match option {
        "--key" | "--password-file" => wrong("the path of a file, or `-` for standard input")
            .hint(format!("from a variable: `printf %s \"$VAR\" | precast sign {option} -`")),
        _ => wrong("the path of a file"),
    };
    Err(failure.hint("other users can see command lines: replace the secret if they may have seen it"))
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
        Kind::Empty if handed::is_handed(path) => Err(Failure::new(format!(
            "no key in `{shown}`: it is empty, expected a secret key"
        ))
        .hint("is the variable empty? `printf %s \"$SIGNING_KEY\"` prints the key that `--key -` reads")),
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
    let shown = path.display();
    let bytes = file::read(path, LIMIT).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("public key `{shown}` not found"))
            .hint("name the file that `precast keygen` wrote next to the secret key"),
        _ => error.into(),
    })?;
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
    check_there(path)?;
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

/// Rejects a missing file of a password.
fn check_there(path: &Path) -> Result<(), Failure> {
    check_path("--password-file", path)?;
    if handed::is_handed(path) {
        return Ok(());
    }
    match fs_err::metadata(path) {
        // The value may be the password itself.
        Err(error) if error.kind() == ErrorKind::NotFound && path.components().count() == 1 => {
            Err(Failure::new("the file of `--password-file` does not exist")
                .hint("write the password to a file that only you can read, and name the file"))
        }
        found => Ok(found.map(drop)?),
    }
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
    let write = || {
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| WriteError::Io { path: path.to_owned(), source }.into())
}
