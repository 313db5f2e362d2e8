//! Hints for authors who use a name of CPython's or NumPy's C API that the unit's headers do not declare.
//!
//! Compilers report unknown names in many ways, but all of them quote the name. So the first quoted word that has the
//! form of such a name is used. Missing headers of these APIs are handled in the same way.

use precast_abi::compat;
use precast_codegen::Unit;

/// Returns a hint for a compiler error; `None` if the error does not concern such a name.
pub(crate) fn hint(unit: &Unit, message: &str) -> Option<String> {
    let has_compat = unit.members().iter().any(|(_, module)| module.sources.contains_key(compat::PYTHON));
    if let Some(header) = missing_header(message) {
        let known = precast_abi::COMPAT_HEADERS.iter().any(|(name, _)| *name == header);
        return match (known, compat::is_header(header)) {
            (true, _) => Some(format!("return `{header}` from the op's `c_headers`")),
            (false, true) => Some(format!(
                "include `numpy/arrayobject.h`, which has all declarations; `{header}` is not among precast's compat \
                 headers, see crates/abi/compat/README.md"
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
            "return `numpy/arrayobject.h` from the op's `c_headers`: `{name}` belongs to CPython's or NumPy's C API"
        )
    } else if is_declared(name) {
        // The headers declare the name, but the compiler has not seen the declaration at this point.
        format!(
            "include `numpy/arrayobject.h` before the use of `{name}`, which precast's compat headers declare"
        )
    } else {
        format!(
            "use a symbol listed in crates/abi/compat/README.md or the pc_tensor API of precast/context.h, or define \
             `{name}` in the op's support code: it is not in precast's compat headers"
        )
    })
}

/// Phrases with which gcc and clang report an unknown name, in C and in C++.
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

/// Returns the header in `numpy/x.h: No such file or directory` (gcc) or `'numpy/x.h' file not found` (clang).
fn missing_header(message: &str) -> Option<&str> {
    if let Some((header, _)) = message.split_once(": No such file or directory") {
        return Some(header);
    }
    message.ends_with("file not found").then(|| quoted(message).next()).flatten()
}

/// Returns the words between quotes, including typographic ones.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split(['\'', '`', '‘', '’', '"']).skip(1).step_by(2)
}

/// Returns whether the text of any compat header contains the name as a whole word.
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
    fn symbol_names_are_found_in_any_quotes() {
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
