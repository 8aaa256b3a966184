// SPDX-License-Identifier: Apache-2.0
#include "prepared/short_rows.h"

#include <algorithm>

#include "plan/unit.h"
#include "prepared/elements.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

constexpr int64_t kBlock = kPassBlock;

// Room for the offsets of a block, in either width.
struct Offsets {
  alignas(64) unsigned char bytes[kBlock * sizeof(int64_t)];

  template <class Offset>
  const Offset* As() const {
    return reinterpret_cast<const Offset*>(bytes);
  }
};

template <int64_t kRun, class Offset>
void Expand(const Offset* rows, int64_t n, int64_t run, int64_t step, Offset* elements) {
  const int64_t count = kRun == 0 ? run : kRun;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < count; ++c) {
      elements[r * count + c] = static_cast<Offset>(rows[r] + c * step);
    }
  }
}

// Stores the offsets of the elements of each row: that of the row, and `run` - 1 more that are
// `step` apart.
template <class Offset>
void ExpandRows(const Offset* rows, int64_t n, int64_t run, int64_t step, Offset* elements) {
  switch (run) {
    case 2:
      return Expand<2>(rows, n, run, step, elements);
    case 3:
      return Expand<3>(rows, n, run, step, elements);
    default:
      return Expand<0>(rows, n, run, step, elements);
  }
}

void ExpandRows(kernel::OffsetWidth width, const Offsets& rows, int64_t n, const UpdateLoop& row,
                int operand, Offsets* elements) {
  const int64_t step = row.stride[operand];
  if (width == kernel::kOffset64) {
    return ExpandRows(rows.As<int64_t>(), n, row.count, step,
                      reinterpret_cast<int64_t*>(elements->bytes));
  }
  ExpandRows(rows.As<int32_t>(), n, row.count, step, reinterpret_cast<int32_t*>(elements->bytes));
}

// A tensor whose places a plan names, and the operands of its loops.
struct Places {
  const Plan& plan;
  const Layout& layout;
  int entry;
  int operand;
  kernel::OffsetWidth width;
  kernel::ResolveKernel resolve;
};

// Stores the offsets of all elements of a block of rows.
template <class Block>
void Locate(const Places& of, const int64_t* first, const Block& block, Offsets* elements) {
  const UpdateLoop& rows = block.rows;
  const Numbers& places = of.plan.places;
  const kernel::IndexTile tile = {places.data() + first[of.entry] * places.width(),
                                  1,
                                  0,
                                  rows.count,
                                  rows.stride[of.entry],
                                  of.plan.NumberOfPlaces()};
  Offsets of_rows;
  of.resolve({tile, of.layout.places.stride(), 0, rows.stride[of.operand], false, of_rows.bytes});
  ExpandRows(of.width, of_rows, rows.count, block.row, of.operand, elements);
}

}  // namespace

ShortRows::ShortRows(const Passage& passage, const Combiner& combiner, kernel::RunKernel multiply)
    : passage_(passage),
      combiner_(combiner),
      multiply_(multiply),
      move_(walk::MoveKernelsFor(passage.call, plan::IndexedUnitsOf(passage.output.element_size))
                .combine.run),
      source_width_(kernel::OffsetWidthOf(SpanOf(passage.source))),
      output_width_(kernel::OffsetWidthOf(SpanOf(passage.output))),
      resolve_from_(ResolveKernelOf(passage, passage.from, source_width_)),
      resolve_to_(ResolveKernelOf(passage, passage.to, output_width_)),
      size_(passage.output.element_size) {}

int64_t ShortRows::Run(UpdateNest nest, bool fetches_output) const {
  Block block;
  block.row = nest.PopInnermost();
  block.rows = nest.PopInnermost();
  const int64_t rows = block.rows.count, step = kBlock / block.row.count;
  int64_t applied = 0;
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    for (int64_t r = 0; r < rows; r += step) {
      int64_t first[kUpdateOperands];
      for (int o = 0; o < kUpdateOperands; ++o) first[o] = at[o] + r * block.rows.stride[o];
      block.rows.count = std::min(step, rows - r);
      Apply(first, block, fetches_output);
      applied += block.size();
    }
  });
  return applied;
}

void ShortRows::Apply(const int64_t* first, const Block& block, bool fetches_output) const {
  alignas(64) unsigned char products[kBlock * plan::kMostWidth];
  Offsets to;
  Locate({passage_.to, passage_.of_to, kToEntry, kOutput, output_width_, resolve_to_}, first, block,
         &to);
  if (fetches_output) {
    kernel::PrefetchElements(passage_.output.data + first[kOutput] * size_, size_, output_width_,
                             to.bytes, block.size());
  }
  Gather(first, block, products);
  if (multiply_ != nullptr) Multiply(first, block, products);
  combiner_.Combine(output_width_, first[kOutput], products, to.bytes, block.size());
}

void ShortRows::Gather(const int64_t* first, const Block& block, unsigned char* products) const {
  const Numbers& places = passage_.from.places;
  const UpdateLoop& rows = block.rows;
  const unsigned char* const source = passage_.source.data + first[kSource] * size_;
  const int64_t stride = passage_.of_from.places.stride();
  if (block.row.stride[kSource] == 1 && rows.stride[kFromEntry] == 1) {
    return GatherRuns({places, false, first[kFromEntry], rows.count, 0, products,
                       block.row.count * size_, source, stride * size_,
                       rows.stride[kSource] * size_, move_, size_, block.row.count, 0});
  }
  Offsets from;
  Locate({passage_.from, passage_.of_from, kFromEntry, kSource, source_width_, resolve_from_},
         first, block, &from);
  if (source_width_ == kernel::kOffset64) {
    return kernel::GatherElements(size_, source, from.As<int64_t>(), block.size(), products);
  }
  kernel::GatherElements(size_, source, from.As<int32_t>(), block.size(), products);
}

void ShortRows::Multiply(const int64_t* first, const Block& block, unsigned char* products) const {
  const int64_t run = block.row.count, stride = block.row.stride[kWeight];
  const int64_t row_stride = block.rows.stride[kWeight];
  const unsigned char* const weights = passage_.weights->data + first[kWeight] * size_;
  if (row_stride == run * stride) return multiply_(products, 1, weights, stride, block.size());
  alignas(64) unsigned char packed[kBlock * plan::kMostWidth];
  kernel::WalkBox(move_, size_,
                  {packed, weights, block.rows.count, run, row_stride, run, 1, stride, true});
  multiply_(products, 1, packed, 1, block.size());
}

}  // namespace strew::prepared
