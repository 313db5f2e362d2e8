//! A declaration as props, and back: what makes a graph with external ops self-contained in JSON.
//!
//! ```json
//! {"op": "external",
//!  "props": {"op": "twice", "files": [["twice.c", "#section code\n…"]], "inputs": ["{T}[?]"], "outputs": ["{T}[?]"],
//!            "params": ["alpha"], "alpha": 2}, …}
//! ```
//! Settings at their defaults are left out. Params are props of their own names, listed in `params`.

use super::declaration::Declaration;
use super::param_types;
use precast_graph::{MakeNodeError, Prop, Props, nearest};

/// Keys that no param can have.
pub(super) const KEYS: [&str; 22] = [
    "op",
    "files",
    "sources",
    "func",
    "inputs",
    "outputs",
    "max_inputs",
    "max_outputs",
    "params",
    "param_types",
    "headers",
    "header_dirs",
    "libraries",
    "lib_dirs",
    "compile_args",
    "no_compile_args",
    "language",
    "version",
    "view_map",
    "destroy_map",
    "check_input",
    "f16_ok",
];

/// The name of all external ops in JSON.
pub(crate) const NAME: &str = "external";

/// The props of a declaration.
pub(super) fn props(declaration: &Declaration) -> Props {
    let mut props = declaration.params.clone();
    let mut add = |key: &str, value: Prop, is_default: bool| {
        if !is_default {
            props.insert(key.to_owned(), value);
        }
    };
    let text = |text: &str| Prop::Str(text.to_owned());
    let texts = |items: &[String]| Prop::List(items.iter().map(|item| text(item)).collect());
    let int = |n: usize| Prop::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let d = declaration;
    add("op", text(&d.name), false);
    let pair = |(name, content): (&String, &std::sync::Arc<str>)| Prop::List(vec![text(name), text(content)]);
    add("files", Prop::List(d.files.iter().map(|(name, content)| pair((name, content))).collect()), false);
    add("sources", Prop::List(d.sources.iter().map(pair).collect()), d.sources.is_empty());
    add("func", text(d.func.as_deref().unwrap_or_default()), d.func.is_none());
    add("inputs", texts(&d.inputs), d.inputs.is_empty());
    add("outputs", texts(&d.outputs), d.outputs.is_empty());
    add("max_inputs", int(d.max_inputs.unwrap_or_default()), d.max_inputs.is_none());
    add("max_outputs", int(d.max_outputs.unwrap_or_default()), d.max_outputs.is_none());
    let names: Vec<String> = d.params.keys().cloned().collect();
    add("params", texts(&names), names.is_empty());
    add("param_types", Prop::List(param_types::props(&d.param_types)), d.param_types.is_empty());
    for (key, list) in [
        ("headers", &d.headers),
        ("header_dirs", &d.header_dirs),
        ("libraries", &d.libraries),
        ("lib_dirs", &d.lib_dirs),
        ("compile_args", &d.compile_args),
        ("no_compile_args", &d.no_compile_args),
    ] {
        add(key, texts(list), list.is_empty());
    }
    add("language", text(d.language.map_or("", |language| language.name())), d.language.is_none());
    let version = d.version.iter().flatten().map(|n| Prop::Int(i64::from(*n))).collect();
    add("version", Prop::List(version), d.version.is_none());
    for (key, map) in [("view_map", &d.view_map), ("destroy_map", &d.destroy_map)] {
        let pairs = map.iter().map(|(output, input)| Prop::List(vec![int(*output), int(*input)])).collect();
        add(key, Prop::List(pairs), map.is_empty());
    }
    add("check_input", Prop::Bool(d.check_input), d.check_input);
    add("f16_ok", Prop::Bool(d.f16_ok), !d.f16_ok);
    props
}

