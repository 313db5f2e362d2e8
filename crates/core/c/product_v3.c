/* product_v3.c: products by AVX2 and FMA, 16 registers of 32 bytes. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define PC_TARGET __attribute__((target("avx2,fma")))
#define PC_VECTOR_BYTES 32
#define PC_ROWS 4
#define PC_VECTORS 3

/* So many words from its middle less n on are n words of ones, then zeros. */
static const int64_t pc_ones_64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static const int32_t pc_ones_32[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

#define PC_T double
#define PC_SUMS 1
#define PC_NAME(X) pc_##X##_f64_v3
#define PC_FMA(A, B, C) _mm256_fmadd_pd(A, B, C)
#define PC_MASK __m256i
#define PC_FIRST(N) _mm256_loadu_si256((const __m256i *)(pc_ones_64 + 4 - (N)))
#define PC_LOAD(P, MASK) _mm256_maskload_pd(P, MASK)
#define PC_STORE(P, MASK, V) _mm256_maskstore_pd(P, MASK, V)
#include "product/template.h"

#define PC_T float
#define PC_SUMS 1
#define PC_NAME(X) pc_##X##_f32_v3
#define PC_FMA(A, B, C) _mm256_fmadd_ps(A, B, C)
#define PC_MASK __m256i
#define PC_FIRST(N) _mm256_loadu_si256((const __m256i *)(pc_ones_32 + 8 - (N)))
#define PC_LOAD(P, MASK) _mm256_maskload_ps(P, MASK)
#define PC_STORE(P, MASK, V) _mm256_maskstore_ps(P, MASK, V)
#include "product/template.h"
#endif
