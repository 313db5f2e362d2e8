//! Enumerations: named constants for params of ops.
//!
//! | constructor | in PyTensor | values |
//! |---|---|---|
//! | [`EnumType::new`] | EnumType | given here, integers or floats |
//! | [`EnumType::list`] | EnumList | 0, 1, 2, … |
//! | [`EnumType::from_c`] | CEnumType | defined by a C header |
//!
//! In C, the params field has the enumeration's C type. The bare names of the constants are macros, defined only in the
//! code of the op with the param. Another op of the module may use the same name for a different value.

use crate::external::header;
use crate::spelling::{c_float, field_problem, is_c_name};
use crate::template::render;
use precast_graph::{Array, DType, Prop};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Int(i64),
    Float(f64),
}

#[derive(Debug, Clone, PartialEq)]
struct Constant {
    name: String,
    aliases: Vec<String>,
    value: Value,
}

/// A set of named constants.
///
/// # Examples
/// ```
/// use precast_codegen::EnumType;
///
/// let side = EnumType::list(&["LEFT", "RIGHT"]).alias("LEFT", "left").alias("RIGHT", "right");
/// assert_eq!(side.from_alias("right"), Some("RIGHT"));
/// let mode = EnumType::from_c("int", &["FE_TONEAREST", "FE_UPWARD"]).header("<fenv.h>");
/// let unit = EnumType::new("double").constant("METRE", 1).float("INCH", 0.0254);
/// assert_eq!(unit.names(), ["METRE", "INCH"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EnumType {
    ctype: String,
    constants: Vec<Constant>,
    /// The headers that define the constants; `None` if this type defines them.
    headers: Option<Vec<String>>,
}

impl EnumType {
    /// Creates an enumeration without constants, stored in the C type `ctype`.
    #[must_use]
    pub fn new(ctype: &str) -> Self {
        Self { ctype: ctype.to_owned(), constants: Vec::new(), headers: None }
    }

    /// Creates the constants 0, 1, 2, …, stored in an `int`.
    #[must_use]
    pub fn list(names: &[&str]) -> Self {
        names.iter().zip(0..).fold(Self::new("int"), |list, (name, value)| list.constant(name, value))
    }

    /// Creates constants that C headers define, stored in the C type `ctype`. Add the headers with
    /// [`EnumType::header`].
    #[must_use]
    pub fn from_c(ctype: &str, names: &[&str]) -> Self {
        let constants = Self::list(names).constants;
        Self { ctype: ctype.to_owned(), constants, headers: Some(Vec::new()) }
    }

    /// Adds an integer constant.
    #[must_use]
    pub fn constant(self, name: &str, value: i64) -> Self {
        self.with(name, Value::Int(value))
    }

    /// Adds a float constant.
    #[must_use]
    pub fn float(self, name: &str, value: f64) -> Self {
        self.with(name, Value::Float(value))
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.constants.push(Constant { name: name.to_owned(), aliases: Vec::new(), value });
        self
    }

    /// Adds another name for a constant; does nothing if the constant does not exist.
    #[must_use]
    pub fn alias(mut self, name: &str, alias: &str) -> Self {
        if let Some(constant) = self.constants.iter_mut().find(|constant| constant.name == name) {
            constant.aliases.push(alias.to_owned());
        }
        self
    }

    /// Adds a header that defines constants: `<fenv.h>`. Has no effect on an enumeration with its own values.
    #[must_use]
    pub fn header(mut self, header: &str) -> Self {
        if let Some(headers) = &mut self.headers {
            headers.push(header.to_owned());
        }
        self
    }

    /// Renames the headers.
    pub(super) fn map_headers(mut self, of: impl Fn(&str) -> String) -> Self {
        self.headers.iter_mut().flatten().for_each(|header| *header = of(header));
        self
    }

