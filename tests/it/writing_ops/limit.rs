//! An op in Rust with C: the example of `crates/codegen/WRITING_OPS.md`.

use precast_codegen::template::render;
use precast_codegen::{
    CLinkerObject, COp, CacheVersion, EnumType, LinkError, Node, ParamType, ParamsType, SourceSet, Sub,
};
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Prop, Props, Type};

/// Brings the elements of a vector within limits.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) low: f64,
    pub(super) high: f64,
    /// `CLAMP` or `WRAP`.
    pub(super) mode: String,
}

impl Limit {
    /// Creates the op of a call such as `limit(x, low=-1.0)`.
    pub(super) fn from_props(props: &Props) -> Result<Self, MakeNodeError> {
        let mut limit = Self { low: 0.0, high: 1.0, mode: "CLAMP".to_owned() };
        for (name, prop) in props {
            match (name.as_str(), prop) {
                ("low", Prop::Float(low)) => limit.low = *low,
                ("high", Prop::Float(high)) => limit.high = *high,
                ("mode", Prop::Str(mode)) => limit.mode.clone_from(mode),
                ("low" | "high" | "mode", _) => {
                    return Err(MakeNodeError::prop("limit", name, format!("cannot be `{prop}`")));
                }
                // The library rejects unknown props.
                _ => {}
            }
        }
        Ok(limit)
    }
}

impl Op for Limit {
    fn name(&self) -> &str {
        "limit"
    }

    fn props(&self) -> Props {
        let mode = Prop::Str(self.mode.clone());
        let [low, high] = [self.low, self.high].map(Prop::Float);
        [("low", low), ("high", high), ("mode", mode)].map(|(name, prop)| (name.to_owned(), prop)).into()
    }

    /// Lists all three, which are passed at run time: ops that differ only in them share a module.
    fn params(&self) -> Vec<String> {
        ["low", "high", "mode"].map(str::to_owned).to_vec()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        let (ty, floats) = (&inputs[0], [DType::F32, DType::F64]);
        if ty.ndim() != 1 || !floats.contains(&ty.dtype()) {
            let (op, found, expected) =
                (self.name().to_owned(), ty.to_string(), "a vector of floats".to_owned());
            return Err(MakeNodeError::Input { op, input: 0, found, expected });
        }
        Ok(vec![ty.clone()])
    }

    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: self.name().to_owned() })
    }
}

impl CLinkerObject for Limit {
    fn c_support_code(&self) -> Vec<String> {
        vec!["#include \"limit/limit.h\"".to_owned()]
    }

    /// Returns the headers that the C code includes, by the names in its `#include` lines.
    fn c_sources(&self) -> SourceSet {
        [("limit/limit.h".to_owned(), include_str!("c/limit.h").into())].into()
    }

    fn c_code_cache_version(&self) -> CacheVersion {
        CacheVersion::Version(vec![1])
    }
}

impl COp for Limit {
    fn params_type(&self) -> Result<ParamsType, LinkError> {
        let mode = EnumType::list(&["CLAMP", "WRAP"]).alias("WRAP", "modulo");
        let number = ParamType::Scalar(DType::F64);
        Ok(ParamsType::new()
            .with("low", number.clone())
            .with("high", number)
            .with("mode", ParamType::Enum(mode)))
    }

    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        Ok(render(include_str!("c/limit_apply.c.in"), &[("NAME", name)]))
    }

    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let dtype = node.outputs[0].dtype();
        let (element, number) = (format!("pc_{dtype}"), dtype.typenum().to_string());
        let params = sub.params.as_deref().unwrap_or_default();
        let values = [
            ("NAME", name),
            ("X", &inputs[0]),
            ("Z", &outputs[0]),
            ("T", &element),
            ("TYPENUM", &number),
            ("PARAMS", params),
            ("FAIL", &sub.fail),
        ];
        Ok(render(include_str!("c/limit.c.in"), &values))
    }
}
