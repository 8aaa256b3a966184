// SPDX-License-Identifier: Apache-2.0
#include "prepared/order.h"

#include <algorithm>
#include <cinttypes>
#include <new>
#include <utility>

#include "base/checked.h"
#include "base/compiler.h"
#include "base/scratch.h"
#include "plan/explain.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "prepared/entry_parts.h"
#include "prepared/sort.h"
#include "share/parts.h"

namespace strew::prepared {
namespace {

// How the destinations of the kept entries of a part follow one another.
struct Sequence {
  bool ascends = true;
  int64_t first = -1, last = -1;  // destinations
  int64_t count = 0;
  int64_t groups = 0;  // if they ascend
  int64_t counts[kMostDigits] = {};

  void Look(const EntryParts& parts, int64_t part, int shift) {
    parts.ForEach(part, [&](int64_t destination, int64_t) {
      ++counts[destination >> shift];
      ascends &= destination >= last;
      groups += destination != last;
      if (last < 0) first = destination;
      last = destination;
      ++count;
    });
  }
};

// The begin of a part of the order: its first position and group, and the destination before it, or
// -1 if there is none or the part does not have it.
struct Start {
  int64_t position;
  int64_t group;
  int64_t before;
};

// Stores the destinations of groups and, unless the sequence of entries implies them, the first
// positions of groups and the order.
template <class Number, class Entry>
class Writer {
 public:
  explicit Writer(const Plan& plan)
      : destinations_(reinterpret_cast<Number*>(plan.destinations.data())),
        firsts_(reinterpret_cast<Entry*>(plan.firsts.data())),
        order_(reinterpret_cast<Entry*>(plan.order.data())) {
    if (firsts_ != nullptr) firsts_[plan.groups()] = static_cast<Entry>(plan.kept);
  }

  // for_each(body) calls body(destination, entry) in order.
  template <class ForEach>
  void Write(Start next, const ForEach& for_each) const {
    for_each([&](int64_t destination, int64_t entry) {
      if (order_ != nullptr) order_[next.position] = static_cast<Entry>(entry);
      if (destination != next.before) {
        if (firsts_ != nullptr) firsts_[next.group] = static_cast<Entry>(next.position);
        destinations_[next.group++] = static_cast<Number>(destination);
        next.before = destination;
      }
      ++next.position;
    });
  }

 private:
  Number* const destinations_;
  Entry* const firsts_;
  Entry* const order_;
};

// Bits of the numbers in [0, end).
int BitsOf(int64_t end) { return end < 2 ? 0 : 64 - LeadingZeros(static_cast<uint64_t>(end) - 1); }

class Orderer {
 public:
  Orderer(const Call& call, Plan* plan)
      : call_(call),
        plan_(plan),
        end_(DestinationsOf(*plan)),
        machine_(call),
        tasks_(plan::TasksFor(
            machine_, machine_.tuning.ns_of_ordered_entry * static_cast<double>(plan->entries))),
        parts_(*plan, std::min(plan::PartsFor(machine_, tasks_), kMostParts)),
        bits_(BitsOf(end_)),
        digit_bits_(
            std::clamp(BitsOf(plan->entries) - kBitsOfDigit, 0, std::min(bits_, kMostBits))),
        shift_(bits_ - digit_bits_),
        digits_(int64_t{1} << digit_bits_) {}

  Status Order() {
    if (call_.explains()) {
      call_.Explain("%" PRId64 " entries: put in the order of their destinations, in %" PRId64
                    " part%s.",
                    plan_->entries, parts_.count(), plan::Plural(parts_.count()));
    }
    STREW_TRY(Look());
    const bool has_narrow_entries = plan_->entries <= int64_t{UINT32_MAX};
    // Tests have no memory for so many. GCOVR_EXCL_BR_START
    if (!has_narrow_entries) return OrderAs<uint64_t, uint64_t>();
    // GCOVR_EXCL_BR_STOP
    return end_ <= int64_t{UINT32_MAX} ? OrderAs<uint32_t, uint32_t>()
                                       : OrderAs<uint64_t, uint32_t>();
  }

