//! `CType`: the C representation of a graph type.
//!
//! A user type is a Rust type that implements [`CLinkerObject`], [`TypeRules`] and [`CType`]. It is registered in a
//! [`Library`](crate::Library) under the name that graphs use. A variable goes through these steps:
//!
//! | step | called for | effect |
//! |---|---|---|
//! | `c_declare` | every variable | declares its C variables, with resources set to NULL |
//! | `c_extract` | inputs, slots | fills them from `py_<name>` |
//! | `c_init` | simple temporaries | sets a valid initial value |
//! | `c_extract_out` | outputs and temporaries | extracts an object that may be reused, or initializes |
//! | `c_sync` | outputs and temporaries, unless the call failed | stores the value in `py_<name>`, never NULL |
//! | `c_cleanup` | every variable, always | releases the resources that the C variables hold |
//!
//! The rules are those of Aesara's CType document. On an error, set the error slot, then insert `sub.fail`; never
//! `return`. `c_cleanup` runs right after a failure and sees only the variables from `c_declare`. `c_sync` and
//! `c_cleanup` may both run, one after the other. `py_<name>` is `sub.py_ptr`, a `pc_object *` that owns one reference
//! if the variable is an output.
//!
//! To add a step, add a method with a default here, call it in `linker/run.rs`, and add it to the lists in
//! `linker/reserved.rs` and `linker/versions.rs`.

mod cdata;
pub(crate) mod scalar;
mod tensor;

pub use cdata::CDataType;
pub(crate) use scalar::CScalar;
pub(crate) use tensor::CTensor;

use crate::object::CLinkerObject;
use crate::sub::Sub;
use precast_graph::{Array, TypeRules};

/// The C side of a type. `name` is the C variable, `sub.py_ptr` is its object, and `ctx` is the call's `pc_context *`.
///
/// # Examples
/// A number in a C variable of its own type. See `crates/codegen/tests/it/double.rs` for a complete type.
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
    /// Returns declarations of the variables of `name`. Resources that are released later must be initialized to NULL.
    fn c_declare(&self, name: &str, sub: &Sub, check_input: bool) -> String;

    /// Returns code that sets the declared variables to an initial value.
    fn c_init(&self, name: &str, sub: &Sub) -> String;

    /// Returns code that fills the declared variables from the object, and validates it only if `check_input`.
    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String;

    /// Returns code that works like `c_extract` if an object can be reused, and like `c_init` otherwise.
    fn c_extract_out(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        let (extract, init) = (self.c_extract(name, sub, check_input), self.c_init(name, sub));
        crate::template::render(
            include_str!("../../c/extract_out.c.in"),
            &[("PY", &sub.py_ptr), ("EXTRACT", &extract), ("INIT", &init)],
        )
    }

    /// Returns code that stores the computed value in the object. If it fails, the object must stay valid.
    fn c_sync(&self, name: &str, sub: &Sub) -> String;

    /// Returns code that releases the resources of the declared variables; it sees only these variables.
    fn c_cleanup(&self, _name: &str, _sub: &Sub) -> String {
        String::new()
    }

    /// Returns whether the value is stored entirely in the C variable, so that a temporary needs no object.
    fn c_is_simple(&self) -> bool {
        false
    }

    /// Returns whether the C variable `name` is a number of the carrier's dtype without dimensions, and every such
    /// number is a valid value. Native functions then pass values of the type as plain numbers, without extracting or
    /// syncing them.
    fn c_is_number(&self) -> bool {
        false
    }

    /// Returns a value as a C expression, for ops that embed values in their code.
    fn c_literal(&self, _value: &Array) -> Option<String> {
        None
    }

    /// Returns the primitive C type of the elements: `pc_f64`.
    fn c_element_type(&self) -> Option<String> {
        None
    }
}
