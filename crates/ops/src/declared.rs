//! Reads declared props, and checks inputs for many ops.

use precast_graph::{DType, Extent, MakeNodeError, Prop, Props, TensorType, Type};

/// The props of one op while they are read.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'a> {
    op: &'a str,
    props: &'a Props,
}

impl<'a> Declared<'a> {
    /// Wraps the props of `op` and rejects any prop that is not in `known`.
    pub(crate) fn new(op: &'a str, props: &'a Props, known: &[&str]) -> Result<Self, MakeNodeError> {
        if let Some(prop) = props.keys().find(|prop| !known.contains(&prop.as_str())) {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(MakeNodeError::prop(op, prop, format!("is unknown; known: {known}")));
        }
        Ok(Self { op, props })
    }

    /// Wraps the settings of a call, whose names are already checked against the row.
    pub(crate) fn bound(op: &'a str, props: &'a Props) -> Self {
        Self { op, props }
    }

    /// Returns the error for a prop of the wrong kind.
    pub(crate) fn wrong(&self, prop: &str, expected: &str) -> MakeNodeError {
        let problem = match self.props.get(prop) {
            Some(found) => format!("is `{found}`, expected {expected}"),
            None => format!("is missing, expected {expected}"),
        };
        MakeNodeError::prop(self.op, prop, problem)
    }

    /// Returns whether a prop exists.
    pub(crate) fn has(&self, prop: &str) -> bool {
        self.props.contains_key(prop)
    }

    /// Returns a boolean; false if the prop is missing.
    pub(crate) fn flag(&self, prop: &str) -> Result<bool, MakeNodeError> {
        match self.props.get(prop) {
            None => Ok(false),
            Some(Prop::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(prop, "a boolean")),
        }
    }

    /// Returns an integer, if the prop exists.
    pub(crate) fn int(&self, prop: &str) -> Result<Option<i64>, MakeNodeError> {
        match self.props.get(prop) {
            None => Ok(None),
            Some(Prop::Int(value)) => Ok(Some(*value)),
            Some(_) => Err(self.wrong(prop, "an integer")),
        }
    }

    /// Returns a required number.
    pub(crate) fn float(&self, prop: &str) -> Result<f64, MakeNodeError> {
        match self.props.get(prop) {
            Some(Prop::Float(value)) => Ok(*value),
            Some(Prop::Int(value)) => Ok(*value as f64),
            _ => Err(self.wrong(prop, "a number")),
        }
    }

    /// Returns a required count, which must not be negative.
    pub(crate) fn count(&self, prop: &str) -> Result<usize, MakeNodeError> {
        let expected = "a non-negative integer";
        self.int(prop)?.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| self.wrong(prop, expected))
    }

    /// Returns a dtype, given as a dtype or by name, if the prop exists.
    pub(crate) fn dtype(&self, prop: &str) -> Result<Option<DType>, MakeNodeError> {
        match self.props.get(prop) {
            None => Ok(None),
            Some(Prop::DType(dtype)) => Ok(Some(*dtype)),
            // In NumPy's one-letter codes the number counts bytes.
            Some(Prop::Str(code)) if matches!(code.as_str(), "i8" | "u8") => {
                let wide = if code == "i8" { "int64" } else { "uint64" };
                let narrow =
                    format!("write `{code}` without quotes for 8 bits, `{wide}` for NumPy's '{code}'");
                Err(MakeNodeError::prop(
                    self.op,
                    prop,
                    format!("is '{code}', which has 8 bytes in NumPy\nhint: {narrow}"),
                ))
            }
            Some(Prop::Str(name)) => match of_code(name).map_or_else(|| name.parse().ok(), Some) {
                Some(dtype) => Ok(Some(dtype)),
                None => Err(self.wrong(prop, "a dtype")),
            },
            Some(_) => Err(self.wrong(prop, "a dtype")),
        }
    }

    /// Returns a required text.
    pub(crate) fn text(&self, prop: &str) -> Result<&'a str, MakeNodeError> {
        match self.props.get(prop) {
            Some(Prop::Str(text)) => Ok(text),
            _ => Err(self.wrong(prop, "a string")),
        }
    }

    /// Returns a list, if the prop exists; a single item becomes a list of one.
    pub(crate) fn list(&self, prop: &str) -> Option<Vec<Prop>> {
        match self.props.get(prop)? {
            Prop::List(items) => Some(items.clone()),
            item => Some(vec![item.clone()]),
        }
    }
}

