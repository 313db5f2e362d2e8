//! The positions of a manifest's tables in its text. An unreadable table is left out so that mistakes in the
//! remaining tables are reported too; those keep their numbers.

use precast_core::names::excerpt;
use std::ops::Range;
use toml::de::{DeArray, DeTable, DeValue};

/// The keys of a manifest whose values are lists of tables.
pub(super) const KINDS: [&str; 3] = ["op", "graph", "external"];

/// The offset and the title (`[[op]] 2`) of each table, in text order.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables(Vec<(usize, String)>);

impl Tables {
    pub(super) fn of(root: &DeTable<'_>) -> Self {
        let mut tables: Vec<(usize, String)> =
            items(root).map(|(kind, number, start)| (start, format!("[[{kind}]] {}", number + 1))).collect();
        tables.sort();
        Self(tables)
    }

    /// Returns the title of the table that contains a byte: the last one that begins at or before it.
    pub(super) fn at(&self, offset: usize) -> Option<&str> {
        let table = self.0.iter().take_while(|(start, _)| *start <= offset).last();
        table.map(|(_, title)| title.as_str())
    }

    /// Returns the title of the table that contains the name, followed by the name.
    pub(super) fn title(&self, name: &toml::Spanned<String>) -> String {
        format!("{} (`{}`)", self.at(name.span().start).unwrap_or_default(), excerpt(name.get_ref()))
    }
}

fn items(root: &DeTable<'_>) -> impl Iterator<Item = (&'static str, usize, usize)> {
    let lists = KINDS.into_iter().filter_map(|kind| Some((kind, root.get(kind)?.get_ref().as_array()?)));
    lists.flat_map(|(kind, list)| {
        list.iter().enumerate().map(move |(number, item)| (kind, number, item.span().start))
    })
}

/// The part of the manifest that was left out.
pub(super) enum Left {
    /// A key.
    Key,
    /// A table of an op or a graph.
    Table,
    /// A table of an external op, with the op's name if the table has one.
    External(Option<String>),
}

/// Removes the key at a position; `None` if no key is at that position.
pub(super) fn leave_out_key(value: &mut DeValue<'_>, at: &Range<usize>) -> Option<Left> {
    match value {
        DeValue::Table(table) => {
            let key = table.keys().find(|key| key.span() == *at).map(|key| key.get_ref().to_string());
            key.and_then(|key| table.remove(key.as_str()).map(|_| Left::Key))
                .or_else(|| table.iter_mut().find_map(|(_, value)| leave_out_key(value.get_mut(), at)))
        }
        DeValue::Array(items) => items.iter_mut().find_map(|item| leave_out_key(item.get_mut(), at)),
        _ => None,
    }
}

/// Removes the table that contains a position, or the top-level key whose value contains it; `None` if neither
/// exists.
pub(super) fn leave_out_table(root: &mut DeTable<'_>, at: &Range<usize>) -> Option<Left> {
    let is_list = |key: &str, value: &DeValue<'_>| KINDS.contains(&key) && value.is_array();
    let own = root
        .iter()
        .find(|(key, value)| !is_list(key.get_ref(), value.get_ref()) && value.span().contains(&at.start));
    if let Some(key) = own.map(|(key, _)| key.get_ref().to_string()) {
        let left = root.remove(key.as_str())?;
        // Possibly a misspelled list: the graphs may call the op that it names.
        let name = left.get_ref().get("name").and_then(|name| name.get_ref().as_str());
        return Some(if key == "external" { Left::External(name.map(str::to_owned)) } else { Left::Key });
    }
    let (_, kind, number) = items(root)
        .filter(|(.., start)| *start <= at.start)
        .map(|(kind, number, start)| (start, kind, number))
        .max()?;
    let DeValue::Array(list) = root.get_mut(kind)?.get_mut() else { return None };
    let mut out = None;
    for (position, item) in std::mem::replace(list, DeArray::new()).into_iter().enumerate() {
        if position == number { out = Some(item) } else { list.push(item) }
    }
    let item = out?;
    let name = item.get_ref().get("name").and_then(|name| name.get_ref().as_str());
    Some(if kind == "external" { Left::External(name.map(str::to_owned)) } else { Left::Table })
}
