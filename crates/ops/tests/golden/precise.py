"""Writes precise.jsonl: every function of floats, with 60 digits, rounded once. Run manually: `python3 precise.py`. Needs mpmath.

One line for each function and dtype: {"name": "erf_f64", "range": [low, high], "ulp": bound, "x": bits, "y", "z", "w": bits (for two to
four operands), "out": bits}, with hexadecimal bits. The function varies in `range`; tests draw their own numbers there. Values outside
the range of a dtype are rounded as in IEEE 754: to subnormals, 0 and inf. Functions that NumPy has get only numbers of their domain
here; special.jsonl contains their edge cases.
"""

import json
import math
import pathlib
import random
import struct

import mpmath as mp

mp.mp.dps = 60
FORM = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}
DIGITS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024)}


def bits(x, dtype):
    value, whole = FORM[dtype]
    return f"{struct.unpack(whole, struct.pack(value, x))[0]:x}"


def narrow(x, dtype):
    """Rounds a Python float to the dtype."""
    value, _ = FORM[dtype]
    try:
        return struct.unpack(value, struct.pack(value, x))[0]
    except OverflowError:
        return mp.inf * mp.sign(x)


def rounded(x, dtype):
    """Rounds to nearest, ties to even. In units of the last place, the result is an integer below 2^53."""
    if not mp.isfinite(x) or x == 0:
        return float(x)
    digits, least, most = DIGITS[dtype]
    unit = max(mp.frexp(x)[1] - digits, least)
    y = mp.ldexp(mp.nint(mp.ldexp(x, -unit)), unit)
    return math.copysign(float(mp.inf) if abs(y) >= mp.ldexp(1, most) else float(abs(y)), float(mp.sign(x)))


def operands(low, high, draw):
    some = [0.0, 5e-324, 1e-310, 1e-45, 1e-40, 2.0**-126, 2.0**-1022, 1e-20, 1e-9, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9, 1e30, 1e300]
    some += [draw.uniform(low, high) for _ in range(120)] + [2.0 ** draw.uniform(-30, 3) for _ in range(40)]
    return [float("nan"), *some, *[-x for x in some], float("inf"), -float("inf")]


def erf(x):
    return x if x == 0 else mp.erf(max(min(x, 40), -40))


def erfc(x):
    return mp.erfc(max(min(x, 40), -40))


def gammaln(x):
    if not mp.isfinite(x) or x <= 0 and x == mp.floor(x):
        return mp.inf
    return mp.re(mp.loggamma(x))


def digamma(x):
    if x == 0:
        return -math.copysign(mp.inf, x)
    if x < 0 and (not mp.isfinite(x) or x == mp.floor(x)):
        return mp.nan
    return mp.psi(0, x) if mp.isfinite(x) else x


def trigamma(x):
    if x == 0 or x < 0 and mp.isfinite(x) and x == mp.floor(x):
        return mp.inf
    if not mp.isfinite(x):
        return mp.nan if x != x else mp.inf if x < 0 else mp.mpf(0)
    x = mp.mpf(x)
    return mp.psi(1, x) if x > 0 else (mp.pi / mp.sinpi(x)) ** 2 - mp.psi(1, 1 - x)


def near(function, least=-2000, most=2000):
    """Evaluates the function with its argument clamped to bounds, outside of which the rounded value is constant."""
    return lambda x: function(max(min(x, most), least))


def ends(low, high):
    return lambda x: low <= x <= high


def log1mexp(x):
    return mp.log(-mp.expm1(x))


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 40 else x + mp.log1p(mp.exp(-x))


def sigmoid(x):
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def cbrt(x):
    return mp.sign(x) * mp.cbrt(abs(x))


def ndtr(x):
    return mp.erfc(-max(min(x, 60), -60) / mp.sqrt(2)) / 2


def log_ndtr(x):
    return mp.log1p(-ndtr(-x)) if x > 0 else log_tail(x)


def log_tail(x):
    """Returns the logarithm of `ndtr(x)` for negative numbers: of its asymptotic series far to the left."""
    if x > -30:
        return mp.log(ndtr(x))
    term = total = mp.mpf(1)
    for k in range(1, 30):
        term *= -(2 * k - 1) / x**2
        total += term
    return -(x**2) / 2 - mp.log(-x * mp.sqrt(2 * mp.pi)) + mp.log(total)


