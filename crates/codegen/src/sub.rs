//! `sub`: pieces of C code that generated code can be parameterized with.

/// The values that a method that emits C may insert. The location of the code determines which fields are set.
///
/// | field | run code of an op | code of a type | struct init |
/// |---|---|---|---|
/// | `fail` | jumps to this step's cleanup | the same | aborts and undoes the initialization |
/// | `id`, `failure_var` | yes | yes | yes |
/// | `py_ptr`, `stor_ptr` | | yes | |
/// | `params` | a pointer to the params struct, if the op has params | | the same |
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sub {
    /// The statement to insert wherever an error is detected, after setting the error slot.
    pub fail: String,
    /// The failure ID of this step.
    pub id: u32,
    /// The variable that holds the failure ID of the run.
    pub failure_var: String,
    /// The C variable that holds the object of a graph variable: `py_V3`.
    pub py_ptr: String,
    /// The cell that the object is loaded from and stored in: `storage_V3`.
    pub stor_ptr: String,
    /// A pointer to the params struct of this Apply.
    pub params: Option<String>,
}
