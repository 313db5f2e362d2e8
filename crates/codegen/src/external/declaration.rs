//! The author's declaration of an external op: plain data that [`ExternalCOp::new`](super::ExternalCOp::new) reads.

use crate::module::SourceSet;
use crate::params::ParamType;
use precast_graph::{DType, Props};
use precast_store::key::Language;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The declaration of an external op.
///
/// # Examples
/// ```
/// use precast_codegen::external::{Declaration, ExternalCOp};
///
/// let c = "#section support_code\nstatic int twice(double x, double *y) { *y = 2 * x; return 0; }\n";
/// let op = ExternalCOp::new(Declaration::new("twice").file("twice.c", c).func("twice").input("f64").output("f64"))?;
/// # Ok::<(), precast_codegen::external::ExternalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// The op's name in signatures, and the directory of its logical file names.
    pub name: String,
    /// The C files in order: relative name and text.
    pub files: Vec<(String, Arc<str>)>,
    /// The op's own headers that the files include: relative name and text.
    pub sources: SourceSet,
    /// The function that computes the outputs: `f` or `APPLY_SPECIFIC(f)`. Without it, a section `code` computes them.
    pub func: Option<String>,
    /// Type patterns of the inputs: `{T}[?]`.
    pub inputs: Vec<String>,
    /// Type patterns of the outputs: `upcast(T, U)[?]`.
    pub outputs: Vec<String>,
    /// The allowed dtypes for each type variable; a variable that is not listed allows any dtype.
    pub dtypes: BTreeMap<String, Vec<DType>>,
    /// The number of inputs that the function takes; missing inputs are NULL.
    pub max_inputs: Option<usize>,
    /// The number of outputs that the function takes; missing outputs are NULL.
    pub max_outputs: Option<usize>,
    /// Run-time params and their values.
    pub params: Props,
    /// The types of params that cannot be derived from their values: enumerations, other dtypes.
    pub param_types: BTreeMap<String, ParamType>,
    /// Headers to include: `<math.h>`, `Python.h`.
    pub headers: Vec<String>,
    /// Directories to search for headers: relative ones among `sources`, absolute ones in the file system.
    pub header_dirs: Vec<String>,
    /// Libraries to link: `m`.
    pub libraries: Vec<String>,
    /// Directories to search for libraries.
    pub lib_dirs: Vec<String>,
    /// Compiler arguments to add.
    pub compile_args: Vec<String>,
    /// Compiler arguments to remove.
    pub no_compile_args: Vec<String>,
    /// C or C++; `None` detects the language from the text, see [`ExternalCOp`](super::ExternalCOp).
    pub language: Option<Language>,
    /// The author's version. With an empty version the code is not shared between processes.
    pub version: Option<Vec<u32>>,
    /// The outputs that may be views of inputs: (output, input).
    pub view_map: Vec<(usize, usize)>,
    /// The inputs that outputs overwrite: (output, input).
    pub destroy_map: Vec<(usize, usize)>,
    /// An expression for each output in the graph language, over `x0`, `x1`, … and the params. The C code is tested
    /// against it, and without a compiler it replaces the C code. Empty if the op has no reference.
    pub reference: Vec<String>,
    /// The derivative: for each input, an expression over `x0`, `x1`, …, the params, the result `out` and the gradient `g`
    /// by it, or over `out0`, `g0`, … of several results. `"0"` is zero. Empty: the derivative of the reference.
    pub gradient: Vec<String>,
    /// The external ops that the reference may call by name; they take precedence over library functions. They do not
    /// affect the op's modules.
    pub reference_ops: Vec<Self>,
    /// Whether the types validate the values and define dtype macros.
    pub check_input: bool,
    /// Whether C code that uses NumPy's headers handles f16 and bf16 correctly, see
    /// [`COp::f16_ok`](crate::COp::f16_ok).
    pub f16_ok: bool,
}

impl Declaration {
    /// Creates a declaration that has only a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            files: Vec::new(),
            sources: SourceSet::new(),
            func: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            dtypes: BTreeMap::new(),
            max_inputs: None,
            max_outputs: None,
            params: Props::new(),
            param_types: BTreeMap::new(),
            headers: Vec::new(),
            header_dirs: Vec::new(),
            libraries: Vec::new(),
            lib_dirs: Vec::new(),
            compile_args: Vec::new(),
            no_compile_args: Vec::new(),
            language: None,
            version: None,
            view_map: Vec::new(),
            destroy_map: Vec::new(),
            reference: Vec::new(),
            gradient: Vec::new(),
            reference_ops: Vec::new(),
            check_input: true,
            f16_ok: false,
        }
    }

    /// Adds a C file with sections.
    #[must_use]
    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.into()));
        self
    }

    /// Adds a header that the files include.
    #[must_use]
    pub fn source(mut self, name: &str, text: &str) -> Self {
        self.sources.insert(name.to_owned(), text.into());
        self
    }

    /// Sets the function that computes the outputs.
    #[must_use]
    pub fn func(mut self, func: &str) -> Self {
        self.func = Some(func.to_owned());
        self
    }

    /// Adds an input.
    #[must_use]
    pub fn input(mut self, pattern: &str) -> Self {
        self.inputs.push(pattern.to_owned());
        self
    }

    /// Adds an output.
    #[must_use]
    pub fn output(mut self, pattern: &str) -> Self {
        self.outputs.push(pattern.to_owned());
        self
    }

    /// Adds a header to include.
    #[must_use]
    pub fn header(mut self, header: &str) -> Self {
        self.headers.push(header.to_owned());
        self
    }
}
