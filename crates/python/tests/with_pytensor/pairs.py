"""Small random PyTensor functions that combine a few features: dtypes, views, assignments, joins, reductions of axes of 0 or 1, loops,
branches, state, and outputs that alias each other or an input. A seed determines a function and its arguments.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt

try:
    from pytensor.conditional.op import ifelse
except ImportError:
    from pytensor.ifelse import ifelse

DTYPES = ["float64"] * 6 + ["float32"] * 3 + ["int64", "int32", "int8", "uint8", "uint16", "bool", "complex128", "complex64"]
_NEW = "return_updates" in __import__("inspect").signature(pytensor.scan).parameters


class Skip(Exception):
    """A feature cannot be combined with the existing variables."""


class Drawn:
    """The function of a seed: variables, and their extents in the call."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.inputs, self.given, self.state, self.pool, self.updates = [], [], [], [], {}
        for at in range(self.rng.integers(1, 4)):
            self.add(*self.input(f"x{at}"))
        for at in range(self.rng.integers(0, 3)):
            self.shared(f"s{at}")
        for _ in range(self.rng.integers(2, 7)):
            try:
                self.grow()
            except (Skip, OverflowError, TypeError):
                # PyTensor does not negate unsigned integers, and lacks `|` for some dtypes.
                continue
        for shared in self.state:
            alike = [var for var, _ in self.pool if var.type == shared.type]
            if self.chance(0.8):
                self.updates[shared] = self.one(alike)
        count = self.rng.integers(1, 4)
        places = [len(self.pool) - 1, *self.rng.integers(0, len(self.pool), count)]
        self.outputs = [self.pool[at][0] for at in places]

    def chance(self, share):
        return self.rng.random() < share

    def one(self, of):
        return of[self.rng.integers(len(of))]

    def add(self, variable, shape):
        assert variable.type.ndim == len(shape), (variable.type, shape)
        if max((*shape, 0)) > 12 or variable.type.ndim > 4:
            raise Skip
        self.pool.append((variable, tuple(shape)))

    def value(self, dtype, shape):
        made = self.rng.integers(-8, 9, shape)
        if dtype == "bool":
            return np.asarray(made > 0)
        if dtype.startswith("uint"):
            return np.asarray(abs(made)).astype(dtype)
        if dtype.startswith("complex"):
            return np.asarray(made / 4 + 1j * self.rng.integers(-8, 9, shape) / 4).astype(dtype)
        made = np.asarray(made if dtype.startswith("int") else made / 4).astype(dtype)
        if made.size and made.ndim and dtype.startswith("float") and self.chance(0.15):
            made.flat[self.rng.integers(made.size)] = self.one([np.nan, np.inf, -np.inf, -0.0])
        return made

    def static(self, shape):
        """Returns the extents in a type. PyTensor broadcasts only extents that are known to be 1."""
        return tuple(1 if n == 1 and self.chance(0.8) else n if self.chance(0.4) else None for n in shape)

    def drawn_shape(self):
        return tuple(int(self.one([0, 1, 1, 2, 3, 3])) for _ in range(self.one([0, 1, 1, 2, 2, 2, 3])))

    def input(self, name):
        shape, dtype = self.drawn_shape(), self.one(DTYPES)
        variable = pt.tensor(name, dtype=dtype, shape=self.static(shape))
        value = self.value(dtype, shape)
        if value.ndim and self.chance(0.3):
            # Not contiguous.
            value = np.repeat(value, 2, axis=-1)[..., ::2][..., ::-1]
        self.inputs.append(variable)
        self.given.append(value)
        return variable, shape

    def shared(self, name):
        shape, dtype = self.drawn_shape(), self.one(DTYPES)
        variable = pytensor.shared(self.value(dtype, shape), name=name, shape=self.static(shape))
        self.state.append(variable)
        self.add(variable, shape)

    def dynamic(self, number):
        """Returns a number that is a constant or an argument of the call."""
        if number is None or not self.chance(0.3):
            return number
        made = pt.scalar(f"i{len(self.inputs)}", dtype=self.one(["int64", "int32", "int8"]))
        self.inputs.append(made)
        self.given.append(np.array(number, made.type.dtype))
        return made

    def pick(self, fits=lambda var, shape: True):
        # Prefer the newest variable, so that features are combined.
        found = [each for each in self.pool if fits(*each)]
        if not found:
            raise Skip
        return found[-1] if self.chance(0.5) else self.one(found)

    def plain(self):
        return self.pick(lambda var, _: not var.type.dtype.startswith("complex"))

    def grow(self):
        self.one(FEATURES)(self)

    def alike(self, variable, shape, dtype=None):
        """Returns another operand that broadcasts with this one."""
        def fits(other, found):
            if dtype is not None and other.type.dtype != dtype:
                return False
            pairs = zip(reversed(list(zip(variable.type.shape, shape))), reversed(list(zip(other.type.shape, found))))
            return all(n == m or a == 1 or b == 1 for (a, n), (b, m) in pairs)

        other, found = self.pick(fits)
        return other, np.broadcast_shapes(shape, found)


