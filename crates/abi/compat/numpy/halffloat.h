/* numpy/halffloat.h of precast: NumPy's halves, among its mathematics. */
#include <precast/compat/npy_math.h>
