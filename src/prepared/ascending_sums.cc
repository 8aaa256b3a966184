// SPDX-License-Identifier: Apache-2.0
#include "prepared/ascending_sums.h"

#include <algorithm>

#include "accumulate/accumulate.h"
#include "base/scratch.h"
#include "prepared/element_sums.h"
#include "prepared/order.h"
#include "share/parts.h"
#include "share/share.h"

namespace strew::prepared {
namespace {

// Limit: entries whose distances are on the stack.
constexpr int64_t kBlock = 512;

// The first group whose destination is not before this one.
int64_t FirstGroupFrom(const Plan& plan, int64_t destination) {
  return plan.destinations.Visit([&](const auto* numbers) -> int64_t {
    const auto* const end = numbers + plan.groups();
    const auto is_before = [](auto number, int64_t first) {
      return static_cast<int64_t>(number) < first;
    };
    return std::lower_bound(numbers, end, destination, is_before) - numbers;
  });
}

class PieceAdder {
 public:
  PieceAdder(const Plan& plan, const TensorView& updates, const ElementLines& lines)
      : plan_(plan),
        updates_(updates.data),
        stride_(lines.updates_stride),
        size_(updates.element_size),
        places_(plan.NumberOfPlaces()),
        batch_entries_(plan.kept / (DestinationsOf(plan) / places_)) {}

  // Adds the updates of the entries from k to end.
  void Add(const ElementSums& sums, int64_t k, int64_t end) const {
    int32_t distances[kBlock];
    while (k < end) {
      const int64_t batch = k / batch_entries_;
      const int64_t n = std::min({kBlock, end - k, (batch + 1) * batch_entries_ - k});
      const int64_t origin = batch * places_ + plan_.places.At(k);
      FindDistances(k, n, distances);
      sums.Add(origin, distances, updates_ + k * stride_ * size_, stride_, n);
      k += n;
    }
  }

 private:
  // Places ascend, so that none is before the first one.
  void FindDistances(int64_t first, int64_t n, int32_t* distances) const {
    plan_.places.Visit([&](const auto* numbers) {
      const auto begin = numbers[first];
      for (int64_t i = 0; i < n; ++i) {
        distances[i] = static_cast<int32_t>(numbers[first + i] - begin);
      }
    });
  }

  const Plan& plan_;
  const unsigned char* const updates_;
  const int64_t stride_;
  const int64_t size_;
  const int64_t places_;
  const int64_t batch_entries_;
};

}  // namespace

Status SumAscending(const Call& call, const Plan& plan, const TensorView& data,
                    const TensorView& updates, const TensorView& output, const ElementLines& lines,
                    const PlanSchedule& schedule) {
  const Pass& pass = schedule.pass;
  const int64_t elements = schedule.summed_elements;
  const int64_t slot_bytes = accumulate::SlotBytes(call, output, schedule.reduction, plan.kept,
                                                   /*counts_updates=*/false);
  const int64_t task_bytes = Scratch::RoundUp(elements * slot_bytes);
  const Scratch scratch(call, pass.tasks * task_bytes);
  if (scratch.memory() == nullptr) {
    return call.Fail(STREW_OUT_OF_MEMORY, "memory for accumulators was refused");
  }
  STREW_TRY(share::Copy(call, data, output));
  const PieceAdder adder(plan, updates, lines);
  return share::ForEachPart(call, pass.tasks, pass.parts, [&](int64_t part, int64_t task) {
    const int64_t group = FirstGroupFrom(plan, part * elements);
    const int64_t end = FirstGroupFrom(plan, (part + 1) * elements);
    if (group == end) return;
    const int64_t first = plan.destinations.At(group);
    ElementSums sums(call, output, schedule.reduction, plan.kept, elements,
                     scratch.memory() + task * task_bytes);
    sums.Begin(first, plan.destinations.At(end - 1) + 1 - first);
    adder.Add(sums, plan.FirstOf(group), plan.FirstOf(end));
    sums.Finish();
  });
}

}  // namespace strew::prepared
