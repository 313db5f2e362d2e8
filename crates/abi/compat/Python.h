/* Python.h of precast: CPython's C API as far as op code uses it, on pc_object and pc_context. No Python is involved.
 *
 * Contents, and differences from the original: crates/abi/compat/README.md.
 */
#ifndef Py_PYTHON_H
#define Py_PYTHON_H

#define PRECAST_COMPAT 1

#include <precast/compat/python.h>

#endif
