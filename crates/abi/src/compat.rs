//! Recognizes the headers and names of CPython's and NumPy's C API by their form alone.
//!
//! Code generation includes the compat headers for an op that uses either API. Debug mode uses this module to find out
//! which API an op's C code expects, and compiler diagnostics are explained with it.
//! [`COMPAT_HEADERS`](crate::COMPAT_HEADERS) are the headers that precast provides.

/// The header that every module with compat headers includes.
pub const PYTHON: &str = "Python.h";

/// The header with all of the NumPy API that precast supports.
pub const NUMPY: &str = "numpy/arrayobject.h";

/// Returns whether a header belongs to CPython or NumPy. The name may include its brackets or quotes.
#[must_use]
pub fn is_header(include: &str) -> bool {
    let name = include.trim_matches(['<', '>', '"']);
    name == PYTHON || name.starts_with("numpy/")
}

/// Returns whether a C identifier has the form of a name in CPython's or NumPy's C API: `PyArray_DATA`, `npy_intp`,
/// `NpyIter_New`.
#[must_use]
pub fn is_name(word: &str) -> bool {
    let public = word.strip_prefix('_').unwrap_or(word);
    let after = ["Py", "Npy"].into_iter().find_map(|prefix| public.strip_prefix(prefix));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.chars().all(is_word)
        && (after.is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_uppercase()))
            || ["npy_", "NPY_"].iter().any(|prefix| word.starts_with(prefix))
            || word == "import_array")
}

#[cfg(test)]
mod tests {
    use super::{is_header, is_name};

    #[test]
    fn headers_are_recognized_with_and_without_brackets() {
        assert!(
            ["Python.h", "<Python.h>", "\"numpy/ndarraytypes.h\"", "<numpy/x.h>"].into_iter().all(is_header)
        );
        assert!(!["Python.hpp", "my/Python.h", "numpy.h", "<math.h>"].into_iter().any(is_header));
    }

    #[test]
    fn names_are_recognized_by_form() {
        let theirs = [
            "PyArray_DATA",
            "Py_INCREF",
            "_Py_NoneStruct",
            "npy_intp",
            "NPY_FLOAT",
            "NpyIter_New",
            "import_array",
        ];
        assert!(theirs.into_iter().all(is_name));
        let others = ["Pyramid", "sqroot", "pc_tensor", "npx", "PY", "Npyx", "import_arrays", "PyX y", ""];
        assert!(!others.into_iter().any(is_name));
    }
}
