/* precast/compat/value.h: one element of any dtype, read and written through its type number.
 *
 * Conversions are C's where C defines them. Beyond that: a float that an integer cannot hold saturates, a NaN becomes 0, and
 * halves are rounded once, to the nearest, ties to even.
 */
#ifndef PRECAST_COMPAT_VALUE_H
#define PRECAST_COMPAT_VALUE_H

#include <precast/compat/object.h>

#ifdef __cplusplus
extern "C" {
#endif


typedef struct pc_compat_value {
  char kind; /* 'b', 'i', 'u', 'f' or 'c' */
  int64_t i; /* 'b', 'i' */
  uint64_t u; /* 'u' */
  double re, im; /* 'f', 'c' */
} pc_compat_value;

/* Bytes of an element; 0 for a type number that no array here has. */
PC_COMPAT_FN int pc_compat_itemsize(int dtype) {
  switch (dtype) {
    case PC_BOOL: case PC_I8: case PC_U8: return 1;
    case PC_I16: case PC_U16: case PC_F16: case PC_BF16: return 2;
    case PC_I32: case PC_U32: case PC_F32: return 4;
    case PC_I64: case PC_U64: case PC_F64: case PC_C64: return 8;
    case PC_C128: return 16;
    default: return 0;
  }
}

/* Returns NumPy's letter for the kind of a dtype; 'V' for an unknown dtype. */
PC_COMPAT_FN char pc_compat_kind_letter(int dtype) {
  switch (dtype) {
    case PC_BOOL: return 'b';
    case PC_I8: case PC_I16: case PC_I32: case PC_I64: return 'i';
    case PC_U8: case PC_U16: case PC_U32: case PC_U64: return 'u';
    case PC_F16: case PC_BF16: case PC_F32: case PC_F64: return 'f';
    case PC_C64: case PC_C128: return 'c';
    default: return 'V';
  }
}

/* The dtype of a type number: `long long` has one of its own in NumPy. */
PC_COMPAT_FN int pc_compat_typenum(int typenum) { return typenum == 9 ? PC_I64 : typenum == 10 ? PC_U64 : typenum; }

/* ---- halves ---- */

PC_COMPAT_SLOW float pc_compat_half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u, fraction = half & 0x3ffu, bits;
  float value;
  if (exponent == 0) { /* a zero or a subnormal: fraction / 2^24, exactly */
    value = (float)fraction * (1.0f / 16777216.0f);
    memcpy(&bits, &value, sizeof bits);
    bits |= sign;
  } else {
    bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | (fraction << 13);
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

PC_COMPAT_SLOW uint16_t pc_compat_half_from_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint16_t sign = (uint16_t)((bits >> 48) & 0x8000u);
  int exponent = (int)((bits >> 52) & 2047u) - 1023;
  uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 1024) return (uint16_t)(sign | 0x7c00u | (fraction != 0 ? 0x200u | (fraction >> 42) : 0));
  if (exponent < -25) return sign;
  if (exponent > 15) return (uint16_t)(sign | 0x7c00u);
  int normal = exponent >= -14, shift = normal ? 42 : 42 + (-14 - exponent);
  if (!normal) fraction |= 1ull << 52;
  uint64_t kept = fraction >> shift, rest = fraction & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  if (normal) kept |= (uint64_t)(exponent + 15) << 10;
  if (rest > half || (rest == half && (kept & 1))) kept++;
  return (uint16_t)(sign | kept);
}

PC_COMPAT_SLOW uint16_t pc_compat_bf16_from_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

