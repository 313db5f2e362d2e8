//! Pointwise ops with NumPy's broadcasting, including `cast`.

use super::{from_f64, to_f64};
use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, TensorType, Type};

/// The dtype of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gives {
    /// The dtype that holds all inputs.
    Upcast,
    /// A float that holds all inputs.
    Float,
    /// A boolean.
    Bool,
    /// The dtype that holds all inputs except the first.
    Choice,
}

type Row = (&'static str, usize, Gives, fn(&[f64]) -> f64);

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn bits(args: &[f64], f: fn(i64, i64) -> i64) -> f64 {
    f(args[0] as i64, args[1] as i64) as f64
}

/// Name, number of inputs, dtype of the result, value.
const ROWS: [Row; 26] = [
    ("add", 2, Gives::Upcast, |x| x[0] + x[1]),
    ("sub", 2, Gives::Upcast, |x| x[0] - x[1]),
    ("mul", 2, Gives::Upcast, |x| x[0] * x[1]),
    ("maximum", 2, Gives::Upcast, |x| if x[0] > x[1] || x[0].is_nan() { x[0] } else { x[1] }),
    ("floor_div", 2, Gives::Upcast, |x| (x[0] / x[1]).floor()),
    ("mod", 2, Gives::Upcast, |x| x[0] - x[1] * (x[0] / x[1]).floor()),
    ("pow", 2, Gives::Upcast, |x| x[0].powf(x[1])),
    ("div", 2, Gives::Float, |x| x[0] / x[1]),
    ("lt", 2, Gives::Bool, |x| truth(x[0] < x[1])),
    ("le", 2, Gives::Bool, |x| truth(x[0] <= x[1])),
    ("gt", 2, Gives::Bool, |x| truth(x[0] > x[1])),
    ("ge", 2, Gives::Bool, |x| truth(x[0] >= x[1])),
    ("eq", 2, Gives::Bool, |x| truth(x[0] == x[1])),
    ("ne", 2, Gives::Bool, |x| truth(x[0] != x[1])),
    ("bitwise_and", 2, Gives::Upcast, |x| bits(x, |a, b| a & b)),
    ("bitwise_or", 2, Gives::Upcast, |x| bits(x, |a, b| a | b)),
    ("bitwise_xor", 2, Gives::Upcast, |x| bits(x, |a, b| a ^ b)),
    ("left_shift", 2, Gives::Upcast, |x| bits(x, |a, b| a << b)),
    ("right_shift", 2, Gives::Upcast, |x| bits(x, |a, b| a >> b)),
    ("neg", 1, Gives::Upcast, |x| -x[0]),
    ("invert", 1, Gives::Upcast, |x| !(x[0] as i64) as f64),
    ("exp", 1, Gives::Float, |x| x[0].exp()),
    ("log", 1, Gives::Float, |x| x[0].ln()),
    ("sqrt", 1, Gives::Float, |x| x[0].sqrt()),
    ("tanh", 1, Gives::Float, |x| x[0].tanh()),
    ("switch", 3, Gives::Choice, |x| if x[0] == 0.0 { x[2] } else { x[1] }),
];

/// A pointwise op without props.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pointwise(&'static Row);

/// Returns the pointwise op of a name.
pub(super) fn find(name: &str) -> Option<Pointwise> {
    ROWS.iter().find(|row| row.0 == name).map(Pointwise)
}

/// Returns the names of all pointwise ops.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.0)
}

impl Pointwise {
    /// Returns the number of inputs.
    pub(super) fn arity(self) -> usize {
        self.0.1
    }

    fn result(self, inputs: &[DType]) -> DType {
        let upcast = |dtypes: &[DType]| dtypes.iter().copied().reduce(DType::upcast).unwrap_or(DType::Bool);
        match self.0.2 {
            Gives::Upcast => upcast(inputs),
            Gives::Float => Some(upcast(inputs)).filter(|dtype| dtype.is_float()).unwrap_or(DType::F64),
            Gives::Bool => DType::Bool,
            Gives::Choice => upcast(&inputs[1..]),
        }
    }
}

