// SPDX-License-Identifier: Apache-2.0
//
// Every alternative of a schedule, forced by a tuning of the call's own, in random calls against
// the oracle. What the call explains must show that the alternative was taken often, or never.
// STREW_SEED=<seed> STREW_CASES=1 runs one call of each alternative alone.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "reference/random_case.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

using strew::plan::Tuning;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 4;
constexpr double kNoTime = 1e-6;
constexpr double kLong = 1e9;

// A field of the tuning, and what it is instead.
struct Change {
  Change(int64_t Tuning::*field, int64_t value)
      : apply([=](Tuning* tuning) { tuning->*field = value; }) {}
  Change(double Tuning::*field, double value)
      : apply([=](Tuning* tuning) { tuning->*field = value; }) {}

  std::function<void(Tuning*)> apply;
};
using Changes = std::vector<Change>;

Changes operator+(Changes some, const Changes& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

// kOnOneAxis: those of scatter_elements.
enum class Calls { kAny, kOnOneAxis, kMeans, kSlices };

struct Forced {
  const char* name;
  Changes changes;
  std::vector<int32_t> workers;
  const char* sentence;  // what an explanation says where the alternative was taken
  int64_t least;         // of 100 calls; kNever for none at all
  Calls calls = Calls::kAny;
  bool has_scratch = true;

  Tuning tuning() const {
    Tuning tuning;
    for (const Change& change : changes) change.apply(&tuning);
    return tuning;
  }
};

constexpr int64_t kNever = 0;

void PrintTo(const Forced& forced, std::ostream* out) { *out << forced.name; }

// ---- The alternatives --------------------------------------------------------------------------

using T = Tuning;

std::vector<Forced> FewOrNot() {
  const Changes always = {{&T::few_indices, 64},
                          {&T::few_updates, 64},
                          {&T::most_few_updates, kHuge},
                          {&T::most_few_bytes, kHuge}};
  return {{"Few", always, {1, 3}, "applied one by one", 4},
          {"FewNever", {{&T::few_indices, -1}}, {1, 3}, "one by one", kNever}};
}

// Whatever a call has to do is worth tasks, and no call is few.
const Changes& InTasks() {
  static const Changes changes = {{&T::least_task_ns, kNoTime}, {&T::few_indices, -1}};
  return changes;
}

std::vector<Forced> Tasks() {
  const Changes one = {{&T::parts_of_task, 1}};
  const Changes pieces = {{&T::least_run_piece, 1}, {&T::parts_of_task, 16}};
  const Changes parts = {{&T::checked_part, 8}};
  return {{"TasksNever", {{&T::least_task_ns, kLong}}, {8}, "get a task", kNever},
          {"Cut", InTasks(), {2, 3, 8}, "are cut into", 8},
          {"CutIntoOnePartEach", InTasks() + one, {8}, "are cut into", 7},
          {"CutIntoPiecesOfRuns", InTasks() + pieces, {2, 5}, "are cut into", 10},
          {"CheckInParts", InTasks() + parts, {1, 3}, "checked before anything is written", 25}};
}

std::vector<Forced> Ranges() {
  const Changes alone = InTasks() + Changes{{&T::worthwhile, 0.0}};
  const Changes shared = InTasks() + Changes{{&T::worthwhile, kLong}};
  const Changes filter = shared + Changes{{&T::filter_ns, 0.0}, {&T::select_ns, kLong}};
  const Changes partition =
      shared + Changes{{&T::filter_ns, kLong}, {&T::select_ns, 0.0}, {&T::sort_ns, 0.0}};
  const Changes far = {{&T::cache_bytes, 1}, {&T::element_prefetch, 192}};
  return {{"FilterOrPartitionNever", alone, {3}, "partition", kNever},
          {"Filter", filter, {2, 3, 8}, "(filter)", 12},
          {"FilterOfFarDestinations", filter + far, {2, 64}, "(filter)", 12},
          {"Partition", partition, {2, 3, 8}, "(partition)", 3},
          {"PartitionOfFarDestinations", partition + far, {64, 1000}, "(partition)", 2},
          {"PartitionWithoutScratch", partition, {3}, "partition", kNever, Calls::kAny, false}};
}

std::vector<Forced> Staged() {
  const char* const strips = "in strips of";
  const Changes near = {
      {&T::near_strip, 0}, {&T::near_row, 0}, {&T::least_strip, 0}, {&T::few_indices, -1}};
  const Changes one_line = {{&T::strip_bytes, 64}};
  const Changes no_strip = {{&T::strip_bytes, 0}};
  const Changes tasks = {{&T::least_task_ns, kNoTime}};
  const Changes no_cache = {{&T::cache_bytes, 1}};
  const char* const pieces = "just before its updates";
  const Changes any = no_strip + Changes{{&T::least_in_pieces, 0},
                                         {&T::piece_bytes, 200},
                                         {&T::most_piece, kHuge},
                                         {&T::lines_of_touched_piece, kHuge},
                                         {&T::few_indices, -1}};
  const Changes one_by_one = {{&T::piece_bytes, 1}};
  const Changes none = no_strip + Changes{{&T::most_piece, 0}};
  const Calls calls = Calls::kOnOneAxis;
  return {{"Strips", near, {1}, strips, 4, calls},
          {"StripsOfALine", near + one_line, {1}, strips, 5, calls},
          {"StripsOfTasks", near + tasks, {2, 3}, strips, 3, calls},
          {"StripsThatStream", near + no_cache, {1, 2}, strips, 4, calls},
          {"StripsWithoutScratch", near, {1}, strips, kNever, calls, false},
          {"StripsNever", near + no_strip, {1}, strips, kNever, calls},
          {"Pieces", any, {1}, pieces, 2, calls},
          {"PiecesOfTasks", any + tasks, {3}, pieces, 2, calls},
          {"PiecesOneByOne", any + one_by_one, {1}, pieces, 2, calls},
          {"PiecesNever", none, {1}, pieces, kNever, calls}};
}

std::vector<Forced> Traversals() {
  const Changes flat = {{&T::few_turns, kHuge}, {&T::least_flat_entries, 0}, {&T::few_indices, -1}};
  const Changes packed = {{&T::most_packed_tile, kHuge},
                          {&T::least_flat_tile, kHuge},
                          {&T::least_flat_entries, 0},
                          {&T::few_slices, 0},
                          {&T::few_indices, -1}};
  const Changes far = {
      {&T::near_reads, 0}, {&T::near_reads_that_wait, 0}, {&T::near_packed_indices, 0}};
  const Changes never = {{&T::few_turns, 0},       {&T::narrow_row, 0},
                         {&T::narrow_batch, 0},    {&T::most_packed_tile, 0},
                         {&T::most_packed_row, 0}, {&T::packed_tile_of_short_rows, 0},
                         {&T::most_given_row, 0},  {&T::few_indices, -1}};
  const Changes rows = never + Changes{{&T::strip_bytes, 0}};
  const Changes one_by_one = {{&T::batch_columns, 1},
                              {&T::most_batch_columns, 1},
                              {&T::batch_bytes, 1},
                              {&T::most_undivided_columns, 0},
                              {&T::near_columns, 1}};
  const Changes constant = {{&T::least_constant_batches, 0}, {&T::least_folded, 1}};
  const Changes single = {{&T::least_constant_batches, kHuge}, {&T::least_folded, kHuge}};
  const Changes slices = {{&T::few_slices, kHuge},        {&T::least_slice, 0},
                          {&T::least_slice_block, 0},     {&T::few_slice_rows, kHuge},
                          {&T::longest_slice_run, kHuge}, {&T::few_indices, -1},
                          {&T::most_last_entries, -1}};
  const Changes small = {{&T::slice_block, 16}};
  const Changes cut = {
      {&T::slice_block, 16}, {&T::slice_run_block, 16}, {&T::longest_slice_run, 0}};
  const Changes together = {{&T::slice_block, 16}, {&T::slice_rows, kHuge}};
  const Changes no_slices = {{&T::few_slices, 0}, {&T::few_indices, -1}};
  const Changes by_element = {{&T::element_row, kHuge},
                              {&T::strided_element_row, kHuge},
                              {&T::least_element_rows, 0},
                              {&T::few_slices, 0},
                              {&T::few_indices, -1}};
  const Changes boxes = {
      {&T::least_box, 0}, {&T::least_box_of_runs, 0}, {&T::few_slices, 0}, {&T::few_indices, -1}};
  const Changes no_boxes = {{&T::least_box, kHuge},
                            {&T::least_box_of_runs, kHuge},
                            {&T::few_slices, 0},
                            {&T::few_indices, -1}};
  const char* const large = "because they are few and large";
  const Calls calls = Calls::kOnOneAxis;
  return {{"Slices", slices, {1}, large, 15},
          {"SlicesInSmallBlocks", slices + small, {1}, large, 15},
          {"SlicesOfRowsTogether", slices + together, {1}, large, 15},
          {"SlicesInPartsOfRuns", slices + cut, {1}, large, 3},
          {"SlicesOfTasks", slices + small + InTasks(), {2, 5}, large, 10},
          {"SlicesNever", no_slices, {1}, large, kNever},
          {"RowsReplaced", {{&T::least_replaced_row, 0}}, {1}, "First updates are told", 5},
          {"RowsByElement", by_element, {1, 3}, "entries of", 30},
          {"EntriesAsBoxes", boxes, {1, 3}, "entries of", 30},
          {"EntriesAsBoxesNever", no_boxes, {1}, "entries of", 30},
          {"Flat", flat, {1}, "gone through flat", 10, calls},
          {"FlatInTasks", flat + InTasks(), {3}, "gone through flat", 10, calls},
          {"FlatNever", never, {1}, "gone through flat", kNever, calls},
          {"Packed", packed, {1}, "gone through packed", 10, calls},
          {"PackedFar", packed + far, {1}, "gone through packed", 10, calls},
          {"PackedInTasks", packed + InTasks(), {3}, "gone through packed", 10, calls},
          {"PackedMeans", packed, {1}, "Means: some batches", 5, Calls::kMeans},
          {"PackedRanks",
           packed + far +
               Changes{{&T::destinations_of_entry, 1},
                       {&T::destinations_of_uncounted_entry, 1},
                       {&T::most_buckets, 0}},
           {1},
           "each destination that is touched",
           5,
           Calls::kMeans},
          {"PackedNever", never, {1}, "gone through packed", kNever, calls},
          {"Columns", rows, {1}, "gone through in columns", 10, calls},
          {"ColumnsOneByOne", rows + one_by_one, {1}, "gone through in columns", 10, calls},
          {"ShortRows", rows, {1}, "gone through in short rows", 20, calls},
          {"LongRows", rows, {1}, "gone through in long rows", 2, calls},
          {"ConstantRows", constant, {1}, "entries of", 30, calls},
          {"ConstantRowsNever", single, {1}, "entries of", 30, calls}};
}

// A cache that holds nothing: all streams, and all is far; and one that holds everything.
std::vector<Forced> Memory() {
  const Changes streamed = {{&T::least_streamed_row_of_parts, 1},
                            {&T::least_streamed_slice_of_parts, 1},
                            {&T::cache_bytes, 1},
                            {&T::least_streamed_row, 1},
                            {&T::small_copy, 0},
                            {&T::small_overlay, 0},
                            {&T::long_line, 1},
                            {&T::long_joined_line, 1},
                            {&T::few_indices, -1},
                            {&T::overlay_piece, 64}};
  // As on CPUs that stream only whole lines fast, and on others.
  const Changes lines = streamed + Changes{{&T::streams_parts, 0},
                                           {&T::least_streamed_row_of_parts, 48},
                                           {&T::least_streamed_slice_of_parts, 48}};
  const Changes parts = lines + Changes{{&T::streams_parts, 1}};
  const Changes near = {{&T::cache_bytes, kHuge},
                        {&T::most_cache, kHuge},
                        {&T::most_fetched_moves, 0},
                        {&T::few_indices, -1}};
  const Changes fetched = {{&T::near_part, kHuge},
                           {&T::least_row_with_gaps, 0},
                           {&T::near_reads, 0},
                           {&T::near_reads_that_wait, 0},
                           {&T::near_packed_indices, 0},
                           {&T::near_strip, 0},
                           {&T::near_row, 0},
                           {&T::few_indices, -1}};
  const Changes read = {{&T::least_row_read_ahead, 1}, {&T::few_indices, -1}, {&T::cache_bytes, 1}};
  const Changes late = {
      {&T::element_prefetch, 4}, {&T::row_prefetch_bytes, 0}, {&T::strip_prefetch, 1}};
  const Changes early = {
      {&T::element_prefetch, 192}, {&T::row_prefetch_bytes, kHuge}, {&T::strip_prefetch, 192}};
  return {{"Streams", streamed, {1}, "past the caches", 40},
          {"StreamsOfTasks", streamed + InTasks(), {3}, "past the caches", 40},
          {"StreamsLines", lines, {1}, "past the caches", 30},
          {"StreamsPartsOfLines", parts, {1}, "past the caches", 30},
          {"StreamsNever", near, {1}, "past the caches", kNever},
          {"PrefetchNever", near, {3}, "are prefetched", kNever},
          {"ReadAhead", read, {1, 3}, "Rows of updates are prefetched", 20},
          {"PrefetchLate", fetched + late, {1}, "are prefetched", 20},
          {"PrefetchEarly", fetched + early, {1, 3}, "are prefetched", 20}};
}

std::vector<Forced> Offsets() {
  const char* const taken = "Indices are offsets as they are";
  const Changes in_rows = {{&T::few_indices, -1},
                           {&T::few_turns, 0},
                           {&T::narrow_row, 0},
                           {&T::narrow_batch, 0},
                           {&T::most_packed_tile, 0},
                           {&T::most_packed_row, 0},
                           {&T::packed_tile_of_short_rows, 0},
                           {&T::least_equal_row, kHuge},
                           {&T::least_equal_moves, kHuge},
                           {&T::longest_equal_step, 0}};
  const Changes never = in_rows + Changes{{&T::least_unresolved_row, kHuge}};
  const Changes unfetched = in_rows + Changes{{&T::waits_for_stores, 0},
                                              {&T::near_reads, 0},
                                              {&T::unfetched_step, 1},
                                              {&T::unfetched_row, kHuge},
                                              {&T::unresolved_tile, kHuge}};
  const Changes kept = {{&T::few_indices, -1},        {&T::least_kept_row, 0},
                        {&T::least_kept_tile, 0},     {&T::cache_bytes, 1},
                        {&T::least_equal_row, kHuge}, {&T::least_equal_moves, kHuge},
                        {&T::longest_equal_step, 0}};
  const Changes one = {{&T::least_equal_row, 1}, {&T::few_indices, -1}};
  const Changes by_entry = {{&T::least_equal_row, kHuge},
                            {&T::longest_equal_step, kHuge},
                            {&T::few_indices, -1},
                            {&T::most_draft, 0}};
  return {{"OneIndex", one, {1, 3}, "All indices are equal", 1, Calls::kOnOneAxis},
          {"OneIndexByEntry", by_entry, {1, 3}, "All indices are equal", 1, Calls::kOnOneAxis},
          {"IndicesAsOffsets", in_rows, {1, 3}, taken, 4, Calls::kOnOneAxis},
          {"IndicesAsOffsetsUnfetched", unfetched, {1, 3}, taken, 4, Calls::kOnOneAxis},
          {"IndicesAsOffsetsInKeptRows", kept, {1, 3}, taken, 2, Calls::kOnOneAxis},
          {"IndicesAsOffsetsNever", never, {1, 3}, taken, kNever, Calls::kOnOneAxis}};
}

std::vector<Forced> Replaced() {
  const char* const taken = "that later ones replace";
  const Changes always = {{&T::least_replaced, 0.0},
                          {&T::least_replaced_entry, 0},
                          {&T::least_replaced_run, 0},
                          {&T::few_indices, -1},
                          {&T::most_draft, 0}};
  const Changes never = {{&T::most_last_entries, -1}};
  return {{"LastEntries", always, {1, 3}, taken, 2},
          {"LastEntriesWithoutScratch", always, {1}, taken, kNever, Calls::kAny, false},
          {"LastEntriesNever", always + never, {1}, taken, kNever}};
}

std::vector<Forced> Drafts() {
  const char* const taken = "a draft of the output";
  const Changes always = {{&T::least_drafted, 0.0}, {&T::most_draft, kHuge}, {&T::few_indices, -1}};
  const Changes parts = {{&T::drafted_part, 64}};
  const Changes large = {{&T::drafted_part, 4096}};
  const Changes never = {{&T::most_draft, 0}};
  return {{"Drafts", always, {1}, taken, 10},
          {"DraftsInSmallParts", always + parts, {1}, taken, 6},
          {"DraftsInTiles", always + large, {1}, taken, 10},
          {"DraftsWithoutScratch", always, {1}, taken, kNever, Calls::kAny, false},
          {"DraftsOfTasks", always, {3}, taken, kNever},
          {"DraftsNever", always + never, {1}, taken, kNever}};
}

// Means and wide reductions, which share their ways.
std::vector<Forced> Means() {
  const Changes batches = {{&T::destinations_of_entry, kHuge},
                           {&T::destinations_of_uncounted_entry, kHuge}};
  const Changes apart = {{&T::near_batch_sums, 1}};
  // The elements of every row, and of no row, are batches of their own.
  const Changes by_element = {{&T::longest_summed_row, kHuge},
                              {&T::most_sums_of_short_rows, kHuge},
                              {&T::sums_of_short_entry, kHuge},
                              {&T::least_strided_group, kHuge}};
  const Changes by_row = {{&T::longest_summed_row, 0}, {&T::least_strided_group, 0}};
  const Changes buckets = {{&T::destinations_of_entry, 1},
                           {&T::destinations_of_uncounted_entry, 1},
                           {&T::least_of_bucket, 1}};
  const Changes small = {{&T::bucket_bytes, 1}, {&T::most_buckets, kHuge}};
  const Changes large = {{&T::bucket_bytes, kHuge}};
  const Changes ranks = {{&T::destinations_of_entry, 1},
                         {&T::destinations_of_uncounted_entry, 1},
                         {&T::most_buckets, 0}};
  const Changes long_ranks = ranks + Changes{{&T::most_short_ranks, 0}};
  const char* const in_batches = "some batches at a time have";
  const char* const in_buckets = "sorted into buckets of destinations";
  const char* const by_rank = "each destination that is touched";
  const Calls calls = Calls::kMeans;
  return {{"MeansInBatches", batches, {1}, in_batches, 15, calls},
          {"MeansInBatchesOneByOne", batches + apart + InTasks(), {3}, in_batches, 15, calls},
          {"MeansByElement", batches + by_element, {1, 3}, in_batches, 15, calls},
          {"MeansNeverByElement", batches + by_row, {1, 3}, in_buckets, 3, calls},
          {"MeansInBuckets", buckets + large, {1}, in_buckets, 10, calls},
          {"MeansInBucketsOfTasks", buckets + large + InTasks(), {3}, in_buckets, 10, calls},
          {"MeansInSmallBuckets", buckets + small + InTasks(), {1, 5}, in_buckets, 5, calls},
          {"MeansByRanks", ranks, {1}, by_rank, 10, calls},
          {"MeansByRanksInTasks", ranks + InTasks(), {3}, by_rank, 10, calls},
          {"MeansByLongRanks", long_ranks, {1, 3}, by_rank, 10, calls}};
}

std::vector<Forced> Boxes() {
  const char* const box = "box of";
  const Changes boxes = {{&T::small_copy, 0}};
  const Changes columns = {{&T::short_run, kHuge}, {&T::many_rows, 1}};
  const Changes no_columns = {{&T::short_run, 0}};
  const Changes near = {{&T::short_run, 1}, {&T::short_row, kHuge}, {&T::least_near_turns, 1}};
  const Changes tiles = {{&T::transposed_tile, 3}, {&T::transposed_tile_bytes, 1}};
  const Changes ahead = {{&T::far_rows, 0}, {&T::least_row_read_ahead, 1}};
  const char* const overlay = "slice laid over a copy";
  const Changes overlays = {{&T::small_overlay, 0}};
  const Changes lines = {
      {&T::long_line, 1}, {&T::long_joined_line, 1}, {&T::line_prefetch, 1}, {&T::cache_bytes, 1}};
  const Changes pieces = {{&T::long_line, kHuge}, {&T::overlay_piece, 64}};
  const Changes large = {{&T::long_line, kHuge}, {&T::overlay_piece, kHuge}};
  const Calls calls = Calls::kSlices;
  return {{"Boxes", boxes, {1, 3}, box, 30, calls},
          {"BoxesByColumn", boxes + columns, {1}, box, 30, calls},
          {"BoxesByColumnInSmallTiles", boxes + columns + tiles, {1}, box, 30, calls},
          {"BoxesNeverByColumn", boxes + no_columns + tiles, {1}, box, 30, calls},
          {"BoxesByNearLoop", boxes + near, {1}, box, 30, calls},
          {"BoxesReadAhead", boxes + ahead, {1, 3}, box, 30, calls},
          {"OverlaysOfLines", overlays + lines, {1, 3}, overlay, 10, calls},
          {"OverlaysInPieces", overlays + pieces, {1, 3}, overlay, 10, calls},
          {"OverlaysInPiecesByColumn", overlays + pieces + columns, {1}, overlay, 10, calls},
          {"OverlaysInOnePiece", overlays + large, {1}, overlay, 10, calls},
          {"OverlaysNever", {{&T::small_overlay, kHuge}}, {1}, overlay, kNever, calls}};
}

std::vector<Forced> Alternatives() {
  std::vector<Forced> all;
  for (const auto& some : {FewOrNot(), Tasks(), Ranges(), Staged(), Traversals(), Memory(),
                           Offsets(), Replaced(), Drafts(), Means(), Boxes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// ---- Calls -------------------------------------------------------------------------------------

// The sentences of a call.
struct Explanation {
  std::string text;

  static void Tell(void* self, const char* sentence) {
    static_cast<Explanation*>(self)->text.append(sentence).append("\n");
  }
};

bool IsOne(Calls calls, Operator op) {
  if (calls == Calls::kMeans) return op != Operator::kTensorScatter;
  if (calls == Calls::kSlices) return IsSlice(op);
  return calls == Calls::kAny || op == Operator::kScatterElements;
}

CallShape AnyCallShape(Random& random, int64_t updates, Calls calls) {
  while (true) {
    const CallShape call_shape = random.Pick(AllCallShapes(updates));
    if (IsOne(calls, call_shape.op)) return call_shape;
  }
}

Operator AnyOperator(Random& random, Calls calls) {
  while (true) {
    const Operator op = random.Pick(Operators());
    if (IsOne(calls, op)) return op;
  }
}

bool HasMeans(const Dtype& dtype) {
  const std::vector<strew_reduction> reductions = AllReductionsOf(dtype);
  return std::find(reductions.begin(), reductions.end(), STREW_MEAN) != reductions.end();
}

Dtype AnyDtype(Random& random, Calls calls) {
  while (true) {
    const Dtype dtype = random.Pick(Dtypes());
    if (calls != Calls::kMeans || HasMeans(dtype)) return dtype;
  }
}

// A mean, or where STREW_WIDE makes a difference what is accumulated as means are.
strew_reduction AnyMean(Random& random, const Dtype& dtype) {
  const bool rounds = dtype.kind == Kind::kFloat && dtype.width <= 2;
  if (rounds && random.OneIn(4)) return STREW_SUB | STREW_WIDE;
  const strew_reduction kind = !rounds || random.OneIn(3)
                                   ? strew_reduction{STREW_MEAN}
                                   : STREW_WIDE | (random.OneIn(2) ? STREW_ADD : STREW_MUL);
  return kind | (random.OneIn(2) ? STREW_EXCLUDE_SELF : 0);
}

// A random call, or one of enough updates for several tiles.
Case AnyCase(Random& random, Calls calls) {
  const Dtype dtype = AnyDtype(random, calls);
  const strew_reduction mean = AnyMean(random, dtype);
  if (random.OneIn(2)) {
    Case c = MakeRandomCase(random, AnyOperator(random, calls), dtype);
    if (calls == Calls::kMeans) c.reduction = mean;
    return c;
  }
  const int64_t most = dtype.width > 64 ? 600 : 6000;
  CallShape call_shape = AnyCallShape(random, random.Between(512, most), calls);
  if (call_shape.op != Operator::kTensorScatter && random.OneIn(2)) {
    call_shape.spread = random.Pick(Spreads());
  }
  Case c = MakeCase(random, call_shape, dtype.code, random.OneIn(2));
  if (c.op != Operator::kTensorScatter) c.reduction = random.Pick(AllReductionsOf(dtype));
  if (calls == Calls::kMeans) c.reduction = mean;
  if (random.OneIn(3)) c.policy = random.OneIn(2) ? STREW_INDEX_DROP : STREW_INDEX_CLAMP;
  if (random.OneIn(4)) SpoilIndices(random, c);
  return c;
}

void* RefuseScratch(void*, size_t, size_t) { return nullptr; }
void ReleaseNothing(void*, void*, size_t) {}

// Runs the call on a target, and takes down what it explains. "" where it is as the oracle says.
std::string Trouble(const Forced& forced, const Tuning& tuning, Random& random, Trial& trial,
                    Explanation* explanation) {
  static Backwards backwards;
  static StdThreads threads;
  strew_context* const context = random.Pick(Targets()).context.get();
  strew::Settings& settings = context->settings;
  settings.tuning = &tuning;
  settings.explainer = {Explanation::Tell, explanation};
  if (!forced.has_scratch) {
    settings.allocator = {RefuseScratch, ReleaseNothing, nullptr};
    trial.AllowOutOfMemory();
  }
  Runner& runner = random.OneIn(4) ? static_cast<Runner&>(threads) : backwards;
  const int32_t workers = random.Pick(forced.workers);
  runner.InstallIn(context, workers);
  const std::string trouble = trial.Trouble(context);
  EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  settings.tuning = nullptr;
  settings.explainer = {};
  settings.allocator = {nullptr, nullptr, nullptr};
  if (trouble.empty()) return "";
  return std::to_string(workers) + " workers: " + trouble + explanation->text;
}

class ForcedSchedules : public testing::TestWithParam<Forced> {};

TEST_P(ForcedSchedules, AreTakenAndRight) {
  const Forced& forced = GetParam();
  const Tuning tuning = forced.tuning();
  // The oracle is soon done with those of scatter_elements and with slices.
  const bool are_soon_done = forced.calls == Calls::kOnOneAxis || forced.calls == Calls::kSlices;
  const int64_t calls = Cases(are_soon_done ? 800 : 250);
  int64_t taken = 0;
  for (int64_t i = 0; i < calls; ++i) {
    const uint64_t seed = Seed() + static_cast<uint64_t>(i);
    Random random(seed);
    Case c = AnyCase(random, forced.calls);
    Trial trial(c);
    Explanation explanation;
    const std::string trouble = Trouble(forced, tuning, random, trial, &explanation);
    ASSERT_EQ(trouble, "") << "STREW_SEED=" << seed << Describe(c);
    if (explanation.text.find(forced.sentence) != std::string::npos) ++taken;
  }
  RecordProperty("taken", std::to_string(taken));
  if (forced.least == kNever) {
    EXPECT_EQ(taken, 0);
  } else if (calls >= 100) {
    EXPECT_GE(100 * taken, forced.least * calls);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryAlternative, ForcedSchedules, testing::ValuesIn(Alternatives()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace strew_test
