// SPDX-License-Identifier: Apache-2.0
//
// Every decision of a schedule, at its threshold and beside it, by a tuning of round numbers.
#include "plan/pass.h"
#include "plan/schedule.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/call.h"
#include "plan/spaces.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::Call;
using strew::Settings;
using strew::plan::Circumstances;
using strew::plan::EntryLoops;
using strew::plan::IndexSpace;
using strew::plan::Machine;
using strew::plan::MemoryHints;
using strew::plan::MostScratch;
using strew::plan::OutOfRange;
using strew::plan::Sampler;
using strew::plan::Schedule;
using strew::plan::Share;
using strew::plan::Spread;
using strew::plan::Tuning;

constexpr int64_t kHuge = INT64_MAX / 4;
constexpr double kLong = 1e9;

// A call of float32 and int64, in place, on one worker, of which an entry costs a nanosecond and
// nothing else does. Caches hold everything.
class ScheduleChoice : public testing::Test {
 protected:
  ScheduleChoice() {
    tuning_.cache_bytes = tuning_.most_cache = kHuge;
    tuning_.least_task_ns = tuning_.least_joint_task_ns = 1000;
    tuning_.parts_of_task = 1;
    tuning_.ns_of_entry = 1;
    tuning_.ns_of_byte = 0;
    settings_.tuning = &tuning_;
  }

  Machine machine() const {
    Machine machine{Call(settings_, nullptr)};
    machine.streams_parts = streams_parts_;
    machine.waits_for_stores = waits_for_stores_;
    return machine;
  }

  Circumstances About(const EntryLoops& loops) const {
    const int64_t output = loops.batches * loops.component[0].axis_size * loops.EntryUnits();
    const int64_t updates = loops.Entries() * loops.EntryUnits();
    return {machine(),      width_,         output,      std::max(updates, updates_),
            width_,         index_size_,    in_place_,   output,
            touched_lines_, data_is_alike_, is_heavy_,   moves_,
            has_lines_,     has_scratch_,   fits_vector_};
  }

  Schedule Of(const EntryLoops& loops) const {
    const auto draw = [](const void* self, int64_t ranges, Spread* spread) {
      static_cast<const ScheduleChoice*>(self)->draw_(ranges, spread);
    };
    return MakeSchedule(loops, About(loops), {draw, this});
  }

  Schedule Of(const IndexSpace& space) const {
    return Of(EntryLoops(space, {out_of_range_, false, non_negative_}));
  }

  // So many tasks can be had, and all calls are worth them.
  void ShareAmong(int32_t workers) {
    settings_.runner.workers = workers;
    tuning_.least_task_ns = 1e-3;
  }

  Tuning tuning_;
  Settings settings_;
  int64_t width_ = 4;
  int64_t index_size_ = 8;
  int64_t updates_ = 0;  // more than the entries have
  bool in_place_ = true;
  int64_t touched_lines_ = kHuge;
  bool data_is_alike_ = true;
  bool is_heavy_ = false;
  bool fits_vector_ = false;
  bool moves_ = false;
  bool has_lines_ = true;
  bool streams_parts_ = false;
  bool waits_for_stores_ = false;
  bool has_scratch_ = true;
  OutOfRange out_of_range_ = OutOfRange::kNothing;
  bool non_negative_ = false;
  // 1000 destinations side by side, of which each is near the one before.
  std::function<void(int64_t, Spread*)> draw_ = [](int64_t, Spread* spread) {
    for (int64_t i = 0; i < 1000; ++i) spread->Add(i);
    spread->Finish(0, 0);
  };
};

// ---- Tasks -------------------------------------------------------------------------------------

TEST_F(ScheduleChoice, GivesEachTaskWorkEnough) {
  settings_.runner.workers = 8;
  const auto tasks = [this](double ns) { return TasksFor(machine(), ns); };
  EXPECT_EQ(tasks(0), 1);
  EXPECT_EQ(tasks(1999), 1);
  EXPECT_EQ(tasks(2000), 2);
  EXPECT_EQ(tasks(2999), 2);
  EXPECT_EQ(tasks(3000), 3);
  EXPECT_EQ(tasks(8000), 8);
  EXPECT_EQ(tasks(1e12), 8);
  settings_.runner.workers = 1;
  EXPECT_EQ(tasks(1e12), 1);
  settings_.runner.workers = 100000;
  EXPECT_EQ(tasks(1e12), strew::plan::kMostTasks);
}

TEST_F(ScheduleChoice, CountsPartsByTasks) {
  tuning_.parts_of_task = 3;
  EXPECT_EQ(PartsFor(machine(), 1), 1);
  EXPECT_EQ(PartsFor(machine(), 2), 6);
}

TEST_F(ScheduleChoice, EstimatesTimeByEntriesAndBytes) {
  tuning_.ns_of_byte = 0.5;
  // Each byte of updates is read and written: 2 * 4 * 0.5 = 4 ns for each update.
  EXPECT_DOUBLE_EQ(Of(ElementsSpace({50, 10}, {50, 7}, 1)).nanoseconds, 350 * (1 + 4));
  EXPECT_DOUBLE_EQ(Of(UpdateSpace({50, 10}, 7)).nanoseconds, 7 + 70 * 4);
  // Strided elements of a run are read and written one by one.
  IndexSpace strided = UpdateSpace({50, 10}, 7);
  strided.inner.loop[0].stride[strew::plan::kUpdates] = 2;
  tuning_.ns_of_strided_element = 3;
  EXPECT_DOUBLE_EQ(Of(strided).nanoseconds, 7 + 70 * 6);
  tuning_.ns_of_strided_element = 1;
  EXPECT_DOUBLE_EQ(Of(strided).nanoseconds, 7 + 70 * 4);
  // Pieces that are copied count too.
  in_place_ = false;
  tuning_.least_in_pieces = tuning_.piece_bytes = 0;
  const Schedule pieces = Of(ElementsSpace({50, 10}, {50, 7}, 1));
  EXPECT_TRUE(pieces.staging.copies_data);
  EXPECT_DOUBLE_EQ(pieces.nanoseconds, 350 * (1 + 4) + 500 * 4);
}