 private:
  static constexpr int64_t kMostParts = 64;
  static constexpr int kBitsOfDigit = 4;  // a digit does not pay for fewer than 2^4 entries

  Status Refuse() const {
    return call_.Fail(STREW_OUT_OF_MEMORY, "memory to put the entries in order was refused");
  }

  Status Look() {
    sequences_ = &own_sequence_;
    if (parts_.count() > 1) {
      Scratch(call_, parts_.count() * int64_t{sizeof(Sequence)}).Swap(&of_sequences_);
      if (of_sequences_.memory() == nullptr) return Refuse();
      sequences_ = reinterpret_cast<Sequence*>(of_sequences_.memory());
    }
    STREW_TRY(share::ForEachPart(call_, tasks_, parts_.count(), [&](int64_t s, int64_t) {
      (new (sequences_ + s) Sequence)->Look(parts_, s, shift_);
    }));
    for (int64_t s = 0; s < parts_.count(); ++s) plan_->kept += sequences_[s].count;
    return STREW_OK;
  }

  // Numbers of destinations and of entries have types of their own: with 64 bits for both, a plan
  // would have 32 bytes for each entry.
  template <class Number, class Entry>
  Status OrderAs() {
    Start starts[kMostParts];
    int64_t groups;
    return Ascends(starts, &groups) ? Keep<Number, Entry>(starts, groups) : Sort<Number, Entry>();
  }

  // Returns true if the destinations of all parts of the entries ascend, and then stores where
  // those of each part belong.
  bool Ascends(Start* starts, int64_t* groups) const {
    Start next = {0, 0, -1};
    for (int64_t s = 0; s < parts_.count(); ++s) {
      const Sequence& sequence = sequences_[s];
      starts[s] = next;
      if (sequence.count == 0) continue;
      if (!sequence.ascends || sequence.first < next.before) return false;
      next.position += sequence.count;
      next.group += sequence.groups - (sequence.first == next.before);
      next.before = sequence.last;
    }
    *groups = next.group;
    return true;
  }

  template <class Number, class Entry>
  Status Keep(const Start* starts, int64_t groups) const {
    ExplainGroups(groups, "ascend");
    if (!Allocate<Number, Entry>(plan_->kept == plan_->entries, groups)) return Refuse();
    const Writer<Number, Entry> writer(*plan_);
    return share::ForEachPart(call_, tasks_, parts_.count(), [&](int64_t s, int64_t) {
      writer.Write(starts[s], [&](const auto& body) { parts_.ForEach(s, body); });
    });
  }

  void ExplainGroups(int64_t groups, const char* how) const {
    if (!call_.explains()) return;
    call_.Explain("%" PRId64 " destinations: stored with their entries, which %s.", groups, how);
  }

  template <class Number, class Entry>
  bool Allocate(bool all_stay, int64_t groups) const {
    if (!plan_->destinations.Allocate(groups, sizeof(Number))) return false;
    if (!all_stay && !plan_->order.Allocate(plan_->kept, sizeof(Entry))) return false;
    return groups == plan_->kept || plan_->firsts.Allocate(groups + 1, sizeof(Entry));
  }

  // The first item of each digit and the number of groups before it, and the ends of both.
  struct Digits {
    int64_t first[kMostDigits + 1];
    int64_t group[kMostDigits + 1];
  };

