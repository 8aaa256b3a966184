// SPDX-License-Identifier: Apache-2.0
#include "prepared/elements.h"

#include <cstring>
#include <type_traits>

namespace strew::prepared {
namespace {

// Calls body(the width as a constant), or with 0 for a width that is rare.
template <class Body>
void WithWidth(int64_t width, const Body& body) {
  switch (width) {
    case 1:
      return body(std::integral_constant<size_t, 1>());
    case 2:
      return body(std::integral_constant<size_t, 2>());
    case 4:
      return body(std::integral_constant<size_t, 4>());
    case 8:
      return body(std::integral_constant<size_t, 8>());
    case 12:
      return body(std::integral_constant<size_t, 12>());
    case 16:
      return body(std::integral_constant<size_t, 16>());
    default:
      return body(std::integral_constant<size_t, 0>());
  }
}

template <size_t kWidth, class Place>
void GatherRow(const PlacedRow& all, size_t any_width, const Place* places) {
  const PlacedRow row = all;
  const size_t width = kWidth == 0 ? any_width : kWidth;
  const Place none = static_cast<Place>(row.places.none());
  for (int64_t c = 0; c < row.n; ++c) {
    if (places[c] == none) continue;
    const int64_t place = static_cast<int64_t>(places[c]);
    std::memcpy(row.output + c * row.output_step,
                row.source + place * row.place_step + c * row.source_step, width);
  }
}

}  // namespace

void GatherElements(int64_t width, const unsigned char* elements, const int64_t* offsets, int64_t n,
                    unsigned char* gathered) {
  WithWidth(width, [&](auto constant) {
    const size_t bytes = constant == 0 ? static_cast<size_t>(width) : constant;
    const int64_t step = static_cast<int64_t>(bytes);
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(gathered + i * step, elements + offsets[i] * step, bytes);
    }
  });
}

void GatherPlaces(int64_t width, const PlacedRow& row) {
  WithWidth(width, [&](auto constant) {
    row.places.Visit([&](const auto* places) {
      GatherRow<constant>(row, static_cast<size_t>(width), places + row.first);
    });
  });
}

}  // namespace strew::prepared
