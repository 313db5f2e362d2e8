"""Evaluates expressions of the text form with NumPy 2. Reads a JSON document from each line and prints one for each.

in   {"text": "maximum(x, 2**70)", "inputs": {"x": {"dtype": "u8", "shape": [3], "bits": [0, 7, 255]}}}
out  {"dtype": "u8", "shape": [3], "bits": [...]} or {"error": "OverflowError: ..."}

The text is evaluated as Python, with NumPy's functions as names. A function of only Python numbers returns a Python number, as in the
text form, where `x / sqrt(2)` of f32 is f32.
"""

import ast
import json
import os
import operator
import sys
import types
import warnings

import numpy as np

DTYPES = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
RENAMED = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "floor_div": "floor_divide", "pow": "power", "neg": "negative",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "switch": "where", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "flatten": "ravel",
}  # fmt: skip

# The functions of Python numbers, under each of their names.
PYTHON = {
    name: getattr(operator, python)
    for names, python in [
        ("add", "add"), ("sub subtract", "sub"), ("mul multiply", "mul"), ("div divide true_divide", "truediv"),
        ("floor_div floor_divide", "floordiv"), ("mod remainder", "mod"), ("neg negative", "neg"), ("abs absolute", "abs"),
        ("eq equal", "eq"), ("ne not_equal", "ne"), ("lt less", "lt"), ("le less_equal", "le"), ("gt greater", "gt"),
        ("ge greater_equal", "ge"), ("bitwise_and", "and_"), ("bitwise_or", "or_"), ("bitwise_xor", "xor"),
        ("invert bitwise_not bitwise_invert", "invert"), ("left_shift bitwise_left_shift", "lshift"),
        ("right_shift bitwise_right_shift", "rshift"),
    ]
    for name in names.split()
}  # fmt: skip
# Functions that are not ufuncs.
ELEMENTWISE = {"fix", "switch", "where", "clip", "round", "around", "angle", "real", "imag"}


def is_number(value):
    return type(value) in (bool, int, float, complex)


def function(name):
    numpy = getattr(np, RENAMED.get(name, name))
    if isinstance(numpy, type) or not callable(numpy):
        return numpy
    # Equal elements keep their order in the text form; NumPy's default is a sort for which this depends on the CPU.
    if name == "argsort":
        return lambda x, axis=-1, **_: np.argsort(x, axis, kind="stable")

    def call(*args, **named):
        if args and all(is_number(arg) for arg in args):
            if name in PYTHON:
                return PYTHON[name](*args)
            result = numpy(*args, **named)
            # Python's `True` is an integer.
            if isinstance(numpy, np.ufunc) and isinstance(result, np.float16):
                result = numpy(*map(int, args), **named)
            if isinstance(result, tuple):
                return result
            return np.asarray(result).item() if isinstance(numpy, np.ufunc) or name in ELEMENTWISE else result
        return numpy(*args, **named)

    return call


class NumPy:
    """The module `np`, by whose name functions can also be called."""

    def __getattr__(self, name):
        return TRANSFORMS if name == "fft" else function(name)


class DType:
    """A dtype that casts when it is called. NumPy accepts it as a dtype through its attribute."""

    def __init__(self, code):
        self.dtype = np.dtype(code)

    def __call__(self, x):
        return np.asarray(x).astype(self.dtype)


class Names(dict):
    """The names in an expression: its inputs, functions that NumPy lacks, and NumPy."""

    def __missing__(self, name):
        if name in DTYPES:
            return DType(DTYPES[name])
        return function(name)