PC_COMPAT_FN float pc_compat_bf16_to_float(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- between kinds ---- */

PC_COMPAT_FN pc_compat_value pc_compat_of_i64(int64_t i) {
  pc_compat_value v = {'i', i, 0, 0, 0};
  return v;
}

PC_COMPAT_FN pc_compat_value pc_compat_of_u64(uint64_t u) {
  pc_compat_value v = {'u', 0, u, 0, 0};
  return v;
}

PC_COMPAT_FN pc_compat_value pc_compat_of_f64(double re) {
  pc_compat_value v = {'f', 0, 0, re, 0};
  return v;
}

PC_COMPAT_FN pc_compat_value pc_compat_of_complex(double re, double im) {
  pc_compat_value v = {'c', 0, 0, re, im};
  return v;
}

PC_COMPAT_FN double pc_compat_as_f64(pc_compat_value v) {
  return v.kind == 'u' ? (double)v.u : v.kind == 'f' || v.kind == 'c' ? v.re : (double)v.i;
}

PC_COMPAT_FN int64_t pc_compat_as_i64(pc_compat_value v) {
  if (v.kind == 'u') return v.u > (uint64_t)INT64_MAX ? (int64_t)(v.u - (uint64_t)INT64_MAX - 1) + INT64_MIN : (int64_t)v.u;
  if (v.kind != 'f' && v.kind != 'c') return v.i;
  if (v.re != v.re) return 0;
  return v.re >= 9223372036854775808.0 ? INT64_MAX : v.re <= -9223372036854775808.0 ? INT64_MIN : (int64_t)v.re;
}

PC_COMPAT_FN uint64_t pc_compat_as_u64(pc_compat_value v) {
  if (v.kind == 'u') return v.u;
  if (v.kind != 'f' && v.kind != 'c') return (uint64_t)v.i;
  if (!(v.re > 0)) return 0;
  return v.re >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)v.re;
}

PC_COMPAT_FN int pc_compat_is_true(pc_compat_value v) {
  return v.kind == 'u' ? v.u != 0 : v.kind == 'f' || v.kind == 'c' ? v.re != 0 || v.im != 0 : v.i != 0;
}

/* An integer of `bits` bits: integers wrap around, floats saturate. */
PC_COMPAT_SLOW int64_t pc_compat_as_signed(pc_compat_value v, int bits) {
  int64_t i = pc_compat_as_i64(v), most = (int64_t)1 << (bits - 1);
  if (v.kind == 'f' || v.kind == 'c') return i >= most ? most - 1 : i < -most ? -most : i;
  return i;
}

PC_COMPAT_SLOW uint64_t pc_compat_as_unsigned(pc_compat_value v, int bits) {
  uint64_t u = pc_compat_as_u64(v), most = ((uint64_t)1 << bits) - 1;
  if (v.kind == 'f' || v.kind == 'c') return u > most ? most : u;
  return u & most;
}

/* ---- elements ---- */

#define PC_COMPAT_READ(T) \
  T x;                    \
  memcpy(&x, from, sizeof x)

/* Reads an element, aligned or not. */
PC_COMPAT_SLOW pc_compat_value pc_compat_get(int dtype, const char *from) {
  switch (dtype) {
    case PC_BOOL: { pc_compat_value v = pc_compat_of_i64(*from != 0); v.kind = 'b'; return v; }
    case PC_I8: { PC_COMPAT_READ(int8_t); return pc_compat_of_i64(x); }
    case PC_I16: { PC_COMPAT_READ(int16_t); return pc_compat_of_i64(x); }
    case PC_I32: { PC_COMPAT_READ(int32_t); return pc_compat_of_i64(x); }
    case PC_I64: { PC_COMPAT_READ(int64_t); return pc_compat_of_i64(x); }
    case PC_U8: { PC_COMPAT_READ(uint8_t); return pc_compat_of_u64(x); }
    case PC_U16: { PC_COMPAT_READ(uint16_t); return pc_compat_of_u64(x); }
    case PC_U32: { PC_COMPAT_READ(uint32_t); return pc_compat_of_u64(x); }
    case PC_U64: { PC_COMPAT_READ(uint64_t); return pc_compat_of_u64(x); }
    case PC_F16: { PC_COMPAT_READ(uint16_t); return pc_compat_of_f64((double)pc_compat_half_to_float(x)); }
    case PC_BF16: { PC_COMPAT_READ(uint16_t); return pc_compat_of_f64((double)pc_compat_bf16_to_float(x)); }
    case PC_F32: { PC_COMPAT_READ(float); return pc_compat_of_f64((double)x); }
    case PC_F64: { PC_COMPAT_READ(double); return pc_compat_of_f64(x); }
    case PC_C64: { float x[2]; memcpy(x, from, sizeof x); return pc_compat_of_complex((double)x[0], (double)x[1]); }
    case PC_C128: { double x[2]; memcpy(x, from, sizeof x); return pc_compat_of_complex(x[0], x[1]); }
    default: return pc_compat_of_i64(0);
  }
}

