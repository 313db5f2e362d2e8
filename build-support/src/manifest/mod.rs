//! The manifest: the ops and graphs to compile, as data.
//!
//! One schema has two locations: `precast.toml`, and the table `[package.metadata.precast]` of a `Cargo.toml`, in
//! which a library crate declares the ops and graphs that it needs from the program that links it.
//!
//! `schema` has the keys, `read` reads text and files, `tables` maps offsets to tables, `resolve` converts tables to
//! ops and graphs; `external` and `params` handle `[[external]]`.
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
//! inputs = ["x: f64[n]", "y: f64[n]"] # calls check that both have `n` elements; `?` is any extent
//! outputs = ["out = sum(exp(-x*x)*y)"]  # or one text of several lines, with `"""`, for one output
//! gradients = ["x"]                   # optional; adds the graph `score.value_and_grad`
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
//! Reading accesses files and returns a [`Manifest`] whose content no longer changes, so the build uses exactly the
//! content that it hashes. The own headers of external ops are read too. Resolving
//! ([`Manifest::declare`]) accesses no files. Unknown keys are rejected.

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

use crate::place::{Lines, SourceLocation};
use crate::problem::{DeclareError, Problem};
use precast_store::key::Canonical;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tables::Tables;

/// A manifest with the contents of the files that it names.
#[derive(Debug, Clone)]
pub struct Manifest {
    path: PathBuf,
    text: String,
    lines: Lines,
    document: Document,
    /// Schema errors: unknown keys, values of the wrong type, missing keys. The affected parts are left out of
    /// `document`.
    misread: Vec<Problem>,
    /// Names of external ops whose tables were left out.
    unmade: Vec<String>,
    tables: Tables,
    /// The content of graph files, C files and headers, by their name in the manifest, or the system's error message.
    files: BTreeMap<String, Result<String, String>>,
}

impl Manifest {
    /// Returns the manifest's own path, as passed by the caller.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the tables.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Checks that every table was read without schema errors. Callers that only read or extend the file need this;
    /// [`Manifest::declare`] and [`Manifest::ops`] check it too.
    ///
    /// # Errors
    /// Fails with all schema errors.
    pub fn check_keys(&self) -> Result<(), DeclareError> {
        DeclareError::check(self.misread.clone())
    }

    /// Returns the target that `precast build` compiles for, if the manifest names one.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.document.target.as_ref().map(|target| target.get_ref().as_str())
    }

    /// Returns the lowest version of glibc that the modules must run with.
    #[must_use]
    pub fn glibc(&self) -> Option<&str> {
        self.document.glibc.as_ref().map(|version| version.get_ref().as_str())
    }

    /// Lists the files that were read: the manifest, the graph files and C files that it names, and their headers.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        let graphs = self.files.iter().filter(|(_, read)| read.is_ok()).map(|(name, _)| self.file(name));
        std::iter::once(self.path.clone()).chain(graphs).collect()
    }

    /// Appends everything that affects the declarations of this manifest.
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

    fn place(&self, span: Range<usize>) -> SourceLocation {
        SourceLocation { line: Some(self.lines.number(span.start)), ..SourceLocation::in_file(&self.path) }
    }
}
