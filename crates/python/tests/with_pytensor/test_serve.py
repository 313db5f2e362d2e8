"""PyTensor's C linkers use precast: correct results, no module is compiled twice, and PyTensor's cache is not used."""

import pytest


def test_graphs_with_other_edges_have_separate_modules(world):
    # PyTensor 2.35 to 3.3 has one key for both, because it lists the ops without the edges between them.
    printed = world.code("""
mode = Mode("c", None)
p = pt.exp(x)
q = p * y
f = pytensor.function([x, y], q - p, mode=mode)
g = pytensor.function([x, y], p - q, mode=mode)
print(f([0, 1], [3, 4]), g([0, 1], [3, 4]))
print(stats()["compiled"])
""")
    assert printed == "[2.         8.15484549] [-2.         -8.15484549]\n3\n"


@pytest.mark.parametrize("linker", [pytest.param("c", marks=pytest.mark.long), "cvm", pytest.param("c|py", marks=pytest.mark.long)])
def test_every_c_linker_uses_the_store(world, linker):
    code = f"""
f = pytensor.function([x, y], pt.tanh(x) * y, mode=Mode({linker!r}))
print(f([0, 1], [3, 4]), stats()["compiled"] > 0, stats()["served"] > 0, stats()["aside"], stats()["events"])
"""
    assert world.code(code) == "[0.         3.04637662] True False [] []\n"
    assert world.code(code) == "[0.         3.04637662] False True [] []\n"


def test_modules_load_from_sealed_memory(world):
    printed = world.code("""
f = pytensor.function([x], x + 1)
mapped = {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps") if "memfd:precast" in line}
print(mapped, [name for name in os.listdir(precast.pytensor._hook.Modules.user_store()) if name == "tmp"])
print(sum("memfd:" in os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")))
""")
    assert printed.startswith("{'/memfd:precast (deleted)'}") and printed.endswith("\n0\n")


def test_threads_share_compilations_and_forks_do_not(world):
    printed = world.code("""
import threading
def compile(_=None):
    results.append(pytensor.function([x, y], x * y - 1, mode=Mode("c", None))([2, 3], [4, 5]).tolist())
results = []
threads = [threading.Thread(target=compile) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(results, len({id(module) for module in precast.pytensor._hook.current().cache.loaded.values()}))
sys.stdout.flush()
if (child := os.fork()) == 0:
    print(pytensor.function([x, y], x * y - 1)([2, 3], [4, 5]), pytensor.function([x, y], x / y)([2, 3], [4, 5]), flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert printed == "[[7.0, 14.0], [7.0, 14.0], [7.0, 14.0], [7.0, 14.0]] 2\n[ 7. 14.] [0.5 0.6]\n0\n"


def test_op_errors_match_pytensor(world):
    printed = world.code("""
f = pytensor.function([x, y], x + y)
for _ in range(3):
    try:
        f([1, 2], [1, 2, 3])
    except ValueError as error:
        print("mismatch" in str(error) or "broadcast" in str(error))
print(f([1, 2], [3, 4]))
""")
    assert printed == "True\nTrue\nTrue\n[4. 6.]\n"


# An op with every method that an author can define.
OWN = """
from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp
class Own(COp):
    __props__ = ()
    init, flags, header = "", (), None
    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.dvector()])
    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 3
    def c_headers(self, **kwargs):
        return [] if self.header is None else ["own/factor.h"]
    def c_header_dirs(self, **kwargs):
        return [] if self.header is None else [self.header]
    def c_compile_args(self, **kwargs):
        return list(self.flags)
    def c_init_code(self, **kwargs):
        return [self.init] if self.init else []
    def c_code_cache_version(self):
        return (1,)
    def c_code(self, node, name, inputs, outputs, sub):
        factor = "3.0" if self.header is None else "FACTOR"
        return f'''
        Py_XDECREF({outputs[0]});
        {outputs[0]} = (PyArrayObject *)PyArray_NewCopy({inputs[0]}, NPY_CORDER);
        if (!{outputs[0]}) {{ {sub["fail"]} }}
        for (npy_intp i = 0; i < PyArray_SIZE({outputs[0]}); i++) *(double *)PyArray_GETPTR1({outputs[0]}, i) *= {factor};
        '''
def run(**settings):
    op = type("Own", (Own,), settings)()
    return pytensor.function([x], op(x), mode=Mode("c", None))([1, 2]).tolist()
"""


def test_header_content_but_not_location_enters_the_key(world):
    printed = world.code(OWN + """
