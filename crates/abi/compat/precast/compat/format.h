/* precast/compat/format.h: the text of objects, and CPython's formats: printf's, with %S %R %A %U %V %T for objects.
 *
 * The host formats numbers; everything else is put together here, into a buffer of fixed length, so that an error can be
 * reported when memory is refused.
 */
#ifndef PRECAST_COMPAT_FORMAT_H
#define PRECAST_COMPAT_FORMAT_H

#include <precast/compat/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A destination of text: characters that do not fit are counted and dropped. */
typedef struct pc_compat_sink {
  pc_context *ctx; /* never NULL */
  char *text;
  size_t bytes; /* of `text`; at least 1 */
  size_t used;  /* that the whole text takes, the final NUL not included */
} pc_compat_sink;

typedef struct pc_compat_args {
  va_list list;
} pc_compat_args;

/* Objects of kinds that later headers define write themselves through this, see text.h and sequence.h. */
typedef struct pc_compat_chars {
  pc_compat_head head;
  Py_ssize_t length; /* bytes, the final NUL not included */
  char text[1];
} pc_compat_chars;

typedef struct pc_compat_items {
  pc_compat_head head;
  Py_ssize_t length, room; /* items in use, items there is memory for */
  PyObject **items;        /* NULL entries are allowed until they are set */
} pc_compat_items;

PC_COMPAT_SLOW void pc_compat_put(pc_compat_sink *to, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++, to->used++) {
    if (to->used + 1 < to->bytes) to->text[to->used] = text[i];
  }
  to->text[to->used + 1 < to->bytes ? to->used : to->bytes - 1] = '\0';
}

PC_COMPAT_FN void pc_compat_puts_to(pc_compat_sink *to, const char *text) { pc_compat_put(to, text, strlen(text)); }

