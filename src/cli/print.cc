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

// The defaults of numpy.set_printoptions().
constexpr std::int64_t kThreshold = 1000;
constexpr std::int64_t kEdgeItems = 3;
constexpr std::size_t kLineWidth = 75;

// The columns of a text in UTF-8: one for each character.
std::size_t Columns(const std::string& text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

// An array in brackets, laid out as by numpy.array2string(): large arrays show only the elements at
// their edges, and long lines are broken.
class Layout {
 public:
  explicit Layout(const Array& array)
      : array_(array), abbreviates_(array.byte_count / array.type.size > kThreshold) {
    Collect(0, 0);
    PadNumbers();
    next_ = texts_.begin();
  }

  std::string Text() { return Nested(0, " ", kLineWidth); }

 private:
  std::int64_t Length(std::size_t dim) const { return array_.shape[dim]; }
  bool Skips(std::size_t dim) const { return abbreviates_ && Length(dim) > 2 * kEdgeItems; }

  // Calls visit(i) for the indices of a dim that are shown.
  template <typename Visit>
  void ForShown(std::size_t dim, const Visit& visit) const {
    for (std::int64_t i = 0; i < Length(dim); ++i) {
      if (Skips(dim) && i == kEdgeItems) i = Length(dim) - kEdgeItems;
      visit(i);
    }
  }

  // Collects the texts of the shown elements whose indices in the dims before `dim` are `index`.
  void Collect(std::size_t dim, std::int64_t index) {
    if (dim == array_.shape.size()) {
      const std::byte* const element = array_.bytes.get() + index * array_.type.size;
      texts_.push_back(ElementText(array_.type, element));
      return;
    }
    ForShown(dim, [&](std::int64_t i) { Collect(dim + 1, index * Length(dim) + i); });
  }

  void PadNumbers() {
    if (array_.type.dtype >= STREW_OPAQUE(1)) return;
    std::size_t width = array_.type.dtype == STREW_BOOL ? 5 : 0;  // of "False", as NumPy has it
    for (const std::string& text : texts_) width = std::max(width, text.size());
    for (std::string& text : texts_) text.insert(0, width - text.size(), ' ');
  }

  std::string Nested(std::size_t dim, const std::string& indent, std::size_t width) {
    if (dim == array_.shape.size()) return *next_++;
    const bool is_last = dim + 1 == array_.shape.size();
    const std::string text =
        is_last ? Elements(dim, indent, width - 1) : Rows(dim, indent, width - 1);
    return "[" + text.substr(indent.size()) + "]";
  }

  // `width` leaves room for one closing bracket.
  std::string Elements(std::size_t dim, const std::string& indent, std::size_t width) {
    std::string lines, line = indent;
    const auto append = [&](const std::string& word) {
      if (Columns(line) + Columns(word) > width && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        lines += line + "\n";
        line = indent;
      }
      line += word + " ";
    };
    ForShown(dim, [&](std::int64_t i) {
      if (Skips(dim) && i == Length(dim) - kEdgeItems) append("...");
      append(*next_++);
    });
    line.pop_back();
    return lines + line;
  }

  std::string Rows(std::size_t dim, const std::string& indent, std::size_t width) {
    const std::string separator(array_.shape.size() - dim - 1, '\n');
    std::string text;
    ForShown(dim, [&](std::int64_t i) {
      if (Skips(dim) && i == Length(dim) - kEdgeItems) text += indent + "..." + separator;
      text += indent + Nested(dim + 1, indent + " ", width);
      if (i + 1 < Length(dim)) text += separator;
    });
    return text;
  }

  const Array& array_;
  const bool abbreviates_;
  std::vector<std::string> texts_;
  std::vector<std::string>::const_iterator next_;
};

}  // namespace

std::string FormatArray(const Array& array) {
  if (array.byte_count == 0) return "[]\n";
  return Layout(array).Text() + "\n";
}

}  // namespace strew::cli
