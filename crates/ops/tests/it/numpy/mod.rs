//! Compares random expressions with NumPy 2: literals, constant subexpressions, every function in every mix of arrays
//! and literals, and every dtype that NumPy supports.
//!
//! ```text
//! seed ─▶ expression, inputs ─┬─▶ text ─▶ graph ─▶ `perform`
//!                             └─▶ one Python for all: eval      value, dtype and shape, or both reject
//! ```
//! `tests/it/fuzz` compares the other forms of execution with `perform`. `PRECAST_NUMPY_COUNT` and
//! `PRECAST_NUMPY_SEED` set the number of expressions and the first seed (`cargo xtask fuzz-graphs --numpy`).
//!
//! # Tolerances
//! A single operation has 0 ulp if it is exact or rounded once, otherwise the result of [`tolerance`]. Larger
//! expressions propagate errors, so their values are compared only if nothing is rounded more than once. Dtypes and
//! shapes are always compared.

mod alone;
mod draw;
mod functions;
mod golden;
mod library;
mod page;
mod places;
mod python;

use draw::{Case, draw, dtypes};
use functions::{is_scalar, names};
use precast_core::event::chain;
use precast_graph::text::parse;
use precast_graph::{Array, DType, Number, Type, interpret};
use precast_ops::{Ops, Row};
use precast_testkit::ulp::ulp_distance;
use precast_testkit::{Budget, Choices};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Intentional differences: a fragment of a message, and the reason. `crates/ops/README.md` has the same list for
/// users.
///
/// The fragment comes from our error or from NumPy's; the other side returns a value.
#[rustfmt::skip]
const ON_PURPOSE: &[(&str, &str)] = &[
    ("which does not fit into `f", "a literal too large for a float is refused, NumPy makes it infinite"),
    ("which does not fit into `c", "a literal too large for a float is refused, NumPy makes it infinite"),
    ("`switch`: input", "a literal that the dtype cannot hold is refused, NumPy's `where` keeps its low bits"),
    ("`where`: input", "as `switch`"),
    ("does not support dtype `c", "a function that is not there for complex numbers yet"),
    ("ufunc 'positive' did not contain a loop", "`+x` is x, of truth values too"),
    ("`max`: zero-size array", "`norm(x, inf)` and `logsumexp` of nothing are refused as `max` is"),
    ("more than 16384 bits", "literals have a bound"),
    ("hint: use a float exponent", "refused when it is written, NumPy looks whether there is an element"),
    ("OverflowError: Python int too large to convert to C long", "comparisons and `clip` of bool with any integer are exact, NumPy wants an i64"),
    ("OverflowError: int too large to convert to float", "functions of integers beyond a float"),
    ("Cannot change data-type for array of references", "NumPy makes an array of Python's integers"),
    ("Python integer -9223372036854775808 out of bounds", "`reciprocal(0)` is 0, NumPy's the least integer"),
    ("'subtract' input 0 from dtype('O')", "`linspace` of integers beyond 64 bits is computed in f64"),
    ("'subtract' input 1 from dtype('O')", "`linspace` of integers beyond 64 bits is computed in f64"),
    ("Maximum allowed size exceeded", "`arange` over more than an i64 counts, which NumPy takes for nothing where it wraps"),
    ("OverflowError: signed integer is less than minimum", "diagonals of any number are there, if empty, NumPy wants an int of C"),
    ("OverflowError: signed integer is greater than maximum", "as above"),
    ("OverflowError: Python int too large to convert to C int", "as above"),
    ("cannot reshape array of size 0 into shape (0,newaxis)", "the median of nothing is NaN, over several axes as over one"),
    ("dtype('O') to dtype('float64')", "`digitize` of integers beyond 64 bits"),
    ("from dtype('int64') to dtype('uint64')", "`select` of Python's integers beside unsigned ones"),
    ("distances for", "of a number NumPy's `gradient` is an empty tuple"),
    ("it supports f32, f64", "the next number is of f32 and f64"),
    ("has no callable", "functions of integers beyond 64 bits are computed in f64"),
    ("'int' object has no attribute", "functions of integers beyond 64 bits are computed in f64"),
    ("'float' object has no attribute", "functions of integers beyond 64 bits are computed in f64"),
    ("SVD did not converge", "a matrix with NaN or an infinity has NaN as singular values"),
    ("Eigenvalues did not converge", "as above"),
    ("not supported between instances of 'complex'", "beside integers beyond 64 bits NumPy compares Python's numbers"),
];
/// Intentional differences like [`ON_PURPOSE`] for expressions with an extent, which is a Python integer for NumPy,
/// but an i64 of a running graph here.
const OF_EXTENTS: &[(&str, &str)] = &[
    ("ZeroDivisionError", "division by zero is 0, or not finite"),
    ("not supported between instances of", "numbers of a graph have an order"),
    ("negative shift count", "shifts beyond the width are 0 or -1"),
    ("what is computed of extents, does not fit", "`where` takes what its dtype holds"),
    ("MemoryError", "shifts beyond the width are 0 or -1"),
    ("does not support dtype `bool`", "truth values are no integers"),
];