def erfcx(x):
    return mp.exp(x**2) * mp.erfc(x) if x < 50 else mp.exp(log_tail(-x * mp.sqrt(2)) + x**2) * 2 if x < 1e30 else 1 / (x * mp.sqrt(mp.pi))


def quantile(log):
    """Returns the quantile of the probability with this logarithm."""
    if log > -mp.log(2):
        return -quantile(mp.log(-mp.expm1(log)))
    if log > -3:
        return -mp.sqrt(2) * mp.erfinv(1 - 2 * mp.exp(log))
    return mp.findroot(lambda x: log_tail(x) - log, -mp.sqrt(-2 * log) + 0.2)


def ndtri(p):
    return quantile(mp.log(p)) if p < 0.5 else -quantile(mp.log1p(-p)) if p > 0.5 else mp.mpf(0)


def erfinv(x):
    return mp.erfinv(x) if abs(x) < 0.9 else -mp.sign(x) * quantile(mp.log1p(-abs(x)) - mp.log(2)) / mp.sqrt(2)


def erfcinv(x):
    return erfinv(1 - x) if 0.2 < x < 1.8 else -mp.sign(1 - x) * quantile(mp.log(min(x, 2 - x)) - mp.log(2)) / mp.sqrt(2)


def bessel(order, scaled):
    """Returns a modified Bessel function, by its asymptotic series for large numbers."""

    def function(x):
        a = abs(x)
        if a < 100:
            y = mp.besseli(order, a) * (mp.exp(-a) if scaled else 1)
        else:
            term = total = mp.mpf(1)
            for k in range(1, 40):
                term *= ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * a)
                total += term
            y = total / mp.sqrt(2 * mp.pi * a) * (1 if scaled else mp.exp(min(a, 2000)))
        return mp.sign(x) * y if order else y

    return function


def wave(order, second):
    """Returns a Bessel function, and where it is at least half as large as both waves together: errors are relative to these."""
    function = mp.bessely if second else mp.besselj

    def is_far_from_zeros(x):
        if not abs(x) <= 1e20 or (second and x <= 0):
            return False
        return abs(function(order, x)) >= mp.hypot(mp.besselj(order, abs(x)), mp.bessely(order, abs(x))) / 2

    return lambda x: function(order, x), is_far_from_zeros


def first(order):
    """Returns J, of which small numbers are relative to itself."""
    function, domain = wave(order, False)
    return function, lambda x: abs(x) < 1 or domain(x)


def softplus_inverse(x):
    return x + mp.log(-mp.expm1(-x)) if x < 2000 else x


def gamma(x):
    if x == 0 or not mp.isfinite(x):
        return mp.inf * math.copysign(1, x) if x == x and x >= 0 else mp.nan
    return mp.nan if x < 0 and x == mp.floor(x) else mp.inf if x > 200 else mp.mpf(0) if x < -220 else mp.gamma(x)


def owens_t(h, a):
    end = min(abs(a), 14 / abs(h))
    value = mp.quad(lambda x: mp.exp(-((h * x) ** 2) / 2) / (1 + x * x), mp.linspace(0, end, 7))
    return mp.sign(a) * mp.exp(-(h**2) / 2) / (2 * mp.pi) * value


def betaln(a, b):
    """Returns the logarithm for all pairs that are no poles, with digits for what cancels."""
    with mp.workdps(400):
        return mp.log(mp.fabs(mp.gammaprod([a, b], [a + b]))) if min(a, b) < 0 else mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta(a, b):
    with mp.workdps(400):
        return mp.exp(betaln(a, b)) if min(a, b) > 0 else mp.gammaprod([a, b], [a + b])


def zeta(s, q):
    """mpmath's error is absolute: further digits make it relative."""
    with mp.workdps(60 + int(abs(s * mp.log10(abs(q))))):
        return mp.zeta(s, q)


def polygamma(n, x):
    return (-1) ** (int(n) + 1) * mp.factorial(n) * zeta(n + 1, x)