TEST_F(ScheduleChoice, IsAloneBelowTwoTasks) {
  settings_.runner.workers = 8;
  const auto of_entries = [this](int64_t entries) {
    return Of(ElementsSpace({200, 100}, {200, entries}, 1));
  };
  EXPECT_EQ(of_entries(9).share, Share::kAlone);
  EXPECT_EQ(of_entries(9).tasks, 1);
  EXPECT_EQ(of_entries(10).share, Share::kCut);
  EXPECT_EQ(of_entries(10).tasks, 2);
  EXPECT_EQ(of_entries(15).tasks, 3);
  EXPECT_EQ(of_entries(100).tasks, 8);
}

// ---- Cut or ranges -----------------------------------------------------------------------------

TEST_F(ScheduleChoice, CutsWhereMoreThanHalfOfTheTasksGetAPart) {
  ShareAmong(8);
  tuning_.worthwhile = kLong;
  const auto of_batches = [this](int64_t batches) {
    return Of(ElementsSpace({batches, 1000}, {batches, 1000}, 1));
  };
  EXPECT_EQ(of_batches(4).share, Share::kFilter);
  EXPECT_EQ(of_batches(5).share, Share::kCut);
  EXPECT_EQ(of_batches(5).cut.parts(), 5);
  EXPECT_EQ(of_batches(100).cut.parts(), 8);
  tuning_.parts_of_task = 4;
  EXPECT_EQ(of_batches(100).cut.parts(), 32);
}

TEST_F(ScheduleChoice, CutsColumnsByLines) {
  ShareAmong(2);
  tuning_.worthwhile = kLong;
  const auto of_columns = [this](int64_t columns) {
    return Of(ElementsSpace({100, columns}, {100, columns}, 0));
  };
  // A line has 16 elements of 4 bytes.
  EXPECT_EQ(of_columns(31).share, Share::kFilter);
  EXPECT_EQ(of_columns(32).share, Share::kCut);
  EXPECT_EQ(of_columns(32).cut.TurnsOf(1, 0).first, 16);
}

TEST_F(ScheduleChoice, CutsRunsIntoPiecesThatAreLongEnough) {
  ShareAmong(4);
  const auto of_run = [this](int64_t run) { return Of(UpdateSpace({100, run}, 50)); };
  tuning_.least_run_piece = 400;
  EXPECT_EQ(of_run(299).share, Share::kFilter);
  EXPECT_EQ(of_run(300).share, Share::kCut);
  EXPECT_EQ(of_run(300).cut.parts(), 3);
  EXPECT_EQ(of_run(10000).cut.parts(), 4);
  // No piece is less than a line.
  tuning_.least_run_piece = 4;
  EXPECT_EQ(of_run(47).share, Share::kFilter);
  EXPECT_EQ(of_run(48).cut.parts(), 3);
}

// ---- Filter, partition or one task -------------------------------------------------------------

// Two tasks for a line of entries, of which each writes half: alone costs 1, so that a filter costs
// 0.5 more than it costs each task, and a partition likewise.
class RangeChoice : public ScheduleChoice {
 protected:
  RangeChoice() {
    ShareAmong(2);
    tuning_.resolve_ns = 0;
    tuning_.write_ns = tuning_.heavy_write_ns = 1;
    tuning_.wait_ns = 0;
    tuning_.filter_ns = tuning_.filter_stream_ns = tuning_.filter_row_ns = tuning_.wake_ns = 0;
    tuning_.select_ns = kLong;
    tuning_.sort_ns = 0;
    tuning_.worthwhile = 0.75;
  }

  Share OfLine(int64_t entries = 1000) const {
    return Of(ElementsSpace({1000}, {entries}, 0)).share;
  }
};

TEST_F(RangeChoice, FiltersWhereThatIsWorthwhile) {
  tuning_.filter_ns = 0.25;
  EXPECT_EQ(OfLine(), Share::kFilter);
  tuning_.filter_ns = 0.26;
  EXPECT_EQ(OfLine(), Share::kAlone);
  tuning_.resolve_ns = 0.5;
  EXPECT_EQ(OfLine(), Share::kFilter);
}

TEST_F(RangeChoice, CountsTheTimeToWakeWorkers) {
  tuning_.wake_ns = 250;
  EXPECT_EQ(OfLine(1000), Share::kFilter);
  EXPECT_EQ(OfLine(999), Share::kAlone);
}

// 700 rows of 7 entries in rows of 8.
TEST_F(RangeChoice, CountsTheRowsOfAFilter) {
  const auto of_rows = [this](int64_t pitch) {
    IndexSpace space = ElementsSpace({1000, 7}, {700, 7}, 0);
    space.entries.loop[0].stride[strew::plan::kUpdates] = pitch;
    return Of(space).share;
  };
  tuning_.most_given_row = 6;
  tuning_.filter_packed_ns = 0;
  tuning_.filter_row_ns = 7 * 0.24;
  EXPECT_EQ(of_rows(8), Share::kFilter);
  tuning_.filter_row_ns = 7 * 0.26;
  EXPECT_EQ(of_rows(8), Share::kAlone);
  EXPECT_EQ(of_rows(7), Share::kFilter) << "one row";
  tuning_.most_given_row = 7;
  EXPECT_EQ(of_rows(8), Share::kFilter) << "packed";
  tuning_.filter_packed_ns = 0.26;
  EXPECT_EQ(of_rows(8), Share::kAlone);
}

TEST_F(RangeChoice, HasATaskForEachRange) {
  settings_.runner.workers = 100;
  const Schedule schedule = Of(ElementsSpace({1000}, {1000}, 0));
  EXPECT_EQ(schedule.share, Share::kFilter);
  EXPECT_EQ(schedule.tasks, schedule.ranges.count());
  EXPECT_EQ(schedule.tasks, 64);
  EXPECT_EQ(schedule.staging.scratch_bytes, 0);
}

TEST_F(RangeChoice, PartitionsWhereThatIsFaster) {
  tuning_.filter_ns = 0.25;
  tuning_.select_ns = 0.125;
  tuning_.sort_ns = 0.25;
  EXPECT_EQ(OfLine(), Share::kFilter) << "as fast";
  tuning_.sort_ns = 0.24;
  EXPECT_EQ(OfLine(), Share::kPartition);
  tuning_.sort_ns = 0.26;
  EXPECT_EQ(OfLine(), Share::kFilter);
  tuning_.filter_ns = 1;
  EXPECT_EQ(OfLine(), Share::kAlone);
  tuning_.sort_ns = 0.25;
  EXPECT_EQ(OfLine(), Share::kPartition);
}

