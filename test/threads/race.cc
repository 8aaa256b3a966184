// SPDX-License-Identifier: Apache-2.0
//
// Two calls that write into one tensor at the same time, which nobody may make: ThreadSanitizer has
// to see it, or it would see no race inside the library either.
#include <cstdint>
#include <vector>

#include <strew/strew.h>

#include "reference/handles.h"
#include "support/at_once.h"
#include "support/reference.h"

int main(int count, char** argument) {
  using namespace strew_test;
  constexpr int64_t kSize = 100000;
  std::vector<float> numbers(kSize), updates(kSize);
  const std::vector<int64_t> zeros(kSize);
  const Tensor output = MakeTensor(STREW_FLOAT32, RowMajor({kSize}), numbers.data());
  const Tensor from = MakeTensor(STREW_FLOAT32, RowMajor({kSize}), updates.data());
  const Tensor indices =
      MakeTensor(STREW_INT64, RowMajor({kSize}), const_cast<int64_t*>(zeros.data()));
  AtOnce(2, [&](int) {
    const Context context = MakeContext();
    if (count > 1) strew_context_set_simd_target(context.get(), argument[1]);
    strew_scatter_elements(context.get(), output.get(), indices.get(), from.get(), 0, STREW_ADD,
                           output.get());
  });
  return 0;
}
