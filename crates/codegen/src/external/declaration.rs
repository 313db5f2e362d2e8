//! What an author declares: plain data, read by [`ExternalCOp::new`](super::ExternalCOp::new).

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
    /// The op's own name: in signatures, and the directory of its logical file names.
    pub name: String,
    /// The C files: relative name and text, in order.
    pub files: Vec<(String, Arc<str>)>,
    /// Own headers that the files include: relative name and text.
    pub sources: SourceSet,
    /// The function that computes the outputs: `f` or `APPLY_SPECIFIC(f)`. Without it a section `code` does.
    pub func: Option<String>,
    /// Type patterns of the inputs: `{T}[?]`.
    pub inputs: Vec<String>,
    /// Type patterns of the outputs: `upcast(T, U)[?]`.
    pub outputs: Vec<String>,
    /// The dtypes that a letter of the types may stand for; any, if it is not listed.
    pub dtypes: BTreeMap<String, Vec<DType>>,
    /// The number of inputs that the function takes; what is missing is NULL.
    pub max_inputs: Option<usize>,
    /// The number of outputs that the function takes; what is missing is NULL.
    pub max_outputs: Option<usize>,
    /// Run-time params and their values.
    pub params: Props,
    /// The types of params where they do not follow from the values: enumerations, other dtypes.
    pub param_types: BTreeMap<String, ParamType>,
    /// Headers to include: `<math.h>`, `Python.h`.
    pub headers: Vec<String>,
    /// Directories searched for headers: relative ones among `sources`, absolute ones in the system.
    pub header_dirs: Vec<String>,
    /// Libraries to link: `m`.
    pub libraries: Vec<String>,
    /// Directories searched for libraries.
    pub lib_dirs: Vec<String>,
    /// Arguments to add to the compiler's.
    pub compile_args: Vec<String>,
    /// Arguments to take from the compiler's.
    pub no_compile_args: Vec<String>,
    /// C or C++; `None`: seen from the text, see [`ExternalCOp`](super::ExternalCOp).
    pub language: Option<Language>,
    /// The author's version; an empty one keeps the code in its process.
    pub version: Option<Vec<u32>>,
    /// Which outputs may be views of which inputs: (output, input).
    pub view_map: Vec<(usize, usize)>,
    /// Which inputs are overwritten by which outputs: (output, input).
    pub destroy_map: Vec<(usize, usize)>,
    /// What each output is, as an expression in the language of graphs over `x0`, `x1`, … and the params: what the C is held
    /// against, and what stands for it where there is no compiler. Empty: there is no reference.
    pub reference: Vec<String>,
    /// The external ops that the reference may call by their names, before functions of the library. Nothing of them enters the
    /// op's modules.
    pub reference_ops: Vec<Self>,
    /// Whether the types validate the values, and tell their dtypes in macros.
    pub check_input: bool,
    /// Whether C for NumPy's headers takes f16 and bf16 for what they are, see [`COp::f16_ok`](crate::COp::f16_ok).
    pub f16_ok: bool,
}

impl Declaration {
    /// A declaration of nothing but a name.
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

    /// Names the function that computes the outputs.
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
