//! `precast show`: shows one entry, or one module with all known facts about it.

mod text;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use precast_core::{Metadata, NoNative};
use precast_graph::json::{self as graph_json, ParseJsonError};
use precast_ops::Ops;
use precast_ops::rewrite::Form;
use precast_store::archive::check_name;
use precast_store::key::KeyDocument;
use precast_store::{BuildKey, Entry, Layer, Record};
use serde_json::{Value, json};

use super::passes::{self, steps};
use crate::args::ShowArgs;
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{described, layers, provenance, term, whole};

/// A module in one layer.
struct Variant<'l> {
    layer: &'l Layer,
    record: Record,
}

/// Runs the command.
pub(super) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    if let Some(chosen) = &args.passes {
        return passes::run(args, chosen);
    }
    let what = args.what.as_deref().unwrap_or_default();
    let layers = layers::open_some(&args.layers)?;
    for layer in &layers {
        if let Some(entry) = layer.find_entry(what)? {
            return match &args.extract {
                Some(directory) => extract_entry(&layers, &entry, directory),
                None if args.source => source_of_entry(&layers, &entry),
                None if args.provenance => provenance_of_entry(&layers, &entry),
                None => show_entry(args, layer, &entry),
            };
        }
        if let Some(metadata) = layer.functions().get(what).filter(|_| !what.is_empty()) {
            return show_function(args, layer, what, metadata);
        }
    }
    let (key, variants) = find(&layers, what)?;
    if let Some(directory) = &args.extract {
        extract(&key, &variants, directory)?;
    } else if args.provenance {
        show_provenance(&key, &variants)?;
    } else if args.source {
        term::print(&text_of(&key, &variants)?)?;
    } else if args.json {
        term::print_json(&module_json(&key, &variants)?)?;
    } else {
        term::print(&text::module(&key, &variants)?)?;
    }
    Ok(Exit::Ok)
}

