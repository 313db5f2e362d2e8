//! Names of CPython's and NumPy's C API that a unit's headers do not have: what to tell an author who used one.
//!
//! Compilers say in many ways that they do not know a name; all of them quote it, so the first quoted word that has the form
//! of such a name counts. A header of theirs that is missing is led back in the same way.

use precast_abi::compat;
use precast_codegen::Unit;

/// What to do about an error of the compiler; `None` if it is not about such a name.
pub(crate) fn hint(unit: &Unit, message: &str) -> Option<String> {
    let has_compat = unit.members().iter().any(|(_, module)| module.sources.contains_key(compat::PYTHON));
    if let Some(header) = missing_header(message) {
        let known = precast_abi::COMPAT_HEADERS.iter().any(|(name, _)| *name == header);
        return match (known, compat::is_header(header)) {
            (true, _) => Some(format!("return `{header}` from the op's `c_headers`")),
            (false, true) => Some(format!(
                "`{header}` is not among precast's compat headers; `numpy/arrayobject.h` has all there is, see \
                 crates/abi/compat/README.md"
            )),
            (false, false) => None,
        };
    }
    if !UNKNOWN.iter().any(|words| message.contains(words)) {
        return None;
    }
    let name = quoted(message).find(|name| compat::is_name(name))?;
    Some(if !has_compat {
        format!(
            "`{name}` is of CPython's or NumPy's C API: return `numpy/arrayobject.h` from the op's `c_headers`"
        )
    } else if is_declared(name) {
        // Known to the headers, but not to the compiler at this point.
        format!(
            "`{name}` is declared in precast's compat headers: include `numpy/arrayobject.h` before its use"
        )
    } else {
        format!(
            "`{name}` is not in precast's compat headers; crates/abi/compat/README.md lists what is. Use one of those, the \
             pc_tensor API of precast/context.h, or define `{name}` in the op's support code"
        )
    })
}

/// How gcc and clang, in C and in C++, say that they do not know a name.
const UNKNOWN: &[&str] = &[
    "implicit declaration of function",
    "call to undeclared function",
    "undeclared",
    "unknown type name",
    "was not declared",
    "has not been declared",
    "does not name a type",
    "is not a type",
    "expected primary-expression",
    "expected unqualified-id",
];

/// The header of `numpy/x.h: No such file or directory` (gcc) or `'numpy/x.h' file not found` (clang).
fn missing_header(message: &str) -> Option<&str> {
    if let Some((header, _)) = message.split_once(": No such file or directory") {
        return Some(header);
    }
    message.ends_with("file not found").then(|| quoted(message).next()).flatten()
}

/// The words between quotes, which may be those of a typesetter.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split(['\'', '`', '‘', '’', '"']).skip(1).step_by(2)
}

/// Whether the text of some compat header has the name as a word.
fn is_declared(name: &str) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    precast_abi::COMPAT_HEADERS.iter().any(|(_, text)| {
        text.match_indices(name).any(|(at, _)| {
            let bytes = text.as_bytes();
            !word(at.checked_sub(1).and_then(|at| bytes.get(at))) && !word(bytes.get(at + name.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_between_any_quotes() {
        for message in [
            "unknown type name ‘PyFoo_Bar’",
            "'PyFoo_Bar' was not declared in this scope",
            "use of `PyFoo_Bar'",
        ] {
            assert_eq!(quoted(message).find(|name| compat::is_name(name)), Some("PyFoo_Bar"), "{message}");
        }
    }

    #[test]
    fn declared_names_are_whole_words() {
        assert!(is_declared("PyArray_DIMS") && is_declared("npy_intp") && !is_declared("PyArray_DIM_"));
    }
}