impl Op for Pointwise {
    fn name(&self) -> &str {
        self.0.0
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), self.0.1, inputs)?;
        let integral = ["invert", "bitwise_and", "bitwise_or", "bitwise_xor"].contains(&self.name());
        if let Some(input) = inputs.iter().position(|ty| integral && ty.dtype().is_float()) {
            let found = inputs[input].dtype();
            return Err(MakeNodeError::DType {
                op: self.name().to_owned(),
                input,
                found,
                expected: "bool, i64".into(),
            });
        }
        let dtypes: Vec<DType> = inputs.iter().map(Type::dtype).collect();
        let dtype = self.result(&dtypes);
        Ok(vec![Type::Tensor(TensorType { dtype, shape: broadcast_types(self.name(), inputs)? })])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = broadcast_shapes(self.name(), inputs)?;
        let values: Vec<ArrayD<f64>> = inputs
            .iter()
            .map(|a| to_f64(a).broadcast(IxDyn(&shape)).map(|view| view.to_owned()))
            .collect::<Option<_>>()
            .ok_or_else(|| PerformError::value(self.name(), "shapes do not broadcast"))?;
        let dtypes: Vec<DType> = inputs.iter().map(|a| a.dtype()).collect();
        let mut result = ArrayD::zeros(IxDyn(&shape));
        for (index, element) in result.indexed_iter_mut() {
            let args: Vec<f64> = values.iter().map(|a| a[&index]).collect();
            *element = (self.0.3)(&args);
        }
        let dtype = self.result(&dtypes);
        let truth = dtype == DType::Bool && self.name() == "invert";
        if truth {
            // NumPy's `~` negates a boolean rather than inverting its bits.
            result.mapv_inplace(|x| x + 2.0);
        }
        Ok(vec![from_f64(&result, dtype)])
    }
}

/// Converts each element to another dtype.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cast(pub(super) DType);

impl Op for Cast {
    fn name(&self) -> &str {
        "cast"
    }

    fn props(&self) -> Props {
        Props::from([("dtype".to_owned(), Prop::DType(self.0))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        Ok(vec![inputs[0].with_dtype(self.0)])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![from_f64(&to_f64(inputs[0]), self.0)])
    }
}

fn broadcast_types(op: &str, inputs: &[Type]) -> Result<Vec<Extent>, MakeNodeError> {
    let ndim = inputs.iter().map(Type::ndim).max().unwrap_or(0);
    (0..ndim)
        .map(|dimension| {
            let extent = |ty: &Type| (dimension + ty.ndim()).checked_sub(ndim).map(|axis| ty.shape()[axis]);
            let extents: Vec<Extent> = inputs.iter().filter_map(extent).collect();
            let mut all = extents.iter().copied().map(Some);
            let first = all.next().flatten();
            let joined = all.fold(first, |a, b| a.zip(b).and_then(|(a, b)| a.broadcast(b)));
            joined.ok_or_else(|| MakeNodeError::Broadcast {
                op: op.to_owned(),
                dimension,
                extents: extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            })
        })
        .collect()
}

fn broadcast_shapes(op: &str, inputs: &[&Array]) -> Result<Vec<usize>, PerformError> {
    let ndim = inputs.iter().map(|a| a.shape().len()).max().unwrap_or(0);
    let mut shape = vec![1; ndim];
    for array in inputs {
        let skipped = ndim - array.shape().len();
        for (joined, n) in shape[skipped..].iter_mut().zip(array.shape()) {
            match (*joined, *n) {
                (1, n) => *joined = n,
                (_, 1) => {}
                (a, b) if a == b => {}
                (a, b) => {
                    return Err(PerformError::value(op, format!("extents {a} and {b} do not broadcast")));
                }
            }
        }
    }
    Ok(shape)
}
