//! The three ops of the tutorials of Theano, Aesara and PyTensor. The C in `c/` is a verbatim copy, with `%(x)s`
//! where their Python code substitutes values.
//!
//! Values are small integers with products that every dtype represents exactly, which are also NumPy's results.

use super::{call, chain, compiled, graph, op, vector};
use precast::{Array, ArrayRef, DType, FunctionGraph, Policy, Runtime, Type};
use precast_codegen::external::Declaration;
use precast_codegen::{CCompiler, CLinkerObject, COp, LinkError, Node, Sub};
use precast_graph::{MakeNodeError, Op, PerformError, Prop, Props};
use precast_ops::Ops;
use precast_store::key::Language;
use std::sync::Arc;

const DTYPES: [DType; 10] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];
const LANGUAGES: [Language; 2] = [Language::C, Language::Cxx];

/// Returns the third tutorial op: an external op.
fn vector_times_vector(language: Language) -> Arc<dyn Op> {
    let file = Declaration::new("vector_times_vector")
        .file("vectorTimesVector.c", include_str!("c/vectorTimesVector.c"))
        .func("APPLY_SPECIFIC(vector_times_vector)");
    let typed = file.input("{T}[?]").input("{U}[?]").output("upcast(T, U)[?]");
    op(Declaration { language: Some(language), ..typed })
}

/// The first and the second tutorial op, whose methods return C.
#[derive(Debug)]
struct Tutorial {
    name: &'static str,
    language: Language,
}

impl Tutorial {
    /// Substitutes values like Python's `%`.
    fn fill(&self, text: &str, node: &Node, values: &[(&str, &str)]) -> String {
        let mut text = text.to_owned();
        for (name, value) in values {
            text = text.replace(&format!("%({name})s"), value);
        }
        for (letter, ty) in ["x", "y", "z"].iter().zip(node.inputs.iter().chain(&node.outputs)) {
            let dtype = ty.dtype();
            let long = [('i', "int"), ('u', "uint"), ('f', "float")];
            let (_, kind) = long.iter().find(|(first, _)| dtype.name().starts_with(*first)).unwrap();
            let name = format!("{kind}{}", &dtype.name()[1..]);
            text = text.replace(&format!("%(dtype_{letter})s"), &name);
            text = text.replace(&format!("%(itemsize_{letter})s"), &dtype.itemsize_bytes().to_string());
            text = text.replace(&format!("%(typenum_{letter})s"), &dtype.typenum().to_string());
        }
        text.replace("%%", "%")
    }
}

impl Op for Tutorial {
    fn name(&self) -> &str {
        self.name
    }
    fn props(&self) -> Props {
        Props::from([("language".to_owned(), Prop::Str(self.language.to_string()))])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let [x, y] = [inputs[0].dtype(), inputs[1].dtype()];
        Ok(vec![Type::tensor(if self.name == "vector_times_scalar" { x } else { x.upcast(y) }, 1)])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: self.name.to_owned() })
    }
}

impl CLinkerObject for Tutorial {
    fn c_headers(&self) -> Vec<String> {
        ["Python.h", "numpy/arrayobject.h"].map(str::to_owned).to_vec()
    }
    fn c_compiler(&self) -> Option<CCompiler> {
        (self.language == Language::Cxx).then_some(CCompiler { language: Language::Cxx })
    }
    fn c_support_code(&self) -> Vec<String> {
        match self.name {
            "vector_times_vector" => vec![include_str!("c/vector_times_vector.support.in").to_owned()],
            _ => Vec::new(),
        }
    }
}

impl COp for Tutorial {
    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let text = match self.name {
            "vector_times_scalar" => include_str!("c/vector_times_scalar.code.in"),
            _ => include_str!("c/vector_times_vector.code.in"),
        };
        let values =
            [("name", name), ("x", &inputs[0]), ("y", &inputs[1]), ("z", &outputs[0]), ("fail", &sub.fail)];
        Ok(self.fill(text, node, &values))
    }
    fn c_support_code_apply(&self, node: &Node, name: &str) -> Result<String, LinkError> {
        let text = match self.name {
            "vector_times_scalar" => "",
            _ => include_str!("c/vector_times_vector.apply.in"),
        };
        Ok(self.fill(text, node, &[("name", name)]))
    }
}

