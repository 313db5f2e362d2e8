/* numpy/npy_common.h of precast: NumPy's types and numbers. */
#include <precast/compat/npy.h>
