/* numpy/ndarrayobject.h of precast: all of numpy/arrayobject.h. */
#include <numpy/arrayobject.h>