TEST_F(RangeChoice, PartitionsSingleElementsOfOneLineWithScratch) {
  tuning_.filter_ns = 0.25;
  tuning_.select_ns = 0;
  EXPECT_EQ(OfLine(), Share::kPartition);
  EXPECT_EQ(Of(NdSpace({30, 30}, 1000, 2)).share, Share::kPartition);
  EXPECT_EQ(OfLine(2), Share::kPartition);
  settings_.runner.workers = 3;
  EXPECT_EQ(OfLine(3), Share::kPartition);
  EXPECT_NE(OfLine(2), Share::kPartition) << "more tasks than entries";
  settings_.runner.workers = 4;
  EXPECT_EQ(Of(ElementsSpace({2, 1000}, {2, 1000}, 1)).share, Share::kFilter) << "two lines";
  EXPECT_EQ(Of(ElementsSpace({1000, 24}, {1, 24}, 0)).share, Share::kFilter) << "columns of batch";
  EXPECT_EQ(Of(UpdateSpace({1000, 3}, 1000)).share, Share::kFilter) << "runs";
  has_scratch_ = false;
  EXPECT_EQ(OfLine(), Share::kFilter);
}

TEST_F(RangeChoice, FiltersRowsWhateverItCosts) {
  tuning_.filter_ns = kLong;
  EXPECT_EQ(OfLine(), Share::kAlone);
  EXPECT_EQ(Of(UpdateSpace({1000, 3}, 1000)).share, Share::kFilter);
}

TEST_F(RangeChoice, KnowsReductionsThatTakeLong) {
  tuning_.heavy_write_ns = 2;
  tuning_.filter_ns = 0.5;
  EXPECT_EQ(OfLine(), Share::kAlone);
  is_heavy_ = true;
  EXPECT_EQ(OfLine(), Share::kFilter);
}

TEST_F(RangeChoice, LeavesToOneTaskWhatLandsOnOneElement) {
  draw_ = [](int64_t, Spread* spread) {
    for (int64_t i = 0; i < 1000; ++i) spread->Add(500);
    spread->Finish(1, 0);
  };
  EXPECT_EQ(OfLine(), Share::kAlone);
}

// Waiting counts only where destinations are far: tasks wait at the same time.
TEST_F(RangeChoice, CountsTheTimeForWhichEntriesWait) {
  draw_ = [](int64_t, Spread* spread) {
    for (int64_t i = 0; i < 1000; ++i) spread->Add(i);
    spread->Finish(1, 0);
  };
  tuning_.filter_ns = 0.5;
  tuning_.wait_ns = 1.02;
  EXPECT_EQ(OfLine(), Share::kAlone) << "near";
  tuning_.cache_bytes = 1;
  EXPECT_EQ(OfLine(), Share::kFilter);
  tuning_.wait_ns = 0.9;
  EXPECT_EQ(OfLine(), Share::kAlone);
}

TEST_F(RangeChoice, CountsTheTimeForWhichAllEntriesComeFromMemory) {
  tuning_.filter_stream_ns = 1;
  tuning_.streamed_part = 0.5;
  // An index and an update have 12 bytes, and the cache holds those of 1000.
  tuning_.cache_bytes = 12 * 1000;
  tuning_.near_part = 1;
  EXPECT_EQ(OfLine(999), Share::kFilter);
  EXPECT_EQ(OfLine(1000), Share::kAlone);
}

// ---- Pieces ------------------------------------------------------------------------------------

class PieceChoice : public ScheduleChoice {
 protected:
  PieceChoice() {
    in_place_ = false;
    tuning_.least_in_pieces = 6 * 100;
    tuning_.piece_bytes = 300;
    tuning_.most_piece = 400;
  }

  // Rows of so many elements of 4 bytes.
  bool GoesInPieces(int64_t axis, int64_t batches = 6) const {
    return Of(ElementsSpace({batches, axis}, {batches, 3}, 1)).staging.copies_data;
  }
};

TEST_F(PieceChoice, CopiesLargeOutputsWhosePiecesStayNear) {
  EXPECT_FALSE(GoesInPieces(24));
  EXPECT_TRUE(GoesInPieces(25));
  EXPECT_TRUE(GoesInPieces(100));
  EXPECT_FALSE(GoesInPieces(101));
}

TEST_F(PieceChoice, CopiesWhatWouldBeStreamed) {
  tuning_.least_in_pieces = 1 << 20;
  tuning_.cache_bytes = 6 * 100;
  tuning_.streamed_part = 1;
  EXPECT_FALSE(GoesInPieces(24));
  EXPECT_TRUE(GoesInPieces(25));
}

TEST_F(PieceChoice, CopiesNothingInPlace) {
  EXPECT_FALSE(Of(ElementsSpace({6, 30}, {6, 3}, 1)).staging_in_place.copies_data);
  in_place_ = true;
  EXPECT_FALSE(GoesInPieces(30));
}

TEST_F(PieceChoice, NeedsUpdatesInManyLines) {
  tuning_.lines_of_touched_piece = 2;
  touched_lines_ = 6;  // of 12
  EXPECT_TRUE(GoesInPieces(32));
  touched_lines_ = 5;
  EXPECT_FALSE(GoesInPieces(32));
}

TEST_F(PieceChoice, NeedsAllOfASpanAndSeveralPieces) {
  EXPECT_FALSE(GoesInPieces(100, 1)) << "one piece";
  EXPECT_FALSE(Of(UpdateSpace({30, 6}, 10)).staging.copies_data) << "no loop around the axis";
  EntryLoops some(ElementsSpace({6, 30}, {5, 3}, 1), {});
  Circumstances about = About(some);
  about.spanned_units = 6 * 30;
  const Sampler nobody = {nullptr, nullptr};
  EXPECT_FALSE(MakeSchedule(some, about, nobody).staging.copies_data);
  about.spanned_units = 5 * 30;
  EXPECT_TRUE(MakeSchedule(some, about, nobody).staging.copies_data);
}

