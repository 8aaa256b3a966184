// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/array.h"
#include "cli/element_text.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

constexpr std::int64_t kMaxPrinted = 1000;

// The elements as text, numbers padded to one width.
std::vector<std::string> ElementTexts(const Array& array) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < array.byte_count; i += array.type.size) {
    texts.push_back(ElementText(array.type, array.bytes.get() + i));
  }
  if (array.type.dtype >= STREW_OPAQUE(1)) return texts;
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

// Nests the texts from `next` on in the brackets of the dims from `dim` on.
void AppendDim(std::string& out, const std::vector<std::int64_t>& shape, std::size_t dim,
               const std::string*& next) {
  if (dim == shape.size()) {
    out += *next++;
    return;
  }
  const std::size_t dims_below = shape.size() - dim - 1;
  out += '[';
  for (std::int64_t i = 0; i < shape[dim]; ++i) {
    if (i > 0) out += dims_below == 0 ? " " : std::string(dims_below, '\n');
    if (i > 0 && dims_below > 0) out += std::string(dim + 1, ' ');
    AppendDim(out, shape, dim + 1, next);
  }
  out += ']';
}

}  // namespace

std::string FormatArray(const Array& array) {
  const std::int64_t count = array.byte_count / array.type.size;
  if (count == 0) return "[]\n";
  if (count > kMaxPrinted) {
    return "array of shape " + ShapeText(array.shape) + " and dtype " + Descr(array.type) +
           ", too large to print; -o FILE.npy saves it\n";
  }
  const std::vector<std::string> texts = ElementTexts(array);
  const std::string* next = texts.data();
  std::string out;
  AppendDim(out, array.shape, 0, next);
  return out + "\n";
}

}  // namespace strew::cli
