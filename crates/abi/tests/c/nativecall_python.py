"""Two independent extension modules call each other's callables natively."""
import sys
import one
import two

for party, other in ((one, two), (two, one)):
    f = other.Callable
    assert party.call(f("double"), 3.0) == 6.0, "exact, without the GIL"
    assert party.call(f("loud"), 3.0) == 4.0, "exact, with the GIL"
    assert party.call(f("float"), 3.0) == 1.5, "promoted"
    assert party.call(f("none"), 3.0) == 1003.0, "boxed: an empty table"
    assert party.call(lambda x: -x, 3.0) == -3.0, "boxed: no table"

    class Derived(f):
        pass

    assert party.call(Derived("double"), 3.0) == 1003.0, "boxed: a subclass does not inherit the flag"

assert "_nativecall" not in sys.modules
assert one.registry() == two.registry() == one.registry(), "both parties must use the registry of the first"
assert repr(sys.modules["_nativecall"].registry).startswith('<capsule object "_nativecall.registry"')
print("ok", sys.version_info[:2])
