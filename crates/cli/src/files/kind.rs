//! Detects the kind of a file from its contents, so that no command overwrites a file of another kind or signs a
//! damaged one.
//!
//! A zip file holds arrays only if its first member is an array. A compressed file is an export only if it
//! decompresses to one. A text with TOML tables is a manifest, which no picture may overwrite.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use precast_store::Export;

/// The number of bytes to read of a file: twice the largest block of zstd, so that they include the first member of
/// an export.
const HEAD: u64 = 256 << 10;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    Bundle,
    Export,
    Keyring,
    Lock,
    Signatures,
    SecretKey,
    PublicKey,
    Npy,
    Npz,
    /// A zip file without arrays.
    Zip,
    /// A compressed file that is not an export, or one with a damaged beginning.
    Compressed,
    /// Declarations in TOML.
    Manifest,
    /// Any other text, e.g. a picture or a source file.
    Text,
    Other,
}

impl Kind {
    /// Detects the kind from the beginning of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        let begins = |with: &[u8]| head.starts_with(with);
        match head {
            [] => return Self::Empty,
            _ if begins(b"precastb") => return Self::Bundle,
            _ if begins(b"\x93NUMPY") => return Self::Npy,
            _ if begins(b"\x28\xb5\x2f\xfd") && Export::is_begun(head) => return Self::Export,
            _ if begins(b"\x28\xb5\x2f\xfd") => return Self::Compressed,
            _ if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") => {
                return if holds_arrays(head) { Self::Npz } else { Self::Zip };
            }
            _ => {}
        }
        // The end of `head` may cut a character in two.
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Self::Other,
        };
        if text.contains('\0') { Self::Other } else { Self::of_text(text) }
    }

    fn of_text(text: &str) -> Self {
        let mut lines = text.lines().map(str::trim_end);
        let first = lines.next().unwrap_or_default();
        if first.starts_with("untrusted comment:") {
            // In base64: 42 bytes of a public key, 74 of a signature; a secret key is longer.
            return match lines.next().unwrap_or_default().len() {
                56 => Self::PublicKey,
                100 => Self::Signatures,
                _ => Self::SecretKey,
            };
        }
        let has = |beginning: &str| text.lines().any(|line| line.starts_with(beginning));
        if has("threshold=") && ["key=", "release_key=", "keyring_key="].into_iter().any(has) {
            Self::Keyring
        } else if has("version = ") && (has("entry = [") || has("module = [") || first.contains("precast")) {
            Self::Lock
        } else if text.lines().any(is_table) {
            Self::Manifest
        } else {
            Self::Text
        }
    }

    /// Detects the kind of the file at a path; a missing file counts as empty.
    pub(crate) fn at(path: &Path) -> std::io::Result<Self> {
        let file = match precast_store::file::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::Empty),
            opened => opened?,
        };
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head)?;
        Ok(Self::of(&head))
    }
}

/// Returns whether the first member of a zip file is an array. A zip file without members counts too, because
/// overwriting it loses nothing.
fn holds_arrays(head: &[u8]) -> bool {
    let Some(length) = head.get(26..28).filter(|_| head.starts_with(b"PK\x03\x04")) else {
        return head.starts_with(b"PK\x05\x06");
    };
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    head.get(30..30 + length).is_some_and(|name| name.ends_with(b".npy"))
}

/// Returns whether a line begins a TOML table or a list of tables: `[[graph]]`, `[package.metadata]`, `graph = [`.
fn is_table(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default().trim();
    let inner = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner =
        inner.map(|name| name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name));
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
    };
    let is_list = |name: &str| {
        let list = line.strip_prefix(name).map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
        list.is_some_and(|value| value.trim_start().starts_with('['))
    };
    inner.is_some_and(is_name) || ["op", "graph", "external", "isa"].into_iter().any(is_list)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "an empty file",
            Self::Bundle => "a bundle",
            Self::Export => "an export",
            Self::Keyring => "a keyring",
            Self::Lock => "a lock file",
            Self::Signatures => "a signature file",
            Self::SecretKey => "a secret key",
            Self::PublicKey => "a public key",
            Self::Npy => "an array",
            Self::Npz => "an npz file",
            Self::Zip => "a zip file without arrays",
            Self::Compressed => "a compressed file",
            Self::Manifest => "a manifest",
            Self::Text => "a text file",
            Self::Other => "a file of unknown type",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_kind_is_detected_by_prefix() {
        let key = |len: usize| format!("untrusted comment: x\n{}\n", "R".repeat(len));
        let (public, signature, secret) = (key(56), key(100), key(212));
        let zip = |name: &str| {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.finish().unwrap().into_inner()
        };
        let (arrays, others) = (zip("x.npy"), zip("index.html"));
        let directory = tempfile::tempdir().unwrap();
        let empty =
            precast_store::Store::create(directory.path()).unwrap().export(None).unwrap().pack().unwrap();
        let archive = precast_store::Archive { members: [("unit.c".to_owned(), b"int x;".to_vec())].into() };
        let object = archive.pack().unwrap().1;
        let kinds: [(&[u8], Kind); 22] = [
            (b"", Kind::Empty),
            (b"precastb\x02\0", Kind::Bundle),
            (&empty, Kind::Export),
            (&empty[..empty.len() - 4], Kind::Export),
            (&object, Kind::Compressed),
            (b"\x28\xb5\x2f\xfd\0", Kind::Compressed),
            (b"# who may sign\nformat=1\nthreshold=1\nkey=RW a\n", Kind::Keyring),
            (b"format=2\nthreshold=1\nrelease_key=RW a\nkeyring_key=RW b\n", Kind::Keyring),
            (b"# Made by precast\nversion = 1\n", Kind::Lock),
            (public.as_bytes(), Kind::PublicKey),
            (signature.as_bytes(), Kind::Signatures),
            (secret.as_bytes(), Kind::SecretKey),
            (b"untrusted comment:", Kind::SecretKey),
            (b"\x93NUMPY\x01", Kind::Npy),
            (&arrays, Kind::Npz),
            (&others, Kind::Zip),
            (b"PK\x05\x06", Kind::Npz),
            (b"# ops\n[[op]] # one\nname = \"add\"\n", Kind::Manifest),
            (b"[package]\nname = \"x\"\n", Kind::Manifest),
            (b"<svg>\nint x[2] = {\n[0] = 1 };\n[\n]\n", Kind::Text),
            ("<svg>ä".as_bytes().strip_suffix(b"\xa4").unwrap(), Kind::Text),
            (b"a\0b", Kind::Other),
        ];
        for (head, kind) in kinds {
            assert_eq!(Kind::of(head), kind, "{}", head.escape_ascii());
        }
    }
}