class Assignments(ast.NodeTransformer):
    """Passes the array and the index of a part separately: `set_subtensor(x[i], y)` is `set_subtensor(x, i, y)`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "set_subtensor":
            part, values = node.args
            index = ast.parse("np.s_[0]", mode="eval").body
            index.slice = part.slice
            node.args = [part.value, index, values]
        return ast.fix_missing_locations(node)


def set_subtensor(x, index, values):
    result = np.array(x)
    result[index] = values
    return result


def transform(name):
    """Returns a Fourier transform that computes f16 in f32; NumPy divides by a factor of f16. Its shifts need a dimension."""
    numpy = getattr(np.fft, name)
    if name.endswith("freq"):
        return numpy
    if name.endswith("shift"):
        return lambda x, axes=None: np.asarray(x) if np.ndim(x) == 0 and axes is None else numpy(x, axes)

    def call(x, *args, **named):
        made = numpy(np.float32(x) if getattr(x, "dtype", None) == np.float16 else x, *args, **named)
        # NumPy's inverses of nothing are not initialized.
        return made if np.size(x) > 0 else np.zeros_like(made)

    return call


TRANSFORMS = types.SimpleNamespace(**{name: transform(name) for name in np.fft.__all__})


def listed(numpy):
    return lambda *args, **named: numpy(*args, **named) if len(args) == 1 or isinstance(args[0], (list, tuple)) else numpy(args, **named)


def pow(a, b):
    return a**b


class Extents(np.ndarray):
    """A shape: a vector whose elements are Python integers."""

    def __getitem__(self, item):
        part = np.asarray(self)[item]
        return int(part) if isinstance(item, int) else part


def along(values, axis):
    """Returns the values with `axis` moved to the end; `np.moveaxis` moves it back."""
    return (np.ravel(values), 0) if axis is None else (np.moveaxis(values, axis, -1), axis)


def topk(x, k, axis=-1, largest=True, positions=False):
    """Returns the k largest or smallest elements, or their positions. Equal elements keep their order; NaN is the largest."""
    x, axis = along(x, axis)
    if not 0 <= k <= x.shape[-1]:
        raise ValueError("not that many elements")
    order = np.argsort(x, axis=-1, kind="stable")
    if largest:
        order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    order = order[..., :k]
    return np.moveaxis(order if positions else np.take_along_axis(x, order, axis=-1), -1, axis)


def real(x):
    """Converts an argument of SciPy's functions to floats."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("real numbers")
    return x if x.dtype.kind == "f" else x.astype("f8")


def finite_top(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0).astype(x.dtype)


def softmax(x, axis=None):
    x = real(x)
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x, axis=None):
    x = real(x)
    less = x - finite_top(x, axis)
    return less - np.log(np.sum(np.exp(less), axis=axis, keepdims=True))


def logsumexp(x, axis=None, keepdims=False):
    x = real(x)
    top = finite_top(x, axis)
    kept = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return kept if keepdims else np.squeeze(kept, axis=axis)


def lu_factor(x):
    """Returns SciPy's results for one matrix. The order of operations is that of LAPACK's unblocked `getf2`."""
    dtype = np.asarray(x).dtype
    u = np.array(x, dtype=dtype if dtype.char in "fdFD" else "f8")
    pivots = []
    for k in range(len(u)):
        pivots.append(k + int(np.argmax(np.abs(u[k:, k].real) + np.abs(u[k:, k].imag))))
        u[[k, pivots[-1]]] = u[[pivots[-1], k]]
        if u[k, k] != 0:
            u[k + 1 :, k] /= u[k, k]
            u[k + 1 :, k + 1 :] -= np.outer(u[k + 1 :, k], u[k, k + 1 :])
    return u, np.array(pivots, dtype="i8")


def lu(x, permute_l=False, p_indices=False):
    """Returns SciPy's results."""
    if np.ndim(x) > 2:
        return tuple(np.stack(parts) for parts in zip(*(lu(one, permute_l, p_indices) for one in x)))
    m, n = np.shape(x)
    square = np.zeros((max(m, n),) * 2, dtype=lu_factor(np.zeros((0, 0), np.asarray(x).dtype))[0].dtype)
    square[:m, :n] = x
    both, pivots = lu_factor(square)
    order = np.arange(len(both))
    for at, other in enumerate(pivots):
        order[[at, other]] = order[[other, at]]
    inverse = np.argsort(order[:m])
    lower = (np.tril(both, -1) + np.eye(len(both), dtype=both.dtype))[:m, : min(m, n)]
    upper = np.triu(both)[: min(m, n), :n]
    if permute_l:
        return lower[inverse], upper
    return inverse if p_indices else np.eye(m, dtype=both.dtype)[inverse], lower, upper


def lu_solve(factors, b, trans=0):
    both, pivots = factors
    order = np.arange(len(both))
    for at, other in enumerate(pivots):
        order[[at, other]] = order[[other, at]]
    a = ((np.tril(both, -1) + np.eye(len(both), dtype=both.dtype)) @ np.triu(both))[np.argsort(order)]
    return np.linalg.solve(a.T if trans else a, b)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    """Solves the system with the triangle that SciPy reads."""
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = np.where(np.eye(a.shape[-1], dtype=bool), 1, a)
    a = np.conj(a) if trans in (2, "C") else a
    return np.linalg.solve(np.swapaxes(a, -1, -2) if trans in (1, 2, "T", "C") else a, b)


