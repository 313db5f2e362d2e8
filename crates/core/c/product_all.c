/* product_all.c: products by instructions that every CPU has. Registers have 16 bytes: 16 of them on x86-64, which rounds
 * multiplication and addition each; 32 on aarch64, which rounds once. */
#if defined(__aarch64__)
#include <arm_neon.h>
#define PC_ROWS 8
#define PC_VECTORS 3
#define PC_FMA_F64(A, B, C) vfmaq_f64(C, A, B)
#define PC_FMA_F32(A, B, C) vfmaq_f32(C, A, B)
#else
#define PC_ROWS 4
#define PC_VECTORS 2
#define PC_FMA_F64(A, B, C) ((A) * (B) + (C))
#define PC_FMA_F32(A, B, C) ((A) * (B) + (C))
#endif
#define PC_TARGET
#define PC_VECTOR_BYTES 16

#define PC_T double
#define PC_SUMS 1
#define PC_NAME(X) pc_##X##_f64_all
#define PC_FMA PC_FMA_F64
#include "product/first.h"
#include "product/template.h"

#define PC_T float
#define PC_SUMS 1
#define PC_NAME(X) pc_##X##_f32_all
#define PC_FMA PC_FMA_F32
#include "product/first.h"
#include "product/template.h"
