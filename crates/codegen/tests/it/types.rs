//! Tests of the library of user types: the C code of ops that work on values of any type, and the keys it affects.

use crate::double;
use crate::run::whole;
use precast_codegen::{
    CDataType, CLinkerObject, COp, CacheVersion, Library, LinkError, Node, Sub, TypeOp, TypeOps, c_type, link,
};
use precast_graph::{Array, DType, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

/// Ops such as `deep_copy`, as in the op library, but for user types only.
#[derive(Debug)]
struct Any(TypeOp, Option<usize>);

impl Op for Any {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn props(&self) -> Props {
        self.1.map(|i| ("i".to_owned(), Prop::Int(i as i64))).into_iter().collect()
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let shape = matches!(self.0, TypeOp::Shape | TypeOp::ShapeI);
        Ok(vec![if shape { Type::Scalar(DType::I64) } else { inputs[0].clone() }])
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value(self.name(), "not needed here"))
    }
}

impl CLinkerObject for Any {}

impl COp for Any {
    fn c_code(
        &self,
        node: &Node,
        _: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let code = node.types.code(self.0, &node.inputs[0], (&i[0], &o[0]), self.1, sub)?;
        Ok(code.unwrap_or_else(|| format!("{} = {};", o[0], i[0])))
    }
    fn c_code_cache_version_apply(&self, node: &Node) -> CacheVersion {
        node.types.version(self.0, &node.inputs[0]).unwrap_or_default()
    }
}

fn graph(op: TypeOp, dimension: Option<usize>, ty: &str) -> FunctionGraph {
    let mut g = FunctionGraph::new();
    let x = g.input("x", ty.parse().unwrap()).unwrap();
    let y = g.apply(Arc::new(Any(op, dimension)), &[x]).unwrap()[0];
    g.output(y, None).unwrap();
    g
}

fn library() -> Library {
    let check = "if (@I@ >= 1) { pc_error_set(ctx, PC_ERROR_INDEX, \"no dimension @I@\"); @FAIL@ }";
    let ops = TypeOps::new()
        .deep_copy("@ONAME@ = @INAME@ + 0.5;", &[1])
        .view("@ONAME@ = @INAME@;", &[2, 0])
        .shape("@ONAME@ = 7 + (@INAME@ < 0);", &[])
        .shape_i("@ONAME@ = 40 + @I@ + (@INAME@ < 0);", check, &[1]);
    double::library().with_c::<Any>().with_type_ops("double", ops)
}

#[test]
fn registered_code_runs_and_fails_like_the_op() {
    let run = |op, i| whole(&graph(op, i, "double<f64[]>"), &library(), &[Array::from(2.0)]).outputs;
    assert_eq!(run(TypeOp::DeepCopy, None), Ok(vec![(12, 2.5_f64.to_le_bytes().to_vec())]));
    assert_eq!(run(TypeOp::ShapeI, Some(0)), Ok(vec![(7, 40_i64.to_le_bytes().to_vec())]));
    assert_eq!(run(TypeOp::ShapeI, Some(3)), Err("no dimension 3".to_owned()));
}

#[test]
fn versions_match_the_registration() {
    let ty: Type = "double<f64[]>".parse().unwrap();
    let version = |op| library().types().version(op, &ty);
    assert_eq!(version(TypeOp::View), Some(CacheVersion::Version(vec![2, 0])));
    assert_eq!(version(TypeOp::Shape), Some(CacheVersion::Never));
    let unpublished = |op| link(&graph(op, None, "double<f64[]>"), &library()).unwrap().unpublished;
    assert!(unpublished(TypeOp::Shape) && !unpublished(TypeOp::View));
}

#[test]
fn unregistered_type_is_named() {
    let library = double::library().with_c::<Any>();
    let error = link(&graph(TypeOp::View, None, "double<f64[]>"), &library).unwrap_err().to_string();
    assert_eq!(
        error,
        "no C code for `view(double<f64[]>)`: no ops are registered for type `double`; see `Library::with_type_ops`"
    );
}

#[test]
fn registering_one_type_changes_no_other_key() {
    let key = |library: &Library, ty: &str| link(&graph(TypeOp::DeepCopy, None, ty), library).unwrap().key();
    let before = library();
    let other = TypeOps::new().deep_copy("other", &[9]);
    let plan = Arc::new(CDataType::new("plan", "void *").header("<stdlib.h>"));
    let after =
        library().with_type("plan", plan).with_type_ops("plan", other).with_type_ops("third", TypeOps::new());
    for ty in ["double<f64[]>", "f64", "i64"] {
        assert_eq!(key(&before, ty), key(&after, ty), "{ty}");
    }
    // Only this type's own code changes the key, and only for the op it belongs to.
    let changed = library().with_type_ops("double", TypeOps::new().deep_copy("@ONAME@ = @INAME@;", &[1]));
    assert_ne!(key(&before, "double<f64[]>"), key(&changed, "double<f64[]>"));
    assert_eq!(key(&before, "f64"), key(&changed, "f64"));
    let view = |library| link(&graph(TypeOp::View, None, "double<f64[]>"), library).unwrap().key();
    assert_eq!(view(&before), view(&changed));
}

#[test]
fn scalars_of_every_dtype_are_passed_through() {
    for dtype in DType::ALL {
        // Bit patterns in which the loss of any part of an element would be visible.
        let bits = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
        let bits = if dtype == DType::Bool { [1, 0] } else { bits };
        let value = Array::from_bits(dtype, &[], &bits[..dtype.words()]).unwrap();
        let g = graph(TypeOp::View, None, dtype.name());
        let (typenum, bytes) = whole(&g, &library(), std::slice::from_ref(&value)).outputs.unwrap().remove(0);
        assert_eq!((typenum, bytes.len()), (dtype.typenum(), dtype.itemsize_bytes()));
        let part = dtype.itemsize_bytes() / dtype.words();
        let expected: Vec<u8> =
            value.bits().iter().flat_map(|word| word.to_le_bytes()[..part].to_vec()).collect();
        assert_eq!(bytes, expected, "{dtype}");
    }
}

#[test]
fn literals_are_exact() {
    let literal = |value: Array| {
        let scalar = c_type(&Type::Scalar(value.dtype()), &Library::new()).unwrap();
        scalar.c_literal(&value)
    };
    assert_eq!(literal(Array::from(true)).as_deref(), Some("((pc_bool)(1ll))"));
    assert_eq!(literal(Array::from(i64::MIN)).as_deref(), Some("((pc_i64)(-9223372036854775807ll - 1))"));
    assert_eq!(literal(Array::from(u64::MAX)).as_deref(), Some("((pc_u64)18446744073709551615ull)"));
    assert_eq!(literal(Array::from(0.1)).as_deref(), Some("((pc_f64)(0x1.999999999999ap-4))"));
    assert_eq!(literal(Array::from(-0.0)).as_deref(), Some("((pc_f64)(-0x0.0000000000000p-1022))"));
    assert_eq!(literal(Array::from(f32::NEG_INFINITY)).as_deref(), Some("((pc_f32)(-__builtin_inf()))"));
    assert_eq!(literal(Array::from(precast_graph::Complex::new(1.0, 2.0))), None);
    assert_eq!(literal(ndarray::array![1.0].into()), None);
    let scalar = c_type(&Type::Scalar(DType::F64), &Library::new()).unwrap();
    assert!(scalar.values_eq(&Array::from(0.0), &Array::from(-0.0)));
}