TEST_F(PieceChoice, NeedsKnownStridesOfData) {
  IndexSpace slices;  // [6, 10, 3] at 4 indices of axis 1
  slices.component[slices.components++] = {1, 10, 3, 3, 0};
  slices.entries.Append(4, 0, 3, 1, 0);
  slices.inner.Append(6, 30, 12);
  slices.inner.Append(3, 1, 1);
  IndexSpace lines;  // [6, 30] at 3000 indices of axis 1: rows become batches
  lines.component[lines.components++] = {1, 30, 1, 1, 0};
  lines.entries.Append(3000, 0, 1, 1, 0);
  lines.inner.Append(6, 30, 3000);
  EXPECT_TRUE(Of(slices).staging.copies_data);
  EXPECT_TRUE(Of(lines).staging.copies_data);
  data_is_alike_ = false;
  EXPECT_FALSE(Of(slices).staging.copies_data);
  EXPECT_FALSE(Of(lines).staging.copies_data);
  EXPECT_TRUE(GoesInPieces(30)) << "loops of batches know them";
}

TEST_F(PieceChoice, CopiesNothingForDroppedEntriesOrTuples) {
  EXPECT_FALSE(Of(NdSpace({30, 6}, 10, 2)).staging.copies_data);
  out_of_range_ = OutOfRange::kClamp;
  EXPECT_TRUE(GoesInPieces(30));
  out_of_range_ = OutOfRange::kDrop;
  EXPECT_FALSE(GoesInPieces(30));
}

// ---- Strips ------------------------------------------------------------------------------------

// 64 bytes, a line of cache, are 16 columns of 4 bytes.
class StripChoice : public ScheduleChoice {
 protected:
  StripChoice() {
    tuning_.near_strip = 0;
    tuning_.near_row = 0;
    tuning_.strip_bytes = 128;
    tuning_.least_strip = 0;
  }

  Schedule OfColumns(int64_t axis, int64_t entries, int64_t columns) const {
    return Of(ElementsSpace({axis, columns}, {entries, columns}, 0));
  }
  int64_t Strip(int64_t axis, int64_t entries, int64_t columns) const {
    return OfColumns(axis, entries, columns).staging.strip;
  }
};

TEST_F(StripChoice, HasStripsOfTheBytesOfTheTuning) {
  const Schedule schedule = OfColumns(100, 100, 200);
  EXPECT_EQ(schedule.staging.strip, 32);
  EXPECT_EQ(schedule.staging.scratch_bytes, 32 * 100 * 4);
  EXPECT_FALSE(schedule.staging.copies_data);
  tuning_.strip_bytes = 384;
  EXPECT_EQ(Strip(100, 100, 200), 96);
  in_place_ = false;
  EXPECT_TRUE(OfColumns(100, 100, 200).staging.copies_data);
  EXPECT_FALSE(OfColumns(100, 100, 200).staging_in_place.copies_data);
  EXPECT_EQ(OfColumns(100, 100, 200).staging_in_place.strip, 96);
}

TEST_F(StripChoice, HasStripsOfWholeLinesThatFitScratch) {
  // An axis of 2^15 elements of 4 bytes fits 2 MiB 16 times.
  EXPECT_EQ(Strip(1 << 15, 1 << 15, 208), 16);
  EXPECT_EQ(Strip((1 << 15) + 1, 1 << 15, 208), 0);
  EXPECT_EQ(Strip(1 << 14, 1 << 14, 208), 32);
  EXPECT_EQ(Strip((1 << 14) + 1, 1 << 14, 208), 16);
}

TEST_F(StripChoice, HasNoStripsOfFewBytes) {
  tuning_.least_strip = 64;
  EXPECT_EQ(Strip(1 << 15, 1 << 15, 208), 16);
  EXPECT_EQ(Strip(100, 100, 16), 16);
  EXPECT_EQ(Strip(100, 100, 15), 0);
  tuning_.least_strip = 65;
  EXPECT_EQ(Strip(1 << 15, 1 << 15, 208), 0);
  EXPECT_EQ(Strip(100, 100, 17), 17);
  EXPECT_EQ(Strip(100, 100, 16), 0);
}

// Rows of 804 bytes: strips of less than the bytes of the tuning would move most lines twice.
TEST_F(StripChoice, HasNoShortStripsThatShareLines) {
  EXPECT_EQ(Strip(1 << 14, 1 << 14, 201), 32);
  EXPECT_EQ(Strip((1 << 14) + 1, 1 << 14, 201), 0);
  EXPECT_EQ(Strip((1 << 14) + 1, 1 << 14, 16), 16);
}

TEST_F(StripChoice, HasSmallerStripsForMoreTasks) {
  EXPECT_EQ(MostScratch(1), 2 << 20);
  EXPECT_EQ(MostScratch(2), (1 << 20) + (64 << 10));
  ShareAmong(2);
  const int64_t axis = MostScratch(2) / 4 / 16;
  EXPECT_EQ(Strip(axis, axis, 208), 16);
  EXPECT_EQ(OfColumns(axis, axis, 208).share, Share::kCut);
  EXPECT_EQ(Strip(axis + 1, axis, 208), 0);
}

TEST_F(StripChoice, NeedsNoStripWhereTheAxisIsNear) {
  // As many of 200 columns as are gone through together take 400 bytes of each row.
  tuning_.batch_columns = 100;
  tuning_.near_strip = 100 * 400;
  EXPECT_EQ(Strip(100, 100, 200), 0);
  EXPECT_EQ(Strip(101, 100, 200), 32);
  tuning_.near_strip = 100 * 400 - 1;
  EXPECT_EQ(Strip(100, 100, 200), 32);
}

// Rows that are a multiple of 4096 bytes apart fall into the same sets of the cache.
TEST_F(StripChoice, NeedsStripsWhereRowsShareSets) {
  tuning_.near_strip = 1 << 20;
  EXPECT_EQ(Strip(8, 8, 1024), 0);
  EXPECT_EQ(Strip(9, 9, 1024), 32);
  EXPECT_EQ(Strip(16, 16, 512), 0);
  EXPECT_EQ(Strip(17, 17, 512), 32);
  EXPECT_EQ(Strip(100, 100, 1025), 0);
}

// 3 of 4 columns of 4 bytes: elements of the axis are 16 bytes apart, not a line each.
TEST_F(StripChoice, CountsLinesOnceThatElementsOfTheAxisShare) {
  const IndexSpace space = ElementsSpace({100, 4}, {100, 3}, 0);
  tuning_.near_strip = 100 * 16;
  EXPECT_EQ(Of(space).staging.strip, 0);
  tuning_.near_strip = 100 * 16 - 1;
  EXPECT_EQ(Of(space).staging.strip, 3);
}