#define PC_COMPAT_WRITE(T, value) \
  T x = (T)(value);               \
  memcpy(to, &x, sizeof x);       \
  break

/* Writes an element, aligned or not. */
PC_COMPAT_SLOW void pc_compat_set(int dtype, char *to, pc_compat_value v) {
  switch (dtype) {
    case PC_BOOL: *to = (char)pc_compat_is_true(v); break;
    case PC_I8: { PC_COMPAT_WRITE(int8_t, pc_compat_as_signed(v, 8)); }
    case PC_I16: { PC_COMPAT_WRITE(int16_t, pc_compat_as_signed(v, 16)); }
    case PC_I32: { PC_COMPAT_WRITE(int32_t, pc_compat_as_signed(v, 32)); }
    case PC_I64: { PC_COMPAT_WRITE(int64_t, pc_compat_as_i64(v)); }
    case PC_U8: { PC_COMPAT_WRITE(uint8_t, pc_compat_as_unsigned(v, 8)); }
    case PC_U16: { PC_COMPAT_WRITE(uint16_t, pc_compat_as_unsigned(v, 16)); }
    case PC_U32: { PC_COMPAT_WRITE(uint32_t, pc_compat_as_unsigned(v, 32)); }
    case PC_U64: { PC_COMPAT_WRITE(uint64_t, pc_compat_as_u64(v)); }
    case PC_F16: { PC_COMPAT_WRITE(uint16_t, pc_compat_half_from_double(pc_compat_as_f64(v))); }
    case PC_BF16: { PC_COMPAT_WRITE(uint16_t, pc_compat_bf16_from_float((float)pc_compat_as_f64(v))); }
    case PC_F32: { PC_COMPAT_WRITE(float, v.kind == 'i' || v.kind == 'b' ? (float)v.i : v.kind == 'u' ? (float)v.u : (float)v.re); }
    case PC_F64: { PC_COMPAT_WRITE(double, pc_compat_as_f64(v)); }
    case PC_C64: {
      float x[2] = {v.kind == 'c' || v.kind == 'f' ? (float)v.re : (float)pc_compat_as_f64(v), (float)v.im};
      memcpy(to, x, sizeof x);
      break;
    }
    case PC_C128: { double x[2] = {pc_compat_as_f64(v), v.im}; memcpy(to, x, sizeof x); break; }
    default: break;
  }
}

/* A new array without dimensions that holds a value; NULL with the error slot set when refused. */
PC_COMPAT_SLOW PyObject *pc_compat_number(int dtype, pc_compat_value v) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx == NULL) return NULL;
  pc_tensor *t = ctx->host->tensor_new(ctx, dtype, 0, &pc_compat_no_extent);
  if (t == NULL) return NULL;
  pc_compat_set(dtype, t->data, v);
  return &t->object;
}

/* Whether an object is a number: an array of one element without dimensions, of a kind that `letters` has. */
PC_COMPAT_SLOW int pc_compat_is_number(const PyObject *o, const char *letters) {
  const pc_tensor *t = (const pc_tensor *)o;
  if (o == NULL || t->dtype < 0 || t->ndim != 0) return 0;
  char kind = pc_compat_kind_letter(t->dtype);
  for (; *letters != '\0'; letters++) {
    if (*letters == kind) return 1;
  }
  return 0;
}

PC_COMPAT_FN pc_compat_value pc_compat_value_of(const PyObject *o) {
  return pc_compat_get(((const pc_tensor *)o)->dtype, ((const pc_tensor *)o)->data);
}

#undef PC_COMPAT_READ
#undef PC_COMPAT_WRITE

#ifdef __cplusplus
}
#endif
#endif
