//! `precast ls`: lists the contents of the layers.

use precast_core::Metadata;
use precast_store::{Layer, Record};
use serde_json::{Value, json};

use crate::args::LsArgs;
use crate::error::{Exit, Failure};
use crate::{described, layers, print, term};

/// Runs the command.
pub(super) fn run(args: &LsArgs) -> Result<Exit, Failure> {
    let layers = layers::open_some(&args.layers)?;
    let (mut entries, mut functions, mut modules) = (Vec::new(), Vec::new(), Vec::new());
    for layer in &layers {
        // A pattern selects modules only.
        if args.signature.is_none() {
            entries.extend(list_entries(layer)?);
            functions.extend(layer.functions().into_iter().map(|(name, metadata)| (name, metadata, layer)));
        }
        for record in layer.bare_records() {
            let record = record?;
            // Nothing uses a superseded record.
            if !layer.is_superseded(&record)? {
                modules.extend(list_modules(layer, &record, args.signature.as_deref()));
            }
        }
    }
    modules.sort_by(|a, b| (&a.signature, &a.key, &a.isa).cmp(&(&b.signature, &b.key, &b.isa)));
    for layer in &layers {
        if let Layer::Remote(remote) = layer {
            term::note(&format!(
                "remote {remote}: lists all entries, but only modules that were fetched before"
            ));
        }
    }
    if args.json {
        let entries: Vec<Value> = entries.iter().map(Listed::json).collect();
        let modules: Vec<Value> = modules.iter().map(Module::json).collect();
        let mut listed = json!({"entries": entries, "modules": modules});
        if !functions.is_empty() {
            listed["functions"] = functions.iter().map(described_json).collect();
        }
        term::print_json(&listed)?;
        return Ok(Exit::Ok);
    }
    let several = layers.len() > 1;
    let mut text = String::new();
    if !entries.is_empty() {
        text += &table(["ENTRY", "KEY", "LAYER", "INTERFACE"], several, entries.iter().map(Listed::row));
        text.push('\n');
    }
    if !modules.is_empty() {
        let headings = ["KEY", "ISA", "TARGET", "UNPACKED", "LAYER", "SIGNATURE"];
        text += &table(headings, several, modules.iter().map(Module::row));
    } else if let Some(pattern) = &args.signature {
        term::note(&format!("no module matches `{pattern}`"));
    } else if entries.is_empty() {
        term::note("no entries and no modules");
    }
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// Returns a table whose column `LAYER` exists only if there are several layers.
fn table<const N: usize>(
    headings: [&'static str; N],
    several: bool,
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let shown = |column: &usize| several || headings[*column] != "LAYER";
    let columns: Vec<usize> = (0..N).filter(shown).collect();
    let pick = |row: [String; N]| columns.iter().map(|column| row[*column].clone()).collect();
    let rows: Vec<Vec<String>> = rows.map(pick).collect();
    let headings: Vec<&str> = columns.iter().map(|column| headings[*column]).collect();
    print::table(&headings, &rows)
}

struct Listed {
    name: String,
    interface: String,
    keys: Vec<String>,
    layer: String,
    metadata: Metadata,
}

fn list_entries(layer: &Layer) -> Result<Vec<Listed>, Failure> {
    let listed = |entry: precast_store::Entry| {
        let interface = entry.program.to_string();
        let keys = entry.program.keys().map(|key| key.to_string()).collect();
        Listed { name: entry.name, interface, keys, layer: layer.to_string(), metadata: entry.metadata }
    };
    Ok(layer.entries()?.into_iter().map(listed).collect())
}

impl Listed {
    fn row(&self) -> [String; 4] {
        let keys: Vec<&str> = self.keys.iter().map(|key| &key[..16]).collect();
        [self.name.clone(), keys.join(" "), self.layer.clone(), self.interface.clone()]
    }

    fn json(&self) -> Value {
        let mut listed = json!({"name": self.name, "interface": self.interface, "program": self.keys, "layer": self.layer});
        if !self.metadata.is_empty() {
            listed["metadata"] = described::json(&self.metadata);
        }
        listed
    }
}

/// Renders a function of several entries, or the bundle, whose name is empty.
fn described_json((name, metadata, layer): &(String, Metadata, &Layer)) -> Value {
    json!({"name": name, "metadata": described::json(metadata), "layer": layer.to_string()})
}

struct Module {
    signature: String,
    key: String,
    target: String,
    isa: String,
    size: u64,
    digest: String,
    layer: String,
}

fn list_modules<'a>(
    layer: &'a Layer,
    record: &'a Record,
    pattern: Option<&'a str>,
) -> impl Iterator<Item = Module> + 'a {
    let members = record.members.iter();
    members.filter(move |member| pattern.is_none_or(|pattern| fits(pattern, &member.signature))).map(
        |member| Module {
            signature: member.signature.clone(),
            key: member.key.to_string(),
            target: record.target.clone(),
            isa: record.isa.clone(),
            size: record.size,
            digest: record.digest.to_string(),
            layer: layer.to_string(),
        },
    )
}

impl Module {
    fn row(&self) -> [String; 6] {
        [
            self.key[..16].to_owned(),
            self.isa.clone(),
            self.target.clone(),
            print::size(self.size),
            self.layer.clone(),
            self.signature.clone(),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "signature": self.signature, "key": self.key, "target": self.target, "isa": self.isa,
            "size": self.size, "digest": self.digest, "layer": self.layer,
        })
    }
}

/// Returns whether a text matches a pattern in which `*` matches anything. `?` and `[` match themselves, because
/// types contain them. A pattern that ends in `)` matches op and inputs, with any outputs.
fn fits(pattern: &str, text: &str) -> bool {
    let text = if pattern.contains("->") || !pattern.ends_with(')') {
        text
    } else {
        text.rsplit_once(" -> ").map_or(text, |(left, _)| left)
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn star_matches_any_text() {
        let text = "add(f32[?], f32[?]) -> f32[?]";
        for pattern in
            ["*", "add(*)", "add(*", "*f32[?])", "add(f32[?], f32[?])", text, "*(f32*-> f32[?]", "a*d*(*"]
        {
            assert!(fits(pattern, text), "{pattern}");
        }
        for pattern in ["", "add", "sub(*)", "add(f64*", "*i64*", "add(f32[?])"] {
            assert!(!fits(pattern, text), "{pattern}");
        }
    }
}
