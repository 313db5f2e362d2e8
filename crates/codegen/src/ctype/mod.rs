//! CType: how a type of the graph is held in C.
//!
//! A type of a user is a Rust type with [`CLinkerObject`], [`TypeRules`] and [`CType`], put into a
//! [`Library`](crate::Library) under the name that graphs use. Which of its steps a variable takes:
//!
//! | step | called for | what it does |
//! |---|---|---|
//! | `c_declare` | every variable | declares its C variables, resources NULL |
//! | `c_extract` | inputs, slots | fills them from `py_<name>` |
//! | `c_init` | simple temporaries | gives them a valid first value |
//! | `c_extract_out` | outputs and temporaries | extracts what may be reused, else initialises |
//! | `c_sync` | outputs and temporaries, without failure | puts the value into `py_<name>`, never NULL |
//! | `c_cleanup` | every variable, always | gives back what the C variables hold |
//!
//! The rules are those of Aesara's CType document: insert `sub.fail` on an error, after the error slot was set; never
//! `return`; `c_cleanup` runs right after a failure and sees only what `c_declare` declared; `c_sync` and `c_cleanup` may both run, one after the
//! other. `py_<name>` is `sub.py_ptr`, a `pc_object *` that owns one reference where the variable is an output.
//!
//! A new step is a method here with a default, its caller in `linker/run.rs`, and a place in the lists of `linker/reserved.rs` and
//! `linker/versions.rs`.

mod cdata;
pub(crate) mod scalar;
mod tensor;

pub use cdata::CDataType;
pub(crate) use scalar::CScalar;
pub(crate) use tensor::CTensor;

use crate::object::CLinkerObject;
use crate::sub::Sub;
use precast_graph::{Array, TypeRules};

/// The C side of a type. `name` is the C variable; its object is `sub.py_ptr`; `ctx` is the call's `pc_context *`.
///
/// # Examples
/// A number in a C variable of its own type; a full one is in `crates/codegen/tests/it/double.rs`.
/// ```
/// use precast_codegen::{CLinkerObject, CType, Library, Sub};
/// use precast_graph::TypeRules;
///
/// struct Degrees;
///
/// impl TypeRules for Degrees {}
/// impl CLinkerObject for Degrees {}
/// impl CType for Degrees {
///     fn c_declare(&self, name: &str, _: &Sub, _: bool) -> String {
///         format!("double {name};")
///     }
///     fn c_init(&self, name: &str, _: &Sub) -> String {
///         format!("{name} = 0;")
///     }
///     fn c_extract(&self, name: &str, sub: &Sub, _: bool) -> String {
///         format!("{name} = *(double *)((pc_tensor *){})->data;", sub.py_ptr)
///     }
///     fn c_sync(&self, name: &str, sub: &Sub) -> String {
///         let new = format!("pc_scalar_out(ctx, PC_F64, &{})", sub.py_ptr);
///         format!("if ({new} == NULL) {}\n*(double *)((pc_tensor *){})->data = {name};", sub.fail, sub.py_ptr)
///     }
///     fn c_is_simple(&self) -> bool {
///         true
///     }
/// }
///
/// let library = Library::new().with_type("degrees", std::sync::Arc::new(Degrees));
/// assert_eq!(library.types().names(), ["degrees"]);
/// ```
pub trait CType: CLinkerObject + TypeRules + Send + Sync {
    /// Declares the variables of `name`. What can be released later is NULL from the start.
    fn c_declare(&self, name: &str, sub: &Sub, check_input: bool) -> String;

    /// Gives the declared variables a first value.
    fn c_init(&self, name: &str, sub: &Sub) -> String;

    /// Fills the declared variables from the object; validates it only if `check_input`.
    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String;

    /// As `c_extract` if there is an object to reuse, else as `c_init`.
    fn c_extract_out(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        let (extract, init) = (self.c_extract(name, sub, check_input), self.c_init(name, sub));
        crate::template::render(
            include_str!("../../c/extract_out.c.in"),
            &[("PY", &sub.py_ptr), ("EXTRACT", &extract), ("INIT", &init)],
        )
    }

    /// Puts the computed value into the object; on failure the object stays valid.
    fn c_sync(&self, name: &str, sub: &Sub) -> String;

    /// Gives back what the declared variables hold; sees only them.
    fn c_cleanup(&self, _name: &str, _sub: &Sub) -> String {
        String::new()
    }

    /// Whether the value lives in the C variable alone, so that a temporary needs no object.
    fn c_is_simple(&self) -> bool {
        false
    }

    /// Whether the C variable `name` is a number of the carrier's dtype, without dimensions, and every such number a value: native
    /// functions then take and give values of the type as plain numbers, and neither extract nor sync them.
    fn c_is_number(&self) -> bool {
        false
    }

    /// A value as a C expression, for ops that write one into their code.
    fn c_literal(&self, _value: &Array) -> Option<String> {
        None
    }

    /// The primitive C type of the elements: `pc_f64`.
    fn c_element_type(&self) -> Option<String> {
        None
    }
}
