//! Binds the arguments of a call to the parameters of a row, as Python does.
//!
//! ```text
//! sum(x, 0, keepdims=True)          x, 0 ──▶ arguments: x;  settings: axis=0, keepdims=True
//! stack([x, y], axis=1)             a list in the place of the tensors ──▶ arguments: x, y;  settings: axis=1
//! reshape(x, shape=(n, 2))          an argument by its name ──▶ arguments: x, n, 2
//! quantile(x, q, weights=w)         an optional argument ──▶ arguments: x, q, w
//! ```
//! The arguments of a function are the values it computes with: variables and numbers. A list stays a list until the
//! function requests an array ([`Operands::variable`](super::Operands)). If one array may stand for its rows, a list
//! means several tensors.
//!
//! The settings of a function are known when the graph is built, and become props: the given value, or the default of
//! the row. `None` means that the setting is absent: `sort(x)` sorts along the last axis, `sort(x, axis=None)` sorts
//! all elements.

use crate::rows::{Keyword, Row};
use precast_graph::{Keywords, MakeNodeError, Operand, Props, nearest};

/// The arguments and the settings of a call.
pub(super) type Bound = (Vec<Operand>, Props);

/// Binds the arguments of a call of `function`, which is one of the names of the row.
pub(super) fn bind(
    function: &str,
    row: &Row,
    args: &[Operand],
    keywords: &Keywords,
) -> Result<Bound, MakeNodeError> {
    let fixed = row.fixed();
    let (first, rest) = args.split_at(args.len().min(fixed.len()));
    let mut is_list = rest.len() > 1 || matches!(rest, [Operand::List(_), ..]);
    let (mut many, rest) = match rest {
        [Operand::List(items), rest @ ..] if row.variadic().is_some() => (items.clone(), rest),
        _ if row.variadic().is_some() => (rest.to_vec(), &[][..]),
        _ => (Vec::new(), rest),
    };
    let settings: Vec<&Keyword> = row.keywords.iter().filter(|keyword| keyword.positional).collect();
    if rest.len() > settings.len() {
        return Err(arity(function, row, settings.len(), args.len()));
    }
    let (mut bound, mut props, mut given) = (first.to_vec(), Props::new(), Vec::new());
    for (keyword, value) in settings.iter().zip(rest) {
        given.push(keyword.name);
        set(function, keyword.name, value, &mut props)?;
    }
    for (name, value) in keywords {
        let name = name.as_str();
        let twice = || MakeNodeError::prop(function, name, "is given twice");
        if let Some(position) = fixed.iter().position(|argument| *argument == name) {
            bound.resize(bound.len().max(position + 1), Operand::None);
            if bound[position] != Operand::None {
                return Err(twice());
            }
            bound[position] = value.clone();
        } else if row.variadic() == Some(name) {
            if !many.is_empty() {
                return Err(twice());
            }
            is_list = matches!(value, Operand::List(_));
            many = match value {
                Operand::List(items) => items.clone(),
                Operand::None => Vec::new(),
                one => vec![one.clone()],
            };
        } else if row.keyword(name).is_some() {
            if given.contains(&name) {
                return Err(twice());
            }
            given.push(name);
            match row.named_position(name) {
                Some(_) if *value == Operand::None => {}
                Some(position) => {
                    bound.resize(bound.len().max(position + 1), Operand::None);
                    bound[position] = value.clone();
                }
                None => set(function, name, value, &mut props)?,
            }
        } else {
            return Err(unknown(function, row, name));
        }
    }
    if row.takes_rows && is_list {
        many = vec![Operand::List(many)];
    }
    if !many.is_empty() {
        bound.resize(fixed.len(), Operand::None);
        bound.extend(many);
    }
    let defaults = row.keywords.iter().filter(|keyword| !given.contains(&keyword.name));
    props.extend(defaults.filter_map(|keyword| Some((keyword.name.to_owned(), keyword.value()?))));
    Ok((bound, props))
}

/// Binds the arguments of a function without a row: operands by position, props by name.
pub(super) fn bind_own(
    function: &str,
    args: &[Operand],
    keywords: &Keywords,
) -> Result<Bound, MakeNodeError> {
    let mut props = Props::new();
    for (name, value) in keywords {
        set(function, name, value, &mut props)?;
    }
    Ok((args.to_vec(), props))
}

/// Adds a setting, unless it is `None`.
fn set(function: &str, name: &str, value: &Operand, props: &mut Props) -> Result<(), MakeNodeError> {
    if *value == Operand::None {
        return Ok(());
    }
    let problem =
        || format!("is {}, expected a value that is constant when the graph is built", value.describe());
    let prop = value.prop().ok_or_else(|| MakeNodeError::prop(function, name, problem()))?;
    props.insert(name.to_owned(), prop);
    Ok(())
}

fn arity(function: &str, row: &Row, settings: usize, found: usize) -> MakeNodeError {
    let (least, most) = (row.fixed().len(), row.fixed().len() + settings);
    let expected = if least == most { least.to_string() } else { format!("at most {most}") };
    MakeNodeError::Arity { op: function.to_owned(), expected, found }
}

fn unknown(function: &str, row: &Row, name: &str) -> MakeNodeError {
    let known = || row.arguments.iter().map(|name| name.trim_end_matches('…'));
    let known = || row.keywords.iter().map(|keyword| keyword.name).chain(known());
    let near = nearest(name, known()).map(|near| format!("; nearest `{near}`"));
    let all = || format!("; known: {}", known().collect::<Vec<_>>().join(", "));
    MakeNodeError::prop(function, name, format!("is unknown{}", near.unwrap_or_else(all)))
}
