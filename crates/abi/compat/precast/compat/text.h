/* precast/compat/text.h: PyUnicode and PyBytes.
 *
 * Both are bytes with a length and a final NUL; a string is UTF-8 by the word of its maker, and its length in
 * characters is counted.
 */
#ifndef PRECAST_COMPAT_TEXT_H
#define PRECAST_COMPAT_TEXT_H

#include <precast/compat/error.h>

#ifdef __cplusplus
extern "C" {
#endif

PC_COMPAT_DATA const pc_type pc_compat_str_type = {"str", pc_compat_delete};
PC_COMPAT_DATA const pc_type pc_compat_bytes_type = {"bytes", pc_compat_delete};

#define PyUnicode_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_STR)
#define PyUnicode_CheckExact(o) PyUnicode_Check(o)
#define PyBytes_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_BYTES)
#define PyBytes_CheckExact(o) PyBytes_Check(o)

/* `text` may be NULL: the bytes are then zero, to be filled in by the caller. */
PC_COMPAT_SLOW PyObject *pc_compat_chars_new(int32_t kind, const char *text, Py_ssize_t length) {
  if (length < 0) {
    PyErr_SetString(PyExc_SystemError, "negative length of a string");
    return NULL;
  }
  const pc_type *type = kind == PC_COMPAT_STR ? &pc_compat_str_type : &pc_compat_bytes_type;
  pc_compat_chars *s = (pc_compat_chars *)pc_compat_new(kind, type, sizeof(pc_compat_chars) + (size_t)length);
  if (s == NULL) return NULL;
  s->length = length;
  if (text != NULL) memcpy(s->text, text, (size_t)length);
  return (PyObject *)s;
}

/* The bytes of an object of one kind; NULL with an error set for any other. */
PC_COMPAT_SLOW pc_compat_chars *pc_compat_chars_of(PyObject *o, int32_t kind, const char *name) {
  if (o != NULL && pc_compat_kind(o) == kind) return (pc_compat_chars *)o;
  PyErr_Format(PyExc_TypeError, "expected %s, found %s", name, o == NULL ? "NULL" : Py_TYPE(o)->tp_name);
  return NULL;
}

/* ---- strings ---- */

PC_COMPAT_FN PyObject *PyUnicode_FromStringAndSize(const char *text, Py_ssize_t length) {
  return pc_compat_chars_new(PC_COMPAT_STR, text, length);
}

PC_COMPAT_FN PyObject *PyUnicode_FromString(const char *text) {
  return PyUnicode_FromStringAndSize(text, (Py_ssize_t)strlen(text));
}

PC_COMPAT_SLOW PyObject *PyUnicode_FromFormatV(const char *format, va_list args) {
  pc_context *ctx = pc_compat_current.ctx;
  if (ctx == NULL) return NULL;
  char short_text[256];
  pc_compat_sink to = {ctx, short_text, sizeof short_text, 0};
  va_list again;
  va_copy(again, args);
  size_t length = pc_compat_format(&to, format, args);
  PyObject *o = PyUnicode_FromStringAndSize(length < sizeof short_text ? short_text : NULL, (Py_ssize_t)length);
  if (o != NULL && length >= sizeof short_text) {
    pc_compat_sink whole = {ctx, ((pc_compat_chars *)o)->text, length + 1, 0};
    pc_compat_format(&whole, format, again);
  }
  va_end(again);
  return o;
}

PC_COMPAT_SLOW PyObject *PyUnicode_FromFormat(const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyObject *o = PyUnicode_FromFormatV(format, args);
  va_end(args);
  return o;
}

PC_COMPAT_SLOW const char *PyUnicode_AsUTF8AndSize(PyObject *o, Py_ssize_t *length) {
  pc_compat_chars *s = pc_compat_chars_of(o, PC_COMPAT_STR, "str");
  if (s == NULL) return NULL;
  if (length != NULL) *length = s->length;
  return s->text;
}

PC_COMPAT_FN const char *PyUnicode_AsUTF8(PyObject *o) { return PyUnicode_AsUTF8AndSize(o, NULL); }

/* Returns the number of characters; -1 with an error set if `o` is not a string. */
PC_COMPAT_SLOW Py_ssize_t PyUnicode_GetLength(PyObject *o) {
  pc_compat_chars *s = pc_compat_chars_of(o, PC_COMPAT_STR, "str");
  if (s == NULL) return -1;
  Py_ssize_t characters = 0;
  for (Py_ssize_t i = 0; i < s->length; i++) characters += ((unsigned char)s->text[i] & 0xc0) != 0x80;
  return characters;
}

/* Byte order, which is that of code points. */
PC_COMPAT_SLOW int pc_compat_chars_compare(const char *a, Py_ssize_t n, const char *b, Py_ssize_t m) {
  int order = memcmp(a, b, (size_t)(n < m ? n : m));
  return order != 0 ? (order < 0 ? -1 : 1) : n < m ? -1 : n > m;
}

PC_COMPAT_SLOW int PyUnicode_Compare(PyObject *a, PyObject *b) {
  pc_compat_chars *s = pc_compat_chars_of(a, PC_COMPAT_STR, "str"), *t = pc_compat_chars_of(b, PC_COMPAT_STR, "str");
  return s == NULL || t == NULL ? -1 : pc_compat_chars_compare(s->text, s->length, t->text, t->length);
}

PC_COMPAT_SLOW int PyUnicode_CompareWithASCIIString(PyObject *a, const char *text) {
  pc_compat_chars *s = (pc_compat_chars *)a;
  return pc_compat_chars_compare(s->text, s->length, text, (Py_ssize_t)strlen(text));
}

PC_COMPAT_SLOW PyObject *PyUnicode_Concat(PyObject *a, PyObject *b) {
  pc_compat_chars *s = pc_compat_chars_of(a, PC_COMPAT_STR, "str"), *t = pc_compat_chars_of(b, PC_COMPAT_STR, "str");
  if (s == NULL || t == NULL) return NULL;
  PyObject *o = PyUnicode_FromStringAndSize(NULL, s->length + t->length);
  if (o != NULL) {
    memcpy(((pc_compat_chars *)o)->text, s->text, (size_t)s->length);
    memcpy(((pc_compat_chars *)o)->text + s->length, t->text, (size_t)t->length);
  }
  return o;
}

/* ---- bytes ---- */

PC_COMPAT_FN PyObject *PyBytes_FromStringAndSize(const char *text, Py_ssize_t length) {
  return pc_compat_chars_new(PC_COMPAT_BYTES, text, length);
}

PC_COMPAT_FN PyObject *PyBytes_FromString(const char *text) {
  return PyBytes_FromStringAndSize(text, (Py_ssize_t)strlen(text));
}

PC_COMPAT_SLOW char *PyBytes_AsString(PyObject *o) {
  pc_compat_chars *s = pc_compat_chars_of(o, PC_COMPAT_BYTES, "bytes");
  return s == NULL ? NULL : s->text;
}

PC_COMPAT_SLOW Py_ssize_t PyBytes_Size(PyObject *o) {
  pc_compat_chars *s = pc_compat_chars_of(o, PC_COMPAT_BYTES, "bytes");
  return s == NULL ? -1 : s->length;
}

PC_COMPAT_SLOW PyObject *PyUnicode_AsUTF8String(PyObject *o) {
  pc_compat_chars *s = pc_compat_chars_of(o, PC_COMPAT_STR, "str");
  return s == NULL ? NULL : PyBytes_FromStringAndSize(s->text, s->length);
}

#define PyBytes_AS_STRING(o) (((pc_compat_chars *)(o))->text)
#define PyBytes_GET_SIZE(o) (((pc_compat_chars *)(o))->length)
#define PyUnicode_GET_LENGTH(o) PyUnicode_GetLength((PyObject *)(o))

/* ---- the text of any object ---- */

PC_COMPAT_FN PyObject *PyObject_Str(PyObject *o) { return PyUnicode_FromFormat("%S", o); }
PC_COMPAT_FN PyObject *PyObject_Repr(PyObject *o) { return PyUnicode_FromFormat("%R", o); }
PC_COMPAT_FN PyObject *PyObject_ASCII(PyObject *o) { return PyUnicode_FromFormat("%A", o); }

/* ---- the error, taken out and put back ---- */

/* Takes the error out of the slot: its class, its message as a string, no traceback. NULLs if none is set. */
PC_COMPAT_SLOW void PyErr_Fetch(PyObject **exception, PyObject **value, PyObject **traceback) {
  PyObject *raised = PyErr_Occurred();
  *exception = raised;
  *value = *traceback = NULL;
  if (raised == NULL) return;
  pc_context *ctx = pc_compat_current.ctx;
  char message[PC_ERROR_BYTES];
  memcpy(message, ctx->error.message, sizeof message);
  PyErr_Clear();
  *value = PyUnicode_FromString(message);
  PyErr_Clear(); /* without memory for the message the class alone is kept */
}

/* Puts an error into the slot, or none if the class is NULL; takes over the references. */
PC_COMPAT_SLOW void PyErr_Restore(PyObject *exception, PyObject *value, PyObject *traceback) {
  if (exception == NULL) PyErr_Clear();
  else if (value == NULL) PyErr_SetNone(exception);
  else PyErr_SetObject(exception, value);
  Py_XDECREF(exception);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}

PC_COMPAT_FN void PyErr_NormalizeException(PyObject **exception, PyObject **value, PyObject **traceback) {
  (void)exception, (void)value, (void)traceback;
}

#define PyOS_snprintf snprintf
#define PyOS_vsnprintf vsnprintf

#ifdef __cplusplus
}
#endif
#endif
