// SPDX-License-Identifier: Apache-2.0
#include "plan/text.h"

#include <cinttypes>
#include <cstdio>

#include "base/dtype.h"

namespace strew::plan {

ListText::ListText(const int64_t* numbers, int count) { Write(numbers, count); }

void ListText::Write(const int64_t* numbers, int count) {
  char* end = text_;
  *end++ = '[';
  for (int i = 0; i < count; ++i) {
    const size_t room = sizeof(text_) - static_cast<size_t>(end - text_);
    end += std::snprintf(end, room, i == 0 ? "%" PRId64 : ",%" PRId64, numbers[i]);
  }
  *end++ = ']';
  *end = '\0';
}

IndexText::IndexText(IndexValue index) {
  if (index.overflow != 0) {
    std::snprintf(text_, sizeof(text_), "%" PRIu64, index.overflow);
  } else {
    std::snprintf(text_, sizeof(text_), "%" PRId64, index.value);
  }
}

DtypeText::DtypeText(strew_dtype dtype) {
  const DtypeInfo info = DescribeDtype(dtype);
  if (dtype > STREW_OPAQUE(0)) {
    std::snprintf(text_, sizeof(text_), "%s[%d]", info.name, dtype - STREW_OPAQUE(0));
  } else {
    std::snprintf(text_, sizeof(text_), "%s", info.name);
  }
}

CoordinatesText::CoordinatesText(const TensorView& tensor, int64_t position) {
  int64_t coordinates[kMaxRank];
  for (int i = tensor.rank - 1; i >= 0; --i) {
    coordinates[i] = position % tensor.shape[i];
    position /= tensor.shape[i];
  }
  Write(coordinates, tensor.rank);
}

}  // namespace strew::plan
