"""The code of each case for each peer, as a user of that peer would write it.

`numpy` is called with arrays. `numba` is compiled by `njit` and called with arrays. `pytensor` is called with symbolic variables and
returns the graph. `numpy_out` also gets an output array, so that it allocates nothing. JAX compiles the code of `numpy` with its own
functions in place of those of NumPy and SciPy, or `jax`. `by` has the positions of the inputs by which peers also compute the gradient.
"""
import math

import numpy as np
from scipy import special


class Score:
    """sum(exp(-x*x)*y + z)"""

    def numpy(x, y, z):
        return np.sum(np.exp(-x * x) * y + z)

    def numpy_out(x, y, z, out):
        np.multiply(x, x, out=out)
        np.negative(out, out=out)
        np.exp(out, out=out)
        np.multiply(out, y, out=out)
        np.add(out, z, out=out)
        return np.sum(out)

    def numba(x, y, z):
        total = 0.0
        for i in range(x.size):
            total += np.exp(-x[i] * x[i]) * y[i] + z[i]
        return total

    def pytensor(pt, x, y, z):
        return pt.sum(pt.exp(-x * x) * y + z)


class Add:
    """x + y"""

    # The function itself, so that the measurement includes no Python code.
    numpy = np.add

    def numba(x, y):
        return x + y

    def pytensor(pt, x, y):
        return x + y


class Product:
    """(x + y) * z"""

    def numpy(x, y, z):
        return (x + y) * z

    def numpy_out(x, y, z, out):
        return np.multiply(np.add(x, y, out=out), z, out=out)

    def numba(x, y, z):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = (x[i] + y[i]) * z[i]
        return out

    def pytensor(pt, x, y, z):
        return (x + y) * z


class Softmax:
    """exp(x - max(x)) / sum(…) of each row"""

    def numpy(x):
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    def numba(x):
        out = np.empty_like(x)
        for i in range(x.shape[0]):
            largest = -np.inf
            for j in range(x.shape[1]):
                largest = max(largest, x[i, j])
            total = 0.0
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - largest)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    def pytensor(pt, x):
        return pt.special.softmax(x, axis=1)


class Layernorm:
    """(x - mean) / sqrt(var + 1e-5) of each row"""

    def numpy(x):
        centred = x - np.mean(x, axis=1, keepdims=True)
        return centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + 1e-5)

    def numba(x):
        out = np.empty_like(x)
        n = x.shape[1]
        for i in range(x.shape[0]):
            mean = 0.0
            for j in range(n):
                mean += x[i, j]
            mean /= n
            var = 0.0
            for j in range(n):
                var += (x[i, j] - mean) * (x[i, j] - mean)
            scale = 1.0 / np.sqrt(var / n + 1e-5)
            for j in range(n):
                out[i, j] = (x[i, j] - mean) * scale
        return out

    def pytensor(pt, x):
        centred = x - pt.mean(x, axis=1, keepdims=True)
        return centred / pt.sqrt(pt.mean(centred * centred, axis=1, keepdims=True) + 1e-5)


class SumRows:
    """sum(x, axis=1)"""

    def numpy(x):
        return np.sum(x, axis=1)

    def numba(x):
        return np.sum(x, axis=1)

    def pytensor(pt, x):
        return pt.sum(x, axis=1)


class SumColumns:
    """sum(x, axis=0)"""

    def numpy(x):
        return np.sum(x, axis=0)

    def numba(x):
        return np.sum(x, axis=0)

    def pytensor(pt, x):
        return pt.sum(x, axis=0)


class Variance:
    """var(x)"""

    def numpy(x):
        return np.var(x)

    def numba(x):
        return np.var(x)

    def pytensor(pt, x):
        return pt.var(x)


class Argmax:
    """argmax(x)"""

    def numpy(x):
        return np.argmax(x)

    def numba(x):
        return np.argmax(x)

    def pytensor(pt, x):
        return pt.argmax(x)


class Cumsum:
    """cumsum(x)"""

    def numpy(x):
        return np.cumsum(x)

    def numba(x):
        return np.cumsum(x)

    def pytensor(pt, x):
        return pt.cumsum(x)


