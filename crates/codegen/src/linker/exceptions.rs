//! Turns C++ exceptions of an op's code into errors of the call. An exception must not leave a module: its callers are
//! not C++, so the process would terminate.

use crate::template::render;
use precast_store::key::Language;

/// Returns the text before and after an op's code. If the code throws, the text sets the error slot and executes
/// `then`. Empty for C.
pub(super) fn caught(language: Language, then: &str) -> [String; 2] {
    match language {
        Language::C => [String::new(), String::new()],
        Language::Cxx => [
            include_str!("../../c/try.cc.in").to_owned(),
            render(include_str!("../../c/catch.cc.in"), &[("THEN", then)]),
        ],
    }
}