TEST_F(StripChoice, NeedsNoStripForShortRows) {
  tuning_.near_row = 132;
  EXPECT_EQ(Strip(1000, 1000, 33), 0);
  EXPECT_EQ(Strip(1000, 1000, 34), 32);
}

TEST_F(StripChoice, IsNotForSmallCalls) {
  EXPECT_EQ(Strip(2, 1, 64), 0);
  EXPECT_EQ(Strip(2, 1, 65), 32);
}

TEST_F(StripChoice, IsWorthwhileInPlaceForHalfOfTheAxis) {
  EXPECT_EQ(Strip(100, 49, 200), 0);
  EXPECT_EQ(Strip(100, 50, 200), 32);
}

TEST_F(StripChoice, IsWorthwhileForNewOutputsThatLeaveTheCaches) {
  in_place_ = false;
  tuning_.streamed_part = 0.5;
  tuning_.cache_bytes = 2 * 100 * 200 * 4;
  EXPECT_EQ(Strip(100, 2, 200), 32);
  EXPECT_EQ(OfColumns(100, 2, 200).staging_in_place.strip, 0);
  tuning_.cache_bytes += 2 * 4;
  EXPECT_EQ(Strip(100, 49, 200), 0);
  EXPECT_EQ(Strip(100, 50, 200), 32);
}

TEST_F(StripChoice, NeedsScratchAndDropsNothing) {
  out_of_range_ = OutOfRange::kDrop;
  EXPECT_EQ(Strip(100, 100, 200), 0);
  out_of_range_ = OutOfRange::kClamp;
  EXPECT_EQ(Strip(100, 100, 200), 32);
  has_scratch_ = false;
  EXPECT_EQ(Strip(100, 100, 200), 0);
}

TEST_F(StripChoice, IsCutStripByStripWhereThereAreEnough) {
  ShareAmong(4);
  EXPECT_EQ(OfColumns(100, 100, 4 * 32).cut.parts(), 4);
  EXPECT_EQ(OfColumns(100, 100, 9 * 32).cut.parts(), 9);
  EXPECT_EQ(OfColumns(100, 100, 9 * 32).cut.TurnsOf(1, 0).count, 32);
  // Fewer strips than tasks: lines of cache, as many parts as are wanted.
  tuning_.parts_of_task = 2;
  EXPECT_EQ(OfColumns(100, 100, 4 * 32).cut.parts(), 4);
  EXPECT_EQ(OfColumns(100, 100, 4 * 32 - 1).cut.parts(), 7);
  tuning_.parts_of_task = 1;
  EXPECT_EQ(OfColumns(100, 100, 4 * 32 - 1).cut.parts(), 4);
  EXPECT_EQ(OfColumns(100, 100, 4 * 32 - 1).cut.TurnsOf(1, 0).first, 32);
  EXPECT_EQ(OfColumns(100, 100, 3 * 32).cut.TurnsOf(1, 0).count, 32);
  EXPECT_EQ(OfColumns(100, 100, 3 * 32).cut.TurnsOf(3, 0).count, 16);
}

// ---- Memory ------------------------------------------------------------------------------------

class HintChoice : public ScheduleChoice {
 protected:
  HintChoice() {
    tuning_.cache_bytes = 1 << 20;
    tuning_.near_part = 4;
    tuning_.streamed_part = 0.5;
    tuning_.streamed_part_of_tasks = 0.75;
    tuning_.element_prefetch = 100;
    tuning_.row_prefetch_bytes = 1000;
    tuning_.least_streamed_row = 64;
  }

  MemoryHints OfRows(int64_t rows, int64_t row) const {
    return Of(UpdateSpace({rows, row}, 10)).hints;
  }
};

TEST_F(HintChoice, KnowsPartsOfTheCache) {
  EXPECT_EQ(NearBytes(machine()), 256 << 10);
  EXPECT_EQ(StreamedBytes(machine(), 1), 512 << 10);
  EXPECT_EQ(StreamedBytes(machine(), 2), 768 << 10);
}

TEST_F(HintChoice, PrefetchesWhatIsFar) {
  // The last of 2^16 + 1 elements lies 2^16 behind the first.
  const auto of_size = [this](int64_t size) {
    return Of(ElementsSpace({size}, {10}, 0)).hints.prefetch;
  };
  EXPECT_EQ(of_size((1 << 16) + 1), 0);
  EXPECT_EQ(of_size((1 << 16) + 2), 100);
}

TEST_F(HintChoice, StreamsIdentitiesInLongRowsOnly) {
  tuning_.least_streamed_identities = 800;
  updates_ = int64_t{1} << 30;
  EXPECT_FALSE(OfRows(1 << 10, 199).streams);
  EXPECT_TRUE(OfRows(1 << 10, 200).streams);
  moves_ = true;
  EXPECT_TRUE(OfRows(1 << 10, 199).streams);
}

TEST_F(HintChoice, StreamsPartsOfLinesInLongRowsOnly) {
  moves_ = true;
  tuning_.least_streamed_row = 400;
  tuning_.least_streamed_row_of_parts = 800;
  updates_ = int64_t{1} << 30;
  const auto streams = [this](int64_t row) { return OfRows(1 << 10, row).streams; };
  EXPECT_FALSE(streams(99));
  EXPECT_TRUE(streams(100));
  has_lines_ = false;
  EXPECT_FALSE(streams(199));
  EXPECT_TRUE(streams(200));
  streams_parts_ = true;
  EXPECT_FALSE(streams(99));
  EXPECT_TRUE(streams(100));
}

TEST_F(HintChoice, PrefetchesElementsThatAreReplacedWithinBounds) {
  moves_ = true;
  tuning_.least_fetched_moves = 400;
  tuning_.most_fetched_moves = 800;
  const auto of_size = [this](int64_t size) {
    return Of(ElementsSpace({size}, {10}, 0)).hints.prefetch;
  };
  // The last of 101 elements of 4 bytes lies 400 bytes behind the first.
  EXPECT_EQ(of_size(101), 0);
  EXPECT_EQ(of_size(102), 100);
  EXPECT_EQ(of_size(201), 100);
  EXPECT_EQ(of_size(202), 0);
  EXPECT_EQ(of_size((1 << 16) + 2), 100) << "far";
  IndexSpace with_inner_turns = ElementsSpace({102}, {10}, 0);
  with_inner_turns.inner.Append(3, 1000, 1);
  EXPECT_EQ(Of(with_inner_turns).hints.prefetch, 0) << "these are walked together";
  waits_for_stores_ = true;
  tuning_.least_fetched_moves_that_wait = 200;
  EXPECT_EQ(of_size(51), 0);
  EXPECT_EQ(of_size(52), 100);
  moves_ = false;
  EXPECT_EQ(of_size(102), 0) << "combined";
}

