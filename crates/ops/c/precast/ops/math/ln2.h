/* precast/ops/math/ln2.h: ln 2 in two parts, for exponentials and logarithms. */
#ifndef PRECAST_OPS_MATH_LN2_H
#define PRECAST_OPS_MATH_LN2_H

#include <precast/ops/bits.h>

/* ln 2 in two parts: k * HI is exact for |k| < 2^11. */
#define PC_LOG2E_F64 0x1.71547652b82fep+0
#define PC_LN2_HI_F64 0x1.62e42fefa3800p-1
#define PC_LN2_LO_F64 0x1.ef35793c76730p-45

/* ln 2 in two parts: k * HI is exact for |k| < 2^9. */
#define PC_LOG2E_F32 0x1.715476p+0f
#define PC_LN2_HI_F32 0x1.62e400p-1f
#define PC_LN2_LO_F32 0x1.7f7d1cp-20f

/* ln 2 to 2^-29, as it happens with 21 bits: k * PC_LN2_F32 is exact for |k| <= 8. */
#define PC_LN2_F32 0x1.62e430p-1f

#endif
