//! Secrets that another program hands over: through a descriptor, or as a program that signs.

use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Failure;

/// The largest signature that a program may print, in bytes.
const SIGNATURE_LIMIT: u64 = 1 << 16;

/// Returns whether a path stands for an open descriptor: `-` for standard input, `/dev/fd/N`.
pub(crate) fn is_handed(path: &Path) -> bool {
    path == Path::new("-") || ["/dev/fd", "/dev/stdin", "/proc/self/fd"].iter().any(|at| path.starts_with(at))
}

/// Reads a descriptor to its end, at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = |from: &mut dyn Read, bytes: &mut Vec<u8>| from.take(limit + 1).read_to_end(bytes);
    match path == Path::new("-") {
        true => read(&mut io::stdin().lock(), &mut bytes)?,
        false => read(&mut fs_err::File::open(path)?, &mut bytes)?,
    };
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("`{}` is too long for a secret", path.display()),
        ));
    }
    Ok(bytes)
}

/// Has a program sign bytes: it is started with the path of a private file and the trusted comment, and prints the
/// signature. It may prompt on the terminal. The caller checks the signature.
pub(crate) fn sign(program: &Path, bytes: &[u8], name: &str, comment: &str) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::new(format!("the signer `{}` failed", program.display())).because(why);
    // Only this user can enter the directory. The file has the name of the signed file, for the trusted comment.
    let directory = tempfile::tempdir()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(100).map(plain).collect();
    let path = directory.path().join(format!("file-{name}"));
    fs_err::write(&path, bytes)?;
    let mut child =
        Command::new(program).arg(&path).arg(comment).stdout(Stdio::piped()).spawn().map_err(|error| {
            failed(error.to_string())
                .hint("name a program that prints minisign's signature of the file in its argument")
        })?;
    let mut text = String::new();
    if let Some(out) = child.stdout.take() {
        out.take(SIGNATURE_LIMIT).read_to_string(&mut text)?;
    }
    let status = child.wait()?;
    if status.success() { Ok(text) } else { Err(failed(status.to_string())) }
}