TEST_F(HintChoice, PrefetchesFewerReadsOnCpusThatWaitForStores) {
  tuning_.near_reads = 200;
  tuning_.near_reads_that_wait = 100;
  EXPECT_EQ(NearReads(machine()), 200);
  waits_for_stores_ = true;
  EXPECT_EQ(NearReads(machine()), 100);
}

TEST_F(HintChoice, FetchesAllOnCpusThatWaitForStores) {
  tuning_.unfetched_step = 7;
  const IndexSpace rows = ElementsSpace({5, 30}, {5, 20}, 1);
  EXPECT_EQ(Of(rows).hints.unfetched_step, 7);
  waits_for_stores_ = true;
  EXPECT_EQ(Of(rows).hints.unfetched_step, 0);
}

TEST_F(HintChoice, TakesTheStoresOfTheCpuFromTheTuning) {
  for (const int64_t is_so : {0, 1}) {
    tuning_.streams_parts = is_so;
    tuning_.waits_for_stores = 1 - is_so;
    const Machine machine{Call(settings_, nullptr)};
    EXPECT_EQ(machine.streams_parts, is_so == 1);
    EXPECT_EQ(machine.waits_for_stores, is_so == 0);
  }
}

TEST_F(HintChoice, CountsOnAPartOfALargeCache) {
  tuning_.most_cache = 16000;
  EXPECT_EQ(machine().shared_cache_bytes, 1 << 20);
  EXPECT_EQ(machine().cache_bytes, 16000);
  EXPECT_EQ(OfRows(40, 25).prefetch, 0);
  EXPECT_EQ(OfRows(42, 25).prefetch, 10);
  EXPECT_EQ(StreamedBytes(machine(), 1), 8000);
  EXPECT_EQ(StreamedBytesBeforeUpdates(machine(), 1), 512 << 10);
  tuning_.most_cache = 2 << 20;
  EXPECT_EQ(machine().cache_bytes, 1 << 20);
}

TEST_F(HintChoice, PrefetchesRowsByTheirBytes) {
  EXPECT_EQ(OfRows(2, 25).prefetch, 0);
  EXPECT_EQ(OfRows(1 << 16, 25).prefetch, 1000 / 100);
  EXPECT_EQ(RowPrefetch(tuning_, 20), 50);
  EXPECT_EQ(RowPrefetch(tuning_, 19), 50) << "half as far as elements at most";
  EXPECT_EQ(RowPrefetch(tuning_, 21), 47);
  EXPECT_EQ(RowPrefetch(tuning_, 333), 3);
  EXPECT_EQ(RowPrefetch(tuning_, 334), 2);
  EXPECT_EQ(RowPrefetch(tuning_, 5000), 2) << "two at least";
}

TEST_F(HintChoice, PrefetchesRowsOfUpdatesThatAreFar) {
  tuning_.far_updates_part = 0.5;
  tuning_.least_row_read_ahead = 100;
  tuning_.row_read_ahead = 1000;
  const auto ahead = [this](int64_t row, int64_t updates) {
    return Of(UpdateSpace({30, row}, updates)).hints.row_read_ahead;
  };
  EXPECT_EQ(ahead(32, (1 << 12) - 1), 0) << "in the caches";
  EXPECT_EQ(ahead(32, 1 << 12), 1000 / 128);
  EXPECT_EQ(ahead(25, 1 << 13), 10);
  EXPECT_EQ(ahead(24, 1 << 13), 0) << "too short";
  EXPECT_EQ(ahead(250, 1 << 13), 1);
  EXPECT_EQ(ahead(251, 1 << 13), 0) << "left to the hardware";
}

TEST_F(HintChoice, TakesRowsOfIndicesThatAreNotNegativeAsOffsets) {
  const auto takes = [this](const IndexSpace& space) {
    return Of(space).hints.indices_are_offsets;
  };
  const IndexSpace rows = ElementsSpace({5, 30}, {5, 20}, 1);
  EXPECT_FALSE(takes(rows)) << "some may be negative";
  non_negative_ = true;
  EXPECT_TRUE(takes(rows));
  EXPECT_TRUE(takes(ElementsSpace({30}, {20}, 0)));
  EXPECT_FALSE(takes(ElementsSpace({30, 5}, {20, 5}, 0))) << "the axis is not the last one";
  EXPECT_FALSE(takes(UpdateSpace({30, 5}, 20))) << "entries are runs";
  tuning_.least_unresolved_row = 21;
  EXPECT_FALSE(takes(rows));
  tuning_.least_unresolved_row = 20;
  EXPECT_TRUE(takes(rows));
}

TEST_F(HintChoice, KeepsFarRowsOfIndicesThatAreOffsets) {
  non_negative_ = true;
  tuning_.near_part = 1;
  tuning_.least_kept_row = 80;
  const auto keeps = [this](int64_t columns) {
    const int64_t rows = 100000 / columns;
    return Of(ElementsSpace({rows, 30}, {rows, columns}, 1)).hints.keeps_rows;
  };
  tuning_.cache_bytes = 1 << 30;
  EXPECT_FALSE(keeps(20)) << "near";
  tuning_.cache_bytes = 1 << 10;
  EXPECT_TRUE(keeps(20));
  EXPECT_FALSE(keeps(19)) << "too short";
  non_negative_ = false;
  EXPECT_FALSE(keeps(20));
}

TEST_F(HintChoice, CombinesRowsOfShortAxesInVectors) {
  tuning_.least_vector_row = 20;
  fits_vector_ = non_negative_ = true;
  const auto of = [this](int64_t columns) {
    return Of(ElementsSpace({50, 6}, {50, columns}, 1)).hints;
  };
  EXPECT_TRUE(of(20).combines_in_vectors);
  EXPECT_TRUE(of(20).keeps_rows);
  EXPECT_FALSE(of(19).combines_in_vectors);
  EXPECT_FALSE(of(19).keeps_rows);
  fits_vector_ = false;
  EXPECT_FALSE(of(20).combines_in_vectors);
  fits_vector_ = true;
  non_negative_ = false;
  EXPECT_FALSE(of(20).combines_in_vectors) << "indices are no offsets";
}

