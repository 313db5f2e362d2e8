//! `ParamsType`: values that an op receives at run time instead of in its text.
//!
//! ```text
//! Op::params()      names the props that are params             graph: omitted from labels
//! COp::params_type  the type of each: scalar, tensor, enumeration, generic
//! slots             their values, one tensor per field, after the graph's constants
//! ```
//! A module has a struct `@name@_params` for each Apply with params. Its fields are sorted by name:
//!
//! | field | in C | holds |
//! |---|---|---|
//! | `Scalar(f64)` | `pc_f64 alpha;` | the value |
//! | `Tensor(f64)` | `pc_tensor *w;` | a read-only tensor, which the instance keeps alive |
//! | `Enum(…)` | the enumeration's C type | the value of the constant |
//! | `Generic` | `pc_object *any;` | a read-only tensor of any dtype, which the instance keeps alive |
//!
//! The struct is filled when an instance is created, before any code of an op runs. `sub.params` is a pointer to it, in
//! run code and in struct init. The text of a module contains the types of the fields but never a value, so graphs that
//! differ only in params share a module.

mod enumeration;
mod slots;

pub use enumeration::EnumType;
pub use slots::{apply_slots, slots};
pub(crate) use slots::{check_values, of, value as slot_value};

use crate::error::LinkError;
use crate::object::CLinkerObject;
use crate::spelling::field_problem;
use crate::template::render;
use precast_graph::{DType, Prop, Props};
use std::collections::BTreeMap;

/// The type of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParamType {
    /// A number, stored by value.
    Scalar(DType),
    /// A tensor of any shape.
    Tensor(DType),
    /// One of a set of constants.
    Enum(EnumType),
    /// A tensor of any dtype and shape.
    Generic,
}

impl ParamType {
    /// Renames the headers that the type requests.
    pub(crate) fn map_headers(self, of: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Enum(constants) => Self::Enum(constants.map_headers(of)),
            other => other,
        }
    }
}

/// The fields of an op's params, ordered by name.
///
/// # Examples
/// ```
/// use precast_codegen::{EnumType, ParamType, ParamsType};
/// use precast_graph::DType;
///
/// let params = ParamsType::new()
///     .with("alpha", ParamType::Scalar(DType::F64))
///     .with("side", ParamType::Enum(EnumType::list(&["LEFT", "RIGHT"])))
///     .with("weights", ParamType::Tensor(DType::F64));
/// assert_eq!(params.len(), 3);
/// assert_eq!(params.c_element_type("weights").as_deref(), Some("pc_f64"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParamsType {
    fields: BTreeMap<String, ParamType>,
}

/// Returns the name of the struct type of the Apply `name`: the value of `PARAMS_TYPE`.
#[must_use]
pub fn type_name(name: &str) -> String {
    format!("{name}_params")
}

/// Returns the pointer to the params of the Apply `name`: the value of `sub.params` and `PARAMS`.
#[must_use]
pub fn pointer(name: &str) -> String {
    format!("(&self->{name}_values)")
}

impl ParamsType {
    /// Creates a type without fields, for an op without params.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field. It replaces an earlier field with the same name.
    #[must_use]
    pub fn with(mut self, field: &str, ty: ParamType) -> Self {
        self.fields.insert(field.to_owned(), ty);
        self
    }

    /// Derives the types from the values of the props listed in `params`.
    ///
    /// # Errors
    /// Returns [`LinkError::Param`] if a prop is missing or has a kind without a corresponding type.
    pub fn derive(op: &str, params: &[String], props: &Props) -> Result<Self, LinkError> {
        let mut fields = BTreeMap::new();
        for name in params {
            let wrong = |problem: &str| Err(param(op, name, problem));
            let ty = match props.get(name) {
                None => return wrong("is not a prop of the op"),
                Some(Prop::Bool(_)) => ParamType::Scalar(DType::Bool),
                Some(Prop::Int(_) | Prop::DType(_)) => ParamType::Scalar(DType::I64),
                Some(Prop::Float(_)) => ParamType::Scalar(DType::F64),
                Some(Prop::Array(value)) => ParamType::Tensor(value.dtype()),
                Some(Prop::List(items)) if items.iter().all(|item| matches!(item, Prop::Int(_))) => {
                    ParamType::Tensor(DType::I64)
                }
                Some(_) => return wrong("has a kind without a C type; set one in `params_type`"),
            };
            fields.insert(name.clone(), ty);
        }
        Ok(Self { fields })
    }

