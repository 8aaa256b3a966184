// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/reduction.h"
#include "share/boxes.h"
#include "walk/entries.h"
#include "accumulate/mean_table.h"

namespace strew::accumulate {

using plan::kOutput;
using plan::kUpdates;

// The output of a group and its first updates, which begin at `order`.
void MeanTable::FetchGroup(const Group& group, const int64_t* order, int64_t count) const {
  constexpr int64_t kMostUpdates = 4;
  Fetch(OutputOf(group.destination));
  const int64_t bytes = std::min(scatter_.loops.run.count * width_, kMostFetched);
  for (int64_t k = 0; k < std::min(count, kMostUpdates); ++k) {
    kernel::PrefetchOnce(scatter_.operands.updates.data + order[k] * width_, bytes);
  }
}

// All updates of a destination together, in order: its elements are gone through once.
void MeanTable::ReduceGroup(const Group& group, const int64_t* order, int64_t count) const {
  plan::ForEachTurn(scatter_.loops.inner, scatter_.loops.inner.rank, [&](const int64_t* inner) {
    kernels_.group({OutputOf(group.destination) + inner[kOutput] * width_,
                    scatter_.loops.run.stride[kOutput],
                    scatter_.operands.updates.data + inner[kUpdates] * width_,
                    scatter_.loops.run.stride[kUpdates], order, count, scatter_.loops.run.count,
                    ExcludesSelf(scatter_.reduction)});
  });
}

// Destinations in the order of their first updates, so that these are read in order where most have
// one.
Status MeanTable::ReduceGroups(bool in_place, unsigned char* memory) const {
  struct Body {
    const MeanTable* table;
    Group* groups;   // the end of the last one follows
    int64_t* order;  // where updates lie, those of each group together
    int32_t* next;   // where the next one of a destination comes in that
    Group** end;
    void Fetch(int64_t destination) const { table->set_.Fetch(table->numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t update) const {
      const int64_t number = table->NumberOf(destination);
      int32_t& at = next[number];
      if (at < 0) {
        Group& group = *(*end)++;
        group.destination = destination;
        at = static_cast<int32_t>(group.first);
        (*end)->first = group.first + table->counts_[number];
      }
      order[at++] = update;
    }
  };
  Group* const groups = reinterpret_cast<Group*>(memory);
  int64_t* const order = reinterpret_cast<int64_t*>(groups + set_.count() + 1);
  int32_t* const next = reinterpret_cast<int32_t*>(order + applied_);
  Group* last = groups;
  last->first = 0;
  std::memset(next, -1, static_cast<size_t>(set_.count()) * sizeof(int32_t));
  walk::ForEachEntry(scatter_, Body{this, groups, order, next, &last});
  if (!in_place)
    STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
  return InParts(set_.count(), [&](const plan::Turns& part) {
    const auto count = [&](int64_t i) { return groups[i + 1].first - groups[i].first; };
    const int64_t end = part.first + part.count;
    for (int64_t i = part.first; i < end; ++i) {
      const int64_t ahead = i + kAhead;
      if (ahead < end) FetchGroup(groups[ahead], order + groups[ahead].first, count(ahead));
      ReduceGroup(groups[i], order + groups[i].first, count(i));
    }
  });
}

}  // namespace strew::accumulate
