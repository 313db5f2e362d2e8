//! C++ exceptions: what an op's code throws becomes an error of the call. Nothing may leave a module otherwise, since its
//! callers are not C++ and the process would end.

use crate::template::render;
use precast_store::key::Language;

/// What stands in front of code of an op and behind it: if it throws, the error slot is set and `then` follows. Nothing in C.
pub(super) fn caught(language: Language, then: &str) -> [String; 2] {
    match language {
        Language::C => [String::new(), String::new()],
        Language::Cxx => [
            include_str!("../../c/try.cc.in").to_owned(),
            render(include_str!("../../c/catch.cc.in"), &[("THEN", then)]),
        ],
    }
}