def is_kind(variable, kinds):
    return np.dtype(variable.type.dtype).kind in kinds


def unary(d):
    x, shape = d.pick()
    fine = ["neg", "abs", "sqr", "copy", "identity"]
    if is_kind(x, "b"):
        fine = ["invert", "copy", "identity"]
    elif is_kind(x, "f"):
        fine += ["exp", "tanh", "sqrt", "floor", "ceil", "sign", "isnan", "round", "log1p", "sigmoid", "reciprocal"]
    elif is_kind(x, "iu"):
        fine += ["invert", "sqrt", "exp", "sign"]
    else:
        fine = ["neg", "sqr", "conj", "real", "imag", "abs", "exp"]
    name = d.one(fine)
    made = {"copy": lambda v: pt.as_tensor(v).copy(), "identity": pytensor.tensor.basic.tensor_copy}.get(name) or getattr(pt, name)
    d.add(made(x), shape)


def cast(d):
    x, shape = d.pick()
    to = d.one(["complex128", "complex64"]) if is_kind(x, "c") else d.one(DTYPES)
    if is_kind(x, "f") and np.dtype(to).kind in "iu":
        low = 0 if to.startswith("u") else -100
        x = pt.clip(pt.switch(pt.isnan(x), np.array(0, x.type.dtype), x), np.array(low, x.type.dtype), np.array(100, x.type.dtype))
    if np.dtype(to).kind == "c" and is_kind(x, "b"):
        raise Skip
    d.add(pt.cast(x, to), shape)


def binary(d):
    x, shape = d.pick()
    y, shape = d.alike(x, shape)
    kinds = {np.dtype(each.type.dtype).kind for each in (x, y)}
    names = ["add", "mul", "eq", "neq"]
    if "c" not in kinds:
        names += ["maximum", "minimum", "lt", "ge"]
    if "b" not in kinds:
        names += ["sub", "true_div"]
        if "c" not in kinds:
            names += ["int_div", "mod"]
    if kinds <= set("iub"):
        names += ["bitwise_and", "bitwise_or", "bitwise_xor"]
    if kinds == {"f"}:
        names += ["arctan2"]
    name = d.one(names)
    if name in ("int_div", "mod") and kinds <= set("iu"):
        # Avoid division by zero, whose result is undefined in PyTensor.
        y = pt.maximum(y, np.array(1, y.type.dtype))
    d.add(getattr(pt, name)(*((x, y) if d.chance(0.5) or name in ("int_div", "mod") else (y, x))), shape)


def constant(d):
    x, shape = d.pick()
    number = d.one([0, 1, -1, 2, 0.5, -2.5, True, np.float32(0.25), np.int8(3)])
    if is_kind(x, "b") or isinstance(number, bool) or (is_kind(x, "u") and number < 0):
        raise Skip
    d.add(d.one([pt.add, pt.sub, pt.mul, pt.true_div if number else pt.mul])(x, number), shape)


def switch(d):
    x, shape = d.pick()
    y, shape = d.alike(x, shape)
    c, both = d.plain()
    if both not in ((), shape) and c.type.ndim:
        raise Skip
    d.add(pt.switch(pt.gt(c, 0) if not is_kind(c, "b") else c, x, y), shape)


