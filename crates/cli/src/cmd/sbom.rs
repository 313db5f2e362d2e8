//! `precast sbom`: a bundle's bill of materials, in the form of [CycloneDX 1.6](https://cyclonedx.org/docs/1.6/json).
//!
//! ```text
//! metadata.component   the bundle                        depends on  entries, artifacts
//! components           entry:<name>        a graph       depends on  modules that its program calls
//!                      record:<RecordId>   machine code  depends on  its modules, required system libraries
//!                      module:<BuildKey>   generated C   depends on  its sources
//!                      source:<content id> a file that is compiled into it
//!                      library:<name>      of the system
//! ```
//! Each part of a bundle is listed once, by its identity, so equal bundles have equal bills. Files have a BLAKE3
//! hash, which `b3sum` computes; the identities are our own hashes.

use std::collections::{BTreeMap, BTreeSet};

use precast_store::archive::SHARED_OBJECT;
use precast_store::{Bundle, BundleLoadError, Entry, Record};
use serde_json::{Value, json};

use crate::args::SbomArgs;
use crate::error::{Exit, Failure};
use crate::provenance::hex;
use crate::term;

/// Runs the command.
pub(super) fn run(args: &SbomArgs) -> Result<Exit, Failure> {
    let bundle = Bundle::open_unsigned(&args.bundle)?;
    if let Some(damage) = bundle.verify().first() {
        return Err(Failure::new(damage.to_string()).exiting(Exit::Damaged));
    }
    let name = args.bundle.file_name().unwrap_or_default().to_string_lossy().into_owned();
    term::print_json(&bill(&bundle, &name)?)?;
    Ok(Exit::Ok)
}

/// The contents of a bundle: each component by its reference, and its dependencies.
#[derive(Default)]
struct Bill {
    components: BTreeMap<String, Value>,
    dependencies: BTreeMap<String, BTreeSet<String>>,
}

fn bill(bundle: &Bundle, name: &str) -> Result<Value, Failure> {
    let mut bill = Bill::default();
    let hash = blake3::hash(bundle.bytes());
    let root = format!("bundle:{}", hash.to_hex());
    for record in bundle.records() {
        let code = match bundle.load(&record) {
            // The code of a static program is in the program.
            Err(BundleLoadError::Linked { .. }) => &[],
            code => code?,
        };
        bill.record(&root, &record, code);
    }
    for entry in bundle.entries() {
        bill.entry(&root, &entry);
    }
    let (tool, version) = bundle.generator().split_once(' ').unwrap_or((bundle.generator(), ""));
    let dependencies = bill.dependencies.iter().map(|(of, on)| json!({"ref": of, "dependsOn": on}));
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial(hash.as_bytes()),
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": tool, "version": version}]},
            "component": {
                "type": "file", "bom-ref": root, "name": name,
                "hashes": [{"alg": "BLAKE3", "content": hash.to_hex().as_str()}],
            },
        },
        "dependencies": dependencies.collect::<Vec<_>>(),
        "components": bill.components.into_values().collect::<Vec<_>>(),
    }))
}

impl Bill {
    fn put(&mut self, of: &str, reference: &str, mut component: Value) {
        component["bom-ref"] = json!(reference);
        self.components.insert(reference.to_owned(), component);
        self.dependencies.entry(reference.to_owned()).or_default();
        self.depend(of, reference);
    }

    fn depend(&mut self, of: &str, on: &str) {
        self.dependencies.entry(of.to_owned()).or_default().insert(on.to_owned());
    }

    fn record(&mut self, root: &str, record: &Record, code: &[u8]) {
        let reference = format!("record:{}", record.id());
        let toolchain = record.toolchain.map(|id| id.to_string()).unwrap_or_default();
        let mut component = json!({
            "type": "library", "name": SHARED_OBJECT, "version": record.digest,
            "description": format!("machine code for {}, {}", record.target, record.isa),
            "properties": properties(&[
                ("action", record.action.to_string()),
                ("target", record.target.clone()),
                ("isa", record.isa.clone()),
                ("profile", record.profile.to_string()),
                ("toolchain", toolchain),
            ]),
        });
        // Code that is linked into a program statically is not in its bundle.
        if !code.is_empty() {
            component["hashes"] = json!([{"alg": "BLAKE3", "content": hex(blake3::hash(code).as_bytes())}]);
        }
        self.put(root, &reference, component);
        for member in &record.members {
            let module = format!("module:{}", member.key);
            let component = json!({"type": "library", "name": member.signature, "version": member.key, "description": "generated C"});
            self.put(&reference, &module, component);
            for (name, content) in member.document.iter().flat_map(|document| &document.sources) {
                let component = json!({"type": "file", "name": name, "version": content});
                self.put(&module, &format!("source:{content}"), component);
            }
        }
        for library in &record.requires.needed {
            let component = json!({"type": "library", "name": library, "description": "of the system"});
            self.put(&reference, &format!("library:{library}"), component);
        }
    }

    fn entry(&mut self, root: &str, entry: &Entry) {
        let reference = format!("entry:{}", entry.name);
        let documentation = Some(&entry.metadata.documentation).filter(|text| !text.is_empty());
        let documentation = documentation.map(|text| ("documentation", text.clone()));
        let properties = properties(
            &[("recipe", entry.recipe.clone())].into_iter().chain(documentation).collect::<Vec<_>>(),
        );
        let component = json!({
            "type": "library", "name": entry.name, "version": entry.id(), "description": entry.program.to_string(),
            "properties": properties,
        });
        self.put(root, &reference, component);
        for key in entry.program.keys() {
            self.depend(&reference, &format!("module:{key}"));
        }
    }
}

fn properties(pairs: &[(&str, String)]) -> Value {
    pairs.iter().map(|(name, value)| json!({"name": format!("precast:{name}"), "value": value})).collect()
}

/// Returns a UUID with custom bits (version 8, RFC 9562).
fn serial(hash: &[u8; 32]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let [a, b, c, d, e] = [0..4, 4..6, 6..8, 8..10, 10..16].map(|range| hex(&bytes[range]));
    format!("urn:uuid:{a}-{b}-{c}-{d}-{e}")
}
