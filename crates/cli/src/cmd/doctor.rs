//! `precast doctor`: reports the capabilities of this host and the health of its layers.

use std::fmt::Write as _;

use precast_compile::{Isa, Listed, Toolchain, host_target, list_compilers};
use precast_core::cpu;
use precast_ops::{GENERATOR, OtherVersion};
use precast_runtime::Policy;
use precast_store::key::Language;
use serde_json::{Value, json};

use crate::args::DoctorArgs;
use crate::error::{Exit, Failure};
use crate::health::{self, Health};
use crate::term;

/// Runs the command.
pub(super) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let target = args.target.clone().unwrap_or_else(host_target);
    let limit = cpu::limit()?.map(|level| level.name);
    let compiler = compiler(&target);
    let listed = list_compilers(Some(&target));
    let health = health::of_layers(&args.layers, args.verify)?;
    let level = Isa::native().map_or("unknown", Isa::name);
    let policies: Vec<&str> = Policy::ALL
        .iter()
        .filter(|policy| **policy != Policy::Auto)
        .filter(|policy| !policy.compiles() || (compiler.is_ok() && target == host_target()))
        .map(|policy| policy.name())
        .collect();
    if args.json {
        let layers: Vec<Value> = health.iter().map(Health::json).collect();
        let compiler = match &compiler {
            Ok(found) => {
                json!({"found": true, "description": found.description, "path": found.path, "id": found.id, "id_cpp": found.id_cpp})
            }
            Err(failure) => {
                json!({"found": false, "problem": failure.render().message, "hints": failure.render().hints})
            }
        };
        term::print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"), "generator": GENERATOR, "arch": std::env::consts::ARCH,
            "os": std::env::consts::OS, "isa": level, "isa_limit": limit, "target": target, "compiler": compiler,
            "compilers": listed.iter().map(listed_json).collect::<Vec<_>>(),
            "policies": policies, "layers": layers,
        }))?;
    } else {
        let mut text = format!("precast    {}\n", OtherVersion::this());
        let limited = limit.map_or_else(String::new, |limit| format!(", limited by {}={limit}", cpu::LIMIT));
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        let _ = writeln!(text, "host       {arch} {os}, ISA level {level}{limited}");
        let _ = writeln!(text, "target     {target}");
        match &compiler {
            Ok(found) => {
                let _ = writeln!(text, "compiler   {} at {}", found.description, found.path);
                let _ = writeln!(text, "toolchain  {}", found.id);
                if let Some(id) = &found.id_cpp {
                    let _ = writeln!(text, "           {id} for C++");
                }
            }
            Err(failure) => {
                let rendered = failure.render();
                let _ = writeln!(text, "compiler   none: {}", rendered.message);
                for hint in &rendered.hints {
                    let _ = writeln!(text, "           hint: {hint}");
                }
            }
        }
        for (at, listed) in listed.iter().enumerate() {
            let head = if at == 0 { "installed" } else { "" };
            let _ = writeln!(text, "{head:<10} {}", listed_text(listed));
        }
        let _ = writeln!(text, "policies   {}", policies.join(", "));
        health.iter().for_each(|health| text += &health.text());
        term::print(&text)?;
    }
    Ok(health::exit(&health))
}

/// Describes an installed compiler: `/usr/bin/gcc: gcc 12.2.0, 7f94be0c…`.
fn listed_text(listed: &Listed) -> String {
    let path = listed.path.display();
    match usable(listed) {
        Ok((description, id)) => format!("{path}: {description}, {id}"),
        Err(failure) => format!("{path}: cannot be used: {}", failure.render().message),
    }
}

fn listed_json(listed: &Listed) -> Value {
    let path = listed.path.display().to_string();
    match usable(listed) {
        Ok((description, id)) => json!({"path": path, "usable": true, "description": description, "id": id}),
        Err(failure) => {
            let rendered = failure.render();
            json!({"path": path, "usable": false, "problem": rendered.message, "hints": rendered.hints})
        }
    }
}

/// Returns the description and the identity of a compiler that can be used.
fn usable(listed: &Listed) -> Result<(&str, String), Failure> {
    match &listed.found {
        Ok(found) => Ok((found.description(), found.id(Language::C)?.to_string())),
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

struct Compiler {
    description: String,
    path: String,
    id: String,
    /// The identity of the C++ compiler, if there is one.
    id_cpp: Option<String>,
}

fn compiler(target: &str) -> Result<Compiler, Failure> {
    let toolchain = Toolchain::find(Some(target))?;
    Ok(Compiler {
        description: toolchain.description().to_owned(),
        path: toolchain.driver().display().to_string(),
        id: toolchain.id(Language::C)?.to_string(),
        id_cpp: toolchain.id(Language::Cxx).ok().map(|id| id.to_string()),
    })
}