def place(name, factor):
    os.makedirs(f"{name}/own", exist_ok=True)
    open(f"{name}/own/factor.h", "w").write('#include "deeper.h"\\n')
    open(f"{name}/own/deeper.h", "w").write(f"#define FACTOR {factor}\\n")
    return os.path.abspath(name)
compiled = lambda: stats()["compiled"]
print(run(header=place("one", 5)), compiled())
print(run(header=place("two", 5)), compiled())
print(run(header=place("one", 7)), compiled())
""")
    assert printed == "[5.0, 10.0] 2\n[5.0, 10.0] 2\n[7.0, 14.0] 3\n"


def test_exception_during_module_load_is_raised(world):
    printed = world.code(OWN + """
for _ in range(2):
    try:
        run(init='PyErr_SetString(PyExc_ImportError, "not today"); return NULL;')
    except ImportError as error:
        print("not today" in str(error))
print(run())
""")
    assert printed == "True\nTrue\n[3.0, 6.0]\n"


def test_failed_compile_falls_back_to_pytensor_with_warning(world):
    flags = f"linker=cvm,base_compiledir={world.path('compiledir')}"
    printed = world.code(
        OWN + """
print(run(flags=["-march=native"]), stats()["aside"])
print(run(flags=["-DUNUSED=1"]), len(stats()["aside"]))
try:
    with precast.pytensor.record("partial.bundle"):
        run(flags=["-march=native"])
except precast.PrecastError as error:
    print("PyTensor compiled 1 module(s) itself; the first is `Own`" in str(error), os.path.exists("partial.bundle"))
""",
        PYTENSOR_FLAGS=flags,
    )
    assert printed.startswith("[3.0, 6.0] [('Own', 'flag `-march=native` of `Own(float64[?]) -> float64[?]` ")
    assert printed.endswith("[3.0, 6.0] 1\nTrue False\n")


def test_functions_and_errors_work_without_setuptools(world):
    printed = world.code("""
pytensor.function([x], x + 1)
from pytensor.link.c.exceptions import MissingGXX
print("setuptools" in sys.modules)
from pytensor.link.c.exceptions import CompileError
import pytensor.link.c.exceptions as module
print(module.MissingGXX is MissingGXX, CompileError("it").args, CompileError.__mro__[1].__name__, hasattr(module, "other"))
""")
    assert printed == "False\nTrue ('it',) CompileError False\n"


def test_uninstall_restores_pytensor(world):
    printed = world.run("-c", """
import os
os.environ["PRECAST_PYTENSOR"] = "0"
import sys, precast.pytensor, pytensor
import pytensor.link.c.basic as basic, pytensor.link.c.cmodule as cmodule
def state():
    config = {name: parameter.__dict__.get("val") for name, parameter in pytensor.config._config_var_dict.items()}
    return basic.get_module_cache, basic.CLinker.cthunk_factory, cmodule.GCC_compiler.march_flags, config, list(sys.meta_path)
before = state()
for _ in range(2):
    assert precast.pytensor.install() and precast.pytensor.installed() and state() != before
precast.pytensor.uninstall()
print(state() == before, precast.pytensor.stats())
""", PYTENSOR_FLAGS="")
    assert printed == "True {'installed': False}\n"


def test_cvm_replaces_a_default_without_c_with_warning(world):
    code = "import precast.pytensor, pytensor; print(pytensor.config.linker)"
    assert world.run("-c", code, PYTENSOR_FLAGS="") == "cvm\n"
    assert world.run("-c", code, PYTENSOR_FLAGS="linker=py") == "py\n"
    said = world.run("-c", code + "; sys.exit(1)", PYTENSOR_FLAGS="", status=1)
    assert "PyTensor's linker is set to `cvm`, because the default `auto` generates no C" in said


def test_macro_sets_have_one_key_under_any_seed(world):
    code = """
from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp
class Six(COp):
    __props__ = ()
    def make_node(self, x): return Apply(self, [x], [x.type()])
    def perform(self, node, inputs, outputs): raise NotImplementedError
    def c_compile_args(self, **_): return list({"-DONE=1", "-DTWO=2", "-DTHREE=3"})
    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        return f"Py_XDECREF({z}); {z} = (PyArrayObject *)PyArray_NewCopy({x}, NPY_CORDER); *(double *)PyArray_DATA({z}) = ONE + TWO + THREE;"
    def c_code_cache_version(self): return (1,)
print(pytensor.function([x], Six()(x), mode=Mode("cvm", None))([0]), stats()["compiled"])
"""
    assert world.code(code, PYTHONHASHSEED="0").startswith("[6.] ")
    for seed in ("1", "2", "3"):
        assert world.code(code, PYTHONHASHSEED=seed) == "[6.] 0\n"
