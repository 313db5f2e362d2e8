/* grid_v3.c: copies by AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>
#define PC_TARGET __attribute__((target("avx2")))
#define PC_WIDE_BYTES 32
#define PC_LANES_8(E) E(0), E(1), E(2), E(3)
#define PC_LANES_4(E) PC_LANES_8(E), E(4), E(5), E(6), E(7)
#define PC_NUMBERS(P) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(P)))
#define PC_CHOSEN(NUMBERS, FROM) _mm256_permutevar8x32_epi32((__m256i)(FROM), (__m256i)(NUMBERS))
#include "grid/template.h"

const pc_grid_ways pc_grid_v3 = {pc_grid_copy, pc_grid_line, pc_grid_turn};
#endif
