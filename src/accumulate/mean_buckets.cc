// SPDX-License-Identifier: Apache-2.0
// Accumulates entries that may land anywhere. They are first moved into buckets of neighbouring
// destinations. Single elements are then summed in slots that stay in the caches. For runs, which
// may be long, only their positions are moved, and then grouped by destination.
#include <algorithm>

#include "accumulate/bucket_sort.h"
#include "accumulate/entry_rows.h"
#include "accumulate/mean_sums.h"
#include "accumulate/touched_bound.h"
#include "base/scratch.h"
#include "plan/schedule.h"

namespace strew::accumulate {
namespace {

using Place = BucketSort::Place;

// The elements at the listed places of a bucket. They are gathered into a buffer, and written back
// if the body has changed them.
struct ListedPlaces {
  const kernel::MoveKernels& move;
  unsigned char* output;  // of the bucket
  int64_t stride;
  const Place* list;
  int64_t count;

  template <class Body>
  void ForEachLine(const Body& body) const {
    constexpr int64_t kBlock = 128;
    alignas(64) unsigned char elements[kBlock * plan::kMostWidth];
    int32_t columns[kBlock];
    int64_t offsets[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      const int64_t n = std::min(kBlock, count - first);
      for (int64_t i = 0; i < n; ++i) {
        columns[i] = list[first + i];
        offsets[i] = list[first + i] * stride;
      }
      move.gather(elements, output, stride, columns, n);
      if (!body(SlotLine{first, elements, 1, n})) continue;
      move.combine.elements[kernel::kOffset64](kernel::RowTile(output, elements, offsets, n, 0),
                                               {});
    }
  }
};

class Buckets {
 public:
  explicit Buckets(const Accumulation& work)
      : work_(work),
        units_(work.scatter.loops.EntryUnits()),
        entries_(work.scatter.loops.Entries()),
        sort_(work.scatter,
              units_ == 1 ? BucketSort::Moves::kElements : BucketSort::Moves::kPositions),
        // If places are listed, each place needs two more numbers.
        place_bytes_(units_ > 1            ? BucketSort::kOrderBytes
                     : sort_.has_no_gaps() ? work.sums.slot_bytes()
                                           : work.sums.slot_bytes() + 2 * int64_t{sizeof(Place)}) {
    const double ns = static_cast<double>(entries_) * work.scatter.tuning.ns_of_bucket_mean_entry;
    if (units_ == 1) tasks_ = plan::TasksFor(plan::Machine(work.scatter.call), ns);
    // If places are listed, few of them have slots, and a bucket may be larger.
    const bool is_sparse =
        entries_ < sort_.numbers().range() / work_.scatter.tuning.destinations_of_entry;
    const int64_t near = std::min(work_.scatter.tuning.bucket_bytes * (is_sparse ? 2 : 1),
                                  plan::MostScratch(1) / tasks_);
    const int64_t most = int64_t{1} << (units_ == 1 && sort_.has_no_gaps() ? 16 : 15);
    int shift = 0;
    while (int64_t{2} << shift <= std::min(near / place_bytes_, most)) ++shift;
    sort_.SetShift(shift);
  }

  // Sets *fit if buckets pay and enough elements are touched to allow the scratch for moving all
  // entries.
  Status Survey(bool* fit) {
    const int64_t buckets = sort_.buckets();
    const bool are_few = buckets == 1 || entries_ / work_.scatter.tuning.least_of_bucket >= buckets;
    if (!are_few || buckets > work_.scatter.tuning.most_buckets || work_.sums.are_long())
      return STREW_OK;
    const int64_t taken = tasks_ * TaskBytes() + sort_.count_bytes() + sort_.bytes();
    const int64_t more = taken - tasks_ * plan::MostScratch(tasks_);
    const int64_t of_group = units_ > 1 ? int64_t{sizeof(kernel::Group)} : 0;
    const int64_t least = TouchedFor(more, kTouchedBytes * units_ - of_group);
    if (least > std::min(entries_, sort_.numbers().range())) return STREW_OK;
    return sort_.Count(least, fit) ? Status(STREW_OK) : work_.Refuse();
  }

