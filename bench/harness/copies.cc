// SPDX-License-Identifier: Apache-2.0
//
// The plain loops that paths.py holds strew against, the loop that calls strew from C, and an
// allocator that keeps what it has; paths.py compiles this file when it runs. Indices are int64,
// sizes of rows bytes. A loop takes `steps` steps in a call, each with the indices behind those of
// the step before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

// Both operators are called alike: context, tensors, an axis, a mode or reduction, the output.
using Operator = int32_t (*)(void* context, const void* first, const void* second,
                             const void* third, int64_t axis, int32_t how, void* output);
using SetData = int32_t (*)(void* tensor, const void* data);

// Width is 0 if it is known only at run time.
template <size_t Width>
void CopyRows(char* output, const char* updates, const int64_t* indices, int64_t outer,
              int64_t slots, int64_t count, size_t width) {
  const size_t bytes = Width != 0 ? Width : width;
  for (int64_t plane = 0; plane < outer; ++plane) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t slot = indices[i];
      if (slot < 0 || slot >= slots) continue;
      std::memcpy(output + static_cast<size_t>(plane * slots + slot) * bytes,
                  updates + static_cast<size_t>(plane * count + i) * bytes, bytes);
    }
  }
}

struct Block {
  void* memory = nullptr;
  size_t size = 0;
  bool taken = false;
};

// Only one thread uses it: strew allocates on the thread that called it.
Block kept_blocks[16];

}  // namespace

// A strew_alloc. Memory that was freed is handed out again, so that its pages are not new.
extern "C" void* take_block(void*, size_t size, size_t alignment) {
  Block* empty = nullptr;
  for (Block& block : kept_blocks) {
    if (block.taken) continue;
    const bool aligned = reinterpret_cast<uintptr_t>(block.memory) % alignment == 0;
    if (block.size >= size && aligned) {
      block.taken = true;
      return block.memory;
    }
    if (empty == nullptr || block.size < empty->size) empty = &block;
  }
  if (empty == nullptr) return nullptr;
  std::free(empty->memory);
  *empty = {};
  const size_t whole = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole);
  if (memory != nullptr) *empty = {memory, size, true};
  return memory;
}

// A strew_free.
extern "C" void give_block_back(void*, void* memory, size_t) {
  for (Block& block : kept_blocks) {
    if (block.memory == memory) block.taken = false;
  }
}

// `count` positions of a cache [batch, heads, length, row], at most two runs for each head.
extern "C" void copy_to_cache(char* cache, const char* update, const int64_t* positions,
                              int64_t batch, int64_t heads, int64_t length, int64_t count,
                              size_t row, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step, positions += batch) {
    const char* source = update;
    for (int64_t head = 0; head < batch * heads; ++head) {
      const int64_t from = positions[head / heads] % length;
      const size_t first = static_cast<size_t>(std::min(count, length - from)) * row;
      const size_t all = static_cast<size_t>(count) * row;
      char* const target = cache + static_cast<size_t>(head * length) * row;
      std::memcpy(target + static_cast<size_t>(from) * row, source, first);
      if (first < all) std::memcpy(target, source + first, all - first);
      source += all;
    }
  }
}

// output[plane, indices[i], :] = updates[plane, i, :]; indices out of range are skipped.
extern "C" void copy_rows(char* output, const char* updates, const int64_t* indices, int64_t outer,
                          int64_t slots, int64_t count, size_t row, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step, indices += count) {
    if (row == sizeof(float)) {
      CopyRows<sizeof(float)>(output, updates, indices, outer, slots, count, row);
    } else {
      CopyRows<0>(output, updates, indices, outer, slots, count, row);
    }
  }
}

// The first `width` bytes of each row.
extern "C" void fill_rows(char* output, int64_t rows, size_t row, size_t width, int32_t value) {
  if (width == row) {
    std::memset(output, value, static_cast<size_t>(rows) * row);
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    std::memset(output + static_cast<size_t>(i) * row, value, width);
}

// Returns the first status that is not 0. `indices` is one of the three tensors.
extern "C" int32_t call_repeatedly(Operator run, void* context, const void* first,
                                   const void* second, const void* third, int64_t axis, int32_t how,
                                   void* output, SetData set_data, void* indices,
                                   const int64_t* numbers, int64_t count, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    const int32_t moved = set_data(indices, numbers + step * count);
    if (moved != 0) return moved;
    const int32_t status = run(context, first, second, third, axis, how, output);
    if (status != 0) return status;
  }
  return 0;
}
