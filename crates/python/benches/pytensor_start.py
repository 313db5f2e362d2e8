"""From the start of a process to its first result: PyTensor alone, and with precast beneath it.

    python crates/python/benches/pytensor_start.py [RUNS]

All compile once before anything is timed, so all are warm; `deployed` is under the policy `strict`. `link` is what is between the rewritten graph and a function that
can be called; `function` has the rewriting too. The least of RUNS (5) is shown, in milliseconds.
"""

import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time
begin = time.perf_counter()
if sys.argv[1] != "stock":
    import precast.pytensor
import numpy as np, pytensor, pytensor.tensor as pt
from pytensor.compile.maker import FunctionMaker
imported = time.perf_counter()
linked = 0.0
def create(self, *args, **kwargs):
    global linked
    start = time.perf_counter()
    made = stock(self, *args, **kwargs)
    linked += time.perf_counter() - start
    return made
stock, FunctionMaker.create = FunctionMaker.create, create
x, y, z, A = pt.dvector("x"), pt.dvector("y"), pt.dvector("z"), pt.dmatrix("A")
v = np.arange(4.0)
if sys.argv[2] == "small":
    f, values = pytensor.function([x, y, z], (x + y) * z), (v, v, v)
else:
    e = pt.exp(-((x - y) ** 2) / (1 + z**2)) * pt.tanh(x) + pt.log1p(y**2)
    outputs = [e, e.sum(), pt.dot(A, e), pt.dot(A.T, pt.dot(A, e)).sum()]
    f, values = pytensor.function([A, x, y, z], outputs), (np.eye(4), v, v, v)
made = time.perf_counter()
f(*values)
done = time.perf_counter()
times = {"import": imported - begin, "function": made - imported, "link": linked, "call": done - made, "total": done - begin}
print(json.dumps(times))
"""


def run(who: str, graph: str, folder: str, blas: str) -> dict[str, float]:
    flags = f"linker=cvm,base_compiledir={folder}/stock{blas}"
    environment = os.environ | {"PYTENSOR_FLAGS": flags, "PRECAST_CACHE": f"{folder}/precast"}
    if who == "deployed":
        environment |= {"PRECAST_POLICY": "strict", "PRECAST_STORE": f"{folder}/precast/store"}
    made = subprocess.run([sys.executable, "-c", PROGRAM, who, graph], env=environment, capture_output=True, text=True, check=True)
    return json.loads(made.stdout)


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[1:] else 5
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'graph':6} {'beneath':9} {'import':>8} {'function':>9} {'link':>8} {'call':>7} {'total':>8}")
        for graph in ("small", "big"):
            link = {}
            for who in ("stock", "precast", "deployed"):
                # Without this, stock would try BLAS libraries out in each process.
                settings = (who, graph, folder, ",blas__ldflags=")
                run(*settings)
                times = [run(*settings) for _ in range(runs)]
                least = {name: 1000 * min(time[name] for time in times) for name in times[0]}
                link[who] = least["link"]
                shown = (least[name] for name in ("import", "function", "link", "call", "total"))
                print(f"{graph:6} {who:9} {{:8.1f}} {{:9.1f}} {{:8.1f}} {{:7.2f}} {{:8.1f}}".format(*shown))
            print(f"{graph:6} link, deployed: {link['stock'] / link['deployed']:.0f} times as fast")


if __name__ == "__main__":
    main()
