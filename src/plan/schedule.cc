// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule.h"

#include <algorithm>
#include <cassert>

#include "base/cache_size.h"
#include "base/checked.h"
#include "plan/pass.h"
#include "plan/pieces.h"

namespace strew::plan {
namespace {

class Scheduler {
 public:
  Scheduler(const EntryLoops& loops, const Circumstances& about)
      : loops_(loops), about_(about), tuning_(about.machine.tuning), width_(about.width) {}

  Schedule Make(const Sampler& sampler) const;
  MemoryHints Hints() const;

 private:
  Schedule Alone() const;
  Staging StagingFor(int64_t tasks, bool in_place) const;
  Staging StripsFor(int64_t tasks, bool covers) const;
  bool GoesInPieces() const;
  int64_t StripColumns(int64_t tasks) const;
  bool IsNear() const;
  bool IndicesAreOffsets() const;
  bool KeepsRows() const;
  int64_t Prefetch() const;
  int64_t RowReadAhead() const;
  double Nanoseconds(const Staging& staging) const;
  Cut CutFor(const Staging& staging, int64_t tasks) const;
  bool CanPartition(int64_t ranges) const;
  double RowNs() const;
  Share ShareByRange(const Sampler& sampler, int64_t tasks, Ranges* ranges) const;