/* Formats by the host's printf, and writes the text. */
PC_COMPAT_SLOW void pc_compat_put_format(pc_compat_sink *to, const char *format, ...) {
  char text[400]; /* a double in %f takes up to 317 */
  va_list args;
  va_start(args, format);
  int n = to->ctx->host->format(text, sizeof text, format, args);
  va_end(args);
  if (n > 0) pc_compat_put(to, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* A float as Python writes it, but for the number of digits: there are always enough, sometimes too many. */
PC_COMPAT_SLOW void pc_compat_put_float(pc_compat_sink *to, double x) {
  if (x != x) {
    pc_compat_puts_to(to, "nan");
  } else if (x - x != 0) {
    pc_compat_puts_to(to, x < 0 ? "-inf" : "inf");
  } else if (x == (double)(int64_t)(x < 1e15 && x > -1e15 ? x : 0.5)) {
    pc_compat_put_format(to, "%.1f", x);
  } else {
    pc_compat_put_format(to, "%.17g", x);
  }
}

PC_COMPAT_SLOW void pc_compat_put_value(pc_compat_sink *to, pc_compat_value v) {
  switch (v.kind) {
    case 'b': pc_compat_puts_to(to, v.i ? "True" : "False"); break;
    case 'i': pc_compat_put_format(to, "%lld", (long long)v.i); break;
    case 'u': pc_compat_put_format(to, "%llu", (unsigned long long)v.u); break;
    case 'f': pc_compat_put_float(to, v.re); break;
    default:
      pc_compat_puts_to(to, "(");
      pc_compat_put_float(to, v.re);
      pc_compat_puts_to(to, v.im < 0 ? "" : "+");
      pc_compat_put_float(to, v.im);
      pc_compat_puts_to(to, "j)");
  }
}

/* NumPy's name of a dtype; NULL for a type number that no array here has. */
PC_COMPAT_SLOW const char *pc_compat_dtype_name(int dtype) {
  switch (dtype) {
    case PC_BOOL: return "bool";
    case PC_I8: return "int8";
    case PC_U8: return "uint8";
    case PC_I16: return "int16";
    case PC_U16: return "uint16";
    case PC_I32: return "int32";
    case PC_U32: return "uint32";
    case PC_I64: return "int64";
    case PC_U64: return "uint64";
    case PC_F16: return "float16";
    case PC_BF16: return "bfloat16";
    case PC_F32: return "float32";
    case PC_F64: return "float64";
    case PC_C64: return "complex64";
    case PC_C128: return "complex128";
    default: return NULL;
  }
}

PC_COMPAT_SLOW void pc_compat_put_array(pc_compat_sink *to, const pc_tensor *t) {
  if (t->ndim == 0 && t->data != NULL && pc_compat_itemsize(t->dtype) != 0) {
    pc_compat_put_value(to, pc_compat_get(t->dtype, t->data));
    return;
  }
  const char *name = pc_compat_dtype_name(t->dtype);
  pc_compat_put_format(to, "<array of %s, shape (", name != NULL ? name : "an unknown dtype");
  for (int32_t d = 0; d < t->ndim; d++) {
    pc_compat_put_format(to, t->ndim == 1 ? "%lld," : d == 0 ? "%lld" : ", %lld", (long long)t->shape[d]);
  }
  pc_compat_puts_to(to, ")>");
}

PC_COMPAT_SLOW void pc_compat_put_object(pc_compat_sink *to, const PyObject *o, int repr, int depth) {
  if (o == NULL) {
    pc_compat_puts_to(to, "<NULL>");
    return;
  }
  switch (pc_compat_kind(o)) {
    case PC_COMPAT_ARRAY: pc_compat_put_array(to, (const pc_tensor *)o); break;
    case PC_COMPAT_NONE: pc_compat_puts_to(to, "None"); break;
    case PC_COMPAT_TYPE:
    case PC_COMPAT_EXCEPTION: pc_compat_put_format(to, "<class '%s'>", ((const PyTypeObject *)o)->tp_name); break;
    case PC_COMPAT_BYTES:
    case PC_COMPAT_STR: {
      const pc_compat_chars *s = (const pc_compat_chars *)o;
      int bytes = pc_compat_kind(o) == PC_COMPAT_BYTES;
      if (repr || bytes) pc_compat_puts_to(to, bytes ? "b'" : "'");
      pc_compat_put(to, s->text, (size_t)s->length);
      if (repr || bytes) pc_compat_puts_to(to, "'");
      break;
    }
    case PC_COMPAT_TUPLE:
    case PC_COMPAT_LIST: {
      const pc_compat_items *items = (const pc_compat_items *)o;
      int list = pc_compat_kind(o) == PC_COMPAT_LIST;
      pc_compat_puts_to(to, list ? "[" : "(");
      for (Py_ssize_t i = 0; i < items->length; i++) {
        if (i > 0) pc_compat_puts_to(to, ", ");
        if (depth == 0) {
          pc_compat_puts_to(to, "...");
        } else {
          pc_compat_put_object(to, items->items[i], 1, depth - 1);
        }
      }
      pc_compat_puts_to(to, list ? "]" : items->length == 1 ? ",)" : ")");
      break;
    }
    default: pc_compat_put_format(to, "<%s object>", pc_compat_type_of(o)->tp_name);
  }
}

/* The parts of one % of a format. */
typedef struct pc_compat_spec {
  char flags[8];
  int n_flags, width, precision; /* -1: not given */
  char size;                     /* 0, 'h', 'l', 'q' (ll), 'z', 'j' or 't' */
  char conversion;
} pc_compat_spec;

/* Reads the specification after a %; returns the text behind it. */
PC_COMPAT_SLOW const char *pc_compat_spec_read(pc_compat_spec *spec, const char *at, pc_compat_args *args) {
  spec->n_flags = 0, spec->width = -1, spec->precision = -1, spec->size = 0;
  for (; *at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0'; at++) {
    if (spec->n_flags < 6) spec->flags[spec->n_flags++] = *at;
  }
  spec->flags[spec->n_flags] = '\0';
  for (int part = 0; part < 2; part++) {
    int *number = part == 0 ? &spec->width : &spec->precision;
    if (part == 1) {
      if (*at != '.') break;
      at++;
      *number = 0;
    }
    if (*at == '*') {
      *number = va_arg(args->list, int);
      at++;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
      *number = (*number < 0 ? 0 : *number > 10000 ? 10000 : *number) * 10 + (*at - '0');
    }
  }
  for (; *at == 'l' || *at == 'h' || *at == 'z' || *at == 'j' || *at == 't'; at++) {
    spec->size = spec->size == 'l' && *at == 'l' ? 'q' : *at;
  }
  spec->conversion = *at;
  return *at == '\0' ? at : at + 1;
}

PC_COMPAT_SLOW void pc_compat_put_number(pc_compat_sink *to, const pc_compat_spec *spec, pc_compat_args *args) {
  char format[32], c = spec->conversion;
  size_t n = 0;
  int real = c == 'f' || c == 'g' || c == 'e' || c == 'F' || c == 'G' || c == 'E';
  format[n++] = '%';
  for (int i = 0; i < spec->n_flags; i++) format[n++] = spec->flags[i];
  format[n++] = '*';
  if (spec->precision >= 0) format[n++] = '.', format[n++] = '*';
  if (!real) format[n++] = 'l', format[n++] = 'l';
  format[n++] = c;
  format[n] = '\0';
  int width = spec->width < 0 ? 0 : spec->width > 300 ? 300 : spec->width;
  int precision = spec->precision > 300 ? 300 : spec->precision;
  if (real) {
    double x = va_arg(args->list, double);
    if (precision >= 0) pc_compat_put_format(to, format, width, precision, x);
    else pc_compat_put_format(to, format, width, x);
    return;
  }
  long long x;
  switch (spec->size) {
    case 'l': x = va_arg(args->list, long); break;
    case 'q': case 'j': x = va_arg(args->list, long long); break;
    case 'z': case 't': x = (long long)va_arg(args->list, Py_ssize_t); break;
    default: {
      int i = va_arg(args->list, int);
      x = c == 'd' || c == 'i' ? i : (long long)(unsigned)i;
    }
  }
  if (precision >= 0) pc_compat_put_format(to, format, width, precision, x);
  else pc_compat_put_format(to, format, width, x);
}

/* One text argument with its width and precision. */
PC_COMPAT_SLOW void pc_compat_put_padded(pc_compat_sink *to, const pc_compat_spec *spec, const char *text, size_t bytes) {
  if (spec->precision >= 0 && bytes > (size_t)spec->precision) bytes = (size_t)spec->precision;
  size_t pad = spec->width > 0 && (size_t)spec->width > bytes ? (size_t)spec->width - bytes : 0;
  int left = spec->n_flags > 0 && spec->flags[0] == '-';
  if (left) pc_compat_put(to, text, bytes);
  for (; pad > 0; pad--) pc_compat_put(to, " ", 1);
  if (!left) pc_compat_put(to, text, bytes);
}

PC_COMPAT_SLOW void pc_compat_put_argument(pc_compat_sink *to, const pc_compat_spec *spec, pc_compat_args *args) {
  char text[PC_ERROR_BYTES];
  pc_compat_sink inner = {to->ctx, text, sizeof text, 0};
  text[0] = '\0';
  switch (spec->conversion) {
    case 'S': pc_compat_put_object(&inner, va_arg(args->list, PyObject *), 0, 3); break;
    case 'R': case 'A': pc_compat_put_object(&inner, va_arg(args->list, PyObject *), 1, 3); break;
    case 'U': pc_compat_put_object(&inner, va_arg(args->list, PyObject *), 0, 3); break;
    case 'T': pc_compat_puts_to(&inner, Py_TYPE(va_arg(args->list, PyObject *))->tp_name); break;
    case 'V': {
      PyObject *o = va_arg(args->list, PyObject *);
      const char *other = va_arg(args->list, const char *);
      if (o != NULL) pc_compat_put_object(&inner, o, 0, 3);
      else pc_compat_puts_to(&inner, other != NULL ? other : "(null)");
      break;
    }
    default: {
      const char *s = va_arg(args->list, const char *);
      size_t n = 0;
      if (s == NULL) s = "(null)";
      /* With a precision the text need not end with a NUL. The empty statement is explained in libc.h. */
      for (; (spec->precision < 0 || n < (size_t)spec->precision) && s[n] != '\0'; n++) __asm__("" : "+r"(n));
      pc_compat_put_padded(to, spec, s, n);
      return;
    }
  }
  pc_compat_put_padded(to, spec, text, inner.used < sizeof text ? inner.used : sizeof text - 1);
}

/* Formats as PyErr_Format does; gives the length of the whole text. `to->text` always ends with a NUL. */
PC_COMPAT_SLOW size_t pc_compat_format(pc_compat_sink *to, const char *format, va_list list) {
  pc_compat_args args;
  va_copy(args.list, list);
  to->text[0] = '\0';
  while (*format != '\0') {
    size_t plain = 0;
    for (; format[plain] != '\0' && format[plain] != '%'; plain++) {}
    pc_compat_put(to, format, plain);
    format += plain;
    if (*format == '\0') break;
    pc_compat_spec spec;
    format = pc_compat_spec_read(&spec, format + 1, &args);
    switch (spec.conversion) {
      case '\0': break;
      case '%': pc_compat_put(to, "%", 1); break;
      case 'c': { char c = (char)va_arg(args.list, int); pc_compat_put(to, &c, 1); break; }
      case 'p': pc_compat_put_format(to, "%p", va_arg(args.list, void *)); break;
      case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
      case 'f': case 'F': case 'g': case 'G': case 'e': case 'E': pc_compat_put_number(to, &spec, &args); break;
      case 's': case 'S': case 'R': case 'A': case 'U': case 'V': case 'T':
        pc_compat_put_argument(to, &spec, &args);
        break;
      default: /* the types of later arguments are unknown: CPython too gives up here */
        pc_compat_put_format(to, "%%%c", spec.conversion);
        pc_compat_puts_to(to, format);
        va_end(args.list);
        return to->used;
    }
  }
  va_end(args.list);
  return to->used;
}

#ifdef __cplusplus
}
#endif
#endif