/// The declaration of props.
pub(super) fn declaration(props: &Props) -> Result<Declaration, MakeNodeError> {
    let read = Reader { props };
    let mut d = Declaration::new(&read.text("op")?.ok_or_else(|| wrong("op", "is missing"))?);
    d.files = read.pairs("files")?.into_iter().map(|(name, text)| (name, text.into())).collect();
    d.sources = read.pairs("sources")?.into_iter().map(|(name, text)| (name, text.into())).collect();
    d.func = read.text("func")?;
    d.inputs = read.texts("inputs")?;
    d.outputs = read.texts("outputs")?;
    d.max_inputs = read.int("max_inputs")?;
    d.max_outputs = read.int("max_outputs")?;
    d.headers = read.texts("headers")?;
    d.header_dirs = read.texts("header_dirs")?;
    d.libraries = read.texts("libraries")?;
    d.lib_dirs = read.texts("lib_dirs")?;
    d.compile_args = read.texts("compile_args")?;
    d.no_compile_args = read.texts("no_compile_args")?;
    let language = read.text("language")?.map(|name| name.parse());
    d.language = language.transpose().map_err(|error| wrong("language", format!("is wrong: {error}")))?;
    d.version = read.version()?;
    d.view_map = read.map("view_map")?;
    d.destroy_map = read.map("destroy_map")?;
    d.check_input = read.bool("check_input")?.unwrap_or(true);
    d.f16_ok = read.bool("f16_ok")?.unwrap_or(false);
    let types = param_types::types(read.list("param_types")?);
    d.param_types = types.ok_or_else(|| wrong("param_types", "is no list of types of params"))?;
    let names = read.texts("params")?;
    for name in &names {
        let value =
            props.get(name).ok_or_else(|| wrong("params", format!("names `{name}`, which has no value")))?;
        d.params.insert(name.clone(), value.clone());
    }
    match props.keys().find(|key| !KEYS.contains(&key.as_str()) && !names.contains(key)) {
        Some(key) => {
            let near = super::error::suggestion(nearest(key, KEYS));
            Err(wrong(key, format!("is not known{near}")))
        }
        None => Ok(d),
    }
}

fn wrong(key: &str, problem: impl Into<String>) -> MakeNodeError {
    MakeNodeError::prop(NAME, key, problem)
}

struct Reader<'a> {
    props: &'a Props,
}

impl Reader<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, MakeNodeError> {
        match self.props.get(key) {
            None => Ok(None),
            Some(Prop::Str(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(key, "is no text")),
        }
    }

    fn bool(&self, key: &str) -> Result<Option<bool>, MakeNodeError> {
        match self.props.get(key) {
            None => Ok(None),
            Some(Prop::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(wrong(key, "is no truth value")),
        }
    }

    fn int(&self, key: &str) -> Result<Option<usize>, MakeNodeError> {
        self.props.get(key).map(|prop| count(key, prop)).transpose()
    }

    fn list(&self, key: &str) -> Result<&[Prop], MakeNodeError> {
        match self.props.get(key) {
            None => Ok(&[]),
            Some(Prop::List(items)) => Ok(items),
            Some(_) => Err(wrong(key, "is no list")),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, MakeNodeError> {
        let text = |item: &Prop| match item {
            Prop::Str(text) => Ok(text.clone()),
            _ => Err(wrong(key, "is no list of texts")),
        };
        self.list(key)?.iter().map(text).collect()
    }

    fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, MakeNodeError> {
        let pair = |item: &Prop| match item {
            Prop::List(pair) => match pair.as_slice() {
                [Prop::Str(name), Prop::Str(text)] => Ok((name.clone(), text.clone())),
                _ => Err(wrong(key, "is no list of pairs of a name and a text")),
            },
            _ => Err(wrong(key, "is no list of pairs of a name and a text")),
        };
        self.list(key)?.iter().map(pair).collect()
    }

    fn map(&self, key: &str) -> Result<Vec<(usize, usize)>, MakeNodeError> {
        let pair = |item: &Prop| match item {
            Prop::List(pair) if pair.len() == 2 => Ok((count(key, &pair[0])?, count(key, &pair[1])?)),
            _ => Err(wrong(key, "is no list of pairs `[output, input]`")),
        };
        self.list(key)?.iter().map(pair).collect()
    }

    fn version(&self) -> Result<Option<Vec<u32>>, MakeNodeError> {
        if !self.props.contains_key("version") {
            return Ok(None);
        }
        let number = |item: &Prop| {
            let number = count("version", item)?;
            u32::try_from(number).map_err(|_| wrong("version", format!("has {number}, which is too large")))
        };
        self.list("version")?.iter().map(number).collect::<Result<_, _>>().map(Some)
    }
}

fn count(key: &str, prop: &Prop) -> Result<usize, MakeNodeError> {
    let number = match prop {
        Prop::Int(value) => usize::try_from(*value).ok(),
        _ => None,
    };
    number.ok_or_else(|| wrong(key, format!("has `{prop}`, expected a number from 0 up")))
}