def reduce(d):
    x, shape = d.pick()
    names = ["sum", "prod", "mean"]
    if not is_kind(x, "c"):
        names += ["max", "min", "any", "all", "argmax", "var", "argmin"]
    name = d.one(names)
    axes = list(range(len(shape)))
    axis = None if d.chance(0.3) or not axes else tuple(int(a) for a in d.rng.permutation(axes)[: d.rng.integers(1, len(axes) + 1)])
    if axis is not None and (name.startswith("arg") or d.chance(0.5)):
        axis = int(axis[0]) - (len(shape) if d.chance(0.3) else 0)
    gone = axes if axis is None else [a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
    if name in ("max", "min", "argmax", "argmin", "mean", "var") and 0 in [shape[a] for a in gone]:
        raise Skip
    if name in ("any", "all") and not is_kind(x, "b"):
        x = pt.neq(x, 0)
    if name in ("mean", "var") and is_kind(x, "b"):
        raise Skip
    keepdims = bool(d.chance(0.3))
    made = getattr(pt, name)(x, axis=axis, keepdims=keepdims)
    d.add(made, [1 if a in gone else n for a, n in enumerate(shape) if keepdims or a not in gone])


def cumulate(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0 and not is_kind(var, "b"))
    axis = int(d.rng.integers(len(shape)))
    d.add(d.one([pt.cumsum, pt.cumprod])(x, axis=axis), shape)


def shuffle(d):
    x, shape = d.pick()
    order = [int(a) for a in d.rng.permutation(len(shape))]
    order = [a for a in order if not (x.type.shape[a] == 1 and d.chance(0.4))]
    if d.chance(0.4):
        order.insert(d.rng.integers(len(order) + 1), "x")
    d.add(x.dimshuffle(order), [1 if a == "x" else shape[a] for a in order])


def reshape(d):
    x, shape = d.pick()
    size = int(np.prod(shape))
    ways = [(size,), (1, size), (size, 1)] + [(n, size // n) for n in (2, 3) if size % n == 0 and size]
    if size == 1:
        ways.append(())
    to = d.one(ways)
    asked = tuple(-1 if at == len(to) - 1 and size and d.chance(0.4) else n for at, n in enumerate(to))
    d.add(pt.reshape(x, asked, ndim=len(to)), to)


def join(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    axis = int(d.rng.integers(len(shape)))

    def fits(other, found):
        return len(found) == len(shape) and all(n == m for at, (n, m) in enumerate(zip(shape, found)) if at != axis)

    y, other = d.pick(fits)
    z, third = d.pick(fits) if d.chance(0.3) else (None, None)
    parts, extents = ([x, y], [shape, other]) if z is None else ([x, y, z], [shape, other, third])
    total = sum(each[axis] for each in extents)
    d.add(pt.join(axis - (len(shape) if d.chance(0.3) else 0), *parts), [total if at == axis else n for at, n in enumerate(shape)])


def stack(d):
    x, shape = d.pick()
    y, _ = d.pick(lambda other, found: found == shape)
    axis = int(d.rng.integers(len(shape) + 1))
    d.add(pt.stack([x, y], axis=axis), [*shape[:axis], 2, *shape[axis:]])


def slices(d, shape):
    """Returns a valid index, and the shape of its result."""
    items, extents = [], []
    for n in shape[: d.rng.integers(1, len(shape) + 1)]:
        way = d.rng.random()
        if way < 0.25 and n:
            at = int(d.rng.integers(-n, n))
            items.append(d.dynamic(at))
            continue
        bounds = [None if d.chance(0.4) else int(d.rng.integers(-n - 2, n + 3)) for _ in range(2)]
        step = d.one([None, 1, 2, -1, -1, -2, 3])
        items.append(slice(d.dynamic(bounds[0]), d.dynamic(bounds[1]), step))
        extents.append(len(range(*slice(*bounds, step).indices(n))))
    return tuple(items), [*extents, *shape[len(items) :]]


def subtensor(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    items, extents = slices(d, shape)
    d.add(x[items], extents)


def inc_subtensor(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    items, extents = slices(d, shape)
    part = x[items]
    if d.chance(0.5):
        y, found = d.pick(lambda other, found: tuple(found) == tuple(extents))
    else:
        y, found = d.pick(lambda other, found: len(found) == 0)
    if np.result_type(y.type.dtype, x.type.dtype) != x.type.dtype or is_kind(x, "b"):
        raise Skip
    d.add((pt.set_subtensor if d.chance(0.5) else pt.inc_subtensor)(part, y), shape)


def advanced(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    n = shape[0]
    count = int(d.rng.integers(0, 4)) if n else 0
    places = d.rng.integers(-n, max(n, 1), count) if n else np.zeros(0, int)
    index = pt.as_tensor(places.astype("int64"))
    if d.chance(0.4):
        index = pt.tensor(f"i{len(d.inputs)}", dtype=d.one(["int64", "int32", "int8"]), shape=(None,))
        d.inputs.append(index)
        d.given.append(places.astype(index.type.dtype))
    part = x[index]
    if d.chance(0.6) or is_kind(x, "b"):
        d.add(part, [count, *shape[1:]])
    else:
        write = d.one([pt.set_subtensor, pt.inc_subtensor]) if len(set(places % max(n, 1))) == count else pt.inc_subtensor
        d.add(write(part, np.array(1, x.type.dtype)), shape)


def scan(d):
    x, shape = d.pick(lambda var, shape: var.type.dtype == "float64" and len(shape) <= 2)
    steps = int(d.rng.integers(1, 4))
    body = d.one([lambda a: a * 0.5 + 1, lambda a: pt.maximum(a, -a) - 2, lambda a: a[::-1] * 0.25 if a.type.ndim else a + 1])
    made = pytensor.scan(body, outputs_info=x, n_steps=steps, **({"return_updates": False} if _NEW else {}))
    made = made if _NEW else made[0]
    if d.chance(0.5):
        d.add(made[-1], shape)
    else:
        d.add(made, [steps, *shape])


def branch(d):
    x, shape = d.pick()
    y, _ = d.pick(lambda other, found: found == shape and other.type.dtype == x.type.dtype)
    if x.type.shape != y.type.shape:
        raise Skip
    c, _ = d.pick(lambda other, found: found == () and other.type.ndim == 0 and not is_kind(other, "c"))
    d.add(ifelse(pt.gt(c, 0) if not is_kind(c, "b") else c, x, y), shape)


def spread(d):
    x, shape = d.pick()
    n = int(d.rng.integers(0, 4))
    d.add(d.one([lambda: pt.alloc(x, n, *shape), lambda: pt.broadcast_to(x, (n, *shape))])(), [n, *shape])


def extents(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    d.add(d.one([lambda: x.shape[0], lambda: x.size, lambda: x.shape[-1] * 2])(), [])


def dot(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim == 2 and not is_kind(var, "b"))
    y, other = d.pick(lambda var, found: var.type.ndim in (1, 2) and found[0] == shape[1] and not is_kind(var, "b"))
    d.add(pt.dot(x, y), [shape[0], *other[1:]])


def ordered(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0 and not is_kind(var, "c"))
    axis = int(d.rng.integers(len(shape)))
    d.add(pt.sort(x, axis=axis), shape)


def turned(d):
    x, shape = d.pick(lambda var, shape: var.type.ndim > 0)
    axis = int(d.rng.integers(len(shape)))
    way = d.one(["flip", "repeat", "roll", "squeeze"])
    if way == "flip":
        d.add(pt.flip(x, axis), shape)
    elif way == "repeat":
        d.add(pt.repeat(x, 2, axis), [2 * n if at == axis else n for at, n in enumerate(shape)])
    elif way == "roll" and shape[axis]:
        d.add(pt.roll(x, int(d.rng.integers(-4, 5)), axis), shape)
    elif x.type.shape[axis] == 1:
        d.add(pt.squeeze(x, axis), [n for at, n in enumerate(shape) if at != axis])


FEATURES = [
    *[unary, cast, binary, constant, reduce, shuffle, subtensor] * 2,
    *[switch, cumulate, reshape, join, stack, inc_subtensor, inc_subtensor, advanced, scan, branch, spread, extents, dot, ordered, turned],
]
