/* grid_v4.c: copies by AVX-512. */
#if defined(__x86_64__)
#include <immintrin.h>
#define PC_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define PC_WIDE_BYTES 64
#define PC_LANES_8(E) E(0), E(1), E(2), E(3), E(4), E(5), E(6), E(7)
#define PC_LANES_4(E) PC_LANES_8(E), E(8), E(9), E(10), E(11), E(12), E(13), E(14), E(15)
#define PC_NUMBERS(P) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(P)))
#define PC_CHOSEN(NUMBERS, FROM) _mm512_permutexvar_epi32((__m512i)(NUMBERS), (__m512i)(FROM))
#include "grid/template.h"

const pc_grid_ways pc_grid_v4 = {pc_grid_copy, pc_grid_line, pc_grid_turn};
#endif
