/* precast/compat/error.h: exceptions, on the error slot of the current context.
 *
 * The slot has a kind and a message. A class that has no kind of its own is remembered beside the slot while the module's
 * code runs, so `PyErr_ExceptionMatches` is exact there; the host sees the kind of the nearest base class.
 */
#ifndef PRECAST_COMPAT_ERROR_H
#define PRECAST_COMPAT_ERROR_H

#include <precast/compat/format.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pc_compat_exception {
  PyTypeObject type;                     /* `typenum` is the pc_error_kind */
  const struct pc_compat_exception *base; /* NULL for BaseException */
} pc_compat_exception;

#define PC_COMPAT_EXCEPTION_OBJECT(name, error_kind, base) \
  PC_COMPAT_DATA pc_compat_exception pc_compat_##name = {  \
      {PC_COMPAT_HEAD(PC_COMPAT_EXCEPTION), #name, PC_COMPAT_EXCEPTION, error_kind}, base};

PC_COMPAT_EXCEPTION_OBJECT(BaseException, PC_ERROR_RUNTIME, NULL)
PC_COMPAT_EXCEPTION_OBJECT(Exception, PC_ERROR_RUNTIME, &pc_compat_BaseException)
PC_COMPAT_EXCEPTION_OBJECT(TypeError, PC_ERROR_TYPE, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(ValueError, PC_ERROR_VALUE, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(MemoryError, PC_ERROR_MEMORY, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(RuntimeError, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(AssertionError, PC_ERROR_ASSERT, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(LookupError, PC_ERROR_INDEX, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(IndexError, PC_ERROR_INDEX, &pc_compat_LookupError)
PC_COMPAT_EXCEPTION_OBJECT(KeyError, PC_ERROR_INDEX, &pc_compat_LookupError)
PC_COMPAT_EXCEPTION_OBJECT(ArithmeticError, PC_ERROR_VALUE, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(OverflowError, PC_ERROR_VALUE, &pc_compat_ArithmeticError)
PC_COMPAT_EXCEPTION_OBJECT(ZeroDivisionError, PC_ERROR_VALUE, &pc_compat_ArithmeticError)
PC_COMPAT_EXCEPTION_OBJECT(FloatingPointError, PC_ERROR_VALUE, &pc_compat_ArithmeticError)
PC_COMPAT_EXCEPTION_OBJECT(NotImplementedError, PC_ERROR_RUNTIME, &pc_compat_RuntimeError)
PC_COMPAT_EXCEPTION_OBJECT(AttributeError, PC_ERROR_TYPE, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(ImportError, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(OSError, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(StopIteration, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(SystemError, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(KeyboardInterrupt, PC_ERROR_RUNTIME, &pc_compat_BaseException)
PC_COMPAT_EXCEPTION_OBJECT(Warning, PC_ERROR_RUNTIME, &pc_compat_Exception)
PC_COMPAT_EXCEPTION_OBJECT(UserWarning, PC_ERROR_RUNTIME, &pc_compat_Warning)
PC_COMPAT_EXCEPTION_OBJECT(DeprecationWarning, PC_ERROR_RUNTIME, &pc_compat_Warning)
PC_COMPAT_EXCEPTION_OBJECT(RuntimeWarning, PC_ERROR_RUNTIME, &pc_compat_Warning)

#define PC_COMPAT_EXC(name) (&pc_compat_##name.type.head.tensor.object)
#define PyExc_BaseException PC_COMPAT_EXC(BaseException)
#define PyExc_Exception PC_COMPAT_EXC(Exception)
#define PyExc_TypeError PC_COMPAT_EXC(TypeError)
#define PyExc_ValueError PC_COMPAT_EXC(ValueError)
#define PyExc_MemoryError PC_COMPAT_EXC(MemoryError)
#define PyExc_RuntimeError PC_COMPAT_EXC(RuntimeError)
#define PyExc_AssertionError PC_COMPAT_EXC(AssertionError)
#define PyExc_LookupError PC_COMPAT_EXC(LookupError)
#define PyExc_IndexError PC_COMPAT_EXC(IndexError)
#define PyExc_KeyError PC_COMPAT_EXC(KeyError)
#define PyExc_ArithmeticError PC_COMPAT_EXC(ArithmeticError)
#define PyExc_OverflowError PC_COMPAT_EXC(OverflowError)
#define PyExc_ZeroDivisionError PC_COMPAT_EXC(ZeroDivisionError)
#define PyExc_FloatingPointError PC_COMPAT_EXC(FloatingPointError)
#define PyExc_NotImplementedError PC_COMPAT_EXC(NotImplementedError)
#define PyExc_AttributeError PC_COMPAT_EXC(AttributeError)
#define PyExc_ImportError PC_COMPAT_EXC(ImportError)
#define PyExc_OSError PC_COMPAT_EXC(OSError)
#define PyExc_IOError PC_COMPAT_EXC(OSError)
#define PyExc_StopIteration PC_COMPAT_EXC(StopIteration)
#define PyExc_SystemError PC_COMPAT_EXC(SystemError)
#define PyExc_KeyboardInterrupt PC_COMPAT_EXC(KeyboardInterrupt)
#define PyExc_Warning PC_COMPAT_EXC(Warning)
#define PyExc_UserWarning PC_COMPAT_EXC(UserWarning)
#define PyExc_DeprecationWarning PC_COMPAT_EXC(DeprecationWarning)
#define PyExc_RuntimeWarning PC_COMPAT_EXC(RuntimeWarning)

/* The class for a kind of error. */
PC_COMPAT_SLOW PyObject *pc_compat_class_of(int32_t kind) {
  switch (kind) {
    case PC_ERROR_TYPE: return PyExc_TypeError;
    case PC_ERROR_VALUE: return PyExc_ValueError;
    case PC_ERROR_MEMORY: return PyExc_MemoryError;
    case PC_ERROR_INDEX: return PyExc_IndexError;
    case PC_ERROR_ASSERT: return PyExc_AssertionError;
    default: return PyExc_RuntimeError;
  }
}

/* Empties the slot and remembers the class of the error that is about to be put there; NULL outside of a call. */
PC_COMPAT_SLOW pc_context *pc_compat_raise(PyObject *exception) {
  pc_compat_state *state = &pc_compat_current;
  if (state->ctx == NULL) return NULL;
  int known = exception != NULL && pc_compat_kind(exception) == PC_COMPAT_EXCEPTION;
  state->raised = known ? exception : PyExc_SystemError;
  state->ctx->error.kind = ((PyTypeObject *)state->raised)->typenum;
  state->ctx->error.message[0] = '\0';
  return state->ctx;
}

/* Replaces an error that is set already, as CPython does. */
PC_COMPAT_SLOW void PyErr_SetString(PyObject *exception, const char *message) {
  pc_context *ctx = pc_compat_raise(exception);
  if (ctx == NULL) return;
  pc_compat_sink to = {ctx, ctx->error.message, PC_ERROR_BYTES, 0};
  pc_compat_puts_to(&to, message);
}

PC_COMPAT_SLOW PyObject *PyErr_FormatV(PyObject *exception, const char *format, va_list args) {
  if (pc_compat_current.ctx == NULL) return NULL;
  /* Arguments may point into the slot. */
  char message[PC_ERROR_BYTES];
  pc_compat_sink to = {pc_compat_current.ctx, message, sizeof message, 0};
  pc_compat_format(&to, format, args);
  PyErr_SetString(exception, message);
  return NULL;
}

PC_COMPAT_SLOW PyObject *PyErr_Format(PyObject *exception, const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyErr_FormatV(exception, format, args);
  va_end(args);
  return NULL;
}

PC_COMPAT_SLOW void PyErr_SetObject(PyObject *exception, PyObject *value) {
  PyErr_Format(exception, "%S", value);
}

PC_COMPAT_FN void PyErr_SetNone(PyObject *exception) { PyErr_SetString(exception, ""); }

/* The class of the error that is set, borrowed; NULL if none is. */
PC_COMPAT_SLOW PyObject *PyErr_Occurred(void) {
  pc_compat_state *state = &pc_compat_current;
  if (state->ctx == NULL || state->ctx->error.kind == PC_ERROR_NONE) return NULL;
  PyTypeObject *raised = (PyTypeObject *)state->raised;
  return raised != NULL && raised->typenum == state->ctx->error.kind ? state->raised
                                                                     : pc_compat_class_of(state->ctx->error.kind);
}

PC_COMPAT_SLOW void PyErr_Clear(void) {
  pc_compat_state *state = &pc_compat_current;
  if (state->ctx != NULL) {
    state->ctx->error.kind = PC_ERROR_NONE;
    state->ctx->error.message[0] = '\0';
  }
  state->raised = NULL;
}

PC_COMPAT_FN void PyErr_Print(void) { PyErr_Clear(); }
PC_COMPAT_FN void PyErr_WriteUnraisable(PyObject *o) { (void)o, PyErr_Clear(); }

PC_COMPAT_SLOW PyObject *PyErr_NoMemory(void) {
  PyErr_SetString(PyExc_MemoryError, "out of memory");
  return NULL;
}

PC_COMPAT_SLOW int PyErr_BadArgument(void) {
  PyErr_SetString(PyExc_TypeError, "bad argument type for built-in operation");
  return 0;
}

PC_COMPAT_SLOW void PyErr_BadInternalCall(void) { PyErr_SetString(PyExc_SystemError, "bad argument to internal function"); }

/* Whether one class is the other or derives from it; a tuple of classes is not looked into. */
PC_COMPAT_SLOW int PyErr_GivenExceptionMatches(PyObject *given, PyObject *exception) {
  if (given == NULL || exception == NULL || pc_compat_kind(given) != PC_COMPAT_EXCEPTION) return 0;
  for (const pc_compat_exception *at = (const pc_compat_exception *)given; at != NULL; at = at->base) {
    if (&at->type.head.tensor.object == exception) return 1;
  }
  return 0;
}

PC_COMPAT_FN int PyErr_ExceptionMatches(PyObject *exception) {
  return PyErr_GivenExceptionMatches(PyErr_Occurred(), exception);
}

/* Warnings have nowhere to go. */
PC_COMPAT_FN int PyErr_WarnEx(PyObject *category, const char *message, Py_ssize_t level) {
  return (void)category, (void)message, (void)level, 0;
}

PC_COMPAT_FN int PyErr_WarnFormat(PyObject *category, Py_ssize_t level, const char *format, ...) {
  return (void)category, (void)level, (void)format, 0;
}

#define PyErr_Warn(category, message) PyErr_WarnEx(category, message, 1)
#define PyExceptionClass_Check(o) (pc_compat_kind((PyObject *)(o)) == PC_COMPAT_EXCEPTION)

PC_COMPAT_FN int PyErr_CheckSignals(void) { return 0; }

#ifdef __cplusplus
}
#endif
#endif