/// Returns all three ops, each with the rank of its second input.
fn tutorials(language: Language) -> [(Arc<dyn Op>, usize); 3] {
    let written = |name| -> Arc<dyn Op> { Arc::new(Tutorial { name, language }) };
    [
        (written("vector_times_scalar"), 0),
        (written("vector_times_vector"), 1),
        (vector_times_vector(language), 1),
    ]
}

/// Returns the library with the first two ops; a keyword selects their language.
pub(super) fn library() -> Ops {
    let named = |name: &'static str| {
        move |props: &Props| {
            let cxx = matches!(props.get("language"), Some(Prop::Str(language)) if language == "c++");
            Ok(Tutorial { name, language: if cxx { Language::Cxx } else { Language::C } })
        }
    };
    let ops = Ops::standard().with("vector_times_scalar", named("vector_times_scalar")).unwrap();
    ops.with("written_vector_times_vector", named("vector_times_vector")).unwrap()
}

fn runtime() -> Runtime {
    Runtime::builder().ops(library()).policy(Policy::Jit).build().unwrap()
}

/// Returns an array of small integers in a dtype.
pub(super) fn array(dtype: DType, values: &[i64], shape: &[usize]) -> Array {
    let exact = ndarray::ArrayD::from_shape_vec(shape, values.to_vec()).unwrap();
    match dtype {
        DType::I8 => Array::from(exact.mapv(|n| n as i8)),
        DType::I16 => Array::from(exact.mapv(|n| n as i16)),
        DType::I32 => Array::from(exact.mapv(|n| n as i32)),
        DType::U8 => Array::from(exact.mapv(|n| n as u8)),
        DType::U16 => Array::from(exact.mapv(|n| n as u16)),
        DType::U32 => Array::from(exact.mapv(|n| n as u32)),
        DType::U64 => Array::from(exact.mapv(|n| n as u64)),
        DType::F32 => Array::from(exact.mapv(|n| n as f32)),
        DType::F64 => Array::from(exact.mapv(|n| n as f64)),
        _ => Array::from(exact),
    }
}

/// Returns some dtypes to pair with one: over all dtypes, each occurs in each position.
fn others(dtype: DType, count: usize) -> Vec<DType> {
    let at = DTYPES.iter().position(|known| *known == dtype).unwrap();
    (0..count).map(|k| DTYPES[(at + 3 * k + 1) % DTYPES.len()]).collect()
}

/// Returns a graph with an Apply of the op for each pair of a dtype with another.
fn pairs(op: &Arc<dyn Op>, dtype: DType, others: &[DType], rank: usize) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(dtype, 1)).unwrap();
    for dtype in others {
        let y = graph.input(&format!("y_{dtype}"), Type::tensor(*dtype, rank)).unwrap();
        let z = graph.apply(Arc::clone(op), &[x, y]).unwrap()[0];
        graph.output(z, None).unwrap();
    }
    graph
}

#[test]
fn tutorial_ops_are_right_in_c_and_cxx() {
    let (x, y) = ([1, 2, 3, 5, 7], [2, 0, 4, 3, 11]);
    for language in LANGUAGES {
        for (op, rank) in tutorials(language) {
            let scalar = rank == 0;
            let ys = if scalar { vec![3] } else { y.to_vec() };
            let shape = if scalar { vec![] } else { vec![5] };
            let products: Vec<i64> = (0..5).map(|i| x[i] * if scalar { 3 } else { y[i] }).collect();
            // Each pair takes the compiler a quarter of a second.
            let all = language == Language::C && op.name() == "external";
            let few = [DType::U8, DType::I64, DType::F32, DType::F64];
            for a in if all { DTYPES.to_vec() } else { few.to_vec() } {
                let others = others(a, if all { 3 } else { 1 });
                let function = runtime().function(&pairs(&op, a, &others, rank)).unwrap();
                let ys = others.iter().map(|b| array(*b, &ys, &shape));
                let inputs: Vec<Array> = std::iter::once(array(a, &x, &[5])).chain(ys).collect();
                let found = call(&function, &inputs).unwrap();
                assert_eq!(found.len(), others.len());
                for (b, found) in others.iter().zip(&found) {
                    let expected = array(if scalar { a } else { a.upcast(*b) }, &products, &[5]);
                    assert_eq!(*found, expected, "{} in {language}: {a}, {b}", op.label());
                }
            }
        }
    }
}

