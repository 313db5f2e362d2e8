//! Conversion between declarations and props, which makes a graph with external ops self-contained in JSON.
//!
//! ```json
//! {"op": "external",
//!  "props": {"op": "twice", "files": [["twice.c", "#section code\n…"]], "inputs": ["{T}[?]"], "outputs": ["{T}[?]"],
//!            "params": ["alpha"], "alpha": 2}, …}
//! ```
//! Settings with default values are omitted. [`Setting`] defines how each type is written and read. Params are props
//! under their own names, which `params` lists.

use super::declaration::Declaration;
use super::param_types;
use crate::module::SourceSet;
use crate::params::ParamType;
use precast_graph::{DType, MakeNodeError, Prop, Props, nearest};
use precast_store::key::Language;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of all external ops in JSON.
pub(crate) const NAME: &str = "external";

/// The keys of the op's own name and of the list of params.
const OP: &str = "op";
pub(super) const PARAMS: &str = "params";

/// Lists the fields of a [`Declaration`] that are props of the same name.
macro_rules! settings {
    ($($field:ident),+ $(,)?) => {
        /// Reserved keys that cannot be names of params.
        pub(super) const KEYS: &[&str] = &[OP, PARAMS, $(stringify!($field)),+];

        fn write(declaration: &Declaration, props: &mut Props) {
            let default = Declaration::new("");
            $(if declaration.$field != default.$field {
                props.insert(stringify!($field).to_owned(), declaration.$field.write());
            })+
        }

        fn read(props: &Props, declaration: &mut Declaration) -> Result<(), MakeNodeError> {
            $(if let Some(prop) = props.get(stringify!($field)) {
                declaration.$field = Setting::read(prop).map_err(|problem| wrong(stringify!($field), problem))?;
            })+
            Ok(())
        }
    };
}

settings! {
    files, sources, func, inputs, outputs, dtypes, max_inputs, max_outputs, param_types, headers, header_dirs, libraries, lib_dirs,
    compile_args, no_compile_args, language, version, view_map, destroy_map, reference, gradient, reference_ops, check_input, f16_ok,
}

/// Converts a declaration to props.
pub(super) fn props(declaration: &Declaration) -> Props {
    let mut props = declaration.params.clone();
    props.insert(OP.to_owned(), declaration.name.write());
    if !declaration.params.is_empty() {
        let names: Vec<String> = declaration.params.keys().cloned().collect();
        props.insert(PARAMS.to_owned(), names.write());
    }
    write(declaration, &mut props);
    props
}

/// Parses a declaration from props.
pub(super) fn declaration(props: &Props) -> Result<Declaration, MakeNodeError> {
    let name = props.get(OP).ok_or_else(|| wrong(OP, "is missing"))?;
    let mut declaration = Declaration::new(&String::read(name).map_err(|problem| wrong(OP, problem))?);
    read(props, &mut declaration)?;
    let names = props.get(PARAMS).map_or(Ok(Vec::new()), Vec::<String>::read);
    let names = names.map_err(|problem| wrong(PARAMS, problem))?;
    for name in &names {
        let value =
            props.get(name).ok_or_else(|| wrong(PARAMS, format!("has `{name}`, which has no value")))?;
        declaration.params.insert(name.clone(), value.clone());
    }
    match props.keys().find(|key| !KEYS.contains(&key.as_str()) && !names.contains(key)) {
        Some(key) => {
            let near = super::error::suggestion(nearest(key, KEYS.iter().copied()));
            Err(wrong(key, format!("is unknown{near}")))
        }
        None => Ok(declaration),
    }
}

fn wrong(key: &str, problem: impl Into<String>) -> MakeNodeError {
    MakeNodeError::prop(NAME, key, problem)
}

/// The value of a setting. The error of `read` is a phrase that follows the setting's name.
trait Setting: Sized {
    fn write(&self) -> Prop;
    fn read(prop: &Prop) -> Result<Self, String>;
}

/// An optional setting, omitted if `None`.
impl<S: Setting> Setting for Option<S> {
    fn write(&self) -> Prop {
        self.as_ref().map_or(Prop::List(Vec::new()), S::write)
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        S::read(prop).map(Some)
    }
}

