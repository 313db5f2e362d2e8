/* numpy/arrayobject.h of precast: NumPy's C API as far as op code uses it, on pc_tensor. No NumPy is involved.
 *
 * Contents, and differences from the original: crates/abi/compat/README.md.
 */
#ifndef NPY_ARRAYOBJECT_H
#define NPY_ARRAYOBJECT_H

#include <Python.h>
#include <precast/compat/flatiter.h>
#include <precast/compat/fold.h>
#include <precast/compat/iter.h>
#include <precast/compat/npy_math.h>
#include <precast/compat/old.h>
#include <precast/compat/pick.h>
#include <precast/compat/product.h>
#include <precast/compat/scalar.h>
#include <precast/compat/sort.h>

/* There is nothing to import. */
#define import_array() ((void)0)
#define import_array1(result) ((void)0)
#define import_array2(message, result) ((void)0)
#define import_umath() ((void)0)
#define import_ufunc() ((void)0)
#define _import_array() 0
#define PyArray_ImportNumPyAPI() 0
#define PyArray_GetNDArrayCVersion() NPY_ABI_VERSION
#define PyArray_GetNDArrayCFeatureVersion() NPY_FEATURE_VERSION

#endif
