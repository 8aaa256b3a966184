// SPDX-License-Identifier: Apache-2.0
#include "prepared/placed_runs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/cache_size.h"
#include "base/compiler.h"
#include "base/element_size.h"
#include "prepared/same_rows.h"

// Loops over elements of 1 and 2 bytes took 1.14 x the time where they crossed a line of the cache
// of decoded instructions, as any change elsewhere may let them (Zen 5). That of 2 bytes has more
// than 32 bytes of code.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("align-loops=64")
#endif

namespace strew::prepared {
namespace {

// Most bytes of a run that are prefetched; the hardware prefetches the rest.
constexpr int64_t kMostFetched = 512;
// Longest runs, in bytes, that are moved without a call; and longest ones that have code of their
// own.
constexpr int64_t kLongestInline = 128;
constexpr size_t kLongestElement = 16;

// ---- Ways to move a run ----

// Moves a run whose size is known at compile time.
template <size_t kBytes>
struct MoveElement {
  static constexpr bool kIsElement = true;
  explicit MoveElement(const PlacedRuns&) {}
  void operator()(unsigned char* output, const unsigned char* source) const {
    std::memcpy(output, source, kBytes);
  }
};

// Moves a run without a call, which would take longer than the move.
class MoveBlocks {
 public:
  static constexpr bool kIsElement = false;
  explicit MoveBlocks(const PlacedRuns& runs) : bytes_(runs.run * runs.size) {}
  void operator()(unsigned char* output, const unsigned char* source) const {
    if (bytes_ < kBlock) {
      std::memcpy(output, source, static_cast<size_t>(bytes_));
      return;
    }
    for (int64_t i = 0; i + kBlock <= bytes_; i += kBlock) {
      std::memcpy(output + i, source + i, kBlock);
    }
    // The last block may overlap the one before.
    std::memcpy(output + bytes_ - kBlock, source + bytes_ - kBlock, kBlock);
  }

 private:
  static constexpr int64_t kBlock = 16;
  const int64_t bytes_;
};

class MoveByKernel {
 public:
  static constexpr bool kIsElement = false;
  explicit MoveByKernel(const PlacedRuns& runs) : move_(runs.move), run_(runs.run) {}
  void operator()(unsigned char* output, const unsigned char* source) const {
    move_(output, 1, source, 1, run_);
  }

 private:
  const kernel::RunKernel move_;
  const int64_t run_;
};

// Moves the elements of a short run that lie apart. Their size may be known at compile time.
template <size_t kBytes>
class MoveApart {
 public:
  static constexpr bool kIsElement = false;
  explicit MoveApart(const PlacedRuns& runs)
      : bytes_(kBytes == 0 ? static_cast<size_t>(runs.size) : kBytes),
        run_(runs.run),
        output_step_(runs.run_output_step),
        source_step_(runs.run_source_step) {}
  void operator()(unsigned char* output, const unsigned char* source) const {
    for (int64_t i = 0; i < run_; ++i) {
      std::memcpy(output + i * output_step_, source + i * source_step_,
                  kBytes == 0 ? bytes_ : kBytes);
    }
  }