# Name: function, the range in which it varies, the domain, and the tolerances in ulp for f32 and f64. A function without a domain is
# defined for all numbers. A tolerance is the largest error seen by `tests/c/accuracy.c` plus half an ulp, rounded down, because
# distances count steps from the rounded value.
ALL, RIGHT, FINITE = None, ends(2.0**-1074, 2.0**1023), ends(-(2.0**1023), 2.0**1023)
FUNCTIONS = {
    "acos": (mp.acos, -1, 1, ends(-1, 1), (1, 1)),
    "acosh": (mp.acosh, 1, 3, ends(1, 1e300), (1, 1)),
    "asin": (mp.asin, -1, 1, ends(-1, 1), (1, 1)),
    "asinh": (mp.asinh, -3, 3, FINITE, (1, 1)),
    "atan": (mp.atan, -3, 3, FINITE, (1, 1)),
    "atanh": (mp.atanh, -1, 1, ends(-(1 - 2.0**-53), 1 - 2.0**-53), (1, 1)),
    "cbrt": (cbrt, -8, 8, FINITE, (1, 1)),
    "cos": (mp.cos, -30, 30, FINITE, (1, 1)),
    "cosh": (near(mp.cosh), -711, 711, FINITE, (1, 1)),
    "digamma": (digamma, -20, 20, ALL, (1, 2)),
    "erf": (erf, -6, 6, ALL, (1, 2)),
    "erfc": (erfc, -6, 27.4, ALL, (1, 2)),
    "exp": (near(mp.exp), -746, 710, FINITE, (1, 1)),
    "exp2": (near(lambda x: mp.mpf(2) ** x), -1076, 1025, FINITE, (1, 1)),
    "expm1": (near(mp.expm1), -3, 3, FINITE, (1, 1)),
    "gammaln": (gammaln, -40, 40, ALL, (1, 2)),
    "log": (mp.log, 0, 4, RIGHT, (1, 1)),
    "log10": (lambda x: mp.log(x, 10), 0, 4, RIGHT, (1, 1)),
    "log1mexp": (log1mexp, -40, 0, ends(-2000, -(2.0**-1074)), (1, 1)),
    "log1p": (mp.log1p, -1, 3, ends(-(1 - 2.0**-53), 2.0**1023), (1, 1)),
    "log2": (lambda x: mp.log(x, 2), 0, 4, RIGHT, (1, 1)),
    "sigmoid": (near(sigmoid), -745, 40, FINITE, (1, 1)),
    "sin": (mp.sin, -30, 30, FINITE, (1, 1)),
    "sinh": (near(mp.sinh), -711, 711, FINITE, (1, 1)),
    "softplus": (lambda x: softplus(max(x, -2000)), -745, 40, FINITE, (1, 1)),
    "tan": (mp.tan, -30, 30, FINITE, (1, 1)),
    "tanh": (near(mp.tanh), -3, 3, FINITE, (1, 1)),
    "trigamma": (trigamma, -20, 20, ALL, (0, 3)),
    "entr": (lambda x: -x * mp.log(x), 0, 4, RIGHT, (1, 1)),
    "erfcinv": (erfcinv, 0, 2, ends(2.0**-1074, 2 - 2.0**-52), (1, 4)),
    "erfcx": (erfcx, -26.6, 60, ends(-26.6, 2.0**1023), (1, 2)),
    "erfinv": (erfinv, -1, 1, ends(-(1 - 2.0**-53), 1 - 2.0**-53), (1, 4)),
    "i0": (bessel(0, False), -714, 714, FINITE, (1, 3)),
    "i0e": (bessel(0, True), -40, 40, FINITE, (1, 2)),
    "i1": (bessel(1, False), -714, 714, FINITE, (1, 3)),
    "i1e": (bessel(1, True), -40, 40, FINITE, (1, 2)),
    "j0": (first(0)[0], -40, 40, first(0)[1], (1, 5)),
    "j1": (first(1)[0], -40, 40, first(1)[1], (1, 5)),
    "y0": (wave(0, True)[0], 0, 40, wave(0, True)[1], (1, 6)),
    "y1": (wave(1, True)[0], 0, 40, wave(1, True)[1], (1, 6)),
    "lambertw": (lambda x: mp.re(mp.lambertw(x)), -0.36, 10, ends(-0.367879, 2.0**1023), (1, 1)),
    "lambertw_lower": (lambda x: mp.re(mp.lambertw(x, -1)), -0.36, 0, ends(-0.367879, -(2.0**-1074)), (1, 1)),
    "softplus_inverse": (softplus_inverse, 0, 40, RIGHT, (1, 1)),
    "log_ndtr": (log_ndtr, -40, 10, ends(-1e150, 30), (1, 2)),
    "logit": (lambda x: mp.log(x / (1 - x)), 0, 1, ends(2.0**-1074, 1 - 2.0**-53), (1, 1)),
    "ndtr": (ndtr, -38.5, 9, FINITE, (1, 2)),
    "ndtri": (ndtri, 0, 1, ends(2.0**-1074, 1 - 2.0**-53), (1, 4)),
    "gamma": (gamma, -30, 172, ends(-(2.0**60), 2.0**1023), (1, 1)),
    "ndtri_exp": (quantile, -800, 0, ends(-1e150, -1e-30), (1, 4)),
}


