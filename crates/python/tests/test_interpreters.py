"""Subinterpreters are rejected before native code is loaded, whichever interpreter imports first."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
interpreters = __import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
if {first}:
    import precast
TEXT = '''
import sys
try:
    import precast
except ImportError as error:
    with open({path!r}, "a") as file:
        file.write(str(error) + "\\\\n\\\\n")
    loaded = [name for name in sys.modules if name.split(".")[0] == "numpy" or name.endswith("_native")]
    assert not loaded, loaded
else:
    raise AssertionError("it was imported")
'''
for settings in ({{}}, {{"isolated": False}}) if sys.version_info < (3, 13) else ({{}}, {{"config": "legacy"}}):
    one = interpreters.create(*settings.values()) if sys.version_info >= (3, 13) else interpreters.create(**settings)
    failed = interpreters.run_string(one, TEXT)
    assert failed is None, failed
    interpreters.destroy(one)
import precast
assert precast.function("x: f64", "y = x + 1", policy="interpret")(1.0) == 2.0
print("fine")
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the test uses modules of Python up to 3.13")
@pytest.mark.parametrize("first", [True, False])
def test_subinterpreter_is_rejected_without_harming_the_main(first, tmp_path):
    told = tmp_path / "told"
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(first=first, path=str(told))], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "fine\n", done
    texts = told.read_text().split("\n\n")[:-1]
    assert len(texts) == 2
    for text in texts:
        assert text.startswith("precast cannot be imported in a subinterpreter: ") and "\nhint: " in text
