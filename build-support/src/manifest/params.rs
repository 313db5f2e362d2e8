//! Params of external ops: their values and types in TOML.
//!
//! ```toml
//! params = { alpha = 0.5, side = "RIGHT", mode = "FE_UPWARD", w = [0.5, 1.5] }
//! [external.param_types]
//! alpha = "f32"                                              # else f64, as floats are
//! side = { enum = ["LEFT", "RIGHT"] }                        # 0, 1
//! unit = { enum = { METRE = 1, INCH = 0.0254 }, ctype = "double", aliases = { inch = "INCH" } }
//! mode = { enum = ["FE_UPWARD", "FE_DOWNWARD"], headers = ["<fenv.h>"] }
//! w = { tensor = "f32" }
//! ```

use super::{ConstantTable, ParamTable};
use precast_codegen::{EnumType, ParamType};
use precast_graph::{Array, DType, Prop};

/// Converts the value of a param; `None` for dates, tables and lists with items other than numbers.
pub(super) fn value(value: &toml::Value) -> Option<Prop> {
    Some(match value {
        toml::Value::Boolean(value) => Prop::Bool(*value),
        toml::Value::Integer(value) => Prop::Int(*value),
        toml::Value::Float(value) => Prop::Float(*value),
        toml::Value::String(value) => Prop::Str(value.clone()),
        toml::Value::Array(items) => {
            let int = |item: &toml::Value| item.as_integer().map(Prop::Int);
            let float = |item: &toml::Value| item.as_float().or(item.as_integer().map(|n| n as f64));
            match items.iter().map(int).collect::<Option<_>>() {
                Some(list) => Prop::List(list),
                None => {
                    let bits = items.iter().map(|item| float(item).map(f64::to_bits));
                    let bits = bits.collect::<Option<Vec<u64>>>()?;
                    Prop::Array(Array::from_bits(DType::F64, &[bits.len()], &bits)?)
                }
            }
        }
        _ => return None,
    })
}

/// Converts a value to its declared dtype: a float is rounded, an integer must fit.
pub(super) fn rounded(value: Prop, ty: &ParamType) -> Prop {
    let (ParamType::Scalar(dtype) | ParamType::Tensor(dtype)) = ty else { return value };
    match value {
        Prop::Float(x) if dtype.is_float() => Prop::Array(Array::from(x).cast(*dtype)),
        Prop::Array(array) if dtype.is_float() => Prop::Array(array.cast(*dtype)),
        other => other,
    }
}

/// Parses the type of a param.
pub(super) fn ty(table: &ParamTable) -> Result<ParamType, String> {
    let dtype = |name: &str| name.parse().map_err(|error| precast_core::event::chain(&error));
    match table {
        ParamTable::Name(name) if name == "generic" => Ok(ParamType::Generic),
        ParamTable::Name(name) => Ok(ParamType::Scalar(dtype(name)?)),
        ParamTable::Tensor { tensor } => Ok(ParamType::Tensor(dtype(tensor)?)),
        ParamTable::Enum { constants, ctype, headers, aliases } => {
            let ctype = ctype.as_deref().unwrap_or("int");
            let mut all = enumeration(constants, ctype, headers.as_deref())?;
            for (alias, name) in aliases {
                if !all.names().contains(&name.as_str()) {
                    return Err(format!("alias `{alias}` refers to unknown constant `{name}`"));
                }
                all = all.alias(name, alias);
            }
            Ok(ParamType::Enum(all))
        }
    }
}

fn enumeration(
    constants: &ConstantTable,
    ctype: &str,
    headers: Option<&[String]>,
) -> Result<EnumType, String> {
    match (constants, headers) {
        (ConstantTable::Names(names), Some(headers)) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Ok(headers.iter().fold(EnumType::from_c(ctype, &names), |all, header| all.header(header)))
        }
        (ConstantTable::Values(_), Some(_)) => {
            Err("constants from headers cannot have values; list their names".to_owned())
        }
        (ConstantTable::Names(names), None) => {
            Ok(names.iter().zip(0..).fold(EnumType::new(ctype), |all, (name, n)| all.constant(name, n)))
        }
        (ConstantTable::Values(values), None) => {
            values.iter().try_fold(EnumType::new(ctype), |all, (name, value)| match value {
                toml::Value::Integer(n) => Ok(all.constant(name, *n)),
                toml::Value::Float(x) => Ok(all.float(name, *x)),
                other => Err(format!("constant `{name}` is `{other}`, expected a number")),
            })
        }
    }
}