  template <class Number, class Entry>
  Status Sort() const {
    Digits digits;
    CountDigits(&digits);
    // The places of the entries are in memory, so there is no overflow.
    const int64_t item_bytes = sizeof(Item<Number>);
    const Scratch of_items(call_, plan_->kept * item_bytes);
    const Scratch of_others(call_, MostOthers(digits) * item_bytes);
    auto* const items = reinterpret_cast<Item<Number>*>(of_items.memory());
    auto* const others = reinterpret_cast<Item<Number>*>(of_others.memory());
    if (items == nullptr || others == nullptr) return Refuse();
    STREW_TRY(MoveToDigits(items));
    STREW_TRY(SortDigits(items, others, &digits));
    ToFirsts(digits.group, digits_ + 1);
    ExplainGroups(digits.group[digits_], "were sorted");
    if (!Allocate<Number, Entry>(false, digits.group[digits_])) return Refuse();
    const Writer<Number, Entry> writer(*plan_);
    return share::ForEachPart(call_, tasks_, digits_, [&](int64_t d, int64_t) {
      writer.Write({digits.first[d], digits.group[d], -1}, [&](const auto& body) {
        for (int64_t i = digits.first[d]; i < digits.first[d + 1]; ++i) {
          body(static_cast<int64_t>(items[i].destination), static_cast<int64_t>(items[i].entry));
        }
      });
    });
  }

  // Computes the first item of each digit, and turns the counts of each part into its first
  // positions in each digit.
  void CountDigits(Digits* digits) const {
    int64_t sum = 0;
    for (int64_t d = 0; d < digits_; ++d) {
      digits->first[d] = sum;
      for (int64_t s = 0; s < parts_.count(); ++s) {
        sum += std::exchange(sequences_[s].counts[d], sum);
      }
    }
    digits->first[digits_] = sum;
  }

  // Size of the second buffer of items. If several tasks sort, each digit needs a part of its own.
  int64_t MostOthers(const Digits& digits) const {
    if (tasks_ > 1) return plan_->kept;
    int64_t most = 0;
    for (int64_t d = 0; d < digits_; ++d) {
      most = std::max(most, digits.first[d + 1] - digits.first[d]);
    }
    return most;
  }

  template <class Number>
  Status MoveToDigits(Item<Number>* items) const {
    return share::ForEachPart(call_, tasks_, parts_.count(), [&](int64_t s, int64_t) {
      int64_t* const next = sequences_[s].counts;
      parts_.ForEach(s, [&](int64_t destination, int64_t entry) {
        items[next[destination >> shift_]++] = {static_cast<Number>(destination),
                                                static_cast<Number>(entry)};
      });
    });
  }

  // Sorts the items of each digit, and counts the groups while the items are in the cache.
  template <class Number>
  Status SortDigits(Item<Number>* items, Item<Number>* others, Digits* digits) const {
    digits->group[digits_] = 0;
    return share::ForEachPart(call_, tasks_, digits_, [&](int64_t d, int64_t) {
      const int64_t first = digits->first[d], end = digits->first[d + 1];
      prepared::Sort(items + first, others + (tasks_ > 1 ? first : 0), end - first, shift_);
      int64_t groups = first < end;
      for (int64_t i = first + 1; i < end; ++i) {
        groups += items[i].destination != items[i - 1].destination;
      }
      digits->group[d] = groups;
    });
  }

  const Call& call_;
  Plan* const plan_;
  const int64_t end_;  // of the destinations
  const plan::Machine machine_;
  const int64_t tasks_;
  const EntryParts parts_;
  const int bits_;
  // The highest bits of destinations, by which entries are moved first.
  const int digit_bits_;
  const int shift_;
  const int64_t digits_;
  Sequence own_sequence_;
  Scratch of_sequences_;
  Sequence* sequences_ = nullptr;  // of each part
};

}  // namespace

int64_t DestinationsOf(const Plan& plan) {
  int64_t count = 1;
  bool fits = true;
  for (int c = 0; c < plan.components; ++c) {
    if (plan.extents[c] == 0) return 0;
    fits &= CheckedMultiply(count, plan.extents[c], &count);
  }
  for (int i = 0; plan.kind == Kind::kElements && i < plan.rank; ++i) {
    if (i == plan.axis || plan.is_inner[i]) continue;
    if (plan.shape[i] == 0) return 0;
    fits &= CheckedMultiply(count, plan.shape[i], &count);
  }
  return fits ? count : -1;
}

Status OrderEntries(const Call& call, Plan* plan) { return Orderer(call, plan).Order(); }

}  // namespace strew::prepared
