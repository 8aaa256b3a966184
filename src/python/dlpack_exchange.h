// SPDX-License-Identifier: Apache-2.0
// The table of C functions by which a type of tensors tells their memory, since DLPack 1.2.
#ifndef STREW_PYTHON_DLPACK_EXCHANGE_H_
#define STREW_PYTHON_DLPACK_EXCHANGE_H_

#include <cstdint>

#include <nanobind/ndarray.h>

namespace strew::python {

constexpr char kDlpackExchangeAttribute[] = "__dlpack_c_exchange_api__";
constexpr char kDlpackExchangeCapsule[] = "dlpack_exchange_api";
constexpr std::uint32_t kDlpackExchangeMajor = 1;

// The layout of DLPackExchangeAPI in dlpack.h. Functions that are not called have no types here.
struct DlpackExchange {
  std::uint32_t major;
  std::uint32_t minor;
  const DlpackExchange* older;
  void (*allocate)();
  void (*export_managed)();
  void (*import_managed)();
  // Describes the memory of a Python object of the type, as long as that lives and keeps its shape.
  // Returns 0, or -1 with a Python error set. May be nullptr.
  int (*describe)(void* object, nanobind::dlpack::dltensor* out);
  void (*stream)();
};

}  // namespace strew::python

#endif  // STREW_PYTHON_DLPACK_EXCHANGE_H_
