// An extension of CPython that stands between Python functions: python_test.py compiles it for each
// interpreter whose headers are there.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

__attribute__((noinline)) static void* take_block(size_t size) {
  void* volatile block = malloc(size);
  return block;
}

__attribute__((noinline)) static PyObject* native_allocate(PyObject* self, PyObject* size) {
  (void)self;
  void* block = take_block(PyLong_AsSize_t(size));
  PyObject* taken = PyBool_FromLong(block != NULL);
  free(block);
  return taken;
}

__attribute__((noinline)) static PyObject* call_back(PyObject* function) {
  PyObject* volatile result = PyObject_CallObject(function, NULL);
  return result;
}

__attribute__((noinline)) static PyObject* native_call(PyObject* self, PyObject* function) {
  (void)self;
  PyObject* volatile result = call_back(function);
  return result;
}

static PyMethodDef functions[] = {{"allocate", native_allocate, METH_O, NULL},
                                  {"call", native_call, METH_O, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {.m_base = PyModuleDef_HEAD_INIT,
                                    .m_name = "native_calls",
                                    .m_size = -1,
                                    .m_methods = functions};
PyMODINIT_FUNC PyInit_native_calls(void);
PyMODINIT_FUNC PyInit_native_calls(void) { return PyModule_Create(&module); }