def gamma_tail(upper):
    """Computes P by its power series, whose terms are positive, with additional digits for those that Q loses."""

    def tail(a, x):
        with mp.workdps(400):
            a, x = mp.mpf(a), mp.mpf(x)
            power, term, total, n = mp.exp(a * mp.log(x) - x - mp.loggamma(a)), 1 / a, mp.mpf(0), 0
            while term > total * mp.mpf(10) ** -390:
                total, n = total + term, n + 1
                term *= x / (a + n)
            return 1 - power * total if upper else power * total

    return tail


def betainc(a, b, x):
    """Uses the power series of I(a, b) with positive terms: x^a (1 - x)^b / (a B(a, b)) 2F1(a + b, 1; a + 1; x)."""
    with mp.workdps(400):
        a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
        turned = x > a / (a + b)
        if turned:
            a, b, x = b, a, 1 - x
        power = mp.exp(a * mp.log(x) + b * mp.log1p(-x) + mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b))
        term, total, n = 1 / a, mp.mpf(0), 0
        while n < 10 or term > total * mp.mpf(10) ** -300:
            total, n = total + term, n + 1
            term *= x * (a + b + n - 1) / (a + n)
        return 1 - power * total if turned else power * total


def tails(name, draw):
    """Returns operands of the incomplete gamma functions: small, near the mean inside and outside the expansion, and large."""
    for _ in range(60):
        yield 10 ** draw.uniform(-12, 1), 10 ** draw.uniform(-6, 1)
        a = 10 ** draw.uniform(0, 3)
        yield a, a * draw.uniform(0.5, 1.6)
    for _ in range(8):
        a = 10 ** draw.uniform(3, 5)
        yield a, a + draw.uniform(-6, 6) * math.sqrt(a)


def fractions(draw):
    """Returns operands of the incomplete beta function, with x near the mean and at both ends."""
    for _ in range(60):
        yield 10 ** draw.uniform(-6, 2), 10 ** draw.uniform(-6, 2), draw.uniform(0.02, 0.98)
        a, b = 10 ** draw.uniform(-1, 3.5), 10 ** draw.uniform(-1, 3.5)
        mean, width = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
        yield a, b, min(max(mean + draw.uniform(-5, 5) * width, 1e-9), 1 - 1e-9)


def signed(function):
    """Applies a function to two operands that are not 0."""
    return lambda x, y: function(mp.mpf(x), mp.mpf(y))


def inverse(tail, slope, t, x):
    """Returns the argument at which a tail is `t`, next to `x`, by Newton's method for its logarithm; `slope` is the derivative."""
    x = mp.log(x)
    for _ in range(60):
        y = tail(mp.exp(x))
        step = mp.log(y / t) * y / (slope(mp.exp(x)) * mp.exp(x))
        x -= step
        if abs(step) < mp.mpf(10) ** -50:
            break
    return mp.exp(x)


def gamma_inverse(upper):
    """Returns an operand `p` of the inverse next to the tail at `x`, and the result; `None` without digits of `p`."""

    def function(a, x, dtype):
        p = narrow(float(rounded(gamma_tail(upper)(a, x), dtype)), dtype)
        if not 1e-30 < p < 1:
            return None
        a, sign = mp.mpf(a), -1 if upper else 1
        slope = lambda x: sign * mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))
        return p, inverse(lambda x: gamma_tail(upper)(a, x), slope, mp.mpf(p), mp.mpf(x))

    return function


def beta_inverse(a, b, x, dtype):
    """Returns an operand `p` of the inverse next to `betainc(a, b, x)`, and the result; `None` without digits of either one."""
    p = narrow(float(rounded(betainc(a, b, x), dtype)), dtype)
    if not 1e-30 < p < 1:
        return None
    a, b = mp.mpf(a), mp.mpf(b)
    log = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)
    slope = lambda x: mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) + log)
    if abs((1 - p) / slope(mp.mpf(x))) > 1:
        return None
    return p, inverse(lambda x: betainc(a, b, x), slope, mp.mpf(p), mp.mpf(x))


