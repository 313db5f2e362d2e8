/* numpy/npy_2_compat.h of precast: all of numpy/arrayobject.h. */
#include <numpy/arrayobject.h>
