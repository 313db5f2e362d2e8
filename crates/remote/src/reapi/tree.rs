//! Directories in the form of the API: each is a message with the digests of its entries.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use prost::Message as _;

use super::api::{Directory, DirectoryNode, FileNode};
use super::digest::Name;

/// Blobs by name.
pub(super) type Blobs = BTreeMap<Name, Arc<[u8]>>;

/// A directory with all its content.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) root: Name,
    pub(super) blobs: Blobs,
}

/// Adds a blob to `blobs`.
pub(super) fn put(blobs: &mut Blobs, bytes: Vec<u8>) -> Name {
    let name = Name::of(&bytes);
    blobs.entry(name.clone()).or_insert_with(|| bytes.into());
    name
}

/// The entries of a directory: files and directories by name.
#[derive(Debug, Default)]
pub(super) struct Content {
    files: BTreeMap<String, Name>,
    directories: BTreeMap<String, Name>,
}

impl Content {
    pub(super) fn file(&mut self, name: &str, content: Name) {
        self.files.insert(name.to_owned(), content);
    }

    pub(super) fn directory(&mut self, name: &str, content: Name) {
        self.directories.insert(name.to_owned(), content);
    }

    /// Renders the message in its canonical form, with names in order.
    pub(super) fn put(self, blobs: &mut Blobs) -> Name {
        let files = self.files.into_iter();
        let directories = self.directories.into_iter();
        let directory = Directory {
            files: files
                .map(|(name, content)| FileNode {
                    name,
                    digest: Some(content.digest()),
                    ..FileNode::default()
                })
                .collect(),
            directories: directories
                .map(|(name, content)| DirectoryNode { name, digest: Some(content.digest()) })
                .collect(),
            ..Directory::default()
        };
        put(blobs, directory.encode_to_vec())
    }
}

impl Tree {
    /// Reads a directory; follows links in it.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut blobs = Blobs::new();
        let root = read(path, &mut blobs)?;
        Ok(Self { root, blobs })
    }
}

fn read(path: &Path, blobs: &mut Blobs) -> io::Result<Name> {
    let mut content = Content::default();
    for entry in fs_err::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| io::Error::other(format!("`{}` is not UTF-8", name.display())))?;
        let path = entry.path();
        if fs_err::metadata(&path)?.is_dir() {
            let below = read(&path, blobs)?;
            content.directory(&name, below);
        } else {
            let file = put(blobs, fs_err::read(&path)?);
            content.file(&name, file);
        }
    }
    Ok(content.put(blobs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_depends_on_names_and_contents() {
        let make = |names: &[&str]| {
            let root = tempfile::tempdir().unwrap();
            for name in names {
                fs_err::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
                fs_err::write(root.path().join(name), name).unwrap();
            }
            Tree::read(root.path()).unwrap()
        };
        let (one, other) = (make(&["b", "a/c", "a/d"]), make(&["a/d", "a/c", "b"]));
        assert_eq!((&one.root, one.blobs.len()), (&other.root, 5));
        assert!(one.blobs.iter().all(|(name, bytes)| name.names(bytes)));
        assert_ne!(one.root, make(&["b", "a/c"]).root);
        let directory = Directory::decode(&*one.blobs[&one.root]).unwrap();
        assert_eq!((&*directory.files[0].name, &*directory.directories[0].name), ("b", "a"));
    }
}
