"""Linkers with equal states have equal texts, and the state contains everything that affects the text. PyTensor's generator is the oracle."""

LINKERS = """
from pytensor.graph.fg import FunctionGraph
from pytensor.link.c.basic import CLinker
from precast.pytensor import _hook, _state
host = _hook.current().cache.host
def linker(node, no_recycling=()):
    # Create the linker like an op for PyTensor's virtual machine.
    graph = FunctionGraph(node.inputs, node.outputs)
    made = CLinker().accept(graph, no_recycling=[out for out, old in zip(graph.outputs, node.outputs) if old in no_recycling])
    for node in made.node_order:
        node.op.prepare_node(node, None, None, "c")
    return made
def state(variable, **settings):
    return _state.of_linker(host, linker(variable.owner, **settings))
def text(made):
    return made.get_dynamic_module().code(), made.compile_args(), made.header_dirs(), made.libraries(), made.lib_dirs()
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.scalar import Composite, ScalarType, float64
import pytensor.scalar as ps
m, i, a, b, c = pt.dmatrix("m"), pt.lvector("i"), float64("a"), float64("b"), float64("c")
def fused(result, *inputs):
    return Elemwise(Composite(list(inputs), [result]))
"""


def test_state_contains_every_input_of_the_text(world):
    printed = world.code(LINKERS + """
p = ps.exp(a)
pairs = {
    "the op": (pt.exp(x), pt.tanh(x)),
    "a dtype": (pt.exp(x), pt.exp(pt.fvector())),
    "a rank": (pt.exp(x), pt.exp(m)),
    "an extent": (pt.exp(x), pt.exp(pt.dvector(shape=(1,)))),
    "one variable twice": (x + y, x + x),
    "in place": (pt.exp(x), Elemwise(ps.exp, {0: 0})(x)),
    "what is reduced by": (pt.sum(x), pt.prod(x)),
    "an axis": (pt.sum(m, axis=0), pt.sum(m, axis=1)),
    "an edge in an op": (fused(p * b - p, a, b)(x, y), fused(p - p * b, a, b)(x, y)),
    "an input in an op": (fused(a - b, a, b)(x, y), fused(b - a, a, b)(x, y)),
    "a number in an op": (fused(a * 2.0 + 1.0, a)(x), fused(a * 2.0 + 3.0, a)(x)),
}
for what, (one, other) in pairs.items():
    if "in an op" in what and "fgraph" not in vars(one.owner.op.scalar_op):
        continue  # PyTensor 2 keeps the graph in another attribute, so these ops have no state.
    assert state(one) is not None and state(one) == state(one), what
    assert state(one) != state(other), what
    assert text(linker(one.owner)) != text(linker(other.owner)), what
one, kept = state(pt.exp(x)), pt.exp(x)
assert state(kept, no_recycling=[kept]) != one == state(kept), "what is kept"
with pytensor.config.change_flags(cmodule__debug=not pytensor.config.cmodule__debug):
    assert state(pt.exp(x)) != one, "a setting"
before = ps.Exp.c_code
ps.Exp.c_code = lambda *arguments: before(*arguments)
assert state(pt.exp(x)) != one, "a method that writes C"
ps.Exp.c_code = before
assert state(pt.exp(x)) == one
print("all")
""")
    assert printed == "all\n"


def test_foreign_ops_and_their_graphs_have_no_state(world):
    printed = world.code(LINKERS + """
from pytensor.link.c.op import COp
from pytensor.graph.basic import Apply
class Factor(ps.UnaryScalarOp):
    factor = 2
    def impl(self, x): return x * self.factor
    def c_code(self, node, name, inputs, outputs, sub): return f"{outputs[0]} = {inputs[0]} * {Factor.factor};"
    def c_code_cache_version(self): return (1,)
factor = Factor(ps.same_out, name="factor")
print(state(Elemwise(factor)(x)), state(fused(factor(a) + b, a, b)(x, y)), state(x.shape[0].owner.inputs[0]))
run = lambda: pytensor.function([x], Elemwise(factor)(x), mode=Mode("cvm", None))([1, 2]).tolist()
first, Factor.factor = run(), 5
print(first, run(), stats()["aside"])
""")
    assert printed == "None None None\n[2.0, 4.0] [5.0, 10.0] []\n"


def test_equal_states_have_equal_texts(world):
    # Rewritten functions as in programs, with one linker for each node.
    printed = world.code(LINKERS + """
from collections import Counter
texts, counts = {}, Counter()
functions = []
for k in (1, 2, 2, 3):
    h = pt.tanh(pt.dot(m, x) * k + y)
    e = pt.switch(h > k, pt.log1p(h**2), h / (1 + pt.exp(-h)))
    functions.append(([m, x, y], [e.sum(), pytensor.gradient.grad(e.sum(), x), m[1:, ::k], m.T, m[:k], pt.max(m, axis=k % 2), pt.concatenate([x, y])]))
    functions.append(([m, x, i], [m.sum(axis=0) + x, x[i], pt.set_subtensor(x[k], 3.0), pt.cumsum(x), x.reshape((1, -1)), pt.arange(k + i[0]), i // (k + 1), i % 2, pt.eq(i, 1)]))
for inputs, outputs in functions:
    made = pytensor.function(inputs, outputs, mode=Mode("py", "fast_run"))
    for node in made.maker.fgraph.toposort():
        try:
            one = linker(node)
            key = _state.of_linker(host, one)
            said = text(one)
        except (NotImplementedError, AttributeError):
            continue
        except Exception as error:
            if type(error).__name__ == "MethodNotDefined": continue
            raise
        counts["asked" if key is None else "again" if key in texts else "new"] += 1
        if key is not None:
            assert texts.setdefault(key, said) == said, node
print(counts["again"] > counts["new"] > 0 < counts["asked"], counts)
""")
    assert printed.startswith("True "), printed


def test_text_is_generated_once_per_state(world):
    printed = world.code("""
from pytensor.link.c.basic import CLinker
made, stock = [], CLinker.get_dynamic_module
def get_dynamic_module(self):
    made.extend(str(node.op) for node in self.node_order)
    return stock(self)
CLinker.get_dynamic_module = get_dynamic_module
vectors = pt.dvectors(4)
function = lambda: pytensor.function(vectors, [pt.exp(vector.dimshuffle("x", 0)) for vector in vectors], mode=Mode("cvm", None))
print(function()([1], [2], [3], [0])[3], len(made), len(set(made)))
function()
print(len(made))
# A recording generates the texts again, because the bundle needs their units.
with precast.pytensor.record("all.bundle"):
    function()
print(len(made), stats()["compiled"])
""")
    assert printed == "[[1.]] 2 2\n2\n10 4\n"


def test_foreign_linkers_lack_state_and_cache_is_bounded(world):
    printed = world.code(LINKERS + """
class Other(CLinker):
    def compile_args(self): return super().compile_args() + ["-ffast-math"]
node = pt.exp(x).owner
other = Other().accept(FunctionGraph(node.inputs, node.outputs))
print(_state.of_linker(host, linker(node)) is None, _state.of_linker(host, other))
from precast.pytensor import _cache
_cache._MOST, generated = 3, _hook.current().cache.generated
for dtype in ("int8", "int16", "int32", "int64", "float32", "float64"):
    v = pt.vector(dtype=dtype)
    pytensor.function([v], v.dimshuffle("x", 0), mode=Mode("cvm", None))
print(0 < len(generated) <= 3)
""")
    assert printed == "False None\nTrue\n"