def inverses(dtype):
    """Yields the lines of the inverses of tails, whose operands are drawn as those of the tails."""
    for name, function in (("gammaincinv", gamma_inverse(False)), ("gammainccinv", gamma_inverse(True)), ("betaincinv", beta_inverse)):
        draw, x, y = random.Random(name), [], []
        for drawn in list(fractions(draw) if name == "betaincinv" else tails(name, draw))[:: 2 if name == "betaincinv" else 3]:
            drawn = [narrow(v, dtype) for v in drawn]
            found = function(*drawn, dtype)
            if found is not None:
                x.append((*drawn[:-1], found[0]))
                y.append(rounded(found[1], dtype))
        yield name, (0, 1), (1, 4), list(zip(*x)), y


def of_order(kind, scaled):
    """Returns a Bessel function of any order."""

    def function(v, x):
        v, x = mp.mpf(v), mp.mpf(x)
        functions = {"i": mp.besseli, "j": mp.besselj, "k": mp.besselk}
        return functions[kind](v, x) * (mp.exp(x if kind == "k" else -x) if scaled else 1)

    return function


def orders(dtype):
    """Yields the lines of the Bessel functions: orders up to 60 and left of 0, and arguments of all sizes."""
    kinds = {"iv": ("i", False), "ive": ("i", True), "kv": ("k", False), "kve": ("k", True), "jv": ("j", False)}
    for name, (kind, scaled) in kinds.items():
        draw, x = random.Random(name), []
        for _ in range(30):
            x.append((draw.uniform(0, 3), 10 ** draw.uniform(-3, 1.5)))
            x.append((draw.uniform(0, 60), 10 ** draw.uniform(-1, 2)))
            x.append((float(draw.randint(0, 20)), 10 ** draw.uniform(-8, 2.2)))
            x.append((-draw.uniform(0, 6), 10 ** draw.uniform(-2, 1.5)))
        x = [tuple(narrow(v, dtype) for v in operands) for operands in x]
        # Left of order 0, I is the difference of two terms, with zeros.
        if kind == "i":
            x = [(v, z) for v, z in x if v >= 0 or abs(mp.besseli(v, z)) > mp.besseli(-v, z) / 2]
        if kind == "j":
            x = [(v, z) for v, z in x if z < abs(v) or abs(mp.besselj(v, z)) > mp.hypot(mp.besselj(v, z), mp.bessely(v, z)) / 2]
        yield name, (0, 20), (1, 4), list(zip(*x)), [rounded(of_order(kind, scaled)(*operands), dtype) for operands in x]


def hypergeometric(dtype):
    """Yields the line of 2F1: z next to 1, between -1 and 1 and to the left, whole differences of parameters, and polynomials."""
    draw, x = random.Random("hyp2f1"), []
    for _ in range(25):
        a, b, c = draw.uniform(-3, 3), draw.uniform(-3, 3), draw.uniform(0.1, 6)
        x.append((a, b, c, draw.uniform(-0.9, 0.9)))
        x.append((a, b, c, 1 - 10 ** draw.uniform(-6, -0.6)))
        x.append((a, b, -c, -(10 ** draw.uniform(-1, 6))))
        a, b = draw.randint(1, 8) / 2, draw.randint(1, 8) / 2
        x.append((a, b, a + b + draw.randint(0, 2), draw.uniform(0.5, 1)))
        x.append((a, a + draw.randint(0, 2), a + 0.5, -(10 ** draw.uniform(-1, 4))))
        x.append((draw.uniform(0, 50), draw.uniform(0, 50), draw.uniform(0.5, 50), draw.uniform(-0.5, 0.9)))
        x.append((-float(draw.randint(1, 10)), b, draw.uniform(0.5, 5), draw.uniform(-4, 4)))
    x = [tuple(narrow(v, dtype) for v in operands) for operands in x]
    yield "hyp2f1", (-2, 1), (1, 1), list(zip(*x)), [rounded(mp.re(mp.hyp2f1(*(mp.mpf(v) for v in operands))), dtype) for operands in x]


