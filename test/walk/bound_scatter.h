// SPDX-License-Identifier: Apache-2.0
//
// A scatter of uint32 by int64 that is bound to memory of its own, and a plain loop for what it
// writes.
#ifndef STREW_TEST_WALK_BOUND_SCATTER_H_
#define STREW_TEST_WALK_BOUND_SCATTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/call.h"
#include "plan/entry_loops.h"
#include "plan/index_space.h"
#include "plan/spaces.h"
#include "plan/tuning.h"
#include "reference/random.h"
#include "support/reference.h"
#include "walk/scatter.h"

namespace strew_test {

class BoundScatter {
 public:
  using Words = std::vector<uint32_t>;

  // A call of a space whose operands are row-major, with random values. One of `bad_in` indices is
  // out of range and will be dropped, 0 for none.
  BoundScatter(Random& random, const strew::plan::IndexSpace& space, strew_reduction reduction,
               int64_t bad_in = 0, const strew::Runner& runner = {});
  BoundScatter(const BoundScatter&) = delete;
  BoundScatter& operator=(const BoundScatter&) = delete;

  strew::plan::Tuning& tuning() { return tuning_; }
  strew::Settings& settings() { return settings_; }
  const strew::Call& call() const { return call_; }
  const strew::plan::IndexSpace& space() const { return space_; }
  std::vector<int64_t>& indices() { return indices_; }
  uint32_t update(int64_t i) const { return updates_[static_cast<size_t>(i)]; }
  const strew::plan::EntryLoops& loops() const { return loops_; }
  const strew::walk::Scatter& scatter() const { return scatter_; }
  int64_t applied() const { return applied_; }

  // Fresh outputs are copied from these.
  const Words& data() const { return data_; }
  const Words& output() const { return output_; }
  void RestoreOutput() { output_ = before_; }

  // For STREW_NONE and STREW_ADD: what `from` becomes by those entries whose destination, counted
  // in units from where the loops begin, `is_wanted`; and how many there are.
  using IsWanted = std::function<bool(int64_t)>;
  Words Expected(Words from, const IsWanted& is_wanted) const;
  Words Expected() const;
  int64_t CountWanted(const IsWanted& is_wanted) const;
  // Calls visit(destination, update) for each update that is not dropped, those of a destination in
  // order.
  void ForEachUpdate(const std::function<void(int64_t, int64_t)>& visit) const;

 private:
  const strew::plan::IndexSpace space_;
  const strew_reduction reduction_;
  const Accesses accesses_;
  strew::plan::Tuning tuning_;
  strew::Settings settings_;
  std::atomic<int64_t> applied_{0};

  Words data_;
  Words updates_;
  std::vector<int64_t> indices_;
  Words before_;
  Words output_;
  strew::TensorView data_view_;
  strew::TensorView updates_view_;
  strew::TensorView indices_view_;
  strew::TensorView output_view_;

  const strew::Call call_;
  const strew::plan::EntryLoops loops_;
  const strew::walk::Scatter scatter_;
};

}  // namespace strew_test

#endif  // STREW_TEST_WALK_BOUND_SCATTER_H_
