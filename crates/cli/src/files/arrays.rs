//! The arrays of a command line: maps names to arrays in files, and outputs to files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use precast_core::program::Port;
use precast_graph::{Array, Extent, TensorType, Type};

use crate::args::Binding;
use crate::error::Failure;
use crate::whole::WriteError;
use crate::{npy, npz};

/// An array that the command line names, directly or as a member of an `.npz`.
#[derive(Debug)]
pub(crate) struct Given {
    /// The name of an input, or its position.
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// The array, or the reason why it cannot be read. Only arrays that the graph uses must be readable.
    pub(crate) array: Result<Array, Arc<npz::ReadError>>,
    /// Whether the command line names this array. Other members of an `.npz` are skipped unless the graph uses them.
    pub(crate) is_named: bool,
}

impl Given {
    /// Returns the array.
    ///
    /// # Errors
    /// The member of the `.npz` cannot be read.
    pub(crate) fn array(&self) -> Result<&Array, Failure> {
        self.array.as_ref().map_err(|error| {
            let (name, file) = (&self.name, self.file.display());
            Failure::new(format!("cannot use `{name}` of `{file}`")).because(Arc::clone(error))
        })
    }
}

/// Reads the files of `-i`. A `.npz` without a name gives all its arrays; with a name, the array of that name, or its
/// only one.
pub(crate) fn read(bindings: &[Binding]) -> Result<Vec<Given>, Failure> {
    let mut given = Vec::new();
    for Binding { name, file } in bindings {
        let one = |name: &str, array: Result<Array, npz::ReadError>, is_named| Given {
            name: name.to_owned(),
            file: file.clone(),
            array: array.map_err(Arc::new),
            is_named,
        };
        match name {
            None => {
                given.extend(npz::read(file)?.into_iter().map(|(name, array)| one(&name, array, false)));
            }
            Some(name) if npz::is_npz(file) => given.push(one(name, Ok(npz::read_one(file, name)?), true)),
            Some(name) => given.push(one(name, Ok(npy::read(file)?), true)),
        }
    }
    Ok(given)
}

/// Returns the type of an array with every extent left open.
pub(crate) fn open_type(array: &Array) -> Type {
    Type::Tensor(TensorType { dtype: array.dtype(), shape: vec![Extent::Unknown; array.shape().len()] })
}

/// Returns the position in `names` of a name; a number is a position itself.
fn position(wanted: &str, names: &[String], what: &str, option: &str) -> Result<usize, Failure> {
    let by_name = names.iter().position(|name| name == wanted);
    let position = by_name.or_else(|| wanted.parse().ok().filter(|position| *position < names.len()));
    position.ok_or_else(|| {
        Failure::usage(format!("unknown {what} `{wanted}`"))
            .hint(format!("use one of `{}`, or a position: `{option} 0=FILE`", names.join("`, `")))
    })
}

fn twice(what: &str, name: &str) -> Failure {
    Failure::usage(format!("duplicate {what} `{name}`"))
}

/// Orders the arrays as the inputs and checks them against their types.
pub(crate) fn arrange<'a>(given: &'a [Given], ports: &[Port]) -> Result<Vec<&'a Array>, Failure> {
    let names: Vec<String> = ports.iter().map(|port| port.name.clone()).collect();
    let mut bound: Vec<Option<&Given>> = vec![None; names.len()];
    for one in given {
        let position = match position(&one.name, &names, "input", "-i") {
            Ok(position) => position,
            Err(_) if !one.is_named => continue,
            Err(failure) => return Err(failure),
        };
        if bound[position].replace(one).is_some() {
            return Err(twice("input", &names[position]));
        }
    }
    check_used(given, &bound, &names)?;
    let mut inputs = Vec::new();
    for (Port { name, ty }, one) in ports.iter().zip(bound) {
        let missing = || {
            Failure::usage(format!("missing input `{name}`{}", others(given)))
                .hint(format!("add `-i {name}=FILE`"))
        };
        let one = one.ok_or_else(missing)?;
        inputs.push(check(name, one, ty)?);
    }
    Ok(inputs)
}

/// Checks that each `.npz` given without a name has at least one array that is an input.
fn check_used(given: &[Given], bound: &[Option<&Given>], names: &[String]) -> Result<(), Failure> {
    for (file, has) in unnamed(given) {
        let is_used = bound.iter().flatten().any(|one| !one.is_named && one.file == *file);
        if !is_used && !names.is_empty() {
            let (file, has) = (file.display(), has.join("`, `"));
            return Err(Failure::usage(format!("no array of `{file}` is an input; found `{has}`"))
                .hint(format!("name an array with `-i NAME={file}`; inputs: `{}`", names.join("`, `"))));
        }
    }
    Ok(())
}