class Dot:
    """dot(x, y)"""

    def numpy(x, y):
        return np.dot(x, y)

    def numba(x, y):
        return np.dot(x, y)

    def pytensor(pt, x, y):
        return pt.dot(x, y)


class Take:
    """x[v]"""

    def numpy(x, v):
        return x[v]

    def numba(x, v):
        return x[v]

    def pytensor(pt, x, v):
        return x[v]


class Strided:
    """x[::2] + x[1::2]"""

    def numpy(x):
        return x[::2] + x[1::2]

    def numba(x):
        return x[::2] + x[1::2]

    def pytensor(pt, x):
        return x[::2] + x[1::2]


class Transposed:
    """(x + transpose(y)) * z"""

    def numpy(x, y, z):
        return (x + y.T) * z

    def numba(x, y, z):
        return (x + y.T) * z

    def pytensor(pt, x, y, z):
        return (x + y.T) * z


class Switch:
    """switch(x > 0, x, 0.01*x)"""

    def numpy(x):
        return np.where(x > 0, x, 0.01 * x)

    def numba(x):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = x[i] if x[i] > 0 else 0.01 * x[i]
        return out

    def pytensor(pt, x):
        return pt.switch(x > 0, x, 0.01 * x)


class Tanh:
    """tanh(x)"""

    numpy = np.tanh

    def numba(x):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = np.tanh(x[i])
        return out

    def pytensor(pt, x):
        return pt.tanh(x)


class Chain:
    """Ten arithmetic operations."""

    def numpy(x, y, z):
        return ((x + y) * z - x / 2 + y) * (z - 1) + x * y - z

    numba = numpy

    def pytensor(pt, x, y, z):
        return ((x + y) * z - x / 2 + y) * (z - 1) + x * y - z


class Functions:
    """log1p(exp(tanh(x))) * y"""

    def numpy(x, y):
        return np.log1p(np.exp(np.tanh(x))) * y

    numba = numpy

    def pytensor(pt, x, y):
        return pt.log1p(pt.exp(pt.tanh(x))) * y


class Logsumexp:
    """log(sum(exp(x))) of each row"""

    def numpy(x):
        top = np.max(x, axis=1, keepdims=True)
        return np.log(np.sum(np.exp(x - top), axis=1)) + top[:, 0]

    def numba(x):
        out = np.empty_like(x[:, 0])
        for i in range(x.shape[0]):
            top = np.max(x[i])
            out[i] = np.log(np.sum(np.exp(x[i] - top))) + top
        return out

    def pytensor(pt, x):
        return pt.logsumexp(x, axis=1)


class LogisticLoss:
    """The mean of log(1 + exp(-y (x @ z))), where y is the class (-1 or 1) of each row."""

    def numpy(x, y, z):
        return np.mean(np.logaddexp(0, -y * (x @ z)))

    def numba(x, y, z):
        margins = -y * (x @ z)
        return np.mean(np.maximum(margins, 0) + np.log1p(np.exp(-np.abs(margins))))

    def pytensor(pt, x, y, z):
        return pt.mean(pt.softplus(-y * (x @ z)))


class LogisticGradient:
    """The gradient of that loss in z."""

    def numpy(x, y, z):
        return x.T @ (-y * special.expit(-y * (x @ z))) / y.size

    def numba(x, y, z):
        return x.T @ (-y / (1 + np.exp(y * (x @ z)))) / y.size

    def pytensor(pt, x, y, z):
        return x.T @ (-y * pt.sigmoid(-y * (x @ z))) / y.size