/// Finds the one module whose key begins with these digits.
fn find<'l>(layers: &'l [Layer], prefix: &str) -> Result<(BuildKey, Vec<Variant<'l>>), Failure> {
    let mut found: BTreeMap<BuildKey, (String, Vec<Variant<'l>>)> = BTreeMap::new();
    for layer in layers {
        for record in layer.records()? {
            for member in record.members.iter().filter(|member| member.key.to_string().starts_with(prefix)) {
                let (_, variants) =
                    found.entry(member.key).or_insert_with(|| (member.signature.clone(), Vec::new()));
                variants.push(Variant { layer, record: record.clone() });
            }
        }
    }
    if prefix.is_empty() || found.is_empty() {
        return Err(Failure::new(format!("no entry is named `{prefix}`, and no key begins with it"))
            .hint("run `precast ls` to list names and keys"));
    }
    if found.len() > 1 {
        let mut failure = Failure::new(format!("{} keys begin with `{prefix}`", found.len()));
        for (key, (signature, _)) in found.iter().take(5) {
            failure = failure.hint(format!("`{}` is {signature}", key.short()));
        }
        return Err(failure);
    }
    found
        .into_iter()
        .next()
        .map(|(key, (_, variants))| (key, variants))
        .ok_or_else(|| Failure::new("key not found"))
}

/// Returns the modules that an entry calls, each once, in the order of their calls.
fn modules<'l>(layers: &'l [Layer], entry: &Entry) -> Result<Vec<(BuildKey, Vec<Variant<'l>>)>, Failure> {
    let mut modules: Vec<(BuildKey, Vec<Variant<'l>>)> = Vec::new();
    for key in entry.program.keys() {
        if modules.iter().all(|(known, _)| *known != key) {
            modules.push(find(layers, &key.to_string())?);
        }
    }
    Ok(modules)
}

/// Writes the generated C of an entry's modules; if there are several, each into its own directory.
fn extract_entry(layers: &[Layer], entry: &Entry, directory: &Path) -> Result<Exit, Failure> {
    let modules = modules(layers, entry)?;
    for (key, variants) in &modules {
        match modules.len() {
            1 => extract(key, variants, directory)?,
            _ => extract(key, variants, &directory.join(key.short()))?,
        }
    }
    Ok(Exit::Ok)
}

/// Prints the generated C of an entry's modules.
fn source_of_entry(layers: &[Layer], entry: &Entry) -> Result<Exit, Failure> {
    for (key, variants) in modules(layers, entry)? {
        term::print(&text_of(&key, &variants)?)?;
    }
    Ok(Exit::Ok)
}

/// Prints the builder statements about an entry's modules.
fn provenance_of_entry(layers: &[Layer], entry: &Entry) -> Result<Exit, Failure> {
    for (key, variants) in modules(layers, entry)? {
        show_provenance(&key, &variants)?;
    }
    Ok(Exit::Ok)
}

/// Returns the generated C of a module.
fn text_of(key: &BuildKey, variants: &[Variant<'_>]) -> Result<String, Failure> {
    let source = variants.iter().find_map(|variant| source(variant).transpose()).transpose()?;
    source.map(|(_, text)| text).ok_or_else(|| no_source(key))
}

fn no_source(key: &BuildKey) -> Failure {
    Failure::new(format!("no store has the generated C of `{}`", key.short()))
        .hint("name the store with `--store DIR`; bundles do not contain C")
}

/// The graph of an entry, in words.
struct Graph {
    declared: String,
    /// `None` if the library lacks an op of the graph.
    rewritten: Option<String>,
    native: Result<String, String>,
}

impl Graph {
    /// Describes the graph of an entry. A frozen graph may have ops that only the package that made it knows; their
    /// names and values are in the document.
    fn of(entry: &Entry, document: &Value) -> Result<Self, Failure> {
        let ops = Ops::standard();
        let declared = match graph_json::parse(&entry.declared, &ops) {
            Ok(declared) => declared,
            Err(ParseJsonError::UnknownOp { found, .. }) => {
                let native = Err(format!("`{found}` is not an op of this program"));
                return Ok(Self { declared: applies(document), rewritten: None, native });
            }
            Err(error) => return Err(error.into()),
        };
        let lowered = ops.lower(&declared, Form::Lowered)?;
        let native = match entry.program.steps.len() {
            1 => precast_codegen::native(&lowered, ops.c())?,
            modules => Err(NoNative::Modules { modules }),
        };
        let (declared, rewritten) = (steps(&declared.to_string()), Some(steps(&lowered.to_string())));
        Ok(Self { declared, rewritten, native: native.map_err(|reason| reason.to_string()) })
    }
}

/// Lists the applies of a graph's document, one per line.
fn applies(document: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let list = |value: &Value, one: &dyn Fn(&Value) -> String| {
        value.as_array().into_iter().flatten().map(one).collect::<Vec<_>>().join(", ")
    };
    let line = |apply: &Value| {
        let outputs = list(&apply["outputs"], &|output| text(&output["id"]));
        format!("{outputs} = {}({})", text(&apply["op"]), list(&apply["inputs"], &text))
    };
    let lines: Vec<String> = document["applies"].as_array().into_iter().flatten().map(line).collect();
    lines.join("\n            ")
}

fn show_entry(args: &ShowArgs, layer: &Layer, entry: &Entry) -> Result<Exit, Failure> {
    let document: Value = serde_json::from_str(&entry.declared)?;
    let graph = Graph::of(entry, &document)?;
    if args.json {
        let mut shown = json!({
            "name": entry.name, "native": graph.native.ok(), "layer": layer.to_string(),
            "interface": entry.program.to_string(), "program": keys(entry), "declared": document,
        });
        if !entry.metadata.is_empty() {
            shown["metadata"] = described::json(&entry.metadata);
        }
        term::print_json(&shown)?;
        return Ok(Exit::Ok);
    }
    let mut text = format!("entry       {}\n", entry.name);
    let _ = writeln!(text, "layer       {layer}");
    let _ = writeln!(text, "interface   {}", entry.program);
    let _ = writeln!(text, "declared    {}", graph.declared);
    if let Some(rewritten) = graph.rewritten {
        let _ = writeln!(text, "rewritten   {rewritten}");
    }
    let native = graph.native.unwrap_or_else(|reason| format!("none: {reason}"));
    let _ = writeln!(text, "native      {native}");
    let _ = writeln!(text, "modules     {}", keys(entry).join("\n            "));
    text += &metadata_lines(&entry.metadata);
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// Shows the metadata of a function of several entries.
fn show_function(args: &ShowArgs, layer: &Layer, name: &str, metadata: &Metadata) -> Result<Exit, Failure> {
    if args.json {
        let metadata = described::json(metadata);
        term::print_json(&json!({"name": name, "layer": layer.to_string(), "metadata": metadata}))?;
        return Ok(Exit::Ok);
    }
    term::print(&format!("function    {name}\nlayer       {layer}\n{}", metadata_lines(metadata)))?;
    Ok(Exit::Ok)
}

fn metadata_lines(metadata: &Metadata) -> String {
    described::lines(metadata).iter().map(|(heading, text)| format!("{heading:<12}{text}\n")).collect()
}

fn keys(entry: &Entry) -> Vec<String> {
    entry.program.keys().map(|key| key.to_string()).collect()
}

/// Prints the builder statements about the variants, one per line, as other tools read several statements.
fn show_provenance(key: &BuildKey, variants: &[Variant<'_>]) -> Result<(), Failure> {
    let mut text = String::new();
    for Variant { layer, record } in variants {
        let Some(store) = layer.store() else { continue };
        if let Some(statement) = store.find_provenance(record)? {
            let statement: Value = serde_json::from_str(&statement).unwrap_or_default();
            if !provenance::is_about(&statement, record, &store.load(record)?) {
                let id = record.id();
                return Err(Failure::new(format!(
                    "the provenance of record `{}` of {layer} does not match the record",
                    id.short()
                ))
                .exiting(Exit::Damaged)
                .hint(format!("delete its file, `{}-{id}.provenance` below `records`", record.action)));
            }
            let _ = writeln!(text, "{statement}");
        }
    }
    if text.is_empty() {
        return Err(Failure::new(format!("no provenance for `{}`", key.short()))
            .hint("add provenance to builds with `precast build --builder URI`"));
    }
    term::print(&text)
}

/// Returns the document of a module, from the first variant that has it.
fn document(key: &BuildKey, variants: &[Variant<'_>]) -> Option<KeyDocument> {
    variants.iter().find_map(|variant| variant.record.member(key)?.document.clone())
}

/// Returns the generated C of a variant, and its file name; a bundle contains none.
fn source(variant: &Variant<'_>) -> Result<Option<(String, String)>, Failure> {
    let Some(store) = variant.layer.store() else { return Ok(None) };
    let archive = store.load(&variant.record)?;
    let found = ["unit.c", "unit.cc"].into_iter().find_map(|name| {
        let text = String::from_utf8_lossy(archive.get(name)?).into_owned();
        Some((name.to_owned(), text))
    });
    Ok(found)
}

/// Writes the generated C and its headers to a directory for a debugger.
fn extract(key: &BuildKey, variants: &[Variant<'_>], directory: &Path) -> Result<(), Failure> {
    let stored = variants.iter().find_map(|variant| Some((variant.layer.store()?, variant)));
    let Some((layer, (store, variant))) = stored.map(|stored| (stored.1.layer, stored)) else {
        return Err(no_source(key));
    };
    let archive = store.load(&variant.record)?;
    // The names in an archive were checked when it was unpacked: relative, without `..`.
    let sources =
        archive.members.iter().filter(|(name, _)| name.starts_with("include/") || name.starts_with("unit.c"));
    let text = source(variant)?.map_or_else(String::new, |(_, text)| text);
    let own = own_files(layer, &text)?;
    let own = own.iter().map(|(name, text)| (name, text.as_bytes()));
    for (name, bytes) in sources.map(|(name, bytes)| (name, bytes.as_slice())).chain(own) {
        let file = directory.join(name);
        if let Some(parent) = file.parent() {
            fs_err::create_dir_all(parent)?;
        }
        whole::write(&file, Kind::Text, |out| out.write_all(bytes))?.commit()?;
    }
    term::note(&format!("in gdb: set substitute-path /precast {}", directory.display()));
    Ok(())
}

/// Returns the C files of external ops that `#line` directives in a text refer to, from the entries of the layer.
fn own_files(layer: &Layer, text: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for entry in layer.entries()? {
        // An unreadable entry has no files to offer.
        let Ok(declared) = serde_json::from_str::<Value>(&entry.declared) else { continue };
        collect_files(&declared, &mut found);
    }
    // Entries are untrusted: a file name that leads out of the directory is invalid.
    let is_named =
        |name: &String, _: &mut String| check_name(name).is_ok() && text.contains(&format!("\"{name}\""));
    found.retain(is_named);
    Ok(found)
}

/// Collects the files in the props of external ops, under their logical names.
fn collect_files(value: &Value, found: &mut BTreeMap<String, String>) {
    if let (Some(op), Some(files)) = (value["op"].as_str(), value["files"].as_array()) {
        for (name, text) in files.iter().filter_map(|file| Some((file[0].as_str()?, file[1].as_str()?))) {
            found.insert(format!("{op}/{name}"), text.to_owned());
        }
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_files(item, found)),
        Value::Object(items) => items.values().for_each(|item| collect_files(item, found)),
        _ => {}
    }
}

/// Returns the manifest of a variant's archive; a bundle contains none.
fn manifest(variant: &Variant<'_>) -> Result<Option<Value>, Failure> {
    let Some(store) = variant.layer.store() else { return Ok(None) };
    let archive = store.load(&variant.record)?;
    Ok(archive.get("manifest.json").and_then(|bytes| serde_json::from_slice(bytes).ok()))
}

fn module_json(key: &BuildKey, variants: &[Variant<'_>]) -> Result<Value, Failure> {
    let mut rendered = Vec::new();
    for variant in variants {
        let source = source(variant)?.map(|(_, text)| text);
        rendered.push(json!({
            "layer": variant.layer.to_string(), "record": variant.record, "manifest": manifest(variant)?, "source": source,
        }));
    }
    let signature = variants.iter().find_map(|variant| Some(variant.record.member(key)?.signature.clone()));
    Ok(json!({"key": key, "signature": signature, "document": document(key, variants), "variants": rendered}))
}