/// One side's outcome of a case.
type Outcome = Result<Array, String>;

fn ours(case: &Case) -> Outcome {
    let typed =
        |(name, array): &(String, Array)| (name.clone(), Type::tensor(array.dtype(), array.shape().len()));
    let inputs: Vec<(String, Type)> = case.inputs.iter().map(typed).collect();
    let graph = parse(&[&case.text], &inputs, &Ops::standard()).map_err(|error| chain(&error))?;
    let values: Vec<Array> = case.inputs.iter().map(|(_, array)| array.clone()).collect();
    interpret(&graph, &values).map(|mut outputs| outputs.remove(0)).map_err(|error| chain(&error))
}

/// Describes the difference of a case; `None` if both sides agree.
fn difference(case: &Case, found: &Outcome, numpy: &Outcome) -> Option<String> {
    let has_extent = case.text.contains("shape(");
    let listed =
        |error: &str, list: &[(&str, &str)]| list.iter().any(|(fragment, _)| error.contains(fragment));
    // NumPy creates an array of Python integers if one is too wide for a dtype.
    let collects =
        ["dot(", "inner(", "outer(", "stack(", "concatenate("].iter().any(|name| case.text.contains(name));
    if collects && ["10**20", "2**64", "2**63"].iter().any(|wide| case.text.contains(wide)) {
        return None;
    }
    // NumPy's `clip` compares a bound with the dtype of its first argument, not with that of the result.
    let of_clip = |error: &str| case.text.contains("clip(") && error.contains("out of bounds for uint");
    let on_purpose =
        |error: &str| of_clip(error) || listed(error, ON_PURPOSE) || has_extent && listed(error, OF_EXTENTS);
    let (found, want) = match (found, numpy) {
        (Err(_), Err(_)) => return None,
        // Functions that NumPy lacks have another oracle: `scalar_golden::every_scalar_op_has_an_oracle`.
        (Ok(_), Err(error)) if lacks_a_scalar_op(error) => return None,
        // For an empty array NumPy does not check indices.
        (Err(error), Ok(value))
            if error.contains("is out of bounds for axis") && value.numbers().is_empty() =>
        {
            return None;
        }
        // NumPy supports arrays of Python integers.
        (Err(error), Ok(_)) if error.contains("which does not fit into `i64`") && wide_literal(error) => {
            return None;
        }
        (Err(error), Ok(_)) | (Ok(_), Err(error)) if on_purpose(error) => return None,
        (Err(error), Ok(value)) => return Some(format!("refused: {error}\nNumPy gives {value:?}")),
        (Ok(value), Err(error)) => return Some(format!("gives {value:?}\nNumPy refuses: {error}")),
        (Ok(found), Ok(want)) => (found, want),
    };
    let (has, dtypes) = (|word: &str| case.text.contains(word), (found.dtype(), want.dtype()));
    let integers = dtypes.0.is_integer() && dtypes.1.is_integer();
    let same_by_reason = match dtypes {
        // Extents are computed in i64, and boolean results are not integers here.
        _ if has_extent && (has("real(") || has("imag(")) => true,
        _ if has_extent && (integers || dtypes.0 == DType::Bool) => true,
        // Python's power of a negative integer and a fraction is complex.
        (DType::F64, DType::C128) if has_extent => has("**"),
        // NumPy's `where` returns i64 for two integers that only u64 can hold.
        (DType::U64, DType::I64) => has("where(") || has("switch(") || has("select("),
        // The real and imaginary parts of Python's `True` are integers.
        (DType::Bool, DType::I64) => has("real(") || has("imag("),
        // NumPy squares booleans as i8 in arrays, but as i64 for scalars.
        (DType::I8, DType::I64) => has("**") || has("pow"),
        // NumPy computes with a Python number in f16.
        (DType::F64, DType::F16) => has("ldexp("),
        // NumPy's function returns i8 for booleans, its method leaves them unchanged.
        (DType::I8, DType::Bool) => has(".conj"),
        _ => false,
    };
    if same_by_reason {
        return None;
    }
    if found.dtype() != want.dtype() || found.shape() != want.shape() {
        return Some(format!("gives {}, NumPy {}", found.ty(), want.ty()));
    }
    let allowed = tolerance(case, found.dtype())?;
    let pairs = found.numbers().into_iter().zip(want.numbers());
    let wrong = pairs.into_iter().find(|(a, b)| !near(*a, *b, found.dtype(), allowed))?;
    Some(format!("gives {:?}, NumPy {:?}", wrong.0, wrong.1))
}