TEST_F(HintChoice, KeepsFarRowsInLargeTiles) {
  non_negative_ = true;
  tuning_.near_part = 1;
  tuning_.cache_bytes = 1 << 10;
  tuning_.least_kept_tile = 80 * 5;
  const auto keeps = [this](int64_t rows) {
    return Of(ElementsSpace({1000, rows + 1, 30}, {1000, rows, 20}, 2)).hints.keeps_rows;
  };
  EXPECT_TRUE(keeps(5));
  EXPECT_FALSE(keeps(4)) << "too few in a tile";
}

TEST_F(HintChoice, TakesIndicesAsWideAsOffsets) {
  non_negative_ = true;
  const auto takes = [this](int64_t index_size, int64_t axis) {
    index_size_ = index_size;
    return Of(ElementsSpace({axis}, {20}, 0)).hints.indices_are_offsets;
  };
  constexpr int64_t kMost = int64_t{1} << 31;
  EXPECT_FALSE(takes(1, 100));
  EXPECT_FALSE(takes(2, 100));
  EXPECT_TRUE(takes(4, kMost));
  EXPECT_FALSE(takes(4, kMost + 1)) << "unsigned ones lie beyond offsets of 32 bits";
  EXPECT_TRUE(takes(8, kMost + 1));
}

TEST_F(HintChoice, PrefetchesStripsForReductionsThatTakeLong) {
  EXPECT_EQ(OfRows(2, 25).strip_prefetch, 0);
  is_heavy_ = true;
  EXPECT_EQ(OfRows(2, 25).strip_prefetch, tuning_.strip_prefetch);
}

TEST_F(HintChoice, StreamsManyUpdatesOfLongRows) {
  moves_ = true;
  updates_ = 1 << 17;  // of 4 bytes: half of the cache
  EXPECT_FALSE(OfRows(1000, 15).streams);
  EXPECT_TRUE(OfRows(1000, 16).streams);
  updates_ = (1 << 17) - 1;
  EXPECT_FALSE(OfRows(1000, 16).streams);
}

TEST_F(HintChoice, StreamsStripsOfLargeOutputs) {
  const auto of_columns = [this](int64_t columns) {
    return Of(ElementsSpace({512, columns}, {10, columns}, 0)).hints.strips_stream;
  };
  EXPECT_FALSE(of_columns(255));
  EXPECT_TRUE(of_columns(256));
}

// ---- What has no entries -----------------------------------------------------------------------

TEST_F(HintChoice, StreamsLargeBoxes) {
  constexpr int64_t kHalf = 512 << 10;
  EXPECT_FALSE(MakeBoxSchedule(machine(), kHalf - 1, 1).streams);
  EXPECT_TRUE(MakeBoxSchedule(machine(), kHalf, 1).streams);
  ShareAmong(2);
  EXPECT_EQ(MakeBoxSchedule(machine(), kHalf, kHalf).tasks, 2);
  EXPECT_FALSE(MakeBoxSchedule(machine(), kHalf + kHalf / 2 - 1, kHalf).streams);
  EXPECT_TRUE(MakeBoxSchedule(machine(), kHalf + kHalf / 2, kHalf).streams);
}

// Updates return to the others, so these stay in a large cache.
TEST_F(HintChoice, StreamsCopiesOfWhichFewLinesAreTouched) {
  constexpr int64_t kBytes = 640 << 10, kLine = 64;
  tuning_.cache_bytes = 4 * kBytes;
  tuning_.most_cache = 2 * kBytes;
  tuning_.lines_of_touched = 10;
  EXPECT_TRUE(MakeCopySchedule(machine(), kBytes, 0, {kBytes / kLine / 10}).streams);
  EXPECT_FALSE(MakeCopySchedule(machine(), kBytes, 0, {kBytes / kLine / 10 + 1}).streams);
  EXPECT_FALSE(MakeCopySchedule(machine(), kBytes - 1, 0, {0}).streams);
  EXPECT_FALSE(MakeCopySchedule(machine(), 2 * kBytes - 1, 0, {kHuge}).streams);
  EXPECT_TRUE(MakeCopySchedule(machine(), 2 * kBytes, 0, {kHuge}).streams);
}

TEST_F(HintChoice, KeepsCopiesWhoseElementsAreOftenUpdated) {
  constexpr int64_t kBytes = 640 << 10, kLines = kBytes / 64;
  tuning_.cache_bytes = tuning_.most_cache = 2 * kBytes;
  tuning_.streamed_part = 0.25;
  tuning_.streamed_part_of_elements = 0.5;
  tuning_.lines_of_touched_element = 8;
  const auto streams = [&](int64_t bytes, int64_t lines, bool are_elements) {
    return MakeCopySchedule(machine(), bytes, 0, {lines, 1, are_elements}).streams;
  };
  EXPECT_TRUE(streams(kBytes, kLines / 4, true));
  EXPECT_FALSE(streams(kBytes - 1, kLines / 4, true));
  EXPECT_TRUE(streams(kBytes - 1, kLines / 4, false));
  EXPECT_TRUE(streams(kBytes - 1, kLines / 8 - 1, true));
}

TEST_F(ScheduleChoice, SharesBoxesByTheirTime) {
  settings_.runner.workers = 4;
  tuning_.parts_of_task = 3;
  EXPECT_EQ(MakeBoxSchedule(machine(), 1, 1999).tasks, 1);
  EXPECT_EQ(MakeBoxSchedule(machine(), 1, 1999).parts, 1);
  EXPECT_EQ(MakeBoxSchedule(machine(), 1, 2000).tasks, 2);
  EXPECT_EQ(MakeBoxSchedule(machine(), 1, 2000).parts, 6);
  EXPECT_DOUBLE_EQ(MakeBoxSchedule(machine(), 1, 2000).nanoseconds, 2000);
}