def cho_solve(c_and_lower, b):
    c, lower = c_and_lower
    half = solve_triangular(c, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(c, half, trans=1 if lower else 0, lower=lower)


def expm(x):
    """Returns the sum of Taylor's series for a scaled matrix, squared once for each halving."""
    x = np.asarray(x)
    dtype = np.result_type(x, "f4" if x.dtype in ("f4", "c8") else "f8")
    x = x.astype(np.result_type(x, "f8"))
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(x).sum(), 1e-300)))) + 4)
    np.linalg.det(x)  # raises NumPy's errors
    term = result = np.zeros_like(x) + np.eye(x.shape[-1])
    for n in range(1, 20):
        term = term @ (x / 2.0**halvings) / n
        result = result + term
    return np.linalg.matrix_power(result, 2**halvings).astype(dtype)


def toeplitz(c, r=None):
    c = np.asarray(c)
    r = np.conjugate(c) if r is None else np.asarray(r)
    if c.ndim != 1 or r.ndim != 1:
        raise ValueError("toeplitz needs vectors")
    values = np.concatenate([c[::-1], r[1:]])
    return values[len(c) - 1 - np.arange(len(c))[:, None] + np.arange(len(r))]


def solve_banded(counts, bands, b):
    (lower, upper), n = counts, np.shape(bands)[-1]
    i, j = np.indices((n, n))
    inside = (i - j <= lower) & (j - i <= upper)
    return np.linalg.solve(np.where(inside, np.asarray(bands)[..., np.where(inside, upper + i - j, 0), j], 0), b)


def tridiagonal_solve(lower, middle, upper, b):
    return solve_banded((1, 1), np.stack([np.roll(upper, 1), middle, np.roll(lower, -1)]), b)


def solve_toeplitz(c, b):
    return np.linalg.solve(toeplitz(*c) if isinstance(c, tuple) else toeplitz(c), b)


def solve_sylvester(a, b, q):
    """Solves the system of all elements."""
    a, b, q = map(np.asarray, (a, b, q))
    of_a, of_b = np.eye(len(a)), np.eye(len(b))
    both = np.kron(a, of_b) + np.kron(of_a, np.transpose(b))
    return np.linalg.solve(both, np.ravel(q)).reshape(q.shape).astype(np.result_type(a, b, q, "f4"))


def solve_continuous_lyapunov(a, q):
    return solve_sylvester(a, np.conj(np.transpose(a)), q)


def solve_discrete_lyapunov(a, q):
    a, q = np.asarray(a), np.asarray(q)
    both = np.eye(len(a) ** 2) - np.kron(a, np.conj(a))
    return np.linalg.solve(both, np.ravel(q)).reshape(a.shape).astype(np.result_type(a, q, "f4"))


def block_diag(*matrices):
    matrices = [np.atleast_2d(matrix) for matrix in matrices]
    heights, widths = zip(*(matrix.shape for matrix in matrices))
    made = np.zeros((sum(heights), sum(widths)), np.result_type(*(matrix.dtype for matrix in matrices)))
    for at, matrix in enumerate(matrices):
        row, column = sum(heights[:at]), sum(widths[:at])
        made[row : row + heights[at], column : column + widths[at]] = matrix
    return made


def first(sort, values):
    """Returns the order of eigenvalues, with some of them first."""
    firsts = {"lhp": values.real < 0, "rhp": values.real > 0, "iuc": abs(values) < 1, "ouc": abs(values) > 1}
    return np.argsort(~firsts[sort], axis=-1, kind="stable")


def schur(x, output="real", sort=None):
    """Returns the decomposition of matrices with real eigenvalues, up to signs."""
    x = np.asarray(x) * (1.0 if output == "real" else 1 + 0j)
    values, vectors = np.linalg.eig(x)
    z = np.linalg.qr(vectors if sort is None else vectors[:, first(sort, values)])[0]
    return np.triu(np.conj(np.swapaxes(z, -1, -2)) @ x @ z), z


def ordqz(a, b, sort="lhp", output="real"):
    """Returns the decomposition of a pair with real eigenvalues and a regular second matrix, up to signs."""
    a, b = (np.asarray(x) * (1.0 if output == "real" else 1 + 0j) for x in (a, b))
    values, vectors = np.linalg.eig(np.linalg.solve(b, a))
    z = np.linalg.qr(vectors[:, first(sort, values)])[0]
    q = np.linalg.qr(b @ z)[0]
    aa, bb = (np.triu(np.conj(q.T) @ x @ z) for x in (a, b))
    beta = abs(np.diag(bb))
    return aa, bb, np.diag(aa) * beta / np.diag(bb) * (1 + 0j), beta, q, z


def qz(a, b, output="real", sort=None):
    aa, bb, _, _, q, z = ordqz(a, b, sort, output)
    return aa, bb, q, z


