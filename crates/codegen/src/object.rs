//! What ops and types have in common: headers, libraries, flags, support code.
//!
//! Each of the six methods about headers, libraries and arguments has two forms, as in PyTensor: with the compiler as
//! argument (`…_for`), tried first, and without. `CCompiler` is declared, never probed: a BuildKey must be computable
//! on a host without any compiler.

use crate::module::SourceSet;
use precast_store::key::Language;

/// The compiler that will compile a module, as far as code generation may know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CCompiler {
    /// C or C++.
    pub language: Language,
}

/// The author's version of generated code: a hint that a change is intended; the key is made of the code itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CacheVersion {
    /// Cached by content (the default).
    #[default]
    Content,
    /// Cached by content; a source changed under an unchanged version is reported.
    Version(Vec<u32>),
    /// The empty tuple of PyTensor, given on purpose: kept in the process, never published.
    Never,
}

/// Methods shared by [`crate::COp`] and [`crate::CType`].
pub trait CLinkerObject {
    /// Headers to include: `<math.h>`, or a logical name of [`CLinkerObject::c_sources`] such as `precast/ops/monoid.h`.
    fn c_headers(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_headers`], for this compiler; `None`: the other form decides.
    fn c_headers_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Directories searched for headers that are not part of [`CLinkerObject::c_sources`].
    fn c_header_dirs(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_header_dirs`], for this compiler; `None`: the other form decides.
    fn c_header_dirs_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Libraries to link, without `lib` and suffix: `m`.
    fn c_libraries(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_libraries`], for this compiler; `None`: the other form decides.
    fn c_libraries_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Directories searched for libraries.
    fn c_lib_dirs(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_lib_dirs`], for this compiler; `None`: the other form decides.
    fn c_lib_dirs_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Arguments to add to the compiler's, in order.
    fn c_compile_args(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_compile_args`], for this compiler; `None`: the other form decides.
    fn c_compile_args_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Arguments to take away after all others are put together.
    fn c_no_compile_args(&self) -> Vec<String> {
        Vec::new()
    }
    /// As [`CLinkerObject::c_no_compile_args`], for this compiler; `None`: the other form decides.
    fn c_no_compile_args_for(&self, _compiler: &CCompiler) -> Option<Vec<String>> {
        None
    }
    /// Statements run once when the module is loaded. `ctx` is in scope.
    fn c_init_code(&self) -> Vec<String> {
        Vec::new()
    }
    /// Helper functions and structs at file scope; equal texts appear once in a module.
    fn c_support_code(&self) -> Vec<String> {
        Vec::new()
    }
    /// The compiler this code needs; `None` is content with any. One C++ fragment makes the module C++.
    fn c_compiler(&self) -> Option<CCompiler> {
        None
    }
    /// The author's version of the code.
    fn c_code_cache_version(&self) -> CacheVersion {
        CacheVersion::Content
    }
    /// Own headers and C files by logical name; their content enters the key, however deep they include each other.
    fn c_sources(&self) -> SourceSet {
        SourceSet::new()
    }
}