class BlackScholes:
    """The price of a European call option; x, y and z vary price, strike and time."""

    def numpy(x, y, z):
        s, k, t = 100 + 10 * x, 100 + 10 * y, 1.5 + 0.25 * z
        v = 0.2 * np.sqrt(t)
        d = (np.log(s / k) + 0.07 * t) / v
        up, down = 1 + special.erf(d / 2**0.5), 1 + special.erf((d - v) / 2**0.5)
        return 0.5 * (s * up - k * np.exp(-0.05 * t) * down)

    def numba(x, y, z):
        out = np.empty_like(x)
        for i in range(x.size):
            s, k, t = 100 + 10 * x[i], 100 + 10 * y[i], 1.5 + 0.25 * z[i]
            v = 0.2 * math.sqrt(t)
            d = (math.log(s / k) + 0.07 * t) / v
            up, down = 1 + math.erf(d / 2**0.5), 1 + math.erf((d - v) / 2**0.5)
            out[i] = 0.5 * (s * up - k * math.exp(-0.05 * t) * down)
        return out

    def pytensor(pt, x, y, z):
        s, k, t = 100 + 10 * x, 100 + 10 * y, 1.5 + 0.25 * z
        v = 0.2 * pt.sqrt(t)
        d = (pt.log(s / k) + 0.07 * t) / v
        up, down = 1 + pt.erf(d / 2**0.5), 1 + pt.erf((d - v) / 2**0.5)
        return 0.5 * (s * up - k * pt.exp(-0.05 * t) * down)


class Distances:
    """The distances of all rows of x from all rows of y."""

    def numpy(x, y):
        return np.sqrt(np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2))

    def numba(x, y):
        out = np.empty((x.shape[0], y.shape[0]), x.dtype)
        for i in range(x.shape[0]):
            for j in range(y.shape[0]):
                total = x[i, 0] * 0
                for k in range(x.shape[1]):
                    total += (x[i, k] - y[j, k]) ** 2
                out[i, j] = np.sqrt(total)
        return out

    def pytensor(pt, x, y):
        return pt.sqrt(pt.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2))


class Stencil:
    """The mean of four neighbors minus the center."""

    def numpy(x):
        return 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1]

    def numba(x):
        out = np.empty_like(x[1:-1, 1:-1])
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                around = x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]
                out[i, j] = 0.25 * around - x[i + 1, j + 1]
        return out

    def pytensor(pt, x):
        return 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) - x[1:-1, 1:-1]


class BatchedDot:
    """x @ y of many small matrices"""

    def numpy(x, y):
        return x @ y

    def numba(x, y):
        out = np.empty_like(x)
        for i in range(x.shape[0]):
            out[i] = np.dot(x[i], y[i])
        return out

    def pytensor(pt, x, y):
        return pt.matmul(x, y)


class Ar2:
    """The negative log-likelihood of an AR(2)."""

    def numpy(x, y):
        total = a = b = 0.0
        for v in x:
            e = (v - 0.2 * y[0] * a - 0.1 * y[1] * b) / (y[2] + 3)
            total += 0.5 * e * e + np.log(y[2] + 3)
            a, b = v, a
        return total

    numba = numpy

    def jax(x, y):
        def step(carry, v):
            total, a, b = carry
            e = (v - 0.2 * y[0] * a - 0.1 * y[1] * b) / (y[2] + 3)
            return (total + (0.5 * e * e + np.log(y[2] + 3)), v, a), None

        return jax.lax.scan(step, (0.0, 0.0, 0.0), x)[0][0]

    def pytensor(pt, x, y):
        def step(v, total, a, b):
            e = (v - 0.2 * y[0] * a - 0.1 * y[1] * b) / (y[2] + 3)
            return total + (0.5 * e * e + pt.log(y[2] + 3)), v, a

        return scan(step, x, [0.0, 0.0, 0.0])[0][-1]


class Ar2Gradient:
    by = (1,)
    jax = Ar2.jax
    pytensor = Ar2.pytensor


class Garch:
    """The log-likelihood of a GARCH(1, 1), apart from constants."""

    def numpy(x):
        h, total = 1.0, 0.0
        for v in x:
            total += np.log(h) + v * v / h
            h = 0.1 + 0.2 * v * v + 0.5 * h
        return total

    numba = numpy

    def jax(x):
        def step(carry, v):
            h, total = carry
            return (0.1 + 0.2 * v * v + 0.5 * h, total + (np.log(h) + v * v / h)), None

        return jax.lax.scan(step, (1.0, 0.0), x)[0][1]

    def pytensor(pt, x):
        def step(v, h, total):
            return 0.1 + 0.2 * v * v + 0.5 * h, total + (pt.log(h) + v * v / h)

        return scan(step, x, [1.0, 0.0])[1][-1]


