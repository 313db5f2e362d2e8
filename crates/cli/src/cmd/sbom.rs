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
//! Each part of a bundle is listed once, by its identity. The bill depends on the bytes of the bundle and on the options,
//! not on the name of the file. Files have SHA-256 and BLAKE3 hashes; the identities are our own hashes.
//!
//! Each component has the data fields of [NTIA's minimum](https://www.ntia.gov/report/2021/minimum-elements-software-bill-materials-sbom):
//! supplier, name, version, another identifier (purl), dependencies. A bundle does not contain the suppliers of foreign
//! files and of system libraries: they are `NOASSERTION`. The name, the version, the supplier and the author are options,
//! the compiler is that of the provenance, and the time is that of `SOURCE_DATE_EPOCH`, if it is set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use precast_store::archive::SHARED_OBJECT;
use precast_store::{Bundle, BundleLoadError, Entry, Record, file};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::args::SbomArgs;
use crate::error::{Exit, Failure};
use crate::provenance::{self, hex};
use crate::{layers, term};

/// The name of a bundle. The name of its file does not matter.
const BUNDLE: &str = "precast-bundle";

/// Stands for data that the bundle does not contain.
const UNKNOWN: &str = "NOASSERTION";

/// Runs the command.
pub(super) fn run(args: &SbomArgs) -> Result<Exit, Failure> {
    let bundle = layers::open_bundle(&args.bundle)?;
    if let Some(damage) = bundle.verify().first() {
        return Err(Failure::new(format!("{damage}\n{}", Bundle::HINT)).exiting(Exit::Damaged));
    }
    term::print_json(&bill(&bundle, args)?)?;
    Ok(Exit::Ok)
}

/// The contents of a bundle: each component by its reference, and its dependencies.
#[derive(Default)]
struct Bill {
    /// The compiler of each toolchain that the provenance names.
    compilers: BTreeMap<String, String>,
    components: BTreeMap<String, Value>,
    dependencies: BTreeMap<String, BTreeSet<String>>,
}

fn bill(bundle: &Bundle, args: &SbomArgs) -> Result<Value, Failure> {
    let compilers = args.provenance.as_deref().map(|path| compilers(path, bundle.bytes()));
    let mut bill = Bill { compilers: compilers.transpose()?.unwrap_or_default(), ..Bill::default() };
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
    let supplier = args.supplier.as_deref().unwrap_or(UNKNOWN);
    let name = args.name.as_deref().unwrap_or(BUNDLE);
    let version = args.version.clone().unwrap_or_else(|| hash.to_hex().to_string());
    let mut metadata = json!({
        "component": {
            "type": "file", "bom-ref": root, "name": name, "version": version,
            "supplier": {"name": supplier}, "licenses": licences(args.license.as_deref()),
            "purl": purl(name, &version), "hashes": hashes(bundle.bytes()),
        },
    });
    if let Some(author) = args.author.as_ref().or(args.supplier.as_ref()) {
        metadata["authors"] = json!([{"name": author}]);
    }
    if let Some(time) = provenance::stated_time()? {
        metadata["timestamp"] = json!(time);
    }
    let (tool, version) = bundle.generator().split_once(' ').unwrap_or((bundle.generator(), ""));
    let dependencies = bill.dependencies.iter().map(|(of, on)| json!({"ref": of, "dependsOn": on}));
    metadata["tools"] = json!({"components": [{"type": "application", "name": tool, "version": version}]});
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial(hash.as_bytes()),
        "version": 1,
        "metadata": metadata,
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
            "type": "library", "name": SHARED_OBJECT, "version": record.digest, "supplier": {"name": UNKNOWN},
            "purl": purl(SHARED_OBJECT, &record.digest.to_string()),
            "description": format!("machine code for {}, {}", record.target, record.isa),
            "properties": properties(&[
                ("action", record.action.to_string()),
                ("target", record.target.clone()),
                ("isa", record.isa.clone()),
                ("profile", record.profile.to_string()),
                ("toolchain", toolchain.clone()),
            ]),
        });
        // Code that is linked into a program statically is not in its bundle.
        if !code.is_empty() {
            component["hashes"] = hashes(code);
        }
        self.put(root, &reference, component);
        if !toolchain.is_empty() {
            let component = self.toolchain(&toolchain);
            self.put(&reference, &format!("toolchain:{toolchain}"), component);
        }
        for member in &record.members {
            let module = format!("module:{}", member.key);
            let component = json!({
                "type": "library", "name": member.signature, "version": member.key, "description": "generated C",
                "supplier": {"name": UNKNOWN}, "purl": purl("module", &member.key.to_string()),
            });
            self.put(&reference, &module, component);
            for (name, content) in member.document.iter().flat_map(|document| &document.sources) {
                let component = json!({
                    "type": "file", "name": name, "version": content,
                    "supplier": {"name": supplier_of(name)}, "licenses": licences(licence_of(name)),
                    "purl": purl(name, &content.to_string()),
                });
                self.put(&module, &format!("source:{content}"), component);
            }
        }
        for library in &record.requires.needed {
            let component = json!({
                "type": "library", "name": library, "version": UNKNOWN, "description": "of the system",
                "supplier": {"name": UNKNOWN}, "purl": purl(library, "unknown"),
            });
            self.put(&reference, &format!("library:{library}"), component);
        }
    }

    /// Describes a toolchain. Tools of the build are not part of the bundle.
    fn toolchain(&self, id: &str) -> Value {
        let compiler =
            self.compilers.get(id).map(|compiler| compiler.split_once(' ').unwrap_or((compiler, UNKNOWN)));
        let (name, version, about) = match compiler {
            Some((name, version)) => {
                (name, version, format!("hash of all files that the compiler loads: {id}"))
            }
            None => {
                ("C toolchain", id, "the version is a hash of all files that the compiler loads".to_owned())
            }
        };
        json!({
            "type": "application", "name": name, "version": version, "scope": "excluded",
            "description": about, "supplier": {"name": UNKNOWN},
            "purl": purl(if compiler.is_some() { name } else { "c-toolchain" }, version),
        })
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
            "supplier": {"name": UNKNOWN}, "purl": purl(&entry.name, &entry.id().to_string()),
            "properties": properties,
        });
        self.put(root, &reference, component);
        for key in entry.program.keys() {
            self.depend(&reference, &format!("module:{key}"));
        }
    }
}