  const EntryLoops& loops_;
  const Circumstances& about_;
  const Tuning& tuning_;
  const int64_t width_;
};

// Tasks share batches and pieces of runs if there are enough of them. Otherwise each task gets a
// range of destinations, unless one task is as fast.
Schedule Scheduler::Make(const Sampler& sampler) const {
  Schedule schedule = Alone();
  const int64_t tasks = TasksFor(about_.machine, schedule.nanoseconds);
  if (tasks == 1) return schedule;

  const Staging of_cut = StagingFor(tasks, about_.in_place);
  schedule.cut = CutFor(of_cut, tasks);
  if (schedule.cut.parts() > tasks / tuning_.tasks_of_part) {
    schedule.share = Share::kCut;
    schedule.tasks = tasks;
    schedule.staging = of_cut;
    schedule.staging_in_place = StagingFor(tasks, true);
    return schedule;
  }

  schedule.cut = {};
  schedule.share = ShareByRange(sampler, tasks, &schedule.ranges);
  if (schedule.share == Share::kAlone) return schedule;
  schedule.tasks = schedule.ranges.count();
  schedule.staging = schedule.staging_in_place = kNoStaging;
  return schedule;
}

Schedule Scheduler::Alone() const {
  Schedule schedule;
  schedule.hints = Hints();
  schedule.staging = StagingFor(1, about_.in_place);
  schedule.staging_in_place = about_.in_place ? schedule.staging : StagingFor(1, true);
  schedule.nanoseconds = Nanoseconds(schedule.staging);
  return schedule;
}

MemoryHints Scheduler::Hints() const {
  const Machine& machine = about_.machine;
  const int64_t run = loops_.run.count;
  const int64_t streamed = StreamedBytes(machine, 1);
  MemoryHints hints;
  hints.prefetch = Prefetch();
  hints.strip_prefetch = about_.is_heavy ? tuning_.strip_prefetch : 0;
  // Reductions stream only the identities that replace old values.
  const int64_t least_whole_row =
      about_.moves ? tuning_.least_streamed_row : tuning_.least_streamed_identities;
  const int64_t least_row = about_.has_lines || machine.streams_parts
                                ? least_whole_row
                                : tuning_.least_streamed_row_of_parts;
  hints.streams = run >= least_row / width_ && about_.updates >= streamed / about_.update_size;
  hints.strips_stream = about_.output_units >= streamed / width_;
  hints.indices_are_offsets = IndicesAreOffsets();
  hints.row_read_ahead = RowReadAhead();
  hints.unfetched_step = machine.waits_for_stores ? 0 : tuning_.unfetched_step;
  hints.combines_in_vectors = about_.fits_vector && hints.indices_are_offsets &&
                              hints.prefetch == 0 &&
                              loops_.column.count >= tuning_.least_vector_row;
  hints.keeps_rows = hints.indices_are_offsets && (hints.combines_in_vectors || KeepsRows());
  return hints;
}

int64_t Scheduler::Prefetch() const {
  const int64_t run = loops_.run.count;
  const int64_t span = loops_.DestinationSpan();
  if (run > 1) {
    return span <= NearBytes(about_.machine) / width_ ? 0 : RowPrefetch(tuning_, run * width_);
  }
  // With prefetch, inner turns are not walked together.
  const int64_t least_moves = about_.machine.waits_for_stores
                                  ? tuning_.least_fetched_moves_that_wait
                                  : tuning_.least_fetched_moves;
  const bool is_fetched_move = about_.moves && loops_.EntriesAreElements() &&
                               span > least_moves / width_ &&
                               span <= tuning_.most_fetched_moves / width_;
  return is_fetched_move || span > NearBytesOfElements(about_.machine) / width_
             ? tuning_.element_prefetch
             : 0;
}

// True if rows and their tiles have enough entries each, and updates and output are far.
bool Scheduler::KeepsRows() const {
  const double units =
      static_cast<double>(about_.updates) + static_cast<double>(about_.output_units);
  return loops_.column.count >= tuning_.least_kept_row / width_ &&
         loops_.TileEntries() >= tuning_.least_kept_tile / width_ &&
         units * static_cast<double>(width_) > static_cast<double>(NearBytes(about_.machine));
}

int64_t Scheduler::RowReadAhead() const {
  const int64_t row = loops_.run.count * width_;
  const double updates =
      static_cast<double>(about_.updates) * static_cast<double>(about_.update_size);
  if (row < tuning_.least_row_read_ahead || updates < FarBytesOfUpdates(about_.machine)) return 0;
  return tuning_.row_read_ahead / row;
}

bool Scheduler::IndicesAreOffsets() const {
  const int64_t size = about_.index_size;
  const bool have_width =
      size == kernel::OffsetSize(kernel::kOffset64) ||
      (size == kernel::OffsetSize(kernel::kOffset32) && loops_.TileOffsets() == kernel::kOffset32);
  return have_width && loops_.indices_are_non_negative && loops_.HasOneAxis() &&
         loops_.run.count == 1 && !loops_.columns_are_batch &&
         loops_.column.count >= tuning_.least_unresolved_row &&
         loops_.component[0].output_stride == 1 && loops_.column.stride[kIndices] == 1;
}

// ---- Pieces of a new output, and strips of an indexed axis ----

Staging Scheduler::StagingFor(int64_t tasks, bool in_place) const {
  if (loops_.out_of_range == OutOfRange::kDrop) return kNoStaging;
  // True if the strides in data of what the loops span are known.
  const bool are_known =
      about_.data_is_alike || (loops_.batch_has_data && loops_.EntryUnits() == 1);
  const bool covers = !in_place && are_known && PieceUnits(loops_) == about_.spanned_units;
  const Staging strips = StripsFor(tasks, covers);
  return strips.strip == 0 && covers ? Staging{GoesInPieces(), 0, 0} : strips;
}

// True if there are several pieces, which stay in the caches between their copies and updates.
bool Scheduler::GoesInPieces() const {
  const int64_t units = about_.spanned_units;
  const int64_t least = std::min(StreamedBytes(about_.machine, 1), tuning_.least_in_pieces);
  if (units < least / width_) return false;
  // A copy past the caches costs less if updates then return to few of its lines.
  if (about_.touched_lines < units / kCacheLine * width_ / tuning_.lines_of_touched_piece) {
    return false;
  }
  const int64_t pieces = PiecesOf(loops_, tuning_, width_).parts();
  return pieces > 1 && units / pieces <= tuning_.most_piece / width_;
}

Staging Scheduler::StripsFor(int64_t tasks, bool covers) const {
  Staging staging = kNoStaging;
  if (!loops_.columns_are_batch) return staging;
  // A strip is staged only once, so nothing outside its loops may return to it.
  assert(loops_.batch_has_data && loops_.HasOneAxis() && loops_.batches > 1);
  if (loops_.EntryUnits() > 1) return staging;
  const int64_t axis_size = loops_.component[0].axis_size;
  const int64_t axis_bytes = axis_size * width_;
  const bool is_small = loops_.batches * loops_.row.count <= kMostWithoutScratch;
  // An output that stays in the caches is copied first: with fewer updates strips cost more.
  const bool leaves_caches =
      covers && about_.output_units >= StreamedBytesBeforeUpdates(about_.machine, 1) / width_;
  const bool is_worthwhile =
      leaves_caches || loops_.row.count >= axis_size / tuning_.axis_elements_of_row;
  if (!about_.has_scratch || is_small || !is_worthwhile || IsNear()) return staging;
  staging.strip = StripColumns(tasks);
  staging.scratch_bytes = staging.strip * axis_bytes;
  staging.copies_data = covers && staging.strip > 0;
  return staging;
}

// The columns of a strip: as many as fit scratch over the whole axis, in whole cache lines; 0 if
// too few fit. If neighbouring strips share cache lines, short strips would move most lines twice.
int64_t Scheduler::StripColumns(int64_t tasks) const {
  const Component& axis = loops_.component[0];
  const int64_t fitting = MostScratch(tasks) / width_ / axis.axis_size;
  const int64_t line = std::max<int64_t>(kCacheLine / width_, 1);
  const int64_t longest = tuning_.strip_bytes / width_;
  const int64_t strip = std::min({fitting / line * line, longest, loops_.column.count});
  if (strip * width_ < tuning_.least_strip) return 0;
  const bool share_lines = axis.output_stride * width_ % kCacheLine != 0;
  return share_lines && strip < std::min(longest, loops_.column.count) ? 0 : strip;
}

// True if strips need no scratch, because the axis spans so little that they stay in the caches, or
// because a page has several of its rows.
bool Scheduler::IsNear() const {
  const int64_t columns = loops_.column.count;
  const Component& axis = loops_.component[0];
  const int64_t axis_step = static_cast<int64_t>(Magnitude(axis.output_stride)) * width_;
  if (axis_step <= tuning_.near_row) return true;
  // Elements of the axis that are less than a cache line apart share lines.
  const int64_t together = std::min(columns, tuning_.batch_columns);
  const int64_t row_bytes = std::min(axis_step, std::max(kCacheLine, together * width_));
  const bool has_sets = together == columns || axis.axis_size <= LinesInSets(tuning_, axis_step);
  const bool fits = axis.axis_size <= tuning_.near_strip / std::max<int64_t>(row_bytes, 1);
  return fits && has_sets;
}

// ---- Threads ----

// The estimated time of one thread for the updates and staged copies.
double Scheduler::Nanoseconds(const Staging& staging) const {
  const double updates = static_cast<double>(about_.updates);
  const double entries = updates / static_cast<double>(loops_.run.count);
  const double copied = staging.copies_data ? static_cast<double>(about_.output_units) : 0;
  const double bytes =
      updates * static_cast<double>(about_.update_size) + copied * static_cast<double>(width_);
  const Loop<kIndices>& run = loops_.run;
  const bool is_strided = run.count > 1 && (run.stride[kOutput] != 1 || run.stride[kUpdates] > 1);
  const double strided = is_strided ? 2 * updates * tuning_.ns_of_strided_element : 0;
  return entries * tuning_.ns_of_entry + std::max(2 * bytes * tuning_.ns_of_byte, strided);
}

// Cuts the loops over batches, and if there are too few batches, the inner loops and the run too,
// in the order of ForEachCutLoop().
Cut Scheduler::CutFor(const Staging& staging, int64_t tasks) const {
  const int64_t parts = PartsFor(about_.machine, tasks);
  Cut cut;
  const auto granule = [this](const auto& loop) {
    return LineGranule(loop.stride[kOutput], width_);
  };
  for (int i = 0; i < loops_.outer_batch_loops; ++i) {
    cut.Append(loops_.outer.loop[i].count, granule(loops_.outer.loop[i]), parts);
  }
  if (loops_.columns_are_batch) {
    const int64_t columns = loops_.column.count;
    const int64_t line = granule(loops_.column);
    const bool by_strips = staging.strip > line && cut.parts() * (columns / staging.strip) >= tasks;
    // Each part is a single strip, so that tasks work on neighbouring strips at the same time and
    // share open pages of DRAM: 0.93 x the time of several strips in a part.
    cut.Append(columns, by_strips ? staging.strip : line,
               by_strips ? std::max(parts, columns) : parts);
  }
  if (loops_.rows_are_batch) cut.Append(loops_.row.count, granule(loops_.row), parts);
  // Every piece of a run reads all indices again, so there are no more pieces than tasks.
  for (int i = 0; i < loops_.inner.rank; ++i) {
    cut.Append(loops_.inner.loop[i].count, granule(loops_.inner.loop[i]), tasks);
  }
  cut.Append(loops_.run.count,
             std::max<int64_t>(tuning_.least_run_piece / width_, granule(loops_.run)), tasks);
  return cut;
}

// A partition needs all entries in one loop over columns, and at least one entry for each task to
// sort.
bool Scheduler::CanPartition(int64_t ranges) const {
  if (loops_.column.count < ranges) return false;
  const bool line = loops_.outer.rank == 0 && loops_.row.count == 1 && loops_.batches == 1;
  return about_.has_scratch && line && loops_.components > 0;
}

// The estimated cost of the rows of a filter, for an entry. Rows that follow one another in updates
// are one.
double Scheduler::RowNs() const {
  const int64_t columns = loops_.column.count;
  if (loops_.row.stride[kUpdates] == columns * loops_.column.stride[kUpdates]) return 0;
  const double of_row = tuning_.filter_row_ns / static_cast<double>(columns);
  return columns <= tuning_.most_given_row ? std::min(of_row, tuning_.filter_packed_ns) : of_row;
}

// Compares the estimated costs of an entry. With a filter, each task spends time on every entry; a
// partition costs more, but tasks share most of this work. Then each task writes the entries of its
// range, some of which wait for memory. Not inline, so that the sample has left the stack when
// entries are written.
[[gnu::noinline]] Share Scheduler::ShareByRange(const Sampler& sampler, int64_t tasks,
                                                Ranges* ranges) const {
  Spread spread;
  sampler.draw(sampler.self, tasks, &spread);
  *ranges = Ranges(spread, tasks);
  if (!loops_.EntriesAreElements()) return Share::kFilter;
  const double write = about_.is_heavy ? tuning_.heavy_write_ns : tuning_.write_ns;
  const double wait = Hints().prefetch == 0 ? 0 : tuning_.wait_ns;
  const double alone = tuning_.resolve_ns + write + spread.FarShare(0, spread.count()) * wait;
  const double own = ranges->MostCost(spread, write, wait);
  const double far = static_cast<double>(about_.machine.cache_bytes) * tuning_.far_entries_part;
  const bool are_far =
      about_.updates >= static_cast<int64_t>(far) / (about_.index_size + about_.update_size);
  const double filter =
      tuning_.filter_ns + RowNs() + own + (are_far ? tuning_.filter_stream_ns : 0);
  const double partition =
      tuning_.select_ns + tuning_.sort_ns / static_cast<double>(ranges->count()) + own;
  const double best = CanPartition(ranges->count()) ? std::min(filter, partition) : filter;
  const double wake = tuning_.wake_ns * static_cast<double>(ranges->count() - 1);
  if (best + wake / static_cast<double>(about_.updates) > tuning_.worthwhile * alone) {
    return Share::kAlone;
  }
  return best < filter ? Share::kPartition : Share::kFilter;
}

int64_t StreamedPart(const Machine& machine, int64_t tasks, int64_t cache_bytes) {
  const Tuning& tuning = machine.tuning;
  const double part = tasks > 1 ? tuning.streamed_part_of_tasks : tuning.streamed_part;
  return static_cast<int64_t>(static_cast<double>(cache_bytes) * part);
}

}  // namespace

Machine::Machine(const Call& call)
    : tuning(TuningOf(call)),
      workers(call.workers()),
      shared_cache_bytes(tuning.cache_bytes != 0 ? tuning.cache_bytes : LastLevelCacheBytes()),
      cache_bytes(std::min(shared_cache_bytes, tuning.most_cache)),
      streams_parts(tuning.streams_parts < 0 ? StreamsPartsOfLines() : tuning.streams_parts != 0),
      waits_for_stores(tuning.waits_for_stores < 0 ? WaitsForStores()
                                                   : tuning.waits_for_stores != 0) {}

int64_t StreamedBytes(const Machine& machine, int64_t tasks) {
  return StreamedPart(machine, tasks, machine.cache_bytes);
}

int64_t StreamedBytesBeforeUpdates(const Machine& machine, int64_t tasks) {
  return StreamedPart(machine, tasks, machine.shared_cache_bytes);
}

int64_t NearReads(const Machine& machine) {
  const Tuning& tuning = machine.tuning;
  return machine.waits_for_stores ? tuning.near_reads_that_wait : tuning.near_reads;
}

int64_t RowPrefetch(const Tuning& tuning, int64_t row_bytes) {
  return std::clamp<int64_t>(tuning.row_prefetch_bytes / row_bytes, tuning.least_row_prefetch,
                             tuning.element_prefetch / 2);
}

bool IsFew(const Tuning& tuning, int64_t indices, int64_t updates, int64_t update_size) {
  if (updates == 0 || indices > std::min(tuning.few_indices, kMostFewUpdates)) return false;
  if (updates <= std::min(tuning.few_updates, kMostFewUpdates)) return true;
  return indices > 0 && updates <= tuning.most_few_updates &&
         updates <= tuning.most_few_bytes / update_size;
}

Schedule MakeSchedule(const EntryLoops& loops, const Circumstances& about, const Sampler& sampler) {
  return Scheduler(loops, about).Make(sampler);
}

Cut PiecesOf(const EntryLoops& loops, const Tuning& tuning, int64_t width) {
  return CutIntoPieces(loops, tuning.piece_bytes / width);
}

MemoryHints MemoryHintsFor(const EntryLoops& loops, const Circumstances& about) {
  return Scheduler(loops, about).Hints();
}

}  // namespace strew::plan