class Kalman:
    """The log-likelihood of a Kalman filter with four states, apart from constants."""

    def numpy(x, y, z):
        f, q = 0.2 * y, 0.1 * (y @ y.T) + np.eye(4)
        m, p, total = 0.0 * z, q.copy(), 0.0
        for v in x:
            m = f @ m
            p = f @ p @ f.T + q
            e, w = v - z @ m, z @ p @ z + 1.0
            k = (p @ z) / w
            total += np.log(w) + e * e / w
            m = m + k * e
            p = p - np.outer(k, z @ p)
        return total

    numba = numpy

    def jax(x, y, z):
        f, q = 0.2 * y, 0.1 * (y @ y.T) + np.eye(4)

        def step(carry, v):
            m, p, total = carry
            m, p = f @ m, f @ p @ f.T + q
            e, w = v - z @ m, z @ p @ z + 1.0
            k = (p @ z) / w
            return (m + k * e, p - np.outer(k, z @ p), total + np.log(w) + e * e / w), None

        return jax.lax.scan(step, (0.0 * z, q, 0.0), x)[0][2]

    def pytensor(pt, x, y, z):
        f, q = 0.2 * y, 0.1 * (y @ y.T) + pt.eye(4)

        def step(v, m, p, total):
            m, p = f @ m, f @ p @ f.T + q
            e, w = v - z @ m, z @ p @ z + 1.0
            k = (p @ z) / w
            return m + k * e, p - pt.outer(k, z @ p), total + pt.log(w) + e * e / w

        return scan(step, x, [0.0 * z, q, 0.0])[2][-1]


class Euler:
    """The positions of a Lorenz system."""

    def numpy(x, y):
        out, p = np.empty((x.size, 3)), y
        for i in range(x.size):
            d = np.empty(3)
            d[0] = 10.0 * (p[1] - p[0])
            d[1] = p[0] * (28.0 - p[2]) - p[1]
            d[2] = p[0] * p[1] - 8.0 * p[2] / 3.0
            p = p + 0.001 * d
            out[i] = p
        return out

    numba = numpy

    def jax(x, y):
        def step(p, _):
            d = np.stack([10.0 * (p[1] - p[0]), p[0] * (28.0 - p[2]) - p[1], p[0] * p[1] - 8.0 * p[2] / 3.0])
            p = p + 0.001 * d
            return p, p

        return jax.lax.scan(step, y, x)[1]

    def pytensor(pt, x, y):
        def step(_, p):
            d = pt.stack([10.0 * (p[1] - p[0]), p[0] * (28.0 - p[2]) - p[1], p[0] * p[1] - 8.0 * p[2] / 3.0])
            return p + 0.001 * d

        return scan(step, x, [y])


def scan(step, sequence, first):
    """Calls PyTensor's loop without its updates."""
    import pytensor
    import pytensor.tensor as pt

    first = [pt.as_tensor(value, dtype=sequence.dtype) for value in first]
    return pytensor.scan(step, sequences=[sequence], outputs_info=first, return_updates=False)


class Logistic(LogisticLoss):
    by = (2,)


class Mlp:
    """A network of three layers."""

    by = (1, 2)

    def numpy(x, y, z):
        return np.mean((np.tanh(np.tanh(x @ y) @ z) @ z) ** 2)

    def pytensor(pt, x, y, z):
        return pt.mean((pt.tanh(pt.tanh(x @ y) @ z) @ z) ** 2)


class CrossEntropy:
    """Softmax cross-entropy of a linear model."""

    by = (2,)

    def numpy(x, y, z):
        return np.mean(np.sum(y * jax.nn.log_softmax(x @ z, axis=1), axis=1))

    def pytensor(pt, x, y, z):
        return pt.mean(pt.sum(y * pt.special.log_softmax(x @ z, axis=1), axis=1))


