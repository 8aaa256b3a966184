// SPDX-License-Identifier: Apache-2.0
#include "cli/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

namespace strew::cli {
namespace {

constexpr std::size_t kMaxRank = 32;

[[noreturn]] void Malformed() { throw std::runtime_error("its header is malformed"); }

template <typename T>
T Required(const std::optional<T>& value) {
  if (!value) Malformed();
  return *value;
}

template <typename T>
void SetOnce(std::optional<T>& variable, T value) {
  if (variable) Malformed();
  variable = std::move(value);
}

// A cursor over the part of Python's syntax that NumPy writes.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }

  bool Peek(char c) {
    SkipSpace();
    return !rest_.empty() && rest_.front() == c;
  }

  bool Accept(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void Expect(char c) {
    if (!Accept(c)) Malformed();
  }

  // NumPy needs no escapes in what it writes here.
  std::string_view String() {
    const char quote = Peek('"') ? '"' : '\'';
    Expect(quote);
    const std::size_t length = rest_.find(quote);
    if (length == std::string_view::npos) Malformed();
    const std::string_view value = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return value;
  }

  bool Boolean() {
    if (AcceptWord("True")) return true;
    if (AcceptWord("False")) return false;
    Malformed();
  }

  std::int64_t Dimension() {
    SkipSpace();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) {
      throw std::runtime_error("its shape has something else than dims from 0 to 2^63 - 1");
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // a long of Python 2
    return value;
  }

  std::vector<std::int64_t> Shape() {
    std::vector<std::int64_t> shape;
    Expect('(');
    while (!Accept(')')) {
      if (shape.size() == kMaxRank) throw std::runtime_error("it has more than 32 dims");
      shape.push_back(Dimension());
      if (!Accept(',') && !Peek(')')) Malformed();
    }
    return shape;
  }

 private:
  void SkipSpace() {
    const std::size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool AcceptWord(std::string_view word) {
    SkipSpace();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view rest_;
};

struct Descriptor {
  ElementType type;
  bool swapped;
};

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// "<f4": byte order, kind, size; without an order that of the machine.
std::optional<Descriptor> ParseDescr(std::string_view descr) {
  constexpr std::string_view kOrders = "<>|=";
  const bool has_order = !descr.empty() && kOrders.find(descr[0]) != std::string_view::npos;
  const char foreign = HostIsLittleEndian() ? '>' : '<';
  const bool swapped = has_order && descr[0] == foreign;
  if (has_order) descr.remove_prefix(1);
  if (descr.size() < 2) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = descr.data() + descr.size();
  if (std::from_chars(descr.data() + 1, end, number).ptr != end) return std::nullopt;
  const std::optional<ElementType> type = MakeElementType(descr[0], number);
  if (!type) return std::nullopt;
  return Descriptor{*type, swapped};
}

Descriptor ReadDescr(Reader& reader) {
  if (reader.Peek('[') || reader.Peek('(')) {
    throw std::runtime_error("a structured dtype is not supported");
  }
  const std::string_view descr = reader.String();
  if (!IsPrintable(descr)) Malformed();
  if (descr == "|O") throw std::runtime_error("an array of Python objects is not supported");
  const std::optional<Descriptor> descriptor = ParseDescr(descr);
  if (descriptor) return *descriptor;
  throw std::runtime_error("dtype '" + std::string(descr) +
                           "' is not supported; bool, int, uint, float and complex of up to 8 "
                           "bytes a number are, and S, U and V of 1 to 4096 bytes");
}

}  // namespace

NpyHeader ParseNpyHeader(std::string_view text) {
  Reader reader(text);
  std::optional<Descriptor> descriptor;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
  reader.Expect('{');
  while (!reader.Accept('}')) {
    const std::string_view key = reader.String();
    reader.Expect(':');
    if (key == "descr") {
      SetOnce(descriptor, ReadDescr(reader));
    } else if (key == "fortran_order") {
      SetOnce(fortran_order, reader.Boolean());
    } else if (key == "shape") {
      SetOnce(shape, reader.Shape());
    } else {
      Malformed();
    }
    if (!reader.Accept(',') && !reader.Peek('}')) Malformed();
  }
  if (!reader.AtEnd()) Malformed();
  const auto [type, swapped] = Required(descriptor);
  return {type, swapped, Required(fortran_order), Required(shape)};
}

std::string FormatNpyHeader(const Array& array) {
  return "{'descr': '" + Descr(array.type) +
         "', 'fortran_order': " + (array.fortran_order ? "True" : "False") +
         ", 'shape': " + ShapeText(array.shape) + ", }";
}

}  // namespace strew::cli
