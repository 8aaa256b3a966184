// SPDX-License-Identifier: Apache-2.0
// Writes groups of rows.
#include "prepared/group_writer.h"

namespace strew::prepared {
// Prefetches the updates of the piece, rows of n elements.
kernel::RowFetcher GroupWriter::FetcherOf(const unsigned char* updates, int64_t n) const {
  const bool fetches = scatter_.schedule.order.fetches && run_.stride[kTurnUpdates] == 1;
  return {updates, piece_.updates(), kernels_.width, n, 0, fetches ? piece_.entries() : 0};
}

// Returns the identity that takes the place of old values in a piece; NULL if they are not
// excluded, or if the group has had an update in an earlier piece.
const unsigned char* GroupWriter::TakeBeginning() {
  const bool has_begun = has_begun_;
  // The first parts of a large group may have no update.
  has_begun_ = has_begun || (piece_.groups() == 1 && piece_.entries() > 0);
  return kernels_.excludes_self && !has_begun ? kernels_.identity : nullptr;
}

// Stores the identity in rows whose old values are excluded.
void GroupWriter::BeginGroups(const int64_t* turn) {
  const unsigned char* const beginning = TakeBeginning();
  if (beginning == nullptr) return;
  unsigned char* const output = OutputAt(turn[kTurnOutput]);
  for (int64_t g = 0; g < piece_.groups(); ++g) {
    if (piece_.begin(g) == piece_.end(g)) continue;
    kernels_.move.combine.run(output + piece_.destination(g) * kernels_.width, 1, beginning, 0,
                              run_.count);
  }
}

// Requires that each group has one entry.
void GroupWriter::MoveRows(const int64_t* turn) {
  const kernel::RunKernel run = kernels_.run;
  const int64_t n = run_.count;
  unsigned char* const output = OutputAt(turn[kTurnOutput]);
  const auto move = [&](const unsigned char* from, const int64_t* rows, int64_t stride,
                        int64_t first, int64_t count) {
    kernel::WalkRows(
        run, kernels_.width, kernel::kOffset64,
        {kernel::RowTile(output, from, piece_.destinations() + first, count, Ahead()), n,
         run_.stride[kTurnOutput], stride, scatter_.schedule.streams, /*moves=*/true, rows});
  };
  if (scatter_.source.weights == nullptr) {
    return move(UpdateAt(turn[kTurnUpdates]), piece_.updates(), run_.stride[kTurnUpdates], 0,
                piece_.entries());
  }
  ForEachBatchOfProducts(
      turn, [&](int64_t first, int64_t count) { move(products_, Offsets(), 1, first, count); });
}

void GroupWriter::CombineGroupedRows(const int64_t* turn) {
  const bool is_weighted = scatter_.source.weights != nullptr;
  RowsKernel()({OutputAt(turn[kTurnOutput]), piece_.destinations(), piece_.begins(),
                piece_.groups(), UpdateAt(turn[kTurnUpdates]), piece_.updates(),
                is_weighted ? WeightAt(turn[kTurnWeights]) : nullptr, piece_.weights(),
                TakeBeginning(), run_.count, scatter_.schedule.order.fetches, fetched_,
                piece_.later()});
  fetched_ = piece_.later();
}

// The first and the last group of a batch may be parts of groups.
void GroupWriter::CombineMultipliedRows(const int64_t* turn) {
  BeginGroups(turn);
  int64_t g = 0;
  ForEachBatchOfProducts(turn, [&](int64_t first, int64_t count) {
    while (piece_.end(g) <= first) ++g;
    int64_t begins[Piece::kMost + 1] = {0};
    int64_t groups = 0;
    for (int64_t h = g; h < piece_.groups() && piece_.begin(h) < first + count; ++h) {
      begins[++groups] = std::min(piece_.end(h) - first, count);
    }
    kernels_.combine.rows({OutputAt(turn[kTurnOutput]), piece_.destinations() + g, begins, groups,
                           products_, Offsets(), nullptr, nullptr, nullptr, run_.count});
  });
}

// Applies means and wide reductions to whole groups.
void GroupWriter::AccumulateRows(const int64_t* turn) {
  const unsigned char* const updates = UpdateAt(turn[kTurnUpdates]);
  const accumulate::Accumulator& accumulator = *kernels_.accumulator();
  kernel::RowFetcher fetcher = FetcherOf(updates, run_.count);
  for (int64_t g = 0; g < piece_.groups(); ++g) {
    const int64_t first = piece_.begin(g), count = piece_.end(g) - first;
    if (count == 0) continue;
    fetcher.Fetch(first + count);
    accumulator.kernels.group({OutputAt(piece_.destination(g) + turn[kTurnOutput]),
                               run_.stride[kTurnOutput], updates, run_.stride[kTurnUpdates],
                               piece_.updates() + first, count, run_.count,
                               accumulator.excludes_self, accumulator.divides});
  }
}

void GroupWriter::CombineRows(const int64_t* turn, int64_t i, int64_t n, bool begins, bool ends) {
  end_of_products_ = 0;
  const int64_t shift = turn[kTurnUpdates] + i * run_.stride[kTurnUpdates];
  kernel::RowFetcher fetcher = FetcherOf(UpdateAt(shift), n);
  for (int64_t g = 0; g < piece_.groups(); ++g) {
    unsigned char* const output =
        OutputAt(piece_.destination(g) + turn[kTurnOutput] + i * run_.stride[kTurnOutput]);
    int64_t first = piece_.begin(g);
    const int64_t end = piece_.end(g);
    if (begins) has_begun_ = false;
    if (!has_begun_ && end > first) Begin(output, n, &first, turn, i);
    for (int64_t k = first; k < end; ++k) {
      fetcher.Fetch(k);
      Apply(output, n, k, turn, i);
    }
    if (ends && has_begun_) Finish(output, n);
  }
}

// Prepares a row for its first update. Without an identity, the first update is moved to the row.
void GroupWriter::Begin(unsigned char* output, int64_t n, int64_t* first, const int64_t* turn,
                        int64_t i) {
  const int64_t stride = run_.stride[kTurnOutput];
  has_begun_ = true;
  if (kernels_.accumulator() != nullptr) {
    terms_ = 0;
    return kernels_.accumulator()->Begin(sums_, output, stride, n);
  }
  if (!kernels_.excludes_self) return;
  if (kernels_.has_identity) {
    return kernels_.move.combine.run(output, stride, kernels_.identity, 0, n);
  }
  const Row row = Weighted(n, (*first)++, turn, i);
  kernels_.move.combine.run(output, stride, row.memory, row.stride, n);
}

void GroupWriter::Apply(unsigned char* output, int64_t n, int64_t k, const int64_t* turn,
                        int64_t i) {
  const Row row = Weighted(n, k, turn, i);
  if (kernels_.accumulator() == nullptr) {
    return kernels_.run(output, run_.stride[kTurnOutput], row.memory, row.stride, n);
  }
  ++terms_;
  kernels_.accumulator()->sums.add(sums_, row.memory, row.stride, n);
}

void GroupWriter::Finish(unsigned char* output, int64_t n) const {
  if (kernels_.accumulator() == nullptr) return;
  const accumulate::Accumulator& accumulator = *kernels_.accumulator();
  accumulator.sums.finish(
      {output, run_.stride[kTurnOutput], sums_, 1, n, accumulator.Terms(terms_)});
}

// The update of entry k of the piece, times its weight.
GroupWriter::Row GroupWriter::Weighted(int64_t n, int64_t k, const int64_t* turn, int64_t i) {
  if (scatter_.source.weights == nullptr) {
    const int64_t stride = run_.stride[kTurnUpdates];
    return {UpdateAt(piece_.updates()[k] + turn[kTurnUpdates] + i * stride), stride};
  }
  if (!MultipliesTogether(n)) {
    MultiplyRow(n, k, turn, i);
    return {products_, 1};
  }
  const int64_t row = n * kernels_.width;
  if (k >= end_of_products_) {
    Multiply(k, std::min(MostProducts(n), piece_.entries() - k), n, turn, i);
  }
  return {products_ + (k - first_product_) * row, 1};
}

// Stores the weighted updates of entries [first, first + count) in products_.
void GroupWriter::Multiply(int64_t first, int64_t count, int64_t n, const int64_t* turn,
                           int64_t i) {
  int64_t* const rows = Offsets();
  for (int64_t r = 0; r < count; ++r) rows[r] = r * n;
  const auto collect = [&](const unsigned char* from, const int64_t* offsets, int64_t stride,
                           unsigned char* to) {
    kernel::WalkRows(kernels_.move.combine.run, kernels_.width, kernel::kOffset64,
                     {kernel::RowTile(to, from, rows, count, Ahead()), n, 1, stride,
                      /*streams=*/false, /*moves=*/true, offsets + first});
  };
  const int64_t stride = run_.stride[kTurnUpdates], of_weights = run_.stride[kTurnWeights];
  collect(UpdateAt(turn[kTurnUpdates] + i * stride), piece_.updates(), stride, products_);
  // Turns often share their weights, because these are broadcast.
  const RowsOfWeights weights = {first, count, n, turn[kTurnWeights] + i * of_weights};
  if (!(weights == rows_of_weights_)) {
    collect(WeightAt(weights.at), piece_.weights(), of_weights, weights_);
    rows_of_weights_ = weights;
  }
  kernels_.multiply(products_, 1, weights_, 1, count * n);
  first_product_ = first;
  end_of_products_ = first + count;
}

// The same for one entry.
void GroupWriter::MultiplyRow(int64_t n, int64_t k, const int64_t* turn, int64_t i) {
  const int64_t stride = run_.stride[kTurnUpdates], of_weights = run_.stride[kTurnWeights];
  kernels_.move.combine.run(
      products_, 1, UpdateAt(piece_.updates()[k] + turn[kTurnUpdates] + i * stride), stride, n);
  const unsigned char* const weight =
      WeightAt(piece_.weights()[k] + turn[kTurnWeights] + i * of_weights);
  if (of_weights == 0) {
    kernel::WalkBox(kernels_.multiply, kernels_.width, {products_, weight, 1, 0, 0, n, 1, 0});
  } else {
    kernels_.multiply(products_, 1, weight, of_weights, n);
  }
}

}  // namespace strew::prepared