/// Returns whether NumPy reports a missing function that is an elementwise function here.
fn lacks_a_scalar_op(error: &str) -> bool {
    let name =
        error.split("module 'numpy' has no attribute '").nth(1).and_then(|rest| rest.split('\'').next());
    name.is_some_and(|name| Ops::rows().any(|row| names(row).any(|known| known == name) && is_scalar(row)))
}

/// Returns whether the literal of an error has more than 64 bits.
fn wide_literal(error: &str) -> bool {
    let literal = error.split("is the literal `").nth(1).and_then(|rest| rest.split('`').next());
    literal.is_some_and(|literal| literal.len() >= 20 && literal.parse::<u64>().is_err())
}

/// Functions whose results depend on the order of a sum.
const SUMS: &[&str] = &[
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "cumsum",
    "cumprod",
    "dot",
    "matmul",
    "inner",
    "outer",
    "vdot",
    "tensordot",
    "einsum",
    "norm",
    "matrix_norm",
    "vector_norm",
    "vecdot",
    "matvec",
    "vecmat",
    "convolve",
    "correlate",
    "interp",
    "gradient",
    "trapezoid",
    "polyval",
    "cumulative_sum",
    "cumulative_prod",
    "trace",
    "median",
    "quantile",
    "percentile",
    "linspace",
    "softmax",
    "log_softmax",
    "logsumexp",
    "nansum",
    "nanprod",
    "nanmean",
    "nanvar",
    "nanstd",
    "cholesky",
    "solve",
    "inv",
    "det",
    "slogdet",
];

/// Functions of decompositions and Fourier transforms, whose small results have large relative errors.
const FACTORS: &[&str] = &[
    "expm",
    "lu",
    "lu_solve",
    "solve_banded",
    "tridiagonal_solve",
    "solve_toeplitz",
    "solve_sylvester",
    "solve_continuous_lyapunov",
    "solve_discrete_lyapunov",
    "matrix_power",
    "qr",
    "eigh",
    "eigvalsh",
    "eig",
    "eigvals",
    "schur",
    "qz",
    "ordqz",
    "svd",
    "svdvals",
    "pinv",
    "condition_number",
    "cond",
    "lstsq",
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
];

