/* product_v4.c: products by AVX-512, 32 registers of 64 bytes. */
#if defined(__x86_64__)
#include <immintrin.h>

#define PC_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
#define PC_VECTOR_BYTES 64
#define PC_ROWS 8
#define PC_VECTORS 3

#define PC_T double
#define PC_SUMS 1
#define PC_NAME(X) pc_##X##_f64_v4
#define PC_FMA(A, B, C) _mm512_fmadd_pd(A, B, C)
#define PC_MASK __mmask8
#define PC_FIRST(N) ((__mmask8)((1u << (N)) - 1))
#define PC_LOAD(P, MASK) _mm512_maskz_loadu_pd(MASK, P)
#define PC_STORE(P, MASK, V) _mm512_mask_storeu_pd(P, MASK, V)
#include "product/template.h"

#define PC_T float
#define PC_SUMS 0
#define PC_NAME(X) pc_##X##_f32_v4
#define PC_FMA(A, B, C) _mm512_fmadd_ps(A, B, C)
#define PC_MASK __mmask16
#define PC_FIRST(N) ((__mmask16)((1u << (N)) - 1))
#define PC_LOAD(P, MASK) _mm512_maskz_loadu_ps(MASK, P)
#define PC_STORE(P, MASK, V) _mm512_mask_storeu_ps(P, MASK, V)
#include "product/template.h"
#endif
