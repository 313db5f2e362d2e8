//! `sub`: the bits of C that generated code may be parameterised with.

/// What a method that emits C may insert. Which fields are set depends on where the code goes.
///
/// | field | run code of an op | code of a type | struct init |
/// |---|---|---|---|
/// | `fail` | jump to this step's cleanup | the same | return the id |
/// | `id`, `failure_var` | yes | yes | `id` |
/// | `py_ptr`, `stor_ptr` | | yes | |
/// | `params` | name of the params variable, if the op has any | | the same |
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sub {
    /// The statement to insert wherever an error is found, after the error slot was set.
    pub fail: String,
    /// The failure id of this step.
    pub id: u32,
    /// The variable that holds the failure id of the run.
    pub failure_var: String,
    /// The variable that holds the object of a variable: `py_V3`.
    pub py_ptr: String,
    /// The cell that the object came from and goes to: `storage_V3`.
    pub stor_ptr: String,
    /// The params variable of this Apply.
    pub params: Option<String>,
}