TEST_F(ScheduleChoice, CountsRunsAndGapsOfBoxes) {
  tuning_.ns_of_byte = 0.5;
  tuning_.ns_of_run = 10;
  tuning_.ns_of_strided_element = 3;
  using Nest = strew::plan::LoopNest<2>;
  const auto time_of = [&](const Nest& nest) { return TimeOfBox(tuning_, nest, 4); };
  Nest whole;
  whole.Append(1000, 1, 1);
  EXPECT_DOUBLE_EQ(time_of(whole), 10 + 2000);
  Nest runs;  // 4 bytes beside each run of the output, and more than a cache line beside updates
  runs.Append(50, 6, 100);
  runs.Append(5, 1, 1);
  EXPECT_DOUBLE_EQ(time_of(runs), 50 * (10 + 0.5 * (20 + (4 + 64) / 2)));
  Nest repeated;
  repeated.Append(50, 5, 0);
  repeated.Append(5, 1, 0);
  EXPECT_DOUBLE_EQ(time_of(repeated), 50 * (10 + 0.5 * 20));
  Nest near, far;
  near.Append(1000, 2, 1);
  EXPECT_DOUBLE_EQ(time_of(near), 1000 * 3);
  far.Append(1000, 1, -5);
  EXPECT_DOUBLE_EQ(time_of(far), 1000 * 0.5 * (4 + 20) / 2);
}

TEST_F(ScheduleChoice, ChecksIndicesInPartsByBytesAndTasks) {
  settings_.runner.workers = 4;
  tuning_.ns_of_byte = 0.5;
  tuning_.checked_part = 800;
  tuning_.parts_of_task = 3;
  EXPECT_EQ(MakeCheckSchedule(machine(), 499, 8, /*are_line=*/false).tasks, 1);
  EXPECT_EQ(MakeCheckSchedule(machine(), 500, 8, /*are_line=*/false).tasks, 2);
  EXPECT_EQ(MakeCheckSchedule(machine(), 199, 8, /*are_line=*/false).parts, 1);
  EXPECT_EQ(MakeCheckSchedule(machine(), 200, 8, /*are_line=*/false).parts, 2);
  EXPECT_EQ(MakeCheckSchedule(machine(), 500, 8, /*are_line=*/false).parts, 6);
  EXPECT_EQ(MakeCheckSchedule(machine(), 5000, 8, /*are_line=*/false).parts, 50);
  EXPECT_EQ(MakeCheckSchedule(machine(), 0, 8, /*are_line=*/false).parts, 1);
}

// Their workers are awake, or will be needed.
TEST_F(ScheduleChoice, SharesLessWorkBesideOtherTasks) {
  settings_.runner.workers = 8;
  tuning_.ns_of_byte = 0.5;
  tuning_.ns_of_entry = 0;
  tuning_.least_joint_task_ns = 100;
  const auto tasks_of_copy = [this](int64_t bytes, int64_t others) {
    const double ns = 0.5 * static_cast<double>(bytes);
    return MakeCopySchedule(machine(), bytes, ns, {0, others}).tasks;
  };
  EXPECT_EQ(tasks_of_copy(399, 8), 1);
  EXPECT_EQ(tasks_of_copy(600, 8), 3);
  EXPECT_EQ(tasks_of_copy(600, 2), 2);
  EXPECT_EQ(tasks_of_copy(600, 1), 1);
  EXPECT_EQ(tasks_of_copy(6000, 1), 3) << "enough by itself";
  const auto tasks_of_check = [this](int64_t indices) {
    return MakeCheckSchedule(machine(), indices, 8, /*are_line=*/false).tasks;
  };
  EXPECT_EQ(tasks_of_check(100), 1);
  tuning_.ns_of_entry = 16;
  EXPECT_EQ(tasks_of_check(99), 1);
  EXPECT_EQ(tasks_of_check(100), 2);
  EXPECT_EQ(tasks_of_check(200), 4);
  tuning_.least_joint_task_ns = 500;
  EXPECT_EQ(tasks_of_check(200), 1);
}

// The entries of a line are shared only if it pays to sort them.
TEST_F(ScheduleChoice, ChecksALineAloneUnlessItsEntriesAreShared) {
  settings_.runner.workers = 4;
  tuning_.ns_of_byte = 0.5;
  tuning_.least_joint_task_ns = 100;
  tuning_.resolve_ns = tuning_.write_ns = 0.5;
  tuning_.select_ns = 0.25;
  tuning_.sort_ns = 1;
  const auto tasks_of_check = [this](int64_t indices, bool are_line) {
    return MakeCheckSchedule(machine(), indices, 8, are_line).tasks;
  };
  tuning_.worthwhile = 0.75;  // of the time of one: 0.25 + (1 + 1) / 4
  tuning_.ns_of_entry = 4;
  EXPECT_EQ(tasks_of_check(300, true), 1) << "two tasks do not pay";
  EXPECT_EQ(tasks_of_check(300, false), 2);
  tuning_.ns_of_entry = 100;
  EXPECT_EQ(tasks_of_check(300, true), 4) << "four tasks pay";
  tuning_.worthwhile = 0.74;
  EXPECT_EQ(tasks_of_check(300, true), 1);
  EXPECT_EQ(tasks_of_check(300, false), 4);
  EXPECT_EQ(tasks_of_check(500, true), 2) << "enough by itself";
}

TEST(IsFew, KnowsFewIndicesAndUpdates) {
  Tuning tuning;
  tuning.few_indices = 10;
  tuning.few_updates = 20;
  tuning.most_few_updates = 100;
  tuning.most_few_bytes = 800;
  EXPECT_FALSE(IsFew(tuning, 0, 0, 4));
  EXPECT_TRUE(IsFew(tuning, 10, 20, 1000));
  EXPECT_FALSE(IsFew(tuning, 11, 11, 4));
  // More updates than indices: as many as are few in bytes too.
  EXPECT_TRUE(IsFew(tuning, 10, 100, 8));
  EXPECT_FALSE(IsFew(tuning, 10, 101, 4));
  EXPECT_FALSE(IsFew(tuning, 10, 100, 9));
  EXPECT_FALSE(IsFew(tuning, 10, 21, 800));
  // Tuples of no numbers: there may be any number of entries.
  EXPECT_TRUE(IsFew(tuning, 0, 20, 4));
  EXPECT_FALSE(IsFew(tuning, 0, 21, 4));
}

TEST(IsFew, HasRoomForNoMore) {
  Tuning tuning;
  tuning.few_indices = tuning.few_updates = kHuge;
  tuning.most_few_updates = 100;
  EXPECT_TRUE(IsFew(tuning, 64, 64, 1));
  EXPECT_FALSE(IsFew(tuning, 65, 65, 1));
  EXPECT_FALSE(IsFew(tuning, 0, 65, 1));
  EXPECT_TRUE(IsFew(tuning, 64, 65, 1));
}

}  // namespace
}  // namespace strew_test
