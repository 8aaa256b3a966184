// SPDX-License-Identifier: Apache-2.0
//
// Random calls, of which the results must be the same bytes wherever they are made: a line for each
// SIMD target, with one number that stands for all results. Fails where two lines differ.
//
// usage: identity [cases of each dtype and operator]
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include <strew/strew.h>

#include "reference/arithmetic.h"
#include "reference/random_case.h"
#include "reference/targets.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// FNV-1a.
class Digest {
 public:
  void Add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  void Add(int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      Add(static_cast<unsigned char>(static_cast<uint64_t>(number) >> shift));
    }
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

bool IsBigEndian() {
  const uint16_t one = 1;
  unsigned char first;
  std::memcpy(&first, &one, 1);
  return first == 0;
}

bool HasNans(const Dtype& dtype) {
  return dtype.kind == Kind::kFloat || dtype.kind == Kind::kComplex;
}

// All NaNs that a reduction may have made count as one, and numbers by their value.
void AddElement(Digest& digest, const Dtype& dtype, bool reduced, unsigned char* element) {
  if (reduced && HasNans(dtype)) {
    const std::vector<unsigned char> nan(dtype.width, 0xff);
    ForgiveNanPayload(dtype.code, nan.data(), element);
  }
  const size_t parts = dtype.kind == Kind::kComplex ? 2 : 1;
  const size_t width = dtype.width / parts;
  for (size_t part = 0; part < parts; ++part) {
    unsigned char* const number = element + part * width;
    if (IsBigEndian() && dtype.kind != Kind::kMoved) std::reverse(number, number + width);
    for (size_t i = 0; i < width; ++i) digest.Add(number[i]);
  }
}

void AddOutput(Digest& digest, const Dtype& dtype, const Case& c, const Array& output) {
  std::vector<unsigned char> bytes = output.Snapshot();
  for (size_t i = 0; i < bytes.size(); i += dtype.width) {
    AddElement(digest, dtype, c.reduction != STREW_NONE, &bytes[i]);
  }
}

// The same call for every target.
void AddCase(std::vector<Digest>& digests, const Dtype& dtype, Case& c) {
  const std::vector<unsigned char> before = c.destination().Snapshot();
  for (size_t i = 0; i < digests.size(); ++i) {
    strew_context* const context = Targets()[i].context.get();
    SetPolicies(c, context);
    c.destination().Restore(before);
    digests[i].Add(int64_t{Call(c, context, c.destination().tensor())});
    digests[i].Add(strew_context_error_position(context));
    digests[i].Add(strew_context_applied(context));
    AddOutput(digests[i], dtype, c, c.destination());
  }
}

void AddCases(std::vector<Digest>& digests, const Dtype& dtype, Operator op, int64_t cases) {
  for (int64_t i = 0; i < cases; ++i) {
    Random random(Seed() + static_cast<uint64_t>(i));
    Case c = MakeRandomCase(random, op, dtype);
    if (random.OneIn(4)) SpoilIndices(random, c);
    AddCase(digests, dtype, c);
  }
}

int Main(int64_t cases) {
  std::vector<Digest> digests(Targets().size());
  for (const Dtype& dtype : Dtypes()) {
    // Pointers are not the same everywhere.
    if (dtype.code == STREW_STRING) continue;
    for (const Operator op : Operators()) AddCases(digests, dtype, op, cases);
  }
  std::set<uint64_t> values;
  for (size_t i = 0; i < digests.size(); ++i) {
    std::printf("%s %016" PRIx64 "\n", Targets()[i].name.c_str(), digests[i].value());
    values.insert(digests[i].value());
  }
  return values.size() == 1 ? 0 : 1;
}

}  // namespace
}  // namespace strew_test

int main(int count, char** arguments) {
  return strew_test::Main(count > 1 ? std::atoll(arguments[1]) : 20);
}
