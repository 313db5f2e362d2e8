"""Shared code of the front ends that freeze functions of other packages: `precast.pytensor` and `precast.jax`.

```
function of a package ─ its graph ─▶ the rule of each operation ─▶ variables of precast ─▶ Frozen ─▶ function, bundle
                                      └ no rule, or `Refused` ─▶ Refusal ─▶ one FreezeError with all of them
```
============  ======================================================================
``rules``     tables of rules by the names of operations
``refusals``  operations that cannot be lowered, and the error that lists them
``names``     names of inputs and outputs
``values``    constants and casts
``frozen``    the base class of frozen functions
============  ======================================================================
"""