  Status Combine() {
    const int64_t moved_bytes = StayInPlace() ? 0 : sort_.bytes();
    const Scratch scratch(work_.scatter.call, tasks_ * TaskBytes() + moved_bytes);
    if (scratch.memory() == nullptr) return work_.Refuse();
    if (StayInPlace()) {
      sort_.Stay();
    } else {
      sort_.Move(scratch.memory() + tasks_ * TaskBytes());
    }
    if (work_.scatter.applied_units != nullptr) {
      *work_.scatter.applied_units += sort_.entries() * units_;
    }
    Scratch groups;
    int64_t count = 0;
    if (units_ > 1 && !sort_.Order(scratch.memory(), &groups, &count)) return work_.Refuse();
    STREW_TRY(work_.CopyData());
    if (units_ > 1) {
      return CombineGroups(work_, reinterpret_cast<const kernel::Group*>(groups.memory()), count,
                           sort_.order());
    }
    return share::ForEachPart(work_.scatter.call, tasks_, sort_.buckets(),
                              [&](int64_t bucket, int64_t task) {
                                CombineSlots(bucket, scratch.memory() + task * TaskBytes());
                              });
  }

 private:
  int64_t TaskBytes() const { return Scratch::RoundUp(sort_.places() * place_bytes_) + 64; }

  // True if too many places would have no updates.
  bool AreSparse(int64_t entries, int64_t places) const {
    return !sort_.has_no_gaps() || entries < places / work_.scatter.tuning.destinations_of_entry;
  }

  // True if the entries of each bucket are consecutive columns of the only row.
  bool StayInPlace() const {
    const plan::EntryLoops& loops = work_.scatter.loops;
    return units_ == 1 && sort_.ascends() && loops.outer.rank == 0 && loops.row.count == 1 &&
           loops.batches == 1 && !AreSparse(entries_, sort_.numbers().range());
  }

  void AddInPlace(int64_t bucket, const Slots& slots) const {
    plan::EntryLoops loops = work_.scatter.loops;
    loops.KeepColumns({sort_.first(bucket), sort_.end(bucket) - sort_.first(bucket)});
    const walk::Scatter scatter(work_.scatter, loops);
    const int64_t first = bucket * sort_.places();
    const auto locate = scatter.index_kernels.locate[loops.WholeOffsets()];
    const auto add = [&](const walk::EntryRow& row, kernel::LocateArguments arguments) {
      int32_t numbers[walk::EntrySink::kMostColumns];
      arguments.shift -= first << arguments.unused_bits;
      locate(arguments, numbers);
      work_.sums.Add(slots, numbers, scatter.UpdateAt(row.updates), row.updates_stride,
                     row.columns);
    };
    ForEachRow(scatter, sort_.numbers(), add);
  }

  void AddBucket(int64_t bucket, const Slots& slots) const {
    if (StayInPlace()) return AddInPlace(bucket, slots);
    constexpr int64_t kColumns = 512;
    int32_t numbers[kColumns];
    for (int64_t i = sort_.first(bucket); i < sort_.end(bucket); i += kColumns) {
      const int64_t columns = std::min(kColumns, sort_.end(bucket) - i);
      std::copy_n(sort_.places_of(i), columns, numbers);
      work_.sums.Add(slots, numbers, sort_.elements_of(i), 1, columns);
    }
  }

  // If few places of the bucket are touched, only these have slots.
  void CombineSlots(int64_t bucket, unsigned char* scratch) const {
    const int64_t entries = sort_.end(bucket) - sort_.first(bucket);
    if (entries == 0) return;
    const plan::DestinationNumbers& numbers = sort_.numbers();
    const int64_t number = bucket * sort_.places();
    const int64_t places = std::min(sort_.places(), numbers.range() - number);
    const int64_t stride = numbers.DestinationOf(1) - numbers.DestinationOf(0);
    unsigned char* const output = work_.OutputOf(numbers.DestinationOf(number));
    if (StayInPlace() || !AreSparse(entries, places)) {
      const Slots slots = work_.sums.At(scratch, places);
      return work_.sums.Combine(slots, places, SlotLine{0, output, stride, places},
                                [&] { AddBucket(bucket, slots); });
    }
    Place* const list = reinterpret_cast<Place*>(scratch) + sort_.places();
    const int64_t count = sort_.List(bucket, reinterpret_cast<Place*>(scratch), list);
    const Slots slots =
        work_.sums.At(reinterpret_cast<unsigned char*>(list + (count + 3) / 4 * 4), count);
    work_.sums.Combine(slots, count, ListedPlaces{work_.scatter.move, output, stride, list, count},
                       [&] { AddBucket(bucket, slots); });
  }

  const Accumulation& work_;
  const int64_t units_;
  const int64_t entries_;
  BucketSort sort_;
  const int64_t place_bytes_;  // scratch of a task for each place of a bucket
  int64_t tasks_ = 1;
};

}  // namespace

Status CombineBuckets(const Accumulation& work, bool* done) {
  Buckets buckets(work);
  STREW_TRY(buckets.Survey(done));
  return *done ? buckets.Combine() : Status(STREW_OK);
}

}  // namespace strew::accumulate
