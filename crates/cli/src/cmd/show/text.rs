//! Renders a module as text: its key document, its variants and their requirements, a manifest, its C.

use std::fmt::Write as _;

use precast_store::key::{KeyDocument, Versioned};
use precast_store::{BuildKey, Requires};

use super::{Variant, document, manifest, source};
use crate::error::Failure;
use crate::print;

/// Renders a module with all its variants.
pub(super) fn module(key: &BuildKey, variants: &[Variant<'_>]) -> Result<String, Failure> {
    let mut text = format!("key         {key}\n");
    if let Some(member) = variants.iter().find_map(|variant| variant.record.member(key)) {
        let _ = writeln!(text, "signature   {}", member.signature);
        let fingerprints: Vec<String> = member.fingerprints.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "aliases     {}", list(&fingerprints));
    }
    match document(key, variants) {
        Some(document) => text += &document_text(&document),
        None => text += "document    missing; rebuild to restore it\n",
    }
    for variant in variants {
        text += &variant_text(key, variant);
    }
    if let Some((variant, manifest)) =
        variants.iter().find_map(|variant| Some((variant, manifest(variant).ok().flatten()?)))
    {
        let manifest = serde_json::to_string_pretty(&manifest)?;
        let _ = writeln!(text, "\nmanifest.json of {}\n{manifest}", variant.record.digest.short());
    }
    for variant in variants {
        if let Some((name, source)) = source(variant)? {
            let _ = writeln!(text, "\n{name} of {}\n{source}", variant.record.digest.short());
            break;
        }
    }
    Ok(text)
}

fn document_text(document: &KeyDocument) -> String {
    // Destructured without `..`, so that a new field cannot be forgotten here.
    let KeyDocument { epoch, host_abi, profile, language, ops, text, sources, flags, libraries, versions } =
        document;
    let mut shown = format!(
        "epoch       {epoch}\nhost ABI    {host_abi}\nprofile     {profile}\nlanguage    {language}\n"
    );
    let _ = writeln!(shown, "ops         {}", list(ops));
    let _ = writeln!(shown, "text        {}", text.short());
    let sources: Vec<String> =
        sources.iter().map(|(name, content)| format!("{} {name}", content.short())).collect();
    let _ = writeln!(shown, "sources     {}", list(&sources));
    let _ =
        writeln!(shown, "flags       {}", if flags.is_empty() { "none".to_owned() } else { flags.join(" ") });
    let _ = writeln!(shown, "libraries   {}", list(libraries));
    if !versions.is_empty() {
        let versions: Vec<String> =
            versions.iter().map(|Versioned { op, version, .. }| format!("{version:?} {op}")).collect();
        let _ = writeln!(shown, "versions    {}", list(&versions));
    }
    shown
}

fn variant_text(key: &BuildKey, variant: &Variant<'_>) -> String {
    let Variant { layer, record } = variant;
    let requires = &record.requires;
    let slot = record.member(key).map_or(0, |member| member.slot);
    let mut text = format!("\nvariant     {} for {}, in {}\n", record.isa, record.target, layer);
    let _ = writeln!(text, "  digest    {}, {}", record.digest, print::size(record.size));
    let _ = writeln!(text, "  action    {}", record.action);
    let toolchain = record.toolchain.map_or_else(|| "none".to_owned(), |id| id.to_string());
    let _ = writeln!(text, "  toolchain {toolchain}");
    let modules = print::count(record.members.len(), "module", "modules");
    let _ = writeln!(text, "  slot      {slot} of {modules}");
    text + &required(requires)
}

/// Describes the requirements for a host.
fn required(requires: &Requires) -> String {
    let libc: Vec<&str> =
        [&requires.libc, &requires.libc_version].into_iter().flatten().map(String::as_str).collect();
    let libc = if libc.is_empty() { "none".to_owned() } else { libc.join(" ") };
    let abi = match requires.abi {
        // An extension module of CPython has its own name.
        (0, u32::MAX) => String::new(),
        (low, high) => format!(", C ABI {low:#x} to {high:#x}"),
    };
    let mut text = format!("  requires  {} {}, C library {libc}{abi}\n", requires.arch, requires.os);
    for (what, names) in
        [("cpu", &requires.cpu), ("needed", &requires.needed), ("undefined", &requires.undefined)]
    {
        if !names.is_empty() {
            let _ = writeln!(text, "  {what:9} {}", names.join(" "));
        }
    }
    text
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join("\n            ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_of_another_abi_omits_our_section() {
        let (arch, os) = ("x86_64".to_owned(), "linux".to_owned());
        let (libc, libc_version) = (Some("gnu".to_owned()), Some("2.29".to_owned()));
        let names = Vec::new;
        let (cpu, needed, undefined, abi) = (names(), names(), names(), (0x1_0001, 0x1_ffff));
        let own = Requires { arch, os, libc, libc_version, cpu, needed, undefined, abi };
        assert_eq!(
            required(&own),
            "  requires  x86_64 linux, C library gnu 2.29, C ABI 0x10001 to 0x1ffff\n"
        );
        let other = Requires { abi: (0, u32::MAX), libc: None, libc_version: None, ..own };
        assert_eq!(required(&other), "  requires  x86_64 linux, C library none\n");
    }
}