#[test]
fn strided_and_reversed_inputs_and_outputs_are_followed() {
    let long = ndarray::arr1(&[1.0, -1.0, 2.0, -1.0, 3.0, -1.0]);
    let every_second = long.slice(ndarray::s![..;2]);
    let reversed = long.slice(ndarray::s![..;-2]);
    for (op, rank) in tutorials(Language::C).into_iter().skip(1) {
        let ty = format!("f64[{}]", if rank == 0 { "" } else { "?" });
        let function = runtime().function(&graph(&op, &["f64[?]", &ty])).unwrap();
        let found = function.call(&[ArrayRef::from(every_second), ArrayRef::from(reversed)]).unwrap();
        assert_eq!(found, [vector(&[-1.0, -2.0, -3.0])]);
        // The returned array is reused, and replaced if its shape does not match.
        let mut outputs = found;
        function.call_into(&[ArrayRef::from(reversed), ArrayRef::from(reversed)], &mut outputs).unwrap();
        assert_eq!(outputs, [vector(&[1.0, 1.0, 1.0])]);
        function
            .call_into(&[ArrayRef::from(long.view()), ArrayRef::from(long.view())], &mut outputs)
            .unwrap();
        assert_eq!(outputs, [vector(&[1.0, 1.0, 4.0, 1.0, 9.0, 1.0])]);
    }
}

#[test]
fn mismatched_shapes_give_tutorial_messages() {
    let words = [
        "Shape mismatch : x.shape[0] and y.shape[0] should match but x.shape[0] == 3 and y.shape[0] == 2",
        "Shape mismatch : input0.shape[0] and input1.shape[0] should match but x.shape[0] == 3 and y.shape[0] == 2",
    ];
    for language in LANGUAGES {
        for ((op, _), words) in tutorials(language).into_iter().skip(1).zip(words) {
            let function = runtime().function(&graph(&op, &["f32[?]", "f64[?]"])).unwrap();
            let x = Array::from(ndarray::arr1(&[1_f32, 2.0, 3.0]).into_dyn());
            let found = chain(&call(&function, &[x.clone(), vector(&[1.0, 2.0])]).unwrap_err());
            assert!(found.contains(words), "{found}");
            assert_eq!(call(&function, &[x, vector(&[1.0, 2.0, 3.0])]).unwrap(), [vector(&[1.0, 4.0, 9.0])]);
        }
    }
}

#[test]
fn init_code_has_its_instance_context() {
    let text = "#section support_code_struct\nPyObject *APPLY_SPECIFIC(kept);\n#section init_code_struct\n\
                npy_intp n = 2;\nAPPLY_SPECIFIC(kept) = PyArray_ZEROS(1, &n, NPY_FLOAT64, 0);\n\
                if (!APPLY_SPECIFIC(kept)) FAIL;\n#section cleanup_code_struct\nPy_XDECREF(APPLY_SPECIFIC(kept));\n\
                #section code\nPy_XINCREF(APPLY_SPECIFIC(kept));\nPy_XDECREF(OUTPUT_0);\n\
                OUTPUT_0 = (PyArrayObject *)APPLY_SPECIFIC(kept);\n";
    let declaration = Declaration::new("kept").file("kept.c", text).output("f64[?]");
    let function = compiled(&graph(&op(declaration), &[]));
    assert_eq!(call(&function, &[]).unwrap(), [vector(&[0.0, 0.0])]);
    assert_eq!(call(&function, &[]).unwrap(), [vector(&[0.0, 0.0])]);
}