    /// Returns the fields sorted by name, which is the order of the slots.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &ParamType)> {
        self.fields.iter().map(|(name, ty)| (&**name, ty))
    }

    /// Returns the type of a field.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&ParamType> {
        self.fields.get(field)
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the dtype of a scalar or tensor field.
    #[must_use]
    pub fn dtype(&self, field: &str) -> Option<DType> {
        match self.fields.get(field)? {
            ParamType::Scalar(dtype) | ParamType::Tensor(dtype) => Some(*dtype),
            ParamType::Enum(_) | ParamType::Generic => None,
        }
    }

    /// Returns the C type of a field's elements, `pc_f64`, or of its constants: the value of `DTYPE_PARAM_<field>`.
    #[must_use]
    pub fn c_element_type(&self, field: &str) -> Option<String> {
        match self.fields.get(field)? {
            ParamType::Scalar(dtype) | ParamType::Tensor(dtype) => Some(format!("pc_{dtype}")),
            ParamType::Enum(constants) => Some(constants.ctype().to_owned()),
            ParamType::Generic => None,
        }
    }

    /// Returns the enumeration that has a constant with this name or alias, and the constant's name.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<(&EnumType, &str)> {
        self.fields.values().find_map(|ty| {
            let ParamType::Enum(constants) = ty else { return None };
            let own = constants.names().into_iter().find(|known| *known == name);
            own.or_else(|| constants.from_alias(name)).map(|name| (constants, name))
        })
    }

    /// Checks that the fields and constants have valid names in C.
    pub(crate) fn check(&self, op: &str) -> Result<(), LinkError> {
        for (field, ty) in &self.fields {
            if let Some(problem) = field_problem(field) {
                return Err(param(op, field, problem));
            }
            if let ParamType::Enum(constants) = ty
                && let Some(problem) = constants.problem()
            {
                return Err(param(op, field, &problem));
            }
        }
        Ok(())
    }

    /// Renders the declaration of the struct type of the Apply `name`.
    pub(crate) fn declare(&self, name: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let field = |(field, ty): (&String, &ParamType)| match ty {
            ParamType::Scalar(dtype) => format!("  pc_{dtype} {field};\n"),
            ParamType::Tensor(_) => format!("  pc_tensor *{field};\n"),
            ParamType::Enum(constants) => format!("  {} {field};\n", constants.ctype()),
            ParamType::Generic => format!("  pc_object *{field};\n"),
        };
        let fields: String = self.fields.iter().map(field).collect();
        render(include_str!("../../c/params/struct.c.in"), &[("NAME", name), ("FIELDS", &fields)])
    }

    /// Renders the member of the instance that holds the struct.
    pub(crate) fn member(&self, name: &str) -> String {
        if self.is_empty() { String::new() } else { format!("{} {name}_values;\n", type_name(name)) }
    }

    /// Renders the code that fills the struct from the slots that start at `first`.
    pub(crate) fn extract(&self, name: &str, first: usize, fail: &str) -> String {
        let field = |(position, (field, ty)): (usize, (&String, &ParamType))| {
            let (slot, target) = (first + position, format!("self->{name}_values.{field}"));
            extract(field, ty, slot, &target, fail)
        };
        self.fields.iter().enumerate().map(field).collect()
    }

    /// Surrounds `code` with the macros of the enumerations' constants.
    pub(crate) fn with_constants(&self, code: String) -> String {
        let (mut before, mut after) = (String::new(), String::new());
        for ty in self.fields.values().filter(|_| !code.is_empty()) {
            if let ParamType::Enum(constants) = ty {
                let (define, undefine) = constants.macros();
                before.push_str(&define);
                after.insert_str(0, &undefine);
            }
        }
        if before.is_empty() { code } else { format!("\n{before}{code}\n{after}") }
    }
}

impl CLinkerObject for ParamsType {
    fn c_headers(&self) -> Vec<String> {
        let headers = self.fields.values().flat_map(|ty| match ty {
            ParamType::Enum(constants) => constants.headers(),
            _ => &[],
        });
        let link = (!self.is_empty()).then(|| "precast/link.h".to_owned());
        link.into_iter().chain(headers.cloned()).collect()
    }

    fn c_sources(&self) -> crate::module::SourceSet {
        if self.is_empty() { crate::module::SourceSet::new() } else { crate::module::support_headers() }
    }
}

/// Renders the code that fills one field.
fn extract(field: &str, ty: &ParamType, slot: usize, target: &str, fail: &str) -> String {
    let number = slot.to_string();
    let with = |template: &str, dtype: DType| {
        let typenum = dtype.typenum().to_string();
        let values =
            [("FIELD", field), ("TYPENUM", &*typenum), ("SLOT", &number), ("TARGET", target), ("FAIL", fail)];
        render(template, &values)
    };
    let check = include_str!("../../c/params/scalar.c.in");
    let load = |ctype: &str, carrier: DType| {
        format!("{target} = ({ctype})*(const pc_{carrier} *)pc_data(pc_values[{slot}]);\n")
    };
    match ty {
        ParamType::Scalar(dtype) => {
            // No cast, since a struct cannot be cast, even to its own type.
            let load = format!("{target} = *(const pc_{dtype} *)pc_data(pc_values[{slot}]);\n");
            with(check, *dtype) + &load
        }
        ParamType::Tensor(dtype) => with(include_str!("../../c/params/tensor.c.in"), *dtype),
        ParamType::Enum(constants) => {
            let carrier = constants.carrier();
            let choice = constants.choice(field, slot, target, fail);
            with(check, carrier) + &choice.unwrap_or_else(|| load(constants.ctype(), carrier))
        }
        ParamType::Generic => format!("{target} = pc_values[{slot}];\n"),
    }
}

fn param(op: &str, field: &str, problem: &str) -> LinkError {
    LinkError::Param { op: op.to_owned(), field: field.to_owned(), problem: problem.to_owned() }
}
