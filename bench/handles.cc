// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <new>
#include <stdexcept>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace strew_bench {
namespace {

void AskForHugePages(void* memory, size_t bytes) {
#ifdef __linux__
  constexpr size_t kWorthwhile = size_t{1} << 22;
  if (bytes < kWorthwhile) return;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t skip = page - reinterpret_cast<uintptr_t>(memory) % page;
  // This is only advice: the measurement is valid even if the kernel ignores it.
  (void)madvise(static_cast<char*>(memory) + skip, (bytes - skip) / page * page, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

}  // namespace

Buffer::Buffer(int64_t bytes) : memory_(std::malloc(static_cast<size_t>(bytes))) {
  if (!memory_) throw std::bad_alloc();
  AskForHugePages(memory_.get(), static_cast<size_t>(bytes));
}

void Check(strew_status status) {
  if (status != STREW_OK) throw std::runtime_error(strew_status_name(status));
}

Context ContextFor(int32_t threads) {
  if (threads == 1) return nullptr;
  strew_context* context = nullptr;
  Check(strew_context_create(&context));
  Context owner(context);
  Check(strew_context_set_num_threads(context, threads));
  return owner;
}

Tensor Describe(strew_dtype dtype, const Shape& shape, const int64_t* strides,
                const Buffer& buffer) {
  strew_tensor* tensor = nullptr;
  Check(strew_tensor_create(dtype, static_cast<int32_t>(shape.size()), shape.data(), strides,
                            buffer.get(), &tensor));
  return Tensor(tensor);
}

}  // namespace strew_bench
