// SPDX-License-Identifier: Apache-2.0
// Stops threads that are within the package when the interpreter shuts down.
#ifndef STREW_PYTHON_SHUTDOWN_H_
#define STREW_PYTHON_SHUTDOWN_H_

#include <chrono>
#include <cstddef>
#include <thread>

#include <nanobind/nanobind.h>

namespace strew::python {

// Stops its thread for good, as Python 3.14 does, where Python would end it. Up to Python 3.13 a
// daemon thread ends by pthread_exit() when it takes the GIL of an interpreter that shuts down. In
// glibc that unwinds the stack, and aborts the process at the first noexcept function: nanobind
// calls every function of the package from one. The object must be the last with a destructor on
// the stack, since other destructors would use Python objects without the GIL.
class Stop {
 public:
  Stop() = default;
  ~Stop() {
    while (!returned_) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  void Returned() { returned_ = true; }

 private:
  bool returned_ = false;
};

// The result of call(), which may run Python code, and with it give up the GIL and take it again.
// It must neither throw nor have objects with destructors.
template <typename Function>
auto Guarded(const Function& call) {
  Stop stop;
  const auto result = call();
  stop.Returned();
  return result;
}

// Owns the result of the C API. Throws the Python error that it set instead.
inline nanobind::object Owned(PyObject* result) {
  if (result == nullptr) throw nanobind::python_error();
  return nanobind::steal(result);
}

// function(arguments...), which may be Python code.
template <typename... Arguments>
nanobind::object CallPython(const nanobind::object& function, const Arguments&... arguments) {
  // The callee may use the first element.
  PyObject* given[] = {nullptr, arguments.ptr()...};
  constexpr std::size_t n = sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET;
  return Owned(Guarded([&] { return PyObject_Vectorcall(function.ptr(), given + 1, n, nullptr); }));
}

// The result of work(), which must not throw.
template <typename Work>
auto WithoutGil(const Work& work) {
  PyThreadState* const state = PyEval_SaveThread();
  const auto result = work();
  Stop stop;
  PyEval_RestoreThread(state);
  stop.Returned();
  return result;
}

}  // namespace strew::python

#endif  // STREW_PYTHON_SHUTDOWN_H_
