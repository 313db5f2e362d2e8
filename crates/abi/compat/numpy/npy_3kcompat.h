/* numpy/npy_3kcompat.h of precast: all of numpy/arrayobject.h. */
#include <numpy/arrayobject.h>
