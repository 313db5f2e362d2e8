/* precast/compat/dtype.h: PyArray_Descr, one for each dtype of an array, made once in each module; rules of casts. */
#ifndef PRECAST_COMPAT_DTYPE_H
#define PRECAST_COMPAT_DTYPE_H

#include <precast/compat/npy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PyArray_Descr {
  pc_compat_head head;
  PyTypeObject *typeobj; /* &PyArray_Type */
  char kind;             /* 'b', 'i', 'u', 'f', 'c' */
  char type;             /* NumPy's letter of the C type */
  char byteorder;        /* '=', or '|' for single bytes */
  char flags;            /* 0 */
  int type_num;
  int elsize; /* bytes */
  int alignment;
} PyArray_Descr;

#define PC_COMPAT_DTYPE(number, kind, letter, order, bytes, alignment) \
  {PC_COMPAT_HEAD(PC_COMPAT_DESCR), &PyArray_Type, kind, letter, order, 0, number, bytes, alignment}

PC_COMPAT_DATA PyArray_Descr pc_compat_dtypes[] = {
    PC_COMPAT_DTYPE(NPY_BOOL, 'b', '?', '|', 1, 1),      PC_COMPAT_DTYPE(NPY_BYTE, 'i', 'b', '|', 1, 1),
    PC_COMPAT_DTYPE(NPY_UBYTE, 'u', 'B', '|', 1, 1),     PC_COMPAT_DTYPE(NPY_SHORT, 'i', 'h', '=', 2, 2),
    PC_COMPAT_DTYPE(NPY_USHORT, 'u', 'H', '=', 2, 2),    PC_COMPAT_DTYPE(NPY_INT, 'i', 'i', '=', 4, 4),
    PC_COMPAT_DTYPE(NPY_UINT, 'u', 'I', '=', 4, 4),      PC_COMPAT_DTYPE(NPY_LONG, 'i', 'l', '=', 8, 8),
    PC_COMPAT_DTYPE(NPY_ULONG, 'u', 'L', '=', 8, 8),     PC_COMPAT_DTYPE(NPY_FLOAT, 'f', 'f', '=', 4, 4),
    PC_COMPAT_DTYPE(NPY_DOUBLE, 'f', 'd', '=', 8, 8),    PC_COMPAT_DTYPE(NPY_CFLOAT, 'c', 'F', '=', 8, 4),
    PC_COMPAT_DTYPE(NPY_CDOUBLE, 'c', 'D', '=', 16, 8),  PC_COMPAT_DTYPE(NPY_HALF, 'f', 'e', '=', 2, 2),
    PC_COMPAT_DTYPE(PC_BF16, 'f', 'E', '=', 2, 2),
};

/* The descriptor of a dtype; NULL for a type number that no array here has. */
PC_COMPAT_SLOW PyArray_Descr *pc_compat_descr(int typenum) {
  typenum = pc_compat_typenum(typenum);
  for (size_t i = 0; i < sizeof pc_compat_dtypes / sizeof pc_compat_dtypes[0]; i++) {
    if (pc_compat_dtypes[i].type_num == typenum) return &pc_compat_dtypes[i];
  }
  return NULL;
}

/* A reference to the descriptor; NULL with an error set for a type number that no array here has. */
PC_COMPAT_SLOW PyArray_Descr *PyArray_DescrFromType(int typenum) {
  PyArray_Descr *descr = pc_compat_descr(typenum);
  if (descr == NULL) PyErr_Format(PyExc_ValueError, "no array here has type number %d", typenum);
  return descr;
}

PC_COMPAT_FN PyArray_Descr *PyArray_DescrNew(PyArray_Descr *descr) { return descr; }
PC_COMPAT_FN PyArray_Descr *PyArray_DescrNewFromType(int typenum) { return PyArray_DescrFromType(typenum); }

#define PyArray_DescrCheck(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_DESCR)
#define PyDataType_ELSIZE(descr) ((npy_intp)(descr)->elsize)
#define PyDataType_ALIGNMENT(descr) ((npy_intp)(descr)->alignment)
#define PyDataType_FLAGS(descr) ((npy_intp)(descr)->flags)
#define PyDataType_TYPENUM(descr) ((descr)->type_num)
#define PyDataType_HASFIELDS(descr) ((void)(descr), 0)
#define PyDataType_HASSUBARRAY(descr) ((void)(descr), 0)
#define PyDataType_REFCHK(descr) ((void)(descr), 0)
#define PyDataType_FLAGCHK(descr, flag) (((descr)->flags & (flag)) == (flag))
#define PyDataType_ISNOTSWAPPED(descr) ((void)(descr), 1)
#define PyDataType_ISBYTESWAPPED(descr) ((void)(descr), 0)
#define PyDataType_ISBOOL(descr) PyTypeNum_ISBOOL((descr)->type_num)
#define PyDataType_ISINTEGER(descr) PyTypeNum_ISINTEGER((descr)->type_num)
#define PyDataType_ISUNSIGNED(descr) PyTypeNum_ISUNSIGNED((descr)->type_num)
#define PyDataType_ISSIGNED(descr) PyTypeNum_ISSIGNED((descr)->type_num)
#define PyDataType_ISFLOAT(descr) PyTypeNum_ISFLOAT((descr)->type_num)
#define PyDataType_ISNUMBER(descr) PyTypeNum_ISNUMBER((descr)->type_num)
#define PyDataType_ISCOMPLEX(descr) PyTypeNum_ISCOMPLEX((descr)->type_num)
#define PyDataType_ISOBJECT(descr) ((void)(descr), 0)

