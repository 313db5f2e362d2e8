//! Programs that are parsed on first use.
//!
//! A loader that creates a thousand functions parses only the programs of those that are called. The modules are verified
//! and loaded earlier. They call only drivers, so creating their instances cannot fail.

use super::{CallError, Inner, Serves};
use crate::native::LoadedModule;
use crate::program::Program;
use crate::provenance::CodeOrigin;
use crate::record::ParseRecordError;
use std::sync::Arc;

/// Parses the program of an entry and makes it callable.
#[cold]
pub(super) fn read(entry: &[u8], modules: Vec<(LoadedModule, Arc<CodeOrigin>)>) -> Inner {
    let (modules, served) = modules.into_iter().unzip();
    let read = Program::of_entry(entry).map_err(unreadable);
    let made = read.and_then(|program| Inner::of_program(program, modules, served));
    made.unwrap_or_else(|error| Inner::new(Program::default(), Serves::Refused(error)))
}

fn unreadable(error: ParseRecordError) -> CallError {
    CallError::Other { what: "cannot read the program", source: Arc::new(error) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::bundle::{Bundle, write_bundle};
    use crate::native::{ArrayMut, ArrayRef};
    use crate::program::{Port, Program};
    use crate::record::Entry;
    use crate::{Array, DType, Loader, Type};

    fn loader(programs: Vec<(&str, Program)>) -> Loader {
        let entry = |(name, program): (&str, Program)| Entry {
            name: name.to_owned(),
            program,
            declared: String::new(),
            recipe: String::new(),
            metadata: crate::Metadata::default(),
        };
        let entries: Vec<Entry> = programs.into_iter().map(entry).collect();
        Loader::new(Bundle::from_bytes(write_bundle(&[], &entries, "test").unwrap()).unwrap())
    }

    #[test]
    fn programs_are_readable_after_the_loader_drops() {
        let functions = |names: [&str; 2]| {
            let port = |name: &str| Port { name: name.to_owned(), ty: Type::tensor(DType::F64, 1).into() };
            let program = |name| Program { inputs: vec![port(name)], ..Program::default() };
            let loader = loader(names.map(|name| (name, program(name))).into());
            names.map(|name| loader.entry(name).unwrap())
        };
        for (function, name) in functions(["x", "y"]).into_iter().zip(["x", "y"]) {
            assert_eq!(function.inputs()[0].name, name);
            assert!(function.call(&[]).unwrap_err().to_string().contains("expected 1 input"));
        }
    }

    #[test]
    fn program_without_data_fails_every_call() {
        // No step writes the output, so the program is invalid.
        let ports = vec![Port { name: "out".to_owned(), ty: Type::tensor(DType::F64, 1).into() }];
        let loader = loader(vec![("broken", Program { outputs: ports, ..Program::default() })]);
        let function = loader.entry("broken").unwrap();
        let (mut out, mut room) = ([Array::zeros(DType::F64, &[1])], Array::zeros(DType::F64, &[1]));
        let x = Array::zeros(DType::F64, &[1]);
        for inputs in [&[][..], &[ArrayRef::from(&x)]] {
            for error in [
                function.call(inputs).unwrap_err(),
                function.call_into(inputs, &mut []).unwrap_err(),
                function.call_into(inputs, &mut out).unwrap_err(),
                function.call_views(inputs, &mut [ArrayMut::from(&mut room)]).unwrap_err(),
            ] {
                assert_eq!(error.to_string(), "cannot read the program");
            }
        }
        let typed = function.typed::<(f64,), f64>().unwrap_err().to_string();
        assert!(typed.contains("unknown") && typed.contains("cannot read the program"), "{typed}");
        let native = function.native::<fn() -> f64>().unwrap_err().to_string();
        assert!(native.contains("the program cannot be read"), "{native}");
        assert!(function.inputs().is_empty() && function.provenance().is_empty());
    }
}
