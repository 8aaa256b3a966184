// SPDX-License-Identifier: Apache-2.0
#include "python/exchange.h"

#include <cstring>

#include "python/shutdown.h"

namespace nb = nanobind;

namespace strew::python {

// The order of the fields is DLPack's.
struct ExchangeFunctions {
  struct Managed {
    std::uint32_t major, minor;
    void* owner;
    void (*release)(Managed*);
    std::uint64_t flags;
    nb::dlpack::dltensor tensor;
  };

  std::uint32_t major, minor;
  const ExchangeFunctions* older;
  int (*allocate)(nb::dlpack::dltensor* prototype, Managed** out, void* error,
                  void (*set_error)(void* error, const char* kind, const char* message));
  int (*managed_of_object)(void* object, Managed** out);
  int (*object_of_managed)(Managed* owned, void** object);
  int (*describe)(void* object, nb::dlpack::dltensor* out);
  int (*current_stream)(int device_type, std::int32_t device, void** out);
};

namespace {

constexpr std::uint32_t kMajor = 1;

}  // namespace

const ExchangeFunctions* ExchangeFunctionsOfType(nb::handle type) {
  const nb::object own = type.attr("__dict__");
  const nb::str name("__dlpack_c_exchange_api__");
  const int has = PySequence_Contains(own.ptr(), name.ptr());
  if (has < 0) throw nb::python_error();
  if (has == 0) return nullptr;
  const nb::object capsule = own[name];
  const auto* functions = static_cast<const ExchangeFunctions*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (functions == nullptr) PyErr_Clear();
  while (functions != nullptr && functions->major != kMajor) functions = functions->older;
  return functions == nullptr || functions->describe == nullptr ? nullptr : functions;
}

namespace {

bool Says(nb::handle tensor, const char* method) {
  const nb::object found = nb::getattr(tensor, method, nb::none());
  return !found.is_none() && nb::cast<bool>(CallPython(found));
}

// True for tensors that PyTorch's `__dlpack__` refuses, and that its C function does not check for.
bool IsMoreThanMemory(nb::handle tensor, nb::dlpack::dtype dtype) {
  const nb::object gradient = nb::getattr(tensor, "requires_grad", nb::none());
  if (gradient.ptr() == Py_True) return true;
  const bool is_complex = dtype.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  return (is_complex && Says(tensor, "is_conj")) || Says(tensor, "is_neg");
}

void SetError(void*, const char*, const char* message) {
  PyErr_SetString(PyExc_MemoryError, message);
}

std::size_t BytesOf(const Shape& shape, nb::dlpack::dtype dtype) {
  std::size_t bytes = (std::size_t{dtype.bits} * dtype.lanes + 7) / 8;
  for (const std::int64_t dim : shape) bytes *= static_cast<std::size_t>(dim);
  return bytes;
}

}  // namespace

const ExchangeFunctions* ExchangeFunctionsOf(nb::handle object) {
  // Most calls are on one type. A reference to it is held, so that no other can get its address.
  static PyTypeObject* known = nullptr;
  static const ExchangeFunctions* functions = nullptr;
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (type == known) return functions;
  const ExchangeFunctions* const found = ExchangeFunctionsOfType(type);
  if (found == nullptr || known != nullptr) return found;
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  functions = found;
  known = type;
  return found;
}

bool DescribeMemory(const ExchangeFunctions& functions, nb::handle tensor,
                    nb::dlpack::dltensor* described) {
  return Guarded([&] { return functions.describe(tensor.ptr(), described); }) == 0;
}

bool DescribeByExchange(const ExchangeFunctions& functions, nb::handle tensor,
                        nb::dlpack::dltensor* described) {
  if (!DescribeMemory(functions, tensor, described)) {
    PyErr_Clear();
    return false;
  }
  return !IsMoreThanMemory(tensor, described->dtype);
}

nb::object NewByExchange(const ExchangeFunctions& functions, nb::dlpack::dtype dtype,
                         const Shape& shape, Contents contents) {
  nb::dlpack::dltensor prototype;
  prototype.device = {nb::device::cpu::value, 0};
  prototype.dtype = dtype;
  prototype.ndim = static_cast<std::int32_t>(shape.size());
  prototype.shape = const_cast<std::int64_t*>(shape.data());
  ExchangeFunctions::Managed* made = nullptr;
  if (Guarded([&] { return functions.allocate(&prototype, &made, nullptr, &SetError); }) != 0) {
    throw nb::python_error();
  }
  const std::size_t bytes = BytesOf(shape, dtype);
  if (contents == Contents::kZeros && bytes > 0) {
    std::memset(static_cast<char*>(made->tensor.data) + made->tensor.byte_offset, 0, bytes);
  }
  void* object = nullptr;
  if (Guarded([&] { return functions.object_of_managed(made, &object); }) != 0) {
    throw nb::python_error();
  }
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace strew::python
