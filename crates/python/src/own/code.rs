//! The common part of ops and types that are written in Python: the C code from their methods, headers, libraries, flags.

use super::texts::Texts;
use precast_codegen::{CCompiler, CLinkerObject, CacheVersion, SourceSet};
use precast_store::key::Language;
use std::collections::HashMap;

/// The values that methods returned.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) texts: Texts,
    /// Lists by method name.
    pub(super) lists: HashMap<String, Vec<String>>,
    pub(super) version: CacheVersion,
    pub(super) is_cxx: bool,
    pub(super) sources: SourceSet,
}

impl Code {
    /// Creates code without a cache version. Code that uses names of the CPython or NumPy API gets their headers.
    pub(super) fn new(texts: HashMap<String, String>, mut lists: HashMap<String, Vec<String>>) -> Self {
        let texts = Texts(texts);
        let others = ["c_support_code", "c_init_code"].map(|method| list(&lists, method));
        if texts.are_compat(others.iter().flatten()) {
            let headers = lists.entry("c_headers".to_owned()).or_default();
            for name in ["Python.h", "numpy/arrayobject.h"] {
                let is_there = headers.iter().any(|header| header.trim_matches(['<', '>', '"']) == name);
                headers.extend((!is_there).then(|| name.to_owned()));
            }
        }
        Self { texts, lists, version: CacheVersion::Content, is_cxx: false, sources: SourceSet::new() }
    }

    /// Returns whether two ops or types have the same C code.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.texts == other.texts && self.lists == other.lists
    }

    fn list(&self, method: &str) -> Vec<String> {
        list(&self.lists, method)
    }
}

fn list(lists: &HashMap<String, Vec<String>>, method: &str) -> Vec<String> {
    lists.get(method).cloned().unwrap_or_default()
}

impl CLinkerObject for Code {
    fn c_headers(&self) -> Vec<String> {
        self.list("c_headers")
    }
    fn c_header_dirs(&self) -> Vec<String> {
        self.list("c_header_dirs")
    }
    fn c_libraries(&self) -> Vec<String> {
        self.list("c_libraries")
    }
    fn c_lib_dirs(&self) -> Vec<String> {
        self.list("c_lib_dirs")
    }
    fn c_compile_args(&self) -> Vec<String> {
        self.list("c_compile_args")
    }
    fn c_no_compile_args(&self) -> Vec<String> {
        self.list("c_no_compile_args")
    }
    fn c_init_code(&self) -> Vec<String> {
        self.list("c_init_code")
    }
    fn c_support_code(&self) -> Vec<String> {
        self.list("c_support_code")
    }
    fn c_compiler(&self) -> Option<CCompiler> {
        self.is_cxx.then_some(CCompiler { language: Language::Cxx })
    }
    fn c_code_cache_version(&self) -> CacheVersion {
        self.version.clone()
    }
    fn c_sources(&self) -> SourceSet {
        self.sources.clone()
    }
}

/// Forwards methods to a field.
macro_rules! delegate {
    ($field:ident: $($method:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(fn $method(&self, $($arg: $ty),*) -> $result {
            self.$field.$method($($arg),*)
        })*
    };
}
pub(super) use delegate;

/// Implements `CLinkerObject` by forwarding to a field.
macro_rules! object_of {
    ($class:ty, $field:ident) => {
        impl precast_codegen::CLinkerObject for $class {
            super::code::delegate! {
                $field:
                c_headers() -> Vec<String>;
                c_header_dirs() -> Vec<String>;
                c_libraries() -> Vec<String>;
                c_lib_dirs() -> Vec<String>;
                c_compile_args() -> Vec<String>;
                c_no_compile_args() -> Vec<String>;
                c_init_code() -> Vec<String>;
                c_support_code() -> Vec<String>;
                c_compiler() -> Option<precast_codegen::CCompiler>;
                c_code_cache_version() -> precast_codegen::CacheVersion;
                c_sources() -> precast_codegen::SourceSet;
            }
        }
    };
}
pub(super) use object_of;