/// Returns the tensor type of an input.
pub(crate) fn tensor<'a>(op: &str, input: usize, types: &'a [Type]) -> Result<&'a TensorType, MakeNodeError> {
    match &types[input] {
        Type::Tensor(tensor) => Ok(tensor),
        other => Err(refuse(op, input, other, "a tensor")),
    }
}

/// Returns the error for an input of the wrong type.
pub(crate) fn refuse(op: &str, input: usize, found: &Type, expected: impl Into<String>) -> MakeNodeError {
    MakeNodeError::Input { op: op.to_owned(), input, found: found.to_string(), expected: expected.into() }
}

/// Checks that an input is one i64: `i64[]` or a C scalar.
pub(crate) fn integer(op: &str, input: usize, types: &[Type]) -> Result<(), MakeNodeError> {
    if types[input].dtype() == DType::I64 && types[input].ndim() == 0 {
        return Ok(());
    }
    Err(refuse(op, input, &types[input], "an integer, `i64[]`"))
}

/// Checks that an input is a vector of i64 and returns its extent.
pub(crate) fn integers(op: &str, input: usize, types: &[Type]) -> Result<Extent, MakeNodeError> {
    match &types[input] {
        Type::Tensor(tensor) if tensor.dtype == DType::I64 && tensor.shape.len() == 1 => Ok(tensor.shape[0]),
        other => Err(refuse(op, input, other, "a vector of integers, `i64[?]`")),
    }
}

/// Checks the minimum number of inputs.
pub(crate) fn at_least(op: &str, least: usize, types: &[Type]) -> Result<(), MakeNodeError> {
    if types.len() >= least {
        return Ok(());
    }
    let expected = format!("at least {least}");
    Err(MakeNodeError::Arity { op: op.to_owned(), expected, found: types.len() })
}

/// Checks that an axis exists.
pub(crate) fn axis(op: &str, axis: usize, ndim: usize) -> Result<(), MakeNodeError> {
    if axis < ndim {
        return Ok(());
    }
    let axis = i64::try_from(axis).unwrap_or(i64::MAX);
    Err(MakeNodeError::Axis { op: op.to_owned(), prop: "axis".to_owned(), axis, ndim })
}

/// Creates a tensor type from a dtype and extents.
pub(crate) fn of(dtype: DType, shape: Vec<Extent>) -> Type {
    Type::Tensor(TensorType { dtype, shape })
}

/// Converts a position to a prop.
pub(crate) fn position(n: usize) -> Prop {
    Prop::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Returns the dtype of a NumPy code, in which numbers count bytes. Assumes that C's `long` has 8 bytes, as on all
/// supported machines.
fn of_code(code: &str) -> Option<DType> {
    Some(match code.trim_start_matches(['=', '<']) {
        "?" | "b1" => DType::Bool,
        "b" | "i1" | "byte" => DType::I8,
        "h" | "i2" | "short" => DType::I16,
        "i" | "i4" | "intc" => DType::I32,
        "l" | "q" | "p" | "int_" | "intp" | "long" | "longlong" => DType::I64,
        "B" | "u1" | "ubyte" => DType::U8,
        "H" | "u2" | "ushort" => DType::U16,
        "I" | "u4" | "uintc" => DType::U32,
        "L" | "Q" | "P" | "uint" | "uintp" | "ulong" | "ulonglong" => DType::U64,
        "e" | "f2" | "half" => DType::F16,
        "f" | "f4" | "single" => DType::F32,
        "d" | "f8" | "double" => DType::F64,
        "F" | "c8" | "csingle" => DType::C64,
        "D" | "c16" | "cdouble" => DType::C128,
        _ => return None,
    })
}