    /// Returns the names of the constants, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.constants.iter().map(|constant| &*constant.name).collect()
    }

    /// Returns the aliases of a constant.
    #[must_use]
    pub fn aliases(&self, name: &str) -> &[String] {
        self.constants.iter().find(|constant| constant.name == name).map_or(&[], |constant| &constant.aliases)
    }

    /// Returns the constant that an alias refers to.
    #[must_use]
    pub fn from_alias(&self, alias: &str) -> Option<&str> {
        let known = self.constants.iter().find(|c| c.aliases.iter().any(|known| known == alias));
        known.map(|constant| &*constant.name)
    }

    /// Returns the C type of the values.
    #[must_use]
    pub fn ctype(&self) -> &str {
        &self.ctype
    }

    /// Returns the constants with their values and aliases, in order.
    pub(crate) fn constants(&self) -> impl Iterator<Item = (&str, Prop, &[String])> {
        self.constants.iter().map(|constant| {
            let value = match constant.value {
                Value::Int(n) => Prop::Int(n),
                Value::Float(x) => Prop::Float(x),
            };
            (&*constant.name, value, &*constant.aliases)
        })
    }

    /// Returns the headers that define the constants; `None` if this type defines them.
    pub(crate) fn c_headers(&self) -> Option<&[String]> {
        self.headers.as_deref()
    }

    /// Returns the headers that define the constants.
    pub(super) fn headers(&self) -> &[String] {
        self.headers.as_deref().unwrap_or(&[])
    }

    /// Returns the dtype of a constant's slot. The slot holds the value, or the position if C defines the value.
    pub(super) fn carrier(&self) -> DType {
        let float = |constant: &Constant| matches!(constant.value, Value::Float(_));
        if self.constants.iter().any(float) { DType::F64 } else { DType::I64 }
    }

    /// Returns the slot value of the constant that `prop` selects by name, alias or value. The error describes the
    /// problem.
    pub(super) fn value(&self, prop: &Prop) -> Result<Array, String> {
        let own_values = self.headers.is_none();
        let means = |constant: &&Constant| match (prop, constant.value) {
            (Prop::Str(name), _) => constant.name == *name || constant.aliases.contains(name),
            (Prop::Int(n), Value::Int(value)) => own_values && *n == value,
            (Prop::Int(n), Value::Float(value)) => *n as f64 == value,
            (Prop::Float(x), Value::Float(value)) => *x == value,
            (Prop::Float(x), Value::Int(value)) => own_values && *x == value as f64,
            _ => false,
        };
        let found = self.constants.iter().find(means).map(|constant| constant.value);
        match (found, self.carrier()) {
            (Some(Value::Int(n)), DType::I64) => Ok(Array::from(n)),
            (Some(Value::Int(n)), _) => Ok(Array::from(n as f64)),
            (Some(Value::Float(x)), _) => Ok(Array::from(x)),
            (None, _) => Err(format!("{prop} is not one of {}", self.names().join(", "))),
        }
    }

    /// Returns a description of the problem if the constants cannot be C macros.
    pub(super) fn problem(&self) -> Option<String> {
        let taken = |name: &str| self.constants.iter().filter(|c| c.name == name).count() > 1;
        if let Some(error) = self.headers().iter().find_map(|text| header(text).err()) {
            return Some(error.to_string());
        }
        // A constant from a header may be a macro; one defined here must not be a macro already.
        let is_free = |name: &str| self.headers.is_some() || field_problem(name).is_none();
        let wrong =
            self.constants.iter().find(|c| !is_c_name(&c.name) || !is_free(&c.name) || taken(&c.name));
        wrong.map(|constant| format!("`{}` is not a C constant name, or is duplicated", constant.name))
    }

    /// Returns the lines that define the constants, and the lines that undefine them.
    pub(super) fn macros(&self) -> (String, String) {
        if self.headers.is_some() {
            return (String::new(), String::new());
        }
        let (mut define, mut undefine) = (String::new(), String::new());
        for constant in &self.constants {
            let value = match constant.value {
                Value::Int(n) => format!("(({})({n}))", self.ctype),
                Value::Float(x) => format!("(({})({}))", self.ctype, c_float(x)),
            };
            let values = [("NAME", &*constant.name), ("VALUE", &value)];
            define.push_str(&render(include_str!("../../c/params/define.c.in"), &values));
            undefine.insert_str(0, &render(include_str!("../../c/params/undefine.c.in"), &values[..1]));
        }
        (define, undefine)
    }

    /// Returns C code that stores the constant for a position in `target`; `None` if slots hold values.
    pub(super) fn choice(&self, field: &str, slot: usize, target: &str, fail: &str) -> Option<String> {
        self.headers.as_ref()?;
        let case = |(i, constant): (usize, &Constant)| {
            format!("  case {i}:\n    {target} = ({})({});\n    break;\n", self.ctype, constant.name)
        };
        let cases: String = self.constants.iter().enumerate().map(case).collect();
        let values = [("FIELD", field), ("SLOT", &slot.to_string()), ("CASES", &cases), ("FAIL", fail)];
        Some(render(include_str!("../../c/params/choice.c.in"), &values))
    }
}