/// Reads the provenance of a bundle: the compilers that it names, by the identity of their toolchain.
fn compilers(path: &Path, bundle: &[u8]) -> Result<BTreeMap<String, String>, Failure> {
    let refused = |why: &str| Failure::new(format!("cannot use the provenance `{}`: {why}", path.display()));
    let statement: Value = serde_json::from_str(&file::read_text(path)?)
        .map_err(|_| refused("it is not JSON").hint("name the file `BUNDLE.provenance.json` of the build"))?;
    let mut subjects = statement["subject"].as_array().into_iter().flatten();
    let digest = provenance::sha256(bundle);
    if !subjects.any(|subject| subject["digest"]["sha256"] == digest["sha256"]) {
        return Err(refused("it is about another file"));
    }
    let materials = statement["predicate"]["buildDefinition"]["resolvedDependencies"].as_array();
    let compiler = |material: &Value| {
        let id = material["uri"].as_str()?.strip_prefix("precast:toolchain:")?;
        Some((id.to_owned(), material["name"].as_str()?.to_owned()))
    };
    Ok(materials.into_iter().flatten().filter_map(compiler).collect())
}

/// Returns the supplier of a source, by its name: headers of precast begin with `precast/`.
fn supplier_of(source: &str) -> &'static str {
    if source.starts_with("precast/") { "precast" } else { UNKNOWN }
}

/// Returns the licence of a source as an SPDX expression, if it is known.
fn licence_of(source: &str) -> Option<&'static str> {
    source.starts_with("precast/").then_some(env!("CARGO_PKG_LICENSE"))
}

fn licences(expression: Option<&str>) -> Value {
    expression.map_or_else(|| json!([]), |expression| json!([{"expression": expression}]))
}

/// Returns the hashes of bytes.
fn hashes(bytes: &[u8]) -> Value {
    json!([
        {"alg": "SHA-256", "content": hex(&Sha256::digest(bytes))},
        {"alg": "BLAKE3", "content": hex(blake3::hash(bytes).as_bytes())},
    ])
}

/// Returns a package URL of the type `generic`.
fn purl(name: &str, version: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("pkg:generic/{encoded}@{version}")
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