/// Returns the files given without a name, each with the names of its arrays.
fn unnamed(given: &[Given]) -> BTreeMap<&PathBuf, Vec<&str>> {
    let mut files: BTreeMap<&PathBuf, Vec<&str>> = BTreeMap::new();
    for one in given.iter().filter(|one| !one.is_named) {
        files.entry(&one.file).or_default().push(&one.name);
    }
    files
}

/// Lists the arrays in the files given without a name; the text follows the name of a missing array.
fn others(given: &[Given]) -> String {
    let files = unnamed(given);
    let each = files.iter().map(|(file, has)| format!("; `{}` has `{}`", file.display(), has.join("`, `")));
    each.collect()
}

/// Returns the array of an input after checking that it fits the input's type.
fn check<'a>(name: &str, given: &'a Given, expected: &Type) -> Result<&'a Array, Failure> {
    let array = given.array()?;
    if expected.admits(array.dtype(), array.shape()) {
        return Ok(array);
    }
    let (found, file) = (array.ty(), given.file.display());
    let failure = Failure::new(format!("input `{name}` in `{file}` is `{found}`, expected `{expected}`"));
    let declare = format!("or declare `{name}` as `{}`", open_type(array));
    Err(if array.dtype() != expected.dtype() {
        failure
            .hint(format!("convert it with `a.astype('{}')`, {declare}", numpy_name(expected.dtype().name())))
    } else if array.shape().len() != expected.ndim() {
        failure.hint(format!("reshape it to {} dimensions, {declare}", expected.ndim()))
    } else {
        failure
    })
}

/// Returns NumPy's spelling of a dtype: `f32` is `float32`.
fn numpy_name(name: &str) -> String {
    let long = [("bf", "bfloat"), ("f", "float"), ("i", "int"), ("u", "uint"), ("c", "complex")];
    let spelled = long.iter().find_map(|(short, long)| {
        let bits = name.strip_prefix(short)?;
        bits.parse::<u32>().ok().map(|bits| format!("{long}{bits}"))
    });
    spelled.unwrap_or_else(|| name.to_owned())
}

/// The files that the outputs are written to.
#[derive(Debug)]
pub(crate) struct Targets<'a> {
    /// For each output, the file that holds only this output.
    pub(crate) files: Vec<Option<&'a Path>>,
    /// The `.npz` file for all outputs.
    pub(crate) all: Option<&'a Path>,
}

impl<'a> Targets<'a> {
    /// Orders the files of `-o` as the outputs. Two outputs cannot share a file, except in a `.npz` that holds all of
    /// them.
    pub(crate) fn new(bindings: &'a [Binding], names: &[String]) -> Result<Self, Failure> {
        let mut targets = Self { files: vec![None; names.len()], all: None };
        for Binding { name, file } in bindings {
            let file: &Path = file;
            match name {
                None if targets.all.replace(file).is_some() => {
                    return Err(twice("file for all outputs", "-o"));
                }
                None => {}
                Some(name) => {
                    let position = position(name, names, "output", "-o")?;
                    if targets.files[position].replace(file).is_some() {
                        return Err(twice("output", &names[position]));
                    }
                }
            }
        }
        targets.check_files()?;
        Ok(targets)
    }

    fn check_files(&self) -> Result<(), Failure> {
        let mut seen = BTreeSet::new();
        // A file may be spelled in several ways. A device may take any number of outputs.
        let place = |file: &Path| {
            let parent =
                file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let parent = fs_err::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
            file.file_name().map(|name| parent.join(name))
        };
        let is_device = |file: &Path| fs_err::metadata(file).is_ok_and(|metadata| !metadata.is_file());
        let mut files =
            self.files.iter().copied().chain([self.all]).flatten().filter(|file| !is_device(file));
        match files.find(|file| !seen.insert(place(file))) {
            Some(file) => Err(Failure::usage(format!("two outputs are assigned to `{}`", file.display()))),
            None => Ok(()),
        }
    }

    /// Returns the file that the output at a position is written to, if any.
    pub(crate) fn file(&self, position: usize) -> Option<&'a Path> {
        self.files.get(position).copied().flatten().or(self.all)
    }

    /// Writes the outputs. Every file is complete before the first one is renamed into place.
    pub(crate) fn write(&self, names: &[String], outputs: &[Array]) -> Result<(), WriteError> {
        let mut pending = Vec::new();
        for ((file, name), array) in self.files.iter().zip(names).zip(outputs) {
            match file {
                Some(file) if npz::is_npz(file) => pending.push(npz::write(file, &[(name, array)])?),
                Some(file) => pending.push(npy::write(file, array)?),
                None => {}
            }
        }
        if let Some(file) = self.all {
            let arrays: Vec<(&str, &Array)> = names.iter().map(String::as_str).zip(outputs).collect();
            pending.push(npz::write(file, &arrays)?);
        }
        pending.into_iter().try_for_each(crate::whole::Pending::commit)
    }
}
