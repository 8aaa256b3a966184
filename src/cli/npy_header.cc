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
constexpr std::int64_t kLargestElement = 4096;

// A header of version 1 has less than 64 KiB. Everything but the dtype takes less than 1 KiB of
// them, so that every array that was read can be written.
constexpr std::size_t kLongestDescr = 64512;

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

  // The beginning of the rest of the text.
  const char* position() {
    SkipSpace();
    return rest_.data();
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

// "[ns]" or "[25s]"
bool IsUnit(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '/';
  };
  return std::all_of(text.begin() + 1, text.end() - 1, is_plain);
}

// The bytes of an element that is only copied: "<M8[s]", "f16", "<U3"; nothing if NumPy does not
// write such a type.
std::optional<std::int64_t> SizeOf(std::string_view format) {
  constexpr std::string_view kOrders = "<>|=";
  if (!format.empty() && kOrders.find(format[0]) != std::string_view::npos) format.remove_prefix(1);
  if (!format.empty() && format[0] == 'O') {
    throw std::runtime_error("an array of Python objects is not supported");
  }
  if (format.size() < 2) return std::nullopt;
  const char kind = format[0];
  std::int64_t number = 0;
  const char* const end = format.data() + format.size();
  const auto [stop, error] = std::from_chars(format.data() + 1, end, number);
  if (error != std::errc() || number < 0 || number > kLargestElement) return std::nullopt;
  const std::string_view unit = format.substr(static_cast<std::size_t>(stop - format.data()));
  const bool is_date = kind == 'M' || kind == 'm';
  if (!unit.empty() && !(is_date && IsUnit(unit))) return std::nullopt;
  if (is_date) return number == 8 ? std::optional(number) : std::nullopt;
  if (kind == 'U') return 4 * number;
  const bool is_long = (kind == 'f' && number == 16) || (kind == 'c' && number == 32);
  if (kind == 'S' || kind == 'V' || is_long) return number;
  return MakeElementType(kind, number) ? std::optional(number) : std::nullopt;
}

// "[('x', '<f4'), (('title', 'y'), '|i1', (2,)), ('z', [('a', '<i2')])]"
std::int64_t ReadFields(Reader& reader, int depth) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) throw std::runtime_error("its dtype has structures within structures");
  std::int64_t total = 0;
  reader.Expect('[');
  while (!reader.Accept(']')) {
    reader.Expect('(');
    if (reader.Accept('(')) {
      reader.String();
      reader.Expect(',');
      reader.String();
      reader.Expect(')');
    } else {
      reader.String();
    }
    reader.Expect(',');
    std::int64_t size =
        reader.Peek('[') ? ReadFields(reader, depth + 1) : Required(SizeOf(reader.String()));
    if (reader.Accept(',') && reader.Peek('(')) {
      for (const std::int64_t dim : reader.Shape()) {
        size *= std::min(dim, kLargestElement + 1);
        if (size > kLargestElement) break;
      }
    }
    reader.Expect(')');
    total = std::min(total + size, kLargestElement + 1);
    if (!reader.Accept(',') && !reader.Peek(']')) Malformed();
  }
  return total;
}

Descriptor OnlyMoved(std::int64_t size, std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (!IsPrintable(text)) Malformed();
  if (text.size() > kLongestDescr) {
    throw std::runtime_error("its dtype is described in more than 64512 bytes");
  }
  if (size < 1 || size > kLargestElement) {
    throw std::runtime_error("dtype " + std::string(text) + " is not of 1 to 4096 bytes");
  }
  const strew_dtype dtype = STREW_OPAQUE(static_cast<strew_dtype>(size));
  return {{'V', size, dtype, std::string(text)}, false};
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
  if (reader.Peek('[')) {
    const char* const begin = reader.position();
    const std::int64_t size = ReadFields(reader, 0);
    return OnlyMoved(size, {begin, static_cast<std::size_t>(reader.position() - begin)});
  }
  const std::string_view descr = reader.String();
  if (!IsPrintable(descr)) Malformed();
  if (descr == "|O") throw std::runtime_error("an array of Python objects is not supported");
  const std::optional<Descriptor> descriptor = ParseDescr(descr);
  if (descriptor) return *descriptor;
  const std::size_t kind = descr.find_first_not_of("<>|=");
  const bool is_bytes = kind != std::string_view::npos &&
                        std::string_view("SUV").find(descr[kind]) != std::string_view::npos;
  const std::optional<std::int64_t> size = is_bytes ? std::nullopt : SizeOf(descr);
  if (size) return OnlyMoved(*size, "'" + std::string(descr) + "'");
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
  return "{'descr': " + Descr(array.type) +
         ", 'fortran_order': " + (array.fortran_order ? "True" : "False") +
         ", 'shape': " + ShapeText(array.shape) + ", }";
}

}  // namespace strew::cli
