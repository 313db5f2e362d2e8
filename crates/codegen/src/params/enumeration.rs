//! Enumerations: constants by name, for params of ops.
//!
//! | constructor | in PyTensor | values |
//! |---|---|---|
//! | [`EnumType::new`] | EnumType | given here, integers or floats |
//! | [`EnumType::list`] | EnumList | 0, 1, 2, … |
//! | [`EnumType::from_c`] | CEnumType | the C compiler's, from a header |
//!
//! In C the field of the params has the enumeration's C type, and the bare names of the constants are macros in the code of
//! the op that has such a param, and only there: another op of the module may give the same name another value.

use crate::external::header;
use crate::spelling::{c_float, field_problem, is_c_name};
use crate::template::render;
use precast_graph::{Array, DType, Prop};

/// The value of a constant.
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

/// Constants by name.
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
    /// The headers that define the constants; `None`: this type does.
    headers: Option<Vec<String>>,
}

impl EnumType {
    /// An enumeration without constants yet, held in the C type `ctype`.
    #[must_use]
    pub fn new(ctype: &str) -> Self {
        Self { ctype: ctype.to_owned(), constants: Vec::new(), headers: None }
    }

    /// Constants 0, 1, 2, …, held in an `int`.
    #[must_use]
    pub fn list(names: &[&str]) -> Self {
        names.iter().zip(0..).fold(Self::new("int"), |list, (name, value)| list.constant(name, value))
    }

    /// Constants that C headers define, held in the C type `ctype`. Name the headers by [`EnumType::header`].
    #[must_use]
    pub fn from_c(ctype: &str, names: &[&str]) -> Self {
        let constants = Self::list(names).constants;
        Self { ctype: ctype.to_owned(), constants, headers: Some(Vec::new()) }
    }

    /// Adds a constant.
    #[must_use]
    pub fn constant(self, name: &str, value: i64) -> Self {
        self.with(name, Value::Int(value))
    }

    /// Adds a constant that is a float.
    #[must_use]
    pub fn float(self, name: &str, value: f64) -> Self {
        self.with(name, Value::Float(value))
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.constants.push(Constant { name: name.to_owned(), aliases: Vec::new(), value });
        self
    }

    /// Adds another name for a constant; nothing happens if there is no such constant.
    #[must_use]
    pub fn alias(mut self, name: &str, alias: &str) -> Self {
        if let Some(constant) = self.constants.iter_mut().find(|constant| constant.name == name) {
            constant.aliases.push(alias.to_owned());
        }
        self
    }

    /// Adds a header that defines constants: `<fenv.h>`. Without effect on an enumeration that has its own values.
    #[must_use]
    pub fn header(mut self, header: &str) -> Self {
        if let Some(headers) = &mut self.headers {
            headers.push(header.to_owned());
        }
        self
    }

    /// The enumeration with other names for its headers.
    pub(super) fn map_headers(mut self, of: impl Fn(&str) -> String) -> Self {
        self.headers.iter_mut().flatten().for_each(|header| *header = of(header));
        self
    }

    /// The names of the constants, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.constants.iter().map(|constant| &*constant.name).collect()
    }

    /// The other names of a constant.
    #[must_use]
    pub fn aliases(&self, name: &str) -> &[String] {
        self.constants.iter().find(|constant| constant.name == name).map_or(&[], |constant| &constant.aliases)
    }

    /// The constant that an alias stands for.
    #[must_use]
    pub fn from_alias(&self, alias: &str) -> Option<&str> {
        let known = self.constants.iter().find(|c| c.aliases.iter().any(|known| known == alias));
        known.map(|constant| &*constant.name)
    }

    /// The C type of a value.
    #[must_use]
    pub fn ctype(&self) -> &str {
        &self.ctype
    }

    /// The constants with their values and other names, in order.
    pub(crate) fn constants(&self) -> impl Iterator<Item = (&str, Prop, &[String])> {
        self.constants.iter().map(|constant| {
            let value = match constant.value {
                Value::Int(n) => Prop::Int(n),
                Value::Float(x) => Prop::Float(x),
            };
            (&*constant.name, value, &*constant.aliases)
        })
    }

    /// The headers that define the constants; `None`: this type does.
    pub(crate) fn c_headers(&self) -> Option<&[String]> {
        self.headers.as_deref()
    }

    /// The headers that define the constants.
    pub(super) fn headers(&self) -> &[String] {
        self.headers.as_deref().unwrap_or(&[])
    }

    /// The dtype of the number that stands for a constant in a slot: its value, or its position if C has the value.
    pub(super) fn carrier(&self) -> DType {
        let float = |constant: &Constant| matches!(constant.value, Value::Float(_));
        if self.constants.iter().any(float) { DType::F64 } else { DType::I64 }
    }

    /// The number that stands for the constant that `prop` means, by name, alias or value; else what is wrong.
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
            (None, _) => Err(format!("{prop} is none of {}", self.names().join(", "))),
        }
    }

    /// What keeps the constants from being C macros, in words.
    pub(super) fn problem(&self) -> Option<String> {
        let taken = |name: &str| self.constants.iter().filter(|c| c.name == name).count() > 1;
        if let Some(error) = self.headers().iter().find_map(|text| header(text).err()) {
            return Some(error.to_string());
        }
        // What a header defines may be a macro; what is defined here may not be one already.
        let is_free = |name: &str| self.headers.is_some() || field_problem(name).is_none();
        let wrong =
            self.constants.iter().find(|c| !is_c_name(&c.name) || !is_free(&c.name) || taken(&c.name));
        wrong.map(|constant| format!("`{}` cannot name a constant in C, or does so twice", constant.name))
    }

    /// The lines that define the constants, and those that take them away.
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

    /// The C that turns a position into the constant at `target`; `None` if slots hold values.
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
