/* numpy/arrayscalars.h of precast: NumPy's scalars. */
#include <precast/compat/scalar.h>
