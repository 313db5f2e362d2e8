/* numpy/npy_math.h of precast: NumPy's mathematics. */
#include <precast/compat/npy_math.h>