#define PyTypeNum_ISBOOL(n) ((n) == NPY_BOOL)
#define PyTypeNum_ISINTEGER(n) ((n) >= NPY_BYTE && (n) <= NPY_ULONGLONG)
#define PyTypeNum_ISUNSIGNED(n) \
  ((n) == NPY_UBYTE || (n) == NPY_USHORT || (n) == NPY_UINT || (n) == NPY_ULONG || (n) == NPY_ULONGLONG)
#define PyTypeNum_ISSIGNED(n) (PyTypeNum_ISINTEGER(n) && !PyTypeNum_ISUNSIGNED(n))
#define PyTypeNum_ISFLOAT(n) (((n) >= NPY_FLOAT && (n) <= NPY_LONGDOUBLE) || (n) == NPY_HALF)
#define PyTypeNum_ISNUMBER(n) ((n) <= NPY_CLONGDOUBLE || (n) == NPY_HALF)
#define PyTypeNum_ISCOMPLEX(n) ((n) >= NPY_CFLOAT && (n) <= NPY_CLONGDOUBLE)
#define PyTypeNum_ISOBJECT(n) ((n) == NPY_OBJECT)
#define PyTypeNum_ISSTRING(n) ((n) == NPY_STRING || (n) == NPY_UNICODE)
#define PyTypeNum_ISFLEXIBLE(n) ((n) >= NPY_STRING && (n) <= NPY_VOID)
#define PyTypeNum_ISUSERDEF(n) ((n) >= NPY_USERDEF)

PC_COMPAT_FN unsigned char PyArray_EquivTypenums(int a, int b) { return pc_compat_typenum(a) == pc_compat_typenum(b); }
PC_COMPAT_FN unsigned char PyArray_EquivTypes(PyArray_Descr *a, PyArray_Descr *b) { return a->type_num == b->type_num; }
PC_COMPAT_FN int PyArray_ValidType(int typenum) { return pc_compat_descr(typenum) != NULL; }

/* ---- promotion ---- */

/* Bytes of the float that holds every value of a dtype closely enough, by NumPy's rules; of half of a complex number. */
PC_COMPAT_FN int pc_compat_float_bytes(int dtype) {
  int bytes = pc_compat_itemsize(dtype);
  switch (pc_compat_kind_letter(dtype)) {
    case 'b': return 0;
    case 'c': return bytes / 2;
    case 'f': return dtype == PC_BF16 ? 4 : bytes;
    default: return bytes == 1 ? 2 : bytes == 2 ? 4 : 8;
  }
}

/* The dtype that two promote to, by NumPy's rules. */
PC_COMPAT_SLOW int pc_compat_promote(int a, int b) {
  if (a == b) return a;
  char x = pc_compat_kind_letter(a), y = pc_compat_kind_letter(b);
  if (x == 'b') return b;
  if (y == 'b') return a;
  if (x == 'c' || y == 'c' || x == 'f' || y == 'f') {
    int m = pc_compat_float_bytes(a), n = pc_compat_float_bytes(b), bytes = m > n ? m : n;
    if (x == 'c' || y == 'c') return bytes <= 4 ? PC_C64 : PC_C128;
    return bytes <= 2 ? PC_F16 : bytes == 4 ? PC_F32 : PC_F64;
  }
  int m = pc_compat_itemsize(a), n = pc_compat_itemsize(b);
  if (x == y) return m > n ? a : b;
  int wanted_signed = x == 'i' ? m : n, doubled = 2 * (x == 'u' ? m : n);
  int bytes = wanted_signed > doubled ? wanted_signed : doubled;
  return bytes == 2 ? PC_I16 : bytes == 4 ? PC_I32 : bytes == 8 ? PC_I64 : PC_F64;
}

/* Whether every value of one dtype is one of the other, as NumPy sees it. */
PC_COMPAT_SLOW int PyArray_CanCastSafely(int from, int to) {
  from = pc_compat_typenum(from), to = pc_compat_typenum(to);
  if (from == to) return 1;
  if (from == PC_BF16) return to == PC_F32 || to == PC_F64 || to == PC_C64 || to == PC_C128;
  return to != PC_BF16 && pc_compat_promote(from, to) == to;
}

PC_COMPAT_FN unsigned char PyArray_CanCastTo(PyArray_Descr *from, PyArray_Descr *to) {
  return (unsigned char)PyArray_CanCastSafely(from->type_num, to->type_num);
}

PC_COMPAT_SLOW unsigned char PyArray_CanCastTypeTo(PyArray_Descr *from, PyArray_Descr *to, NPY_CASTING casting) {
  static const char order[] = "biufc";
  int rank_from = 0, rank_to = 0;
  switch (casting) {
    case NPY_NO_CASTING:
    case NPY_EQUIV_CASTING: return from->type_num == to->type_num;
    case NPY_SAFE_CASTING: return PyArray_CanCastTo(from, to);
    case NPY_SAME_KIND_CASTING:
      for (int i = 0; i < 5; i++) {
        if (order[i] == (from->kind == 'i' && to->kind == 'i' ? 'i' : from->kind)) rank_from = i;
        if (order[i] == to->kind) rank_to = i;
      }
      /* A signed integer is not of an unsigned kind, an unsigned one is of a signed kind. */
      if (from->kind == 'u' && to->kind == 'i') return 1;
      if (from->kind == 'i' && to->kind == 'u') return 0;
      return rank_from <= rank_to;
    default: return 1;
  }
}

PC_COMPAT_FN PyArray_Descr *PyArray_PromoteTypes(PyArray_Descr *a, PyArray_Descr *b) {
  return pc_compat_descr(pc_compat_promote(a->type_num, b->type_num));
}

#ifdef __cplusplus
}
#endif
#endif