class GaussianProcess:
    """The negative log-likelihood of a Gaussian process, apart from constants."""

    by = (2,)

    def numpy(x, y, z):
        d = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
        l = np.linalg.cholesky(np.exp(-d / (z[0] ** 2 + 1)) + (z[1] ** 2 + 0.1) * np.eye(60))
        a = jax.scipy.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * np.sum(a * a) + np.sum(np.log(np.diagonal(l)))

    def pytensor(pt, x, y, z):
        d = pt.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)
        l = pt.linalg.cholesky(pt.exp(-d / (z[0] ** 2 + 1)) + (z[1] ** 2 + 0.1) * pt.eye(60))
        a = pt.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * pt.sum(a * a) + pt.sum(pt.log(pt.diagonal(l)))


class PlusRow:
    """x + y, with y broadcast along the first axis"""

    def numpy(x, y):
        return x + y

    numba = numpy


class PlusColumn:
    """x + y[:, None]"""

    def numpy(x, y):
        return x + y[:, None]

    numba = numpy


class PlusBoth:
    """x + y[:, None] * z"""

    def numpy(x, y, z):
        return x + y[:, None] * z

    numba = numpy


class PlusTransposed:
    """x + transpose(y)"""

    def numpy(x, y):
        return x + y.T

    numba = numpy


class PlusReversed:
    """x[:, ::-1] + x"""

    def numpy(x):
        return x[:, ::-1] + x

    numba = numpy


class DifferencesOfRows:
    """x[:, 1:] - x[:, :-1]"""

    def numpy(x):
        return x[:, 1:] - x[:, :-1]

    numba = numpy


class DifferencesOfColumns:
    """x[1:] - x[:-1]"""

    def numpy(x):
        return x[1:] - x[:-1]

    numba = numpy


class MaximaOfRows:
    """max(x, axis=1)"""

    def numpy(x):
        return np.max(x, axis=1)

    def numba(x):
        out = np.empty(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = np.max(x[i])
        return out


class MaximaOfColumns:
    """max(x, axis=0)"""

    def numpy(x):
        return np.max(x, axis=0)

    def numba(x):
        out = x[0].copy()
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                out[j] = max(out[j], x[i, j])
        return out


class SoftmaxOfColumns:
    """exp(x - max(x)) / sum(…) of each column"""

    def numpy(x):
        e = np.exp(x - np.max(x, axis=0, keepdims=True))
        return e / np.sum(e, axis=0, keepdims=True)

    def numba(x):
        out, largest, total = np.empty_like(x), x[0].copy(), np.zeros(x.shape[1])
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                largest[j] = max(largest[j], x[i, j])
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - largest[j])
                total[j] += out[i, j]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] /= total[j]
        return out


EXPRESSIONS = {
    "score": Score,
    "add": Add,
    "product": Product,
    "softmax": Softmax,
    "layernorm": Layernorm,
    "sum-rows": SumRows,
    "sum-columns": SumColumns,
    "variance": Variance,
    "argmax": Argmax,
    "cumsum": Cumsum,
    "dot": Dot,
    "take": Take,
    "strided": Strided,
    "transposed": Transposed,
    "switch": Switch,
    "tanh": Tanh,
    "chain": Chain,
    "functions": Functions,
    "logsumexp": Logsumexp,
    "logistic-loss": LogisticLoss,
    "logistic-gradient": LogisticGradient,
    "black-scholes": BlackScholes,
    "distances": Distances,
    "stencil": Stencil,
    "batched-dot": BatchedDot,
    "ar2": Ar2,
    "ar2-gradient": Ar2Gradient,
    "garch": Garch,
    "kalman": Kalman,
    "euler": Euler,
    "logistic": Logistic,
    "mlp": Mlp,
    "cross-entropy": CrossEntropy,
    "gaussian-process": GaussianProcess,
    "plus-row": PlusRow,
    "plus-column": PlusColumn,
    "plus-both": PlusBoth,
    "plus-transposed": PlusTransposed,
    "plus-reversed": PlusReversed,
    "differences-rows": DifferencesOfRows,
    "differences-columns": DifferencesOfColumns,
    "maxima-rows": MaximaOfRows,
    "maxima-columns": MaximaOfColumns,
    "softmax-columns": SoftmaxOfColumns,
}