/// Returns the tolerance of a result in ulp; `None` if only its dtype and shape are compared.
fn tolerance(case: &Case, dtype: DType) -> Option<f64> {
    let words: Vec<&str> = case.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let floats =
        case.inputs.iter().any(|(_, array)| !array.dtype().is_integer() && array.dtype() != DType::Bool);
    // For the integer 0, NumPy returns the CPU's conversion of an infinite float.
    if has(&["reciprocal"]) && !floats {
        return None;
    }
    // NumPy's choice between two zeros depends on the CPU, and a quotient shows its sign.
    if has(&["minimum", "maximum", "fmin", "fmax"]) && case.text.contains("-0.0") && case.text.contains('/') {
        return None;
    }
    if has(FACTORS) || has(&["norm"]) {
        return None;
    }
    if has(SUMS) {
        return (!floats
            && !has(&[
                "mean",
                "var",
                "std",
                "nanmean",
                "nanvar",
                "nanstd",
                "median",
                "quantile",
                "percentile",
                "linspace",
            ])
            && case.single)
            .then_some(0.0);
    }
    let rounded = words.iter().any(|word| ROUNDED.contains(word)) || case.text.contains("**");
    let complex = case.inputs.iter().any(|(_, array)| array.dtype().is_complex()) || case.text.contains("2j");
    let power = case.text.contains("**") || has(&["pow", "power"]);
    // Excludes cancellation, results that NumPy computes in c64, and NaN as a complex bound.
    if rounded && case.text.contains('%')
        || power && (complex || dtype.is_complex())
        || complex && has(&["clip"])
    {
        return None;
    }
    match (rounded || complex, case.single) {
        (false, _) => Some(0.0),
        (true, true) => Some(if complex { 64.0 } else { 8.0 }),
        (true, false) => None,
    }
}

/// Functions that NumPy and this library round differently, by every name.
static ROUNDED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let functions: BTreeSet<String> = crate::cases::floats().1.into_iter().map(|case| case.name).collect();
    let rounded = |row: &&Row| {
        functions.contains(&format!("{}_f64", row.name))
            || ["deg2rad", "rad2deg", "angle", "logaddexp", "sinc"].contains(&row.name)
    };
    Ops::rows().filter(rounded).flat_map(names).collect()
});

/// Returns whether two numbers of a dtype are within `ulps`; complex numbers are measured by the larger part.
fn near(a: Number, b: Number, dtype: DType, ulps: f64) -> bool {
    if a.same(b) || ulps == 0.0 {
        return a.same(b);
    }
    let ((ar, ai), (br, bi)) = (a.parts(), b.parts());
    let precision = match dtype.real() {
        DType::F16 => 2_f64.powi(-10),
        DType::F32 => 2_f64.powi(-23),
        _ => f64::EPSILON,
    };
    let scale = br.abs().max(bi.abs());
    let close = |a: f64, b: f64| {
        let exact = a == b || a.is_nan() && b.is_nan();
        exact || (a - b).abs() <= ulps * precision * scale || dtype == DType::F64 && ulp_distance(a, b) <= 8
    };
    // If a complex number is not finite, C99 leaves some parts open.
    let open = dtype.is_complex() && !(br.is_finite() && bi.is_finite());
    open && !(ar.is_finite() && ai.is_finite()) || close(ar, br) && close(ai, bi)
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_expressions_match_numpy() {
    let Some(python) = python::find() else {
        println!("skipped: no python3 with NumPy 2; PRECAST_TEST_PYTHON names one");
        return;
    };
    let (count, first) = (number("PRECAST_NUMPY_COUNT", 2000), number("PRECAST_NUMPY_SEED", 0));
    let (mut values, mut refused, mut wrong) = (0_u64, 0_u64, Vec::new());
    let (seeds, budget) = ((first..first + count).collect::<Vec<u64>>(), Budget::start());
    for seeds in seeds.chunks(5000).take_while(|_| !budget.is_spent()) {
        let cases: Vec<Case> = seeds.iter().map(|seed| draw(&mut Choices::seeded(*seed))).collect();
        let requests: Vec<_> = cases.iter().map(|case| (case.text.clone(), case.inputs.clone())).collect();
        let answers = python::evaluate(&python, &requests);
        for ((case, seed), answer) in cases.iter().zip(seeds).zip(answers) {
            let found = ours(case);
            values += u64::from(found.is_ok());
            refused += u64::from(found.is_err());
            if let Some(what) = difference(case, &found, &answer) {
                wrong.push(format!("seed {seed}: {}\n{}\ninputs {:?}\n", case.text, what, case.inputs));
            }
        }
    }
    let tried = values + refused;
    println!("{tried} expressions: {values} values, {refused} refused, {} differ from NumPy", wrong.len());
    assert!(values > tried / 4, "too few expressions have a value");
    let shown = wrong.iter().take(number("PRECAST_NUMPY_SHOWN", 5) as usize).cloned().collect::<String>();
    assert!(wrong.is_empty(), "{} of {tried} differ from NumPy:\n{shown}", wrong.len());
}
