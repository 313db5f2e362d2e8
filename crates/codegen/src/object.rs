//! The common interface of ops and types: headers, libraries, flags, support code.
//!
//! As in PyTensor, each of the six methods for headers, libraries and arguments has two forms. The form with the
//! compiler as an argument (`…_for`) is tried first, then the form without. `CCompiler` is declared, never probed,
//! because a `BuildKey` must be computable on a machine without a compiler.

use crate::module::SourceSet;
use precast_store::key::Language;

/// The compiler of a module, as far as code generation may depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CCompiler {
    /// C or C++.
    pub language: Language,
}

/// The author's version of generated code. It indicates that a change is intended; the key depends on the code itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CacheVersion {
    /// Cached by content (the default).
    #[default]
    Content,
    /// Cached by content; a source that changes without a version change is reported.
    Version(Vec<u32>),
    /// PyTensor's empty tuple, an explicit request: the code is used only in this process and never published.
    Never,
}

/// The methods shared by [`crate::COp`] and [`crate::CType`].
pub trait CLinkerObject {
    /// Returns the headers to include: `<math.h>`, or a logical name of [`CLinkerObject::c_sources`] such as
    /// `precast/ops/monoid.h`.
    fn c_headers(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_headers`], for this compiler; `None` falls back to that method.
    fn c_headers_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns the directories of headers that are not part of [`CLinkerObject::c_sources`].
    fn c_header_dirs(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_header_dirs`], for this compiler; `None` falls back to that method.
    fn c_header_dirs_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns the libraries to link, without `lib` and suffix: `m`.
    fn c_libraries(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_libraries`], for this compiler; `None` falls back to that method.
    fn c_libraries_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns the directories to search for libraries.
    fn c_lib_dirs(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_lib_dirs`], for this compiler; `None` falls back to that method.
    fn c_lib_dirs_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns compiler arguments to add, in order.
    fn c_compile_args(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_compile_args`], for this compiler; `None` falls back to that method.
    fn c_compile_args_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns compiler arguments to remove after all arguments are collected.
    fn c_no_compile_args(&self) -> Vec<String> {
        Vec::new()
    }
    /// Like [`CLinkerObject::c_no_compile_args`], for this compiler; `None` falls back to that method.
    fn c_no_compile_args_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Returns statements that run once when the module is loaded. `ctx` is in scope.
    fn c_init_code(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns helper functions and structs at file scope; equal texts appear once per module.
    fn c_support_code(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the compiler that this code needs; `None` accepts any. One C++ fragment makes the module C++.
    fn c_compiler(&self) -> Option<CCompiler> {
        None
    }
    /// Returns the author's version of the code.
    fn c_code_cache_version(&self) -> CacheVersion {
        CacheVersion::Content
    }
    /// Returns the object's own headers and C files by logical name. Their content is part of the key, including files
    /// that they include at any depth.
    fn c_sources(&self) -> SourceSet {
        SourceSet::new()
    }
}