 private:
  const size_t bytes_;
  const int64_t run_;
  const int64_t output_step_;
  const int64_t source_step_;
};

// Runs in one or two cache lines are prefetched without a call: gathers of rows of 32 to 64 bytes
// took 0.67 to 0.97 x the time (Zen 5).
[[gnu::always_inline]] inline void FetchRun(const unsigned char* run, int64_t bytes) {
  if (bytes > kCacheLine) return kernel::PrefetchOnce(run, bytes);
  PrefetchReadOnce(run);
  PrefetchReadOnce(run + bytes - 1);
}

// Bytes of the source from the first one of a run to the last.
int64_t SourceBytes(const PlacedRuns& runs) {
  if (runs.run_source_step == 0) return runs.run * runs.size;
  return (runs.run - 1) * std::abs(runs.run_source_step) + runs.size;
}

// Works on copies of its arguments, because the compiler must assume that stores of bytes change
// any other memory. `has_dropped` may be a constant of a type of its own.
template <bool kPrefetches, class Move, class Place, class HasDropped>
void GatherAt(const PlacedRuns& all, const Place* places, HasDropped has_dropped) {
  const PlacedRuns runs = all;
  const Move move(runs);
  const int64_t fetched =
      runs.prefetch == 0 ? 0 : std::min(runs.n, runs.n + runs.following - runs.prefetch);
  const int64_t bytes = std::min(SourceBytes(runs), kMostFetched);
  const int64_t first_byte = std::min<int64_t>((runs.run - 1) * runs.run_source_step, 0);
  unsigned char* output = runs.output;
  const unsigned char* source = runs.source;
  for (int64_t r = 0; r < runs.rows; ++r) {
    const auto source_of = [&](int64_t c) {
      return source + static_cast<int64_t>(places[c]) * runs.place_step + c * runs.source_step;
    };
    for (int64_t c = 0; c < runs.n; ++c) {
      if (kPrefetches && c < fetched) {
        const int64_t next = c + runs.prefetch;
        if (!has_dropped || places[next] != Numbers::kNone<Place>) {
          FetchRun(source_of(next) + first_byte, bytes);
        }
      }
      if (has_dropped && places[c] == Numbers::kNone<Place>) continue;
      move(output + c * runs.output_step, source_of(c));
    }
    places += runs.row_places;
    output += runs.row_output_step;
    source += runs.row_source_step;
  }
}

template <bool kPrefetches, class Move>
void GatherBy(const PlacedRuns& runs) {
  runs.places.Visit([&](const auto* places) {
    const auto* const first = places + runs.first;
    if constexpr (kPrefetches || !Move::kIsElement) {
      GatherAt<kPrefetches, Move>(runs, first, runs.has_dropped);
    } else if (runs.has_dropped) {
      GatherAt<kPrefetches, Move>(runs, first, std::true_type());
    } else {
      GatherAt<kPrefetches, Move>(runs, first, std::false_type());
    }
  });
}

// Gathers elements of a line, whose addresses the CPU scales by itself: 0.5 to 0.7 times the time
// of elements with other steps. With fewer instructions for each element, the CPU looks farther
// ahead: beyond the L2 cache four at a time took 0.73 to 0.9 times the time of one by one (Zen 4).
template <size_t kBytes>
void GatherLine(const PlacedRuns& runs) {
  constexpr int64_t kStep = kBytes;
  constexpr int64_t kUnrolled = 4;
  runs.places.Visit([&](const auto* numbers) {
    const auto* __restrict places = numbers + runs.first;
    const unsigned char* __restrict source = runs.source;
    unsigned char* __restrict output = runs.output;
    const int64_t n = runs.n, rows = runs.rows;
    for (int64_t r = 0; r < rows; ++r) {
      const auto move = [&](int64_t c) {
        std::memcpy(output + c * kStep, source + static_cast<int64_t>(places[c]) * kStep, kBytes);
      };
      int64_t c = 0;
      for (; c + kUnrolled <= n; c += kUnrolled) {
        for (int64_t i = 0; i < kUnrolled; ++i) move(c + i);
      }
      for (; c < n; ++c) move(c);
      places += runs.row_places;
      output += runs.row_output_step;
      source += runs.row_source_step;
    }
  });
}

// Calls body(size) with the size of an element or of a short row as a compile-time constant, or
// with 0 if the size is rare.
template <class Body>
void WithInlineSize(int64_t bytes, const Body& body) {
  if (bytes == 32) return body(std::integral_constant<size_t, 32>{});
  if (bytes == 64) return body(std::integral_constant<size_t, 64>{});
  WithElementSize(bytes, body);
}

bool AreLine(const PlacedRuns& runs, int64_t bytes) {
  return !runs.has_dropped && runs.place_step == bytes && runs.output_step == bytes &&
         runs.source_step == 0;
}

void GatherRows(const PlacedRuns& runs) {
  const int64_t bytes = runs.run * runs.size;
  if (bytes > kLongestInline) {
    return runs.prefetch != 0 ? GatherBy<true, MoveByKernel>(runs)
                              : GatherBy<false, MoveByKernel>(runs);
  }
  if (bytes > int64_t{kLongestElement} && runs.prefetch != 0)
    return GatherBy<true, MoveBlocks>(runs);
  WithInlineSize(bytes, [&](auto constant) {
    using Move = std::conditional_t<constant == 0, MoveBlocks, MoveElement<constant>>;
    if constexpr (constant != 0) {
      if (AreLine(runs, bytes)) return GatherLine<constant>(runs);
    }
    // Far elements with gaps took 0.4 to 0.5 x the time with prefetch, those of lines 1.0 to 1.4 x
    // (Zen 5).
    if constexpr (constant <= kLongestElement) {
      if (runs.prefetch != 0) return GatherBy<true, Move>(runs);
    }
    GatherBy<false, Move>(runs);
  });
}

// One loop for near and far sources, because a second one would make the library 20 KB larger.
void GatherApart(const PlacedRuns& runs) {
  WithElementSize(runs.size, [&](auto bytes) { GatherBy<true, MoveApart<bytes>>(runs); });
}

}  // namespace

void GatherRuns(const PlacedRuns& all) {
  if (all.run_source_step != 0) return GatherApart(all);
  const int64_t done = GatherSameRows(all);
  if (done == 0) return GatherRows(all);
  PlacedRuns rest = all;
  rest.rows -= done;
  rest.output += done * all.row_output_step;
  rest.source += done * all.row_source_step;
  GatherRows(rest);
}

}  // namespace strew::prepared