impl<S: Setting> Setting for Vec<S> {
    fn write(&self) -> Prop {
        Prop::List(self.iter().map(S::write).collect())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        match prop {
            Prop::List(items) => items.iter().map(S::read).collect(),
            _ => Err("is not a list".to_owned()),
        }
    }
}

/// Written as a list of two.
impl<A: Setting, B: Setting> Setting for (A, B) {
    fn write(&self) -> Prop {
        Prop::List(vec![self.0.write(), self.1.write()])
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        match prop {
            Prop::List(items) if items.len() == 2 => Ok((A::read(&items[0])?, B::read(&items[1])?)),
            _ => Err(format!("has `{prop}`, expected a pair")),
        }
    }
}

impl Setting for String {
    fn write(&self) -> Prop {
        Prop::Str(self.clone())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        match prop {
            Prop::Str(text) => Ok(text.clone()),
            _ => Err(format!("has `{prop}`, expected a string")),
        }
    }
}

impl Setting for Arc<str> {
    fn write(&self) -> Prop {
        Prop::Str((**self).to_owned())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        String::read(prop).map(Into::into)
    }
}

impl Setting for bool {
    fn write(&self) -> Prop {
        Prop::Bool(*self)
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        match prop {
            Prop::Bool(value) => Ok(*value),
            _ => Err(format!("has `{prop}`, expected a boolean")),
        }
    }
}

impl Setting for usize {
    fn write(&self) -> Prop {
        Prop::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        let number = match prop {
            Prop::Int(value) => Self::try_from(*value).ok(),
            _ => None,
        };
        number.ok_or_else(|| format!("has `{prop}`, expected a non-negative integer"))
    }
}

impl Setting for u32 {
    fn write(&self) -> Prop {
        Prop::Int(i64::from(*self))
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        let number = usize::read(prop)?;
        Self::try_from(number).map_err(|_| format!("has {number}, which is too large"))
    }
}

/// Written as a list of pairs of name and value.
impl Setting for Declaration {
    fn write(&self) -> Prop {
        let pair = |(name, prop): (String, Prop)| Prop::List(vec![Prop::Str(name), prop]);
        Prop::List(props(self).into_iter().map(pair).collect())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        let wrong = || format!("has `{prop}`, expected the settings of an op");
        let Prop::List(items) = prop else { return Err(wrong()) };
        let pair = |item: &Prop| match item {
            Prop::List(pair) => match pair.as_slice() {
                [Prop::Str(name), value] => Ok((name.clone(), value.clone())),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        };
        let props = items.iter().map(pair).collect::<Result<Props, _>>()?;
        declaration(&props).map_err(|error| format!("is invalid: {error}"))
    }
}

impl Setting for Language {
    fn write(&self) -> Prop {
        Prop::Str(self.name().to_owned())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        String::read(prop)?.parse().map_err(|error| format!("is invalid: {error}"))
    }
}

impl Setting for SourceSet {
    fn write(&self) -> Prop {
        self.iter().map(|(name, text)| (name.clone(), Arc::clone(text))).collect::<Vec<_>>().write()
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        Ok(Vec::read(prop)?.into_iter().collect())
    }
}

impl Setting for DType {
    fn write(&self) -> Prop {
        Prop::Str(self.name().to_owned())
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        String::read(prop)?.parse().map_err(|error| format!("is invalid: {error}"))
    }
}

impl Setting for BTreeMap<String, Vec<DType>> {
    fn write(&self) -> Prop {
        self.iter().map(|(letter, list)| (letter.clone(), list.clone())).collect::<Vec<_>>().write()
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        Ok(Vec::read(prop)?.into_iter().collect())
    }
}

impl Setting for BTreeMap<String, ParamType> {
    fn write(&self) -> Prop {
        Prop::List(param_types::props(self))
    }

    fn read(prop: &Prop) -> Result<Self, String> {
        match prop {
            Prop::List(items) => param_types::types(items),
            _ => None,
        }
        .ok_or_else(|| "is not a list of param types".to_owned())
    }
}