def qr(x, mode="reduced", pivoting=False):
    if not pivoting:
        return np.linalg.qr(x, mode)
    x = np.asarray(x)
    if x.ndim > 2:
        made = [qr(matrix, mode, pivoting) for matrix in x.reshape(-1, *x.shape[-2:])]
        return tuple(np.stack(part).reshape(*x.shape[:-2], *part[0].shape) for part in zip(*made))
    rest, columns = x.copy(), []
    for _ in range(x.shape[1]):
        sizes = np.linalg.norm(rest, axis=0)
        sizes[columns] = -1
        columns.append(int(np.argmax(sizes)))
        q = np.linalg.qr(x[:, columns])[0]
        rest = x - q @ (np.conj(q.T) @ x)
    made = np.linalg.qr(x[:, columns], mode)
    return (*([made] if mode == "r" else made), np.array(columns))


def eig(x):
    # NumPy's results are real if all eigenvalues are.
    values, vectors = np.linalg.eig(x)
    dtype = np.result_type(values.dtype, np.complex64)
    return values.astype(dtype), vectors.astype(dtype)


OWN = {
    "topk": topk,
    "argtopk": lambda *args, **named: topk(*args, **named, positions=True),
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "relu": lambda x: np.maximum(x, 0),
    "norm": np.linalg.norm,
    "vector_norm": np.linalg.vector_norm,
    "matrix_norm": np.linalg.matrix_norm,
    "cholesky": np.linalg.cholesky,
    "solve": np.linalg.solve,
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": np.linalg.slogdet,
    "qr": qr,
    "eigh": np.linalg.eigh,
    "eigvalsh": np.linalg.eigvalsh,
    "eig": eig,
    "eigvals": lambda x: eig(x)[0],
    "schur": schur,
    "qz": qz,
    "ordqz": ordqz,
    "svd": np.linalg.svd,
    "svdvals": np.linalg.svdvals,
    "pinv": np.linalg.pinv,
    "matrix_rank": np.linalg.matrix_rank,
    "condition_number": np.linalg.cond,
    "lstsq": np.linalg.lstsq,
    **vars(TRANSFORMS),
    "vander": np.vander,
    "set_subtensor": set_subtensor,
    "toeplitz": toeplitz,
    "solve_banded": solve_banded,
    "tridiagonal_solve": tridiagonal_solve,
    "solve_toeplitz": solve_toeplitz,
    "solve_sylvester": solve_sylvester,
    "solve_continuous_lyapunov": solve_continuous_lyapunov,
    "solve_discrete_lyapunov": solve_discrete_lyapunov,
    "block_diag": block_diag,
    "expm": expm,
    "lu": lu,
    "lu_factor": lu_factor,
    "lu_solve": lu_solve,
    "matrix_power": np.linalg.matrix_power,
    "solve_triangular": solve_triangular,
    "cho_solve": cho_solve,
    "scalb": lambda x, n: np.ldexp(x, n),
    "nonzero": lambda x: np.stack(np.nonzero(x)),
    "boolean_index": lambda x, mask: np.asarray(x)[mask],
    "inf": np.inf,
    "shape": lambda x: np.array(np.shape(x), dtype="i8").view(Extents),
    "pow": pow,
    "power": pow,
    "stack": listed(np.stack),
    "concatenate": listed(np.concatenate),
    "concat": listed(np.concatenate),
    "join": listed(np.concatenate),
    "unique_values": lambda x: np.unique(x, equal_nan=False),
    "np": NumPy(),
    "numpy": NumPy(),
    "int": int,
    "float": float,
    "complex": complex,
}


def decode(value):
    dtype = np.dtype(DTYPES[value["dtype"]])
    words = np.array(value["bits"], dtype=np.uint64)
    size = dtype.itemsize
    if size == 16:
        return words.view(dtype).reshape(value["shape"])
    return words.astype(f"u{size}").view(dtype).reshape(value["shape"])


def encode(result):
    array = np.ascontiguousarray(result).reshape(np.shape(result))
    size = array.dtype.itemsize
    word = "u8" if size >= 8 else f"u{size}"
    bits = array.reshape(-1).view(word).astype(np.uint64).tolist()
    return {"dtype": NAMES[array.dtype], "shape": list(array.shape), "bits": bits}


def run(text, scope, names):
    """Returns the value of the last statement of a text."""
    *statements, last = Assignments().visit(ast.parse(text)).body
    exec(compile(ast.Module(statements, []), "text", "exec"), scope, names)
    return eval(compile(ast.Expression(last.value), "text", "eval"), scope, names)


def evaluate(case):
    names = Names({name: decode(value) for name, value in case["inputs"].items()})
    names.update(OWN)
    try:
        return encode(run(case["text"], {"__builtins__": {"__import__": __import__}}, names))
    except Exception as error:  # an error of NumPy is a valid answer
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    # LAPACK prints warnings to the standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(evaluate(json.loads(line))), file=answers, flush=True)
