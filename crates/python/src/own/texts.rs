//! C code with marks in place of the names that the linker chooses.

use precast_codegen::Sub;
use std::collections::HashMap;

/// The mark for the name of an Apply or of a C variable.
pub(super) const NAME: &str = "PRECAST_NAME_";

/// The C code that methods returned, by method name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Texts(pub(super) HashMap<String, String>);

impl Texts {
    pub(super) fn has(&self, method: &str) -> bool {
        self.0.contains_key(method)
    }

    /// Returns the text of a method with its marks replaced, or an empty text if the method does not exist.
    pub(super) fn fill(&self, method: &str, name: &str, sub: &Sub) -> String {
        let Some(text) = self.0.get(method) else { return String::new() };
        let id = sub.id.to_string();
        let marks = [
            (NAME, name),
            ("PRECAST_FAIL_", &sub.fail),
            ("PRECAST_ID_", &id),
            ("PRECAST_FAILURE_VAR_", &sub.failure_var),
            ("PRECAST_PY_PTR_", &sub.py_ptr),
            ("PRECAST_STOR_PTR_", &sub.stor_ptr),
            ("PRECAST_PARAMS_", sub.params.as_deref().unwrap_or_default()),
        ];
        marks.iter().fold(text.clone(), |text, (mark, value)| text.replace(mark, value))
    }

    /// Returns the text of a method that uses the variables of an Apply.
    pub(super) fn run(
        &self,
        method: &str,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> String {
        let text = self.fill(method, name, sub);
        let variables = [("INPUT", inputs), ("OUTPUT", outputs)];
        variables.iter().fold(text, |text, (role, names)| {
            let named = names.iter().enumerate();
            named.fold(text, |text, (at, name)| text.replace(&format!("PRECAST_{role}_{at}_"), name))
        })
    }

    /// Returns whether the C code uses names of the CPython or NumPy API.
    pub(super) fn are_compat<'a>(&'a self, others: impl Iterator<Item = &'a String>) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words = self.0.values().chain(others).flat_map(|text| text.split(move |c| !is_name(c)));
        words.any(precast_abi::compat::is_name)
    }
}