PAIRS = {
    "gammainc": (gamma_tail(False), 0, 60, (0, 6)),
    "gammaincc": (gamma_tail(True), 0, 60, (0, 20)),
    "beta": (signed(beta), -10, 40, (1, 1)),
    "betaln": (signed(betaln), -10, 40, (1, 1)),
    "polygamma": (signed(polygamma), 2, 40, (1, 1)),
    "zeta": (signed(zeta), 1, 40, (1, 1)),
    "owens_t": (signed(owens_t), -6, 6, (1, 4)),
    "kl_div": (signed(lambda x, y: x * mp.log(x / y) - x + y), 0, 4, (1, 1)),
    "rel_entr": (signed(lambda x, y: x * mp.log(x / y)), 0, 4, (1, 2)),
    "xlog1py": (signed(lambda x, y: x * mp.log1p(y)), 0, 4, (1, 2)),
    "xlogy": (signed(lambda x, y: x * mp.log(y)), 0, 4, (1, 2)),
    "atan2": (signed(mp.atan2), -3, 3, (1, 1)),
    "hypot": (signed(mp.hypot), -3, 3, (0, 0)),
    "pow": (signed(lambda x, y: abs(x) ** y), -9, 9, (1, 1)),
}


def pairs(name, draw):
    """Returns pairs close to the origin and of all exponents; for pow, non-negative bases with results of every size."""
    for _ in range(100):
        if name in ("beta", "betaln"):
            yield draw.uniform(-20, 30), draw.uniform(-20, 30)
            yield 10 ** draw.uniform(-15, 5), 10 ** draw.uniform(-15, 2)
        elif name in ("polygamma", "zeta"):
            first = float(draw.randint(2, 30)) if name == "polygamma" else 1 + 10 ** draw.uniform(-6, 1.5)
            yield first, 10 ** draw.uniform(-2, 2)
            # Left of 0, terms of one sign.
            yield 2.0 * draw.randint(2, 5) - (name == "polygamma"), draw.uniform(-9, 20)
        elif name == "owens_t":
            yield draw.uniform(-5, 5), draw.uniform(-3, 3)
        elif name in ("kl_div", "rel_entr", "xlog1py", "xlogy"):
            x = 10 ** draw.uniform(-6, 6)
            yield x, 10 ** draw.uniform(-6, 6)
            yield x, x * (1 + draw.uniform(-0.01, 0.01))
        elif name == "pow":
            x = 2.0 ** draw.uniform(-60, 60)
            yield x, draw.uniform(-140, 128) / math.log2(x)
        else:
            yield draw.uniform(-3, 3), draw.uniform(-3, 3)
            yield draw.choice([-1, 1]) * 2.0 ** draw.uniform(-60, 60), draw.choice([-1, 1]) * 2.0 ** draw.uniform(-60, 60)


def lines(dtype):
    for name, (function, low, high, domain, ulp) in FUNCTIONS.items():
        mp.mp.dps = 60
        x = [narrow(x, dtype) for x in operands(low, high, random.Random(name))]
        x = [v for v in x if domain is None or v != 0 and domain(v)]  # mpmath has no negative zero
        y = []
        for v in x:
            mp.mp.dps = 400 if abs(v) < 1e-20 else 60  # 1 + x is exact enough
            y.append(v if v != v else rounded(function(mp.mpf(v)) if domain else function(v), dtype))
        yield name, (low, high), ulp, [x], y
    mp.mp.dps = 60
    for name, (function, low, high, ulp) in PAIRS.items():
        drawn = (tails if name.startswith("gammainc") else pairs)(name, random.Random(name))
        x = [(narrow(a, dtype), narrow(b, dtype)) for a, b in drawn]
        yield name, (low, high), ulp, list(zip(*x)), [rounded(function(a, b), dtype) for a, b in x]
    x = [tuple(narrow(v, dtype) for v in operands) for operands in fractions(random.Random("betainc"))]
    yield "betainc", (0, 1), (0, 80), list(zip(*x)), [rounded(betainc(*operands), dtype) for operands in x]
    yield from inverses(dtype)
    yield from orders(dtype)
    yield from hypergeometric(dtype)


if __name__ == "__main__":
    with open(pathlib.Path(__file__).parent / "precise.jsonl", "w", encoding="ascii", newline="\n") as out:
        for at, dtype in enumerate(("f32", "f64")):
            for name, range_, ulp, operand, y in lines(dtype):
                columns = {**dict(zip("xyzw", operand)), "out": y}
                line = {key: " ".join(bits(v, dtype) for v in values) for key, values in columns.items()}
                out.write(json.dumps({"name": f"{name}_{dtype}", "range": range_, "ulp": ulp[at], **line}) + "\n")
