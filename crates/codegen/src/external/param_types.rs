//! Conversion between props and the types of params that cannot be derived from their values.
//!
//! ```text
//! ["alpha", "scalar", "f32"]                                one number
//! ["w", "tensor", "f64"]                                    a tensor
//! ["any", "generic"]                                        a tensor of any dtype
//! ["side", "enum", "int", [["LEFT", 0, "left"], …]]         constants with their values and other names
//! ["mode", "c_enum", "int", ["<fenv.h>"], [["FE_UPWARD"], …]]    constants that headers define
//! ```

use crate::params::{EnumType, ParamType};
use precast_graph::Prop;
use std::collections::BTreeMap;

/// Converts the types to props.
pub(super) fn props(types: &BTreeMap<String, ParamType>) -> Vec<Prop> {
    let text = |text: &str| Prop::Str(text.to_owned());
    let one = |(name, ty): (&String, &ParamType)| {
        let mut items = vec![text(name)];
        match ty {
            ParamType::Scalar(dtype) => items.extend([text("scalar"), text(dtype.name())]),
            ParamType::Tensor(dtype) => items.extend([text("tensor"), text(dtype.name())]),
            ParamType::Generic => items.push(text("generic")),
            ParamType::Enum(constants) => items.extend(enumeration(constants)),
        }
        Prop::List(items)
    };
    types.iter().map(one).collect()
}

fn enumeration(constants: &EnumType) -> Vec<Prop> {
    let text = |text: &str| Prop::Str(text.to_owned());
    let headers = constants.c_headers();
    let one = |(name, value, aliases): (&str, Prop, &[String])| {
        let value = headers.is_none().then_some(value);
        let aliases = aliases.iter().map(|alias| text(alias));
        Prop::List(std::iter::once(text(name)).chain(value).chain(aliases).collect())
    };
    let list = Prop::List(constants.constants().map(one).collect());
    let headers = headers.map(|headers| Prop::List(headers.iter().map(|header| text(header)).collect()));
    let kind = if headers.is_some() { "c_enum" } else { "enum" };
    [text(kind), text(constants.ctype())].into_iter().chain(headers).chain([list]).collect()
}

/// Parses the types from props; `None` if a prop has a different form.
pub(super) fn types(list: &[Prop]) -> Option<BTreeMap<String, ParamType>> {
    let one = |item: &Prop| {
        let Prop::List(items) = item else { return None };
        let [Prop::Str(name), Prop::Str(kind), rest @ ..] = items.as_slice() else { return None };
        let ty = match (kind.as_str(), rest) {
            ("scalar", [Prop::Str(dtype)]) => ParamType::Scalar(dtype.parse().ok()?),
            ("tensor", [Prop::Str(dtype)]) => ParamType::Tensor(dtype.parse().ok()?),
            ("generic", []) => ParamType::Generic,
            ("enum", [Prop::Str(ctype), Prop::List(list)]) => ParamType::Enum(own_constants(ctype, list)?),
            ("c_enum", [Prop::Str(ctype), Prop::List(headers), Prop::List(list)]) => {
                ParamType::Enum(c_constants(ctype, headers, list)?)
            }
            _ => return None,
        };
        Some((name.clone(), ty))
    };
    list.iter().map(one).collect()
}

fn own_constants(ctype: &str, list: &[Prop]) -> Option<EnumType> {
    list.iter().try_fold(EnumType::new(ctype), |all, item| {
        let Prop::List(items) = item else { return None };
        let [Prop::Str(name), value, aliases @ ..] = items.as_slice() else { return None };
        let all = match value {
            Prop::Int(value) => all.constant(name, *value),
            Prop::Float(value) => all.float(name, *value),
            _ => return None,
        };
        with_aliases(all, name, aliases)
    })
}

fn c_constants(ctype: &str, headers: &[Prop], list: &[Prop]) -> Option<EnumType> {
    let mut names = Vec::new();
    for item in list {
        let Prop::List(items) = item else { return None };
        let [Prop::Str(name), aliases @ ..] = items.as_slice() else { return None };
        names.push((name.as_str(), aliases));
    }
    let plain: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let mut all = EnumType::from_c(ctype, &plain);
    for header in headers {
        let Prop::Str(header) = header else { return None };
        all = all.header(header);
    }
    names.into_iter().try_fold(all, |all, (name, aliases)| with_aliases(all, name, aliases))
}

fn with_aliases(all: EnumType, name: &str, aliases: &[Prop]) -> Option<EnumType> {
    aliases.iter().try_fold(all, |all, alias| match alias {
        Prop::Str(alias) => Some(all.alias(name, alias)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use precast_graph::DType;

    #[test]
    fn types_round_trip_through_props() {
        let unit = EnumType::new("double").constant("METRE", 1).float("INCH", 0.0254).alias("INCH", "in");
        let mode = EnumType::from_c("int", &["FE_UPWARD", "FE_DOWNWARD"]).header("<fenv.h>");
        let all: BTreeMap<String, ParamType> = [
            ("a", ParamType::Scalar(DType::F32)),
            ("b", ParamType::Tensor(DType::C128)),
            ("c", ParamType::Generic),
            ("d", ParamType::Enum(unit)),
            ("e", ParamType::Enum(mode.alias("FE_UPWARD", "up"))),
        ]
        .map(|(name, ty)| (name.to_owned(), ty))
        .into();
        assert_eq!(types(&props(&all)), Some(all));
    }

    #[test]
    fn unknown_types_are_rejected() {
        let text = |text: &str| Prop::Str(text.to_owned());
        for item in [
            text("a"),
            Prop::List(vec![text("a")]),
            Prop::List(vec![text("a"), text("scalar"), text("f33")]),
            Prop::List(vec![text("a"), text("enum"), text("int"), Prop::List(vec![text("A")])]),
            Prop::List(vec![text("a"), text("generic"), text("more")]),
        ] {
            assert_eq!(types(&[item]), None);
        }
    }
}
