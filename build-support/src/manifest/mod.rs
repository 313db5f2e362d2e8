//! The manifest: what is to be compiled, as data.
//!
//! One schema, two homes: `precast.toml`, and the table `[package.metadata.precast]` of a `Cargo.toml`, by which a library
//! crate says what it needs of the program that links it.
//!
//! `schema` has the keys, `read` takes text and files, `tables` knows where each table stands, `resolve` makes ops and graphs of tables; `external` and `params` are about
//! `[[external]]`.
//!
//! ```toml
//! isa = ["x86-64-v3"]                 # optional; the target's default levels otherwise
//!
//! [[op]]                              # every combination
//! name = "add"
//! dtypes = ["f32", "f64"]
//! ndim = [1, 2]
//!
//! [[graph]]                           # a graph called by name
//! name = "score"
//! inputs = ["x: f64[?]", "y: f64[?]"]
//! outputs = ["out = sum(exp(-x*x)*y)"]
//!
//! [[graph]]
//! name = "model"
//! file = "model.json"                 # the JSON form of a graph, relative to the manifest; or `json = '…'`
//! serve = ["whole", "ops"]            # what is compiled: the graph, the groups that fusion makes, its ops
//!
//! [[external]]                        # an op whose C stands in files, for each combination of dtypes
//! name = "vector_times_vector"
//! files = ["vector_times_vector.c"]
//! func = "APPLY_SPECIFIC(vector_times_vector)"
//! dtypes = { T = ["f32", "f64"], U = ["f64"] }
//! inputs = ["{T}[?]", "{U}[?]"]
//! outputs = ["upcast(T, U)[?]"]
//! ```
//! Reading touches files and gives a [`Manifest`] whose content is fixed from then on: what is hashed is what is used.
//! Headers that external ops include beside their own files are read too.
//! Resolving ([`Manifest::declare`]) touches none. Unknown keys are refused.

mod external;
mod params;
mod read;
mod references;
mod resolve;
mod schema;
mod tables;

#[cfg(test)]
mod tests;

pub use schema::{
    ConstantTable, Document, ExternalTable, FunctionTable, GraphTable, OpTable, ParamTable, ReferenceTable,
};

use crate::place::{Lines, Place};
use crate::problem::{DeclareError, Problem};
use precast_store::key::Canonical;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tables::Tables;

/// A manifest with the files that it names.
#[derive(Debug, Clone)]
pub struct Manifest {
    path: PathBuf,
    text: String,
    lines: Lines,
    document: Document,
    /// What no table can be read with: keys that none has, values of another kind, keys that are missing. It is left out of `document`.
    misread: Vec<Problem>,
    /// Names of external ops whose tables are left out.
    unmade: Vec<String>,
    tables: Tables,
    /// Content of the graph files, and of the C files and their headers, by the name they have in the manifest, or what the system said.
    files: BTreeMap<String, Result<String, String>>,
}

impl Manifest {
    /// The manifest's own path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tables.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Checks that every table was read: each key is one that it has, and of the right kind. For those who only read or extend the
    /// file: [`Manifest::declare`] and [`Manifest::ops`] check it too.
    ///
    /// # Errors
    /// What could not be read.
    pub fn check_keys(&self) -> Result<(), DeclareError> {
        DeclareError::check(self.misread.clone())
    }

    /// The target that `precast build` compiles for, if the manifest names one.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.document.target.as_ref().map(|target| target.get_ref().as_str())
    }

    /// The files that were read: the manifest, the graphs and the C files that it names, and what these include.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        let graphs = self.files.iter().filter(|(_, read)| read.is_ok()).map(|(name, _)| self.file(name));
        std::iter::once(self.path.clone()).chain(graphs).collect()
    }

    /// Appends everything that decides what this manifest declares.
    pub(crate) fn hash(&self, encoder: Canonical) -> Canonical {
        let start = encoder.str(&self.text).list(self.files.len());
        self.files.iter().fold(start, |encoder, (name, read)| match read {
            Ok(text) => encoder.str(name).str(text),
            Err(_) => encoder.str(name).bool(false),
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { line: Some(self.lines.number(span.start)), ..Place::in_file(&self.path) }
    }
}
