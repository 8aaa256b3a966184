// SPDX-License-Identifier: Apache-2.0
#include "reference/handles.h"

#include <cstdio>
#include <cstdlib>

namespace strew::reference {
namespace {

void DieUnlessOk(strew_status status, const char* what) {
  if (status == STREW_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, strew_status_name(status));
  std::abort();
}

}  // namespace

Tensor MakeTensor(strew_dtype dtype, const Layout& layout, void* data) {
  strew_tensor* tensor = nullptr;
  DieUnlessOk(strew_tensor_create(dtype, static_cast<int32_t>(layout.shape.size()),
                                  layout.shape.data(), layout.strides.data(), data, &tensor),
              "strew_tensor_create");
  return Tensor(tensor);
}

Context MakeContext() {
  strew_context* context = nullptr;
  DieUnlessOk(strew_context_create(&context), "strew_context_create");
  return Context(context);
}

}  // namespace strew::reference
