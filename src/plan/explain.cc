// SPDX-License-Identifier: Apache-2.0
#include "plan/explain.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "plan/pass.h"
#include "plan/traversal.h"

namespace strew::plan {

void Paragraph::Add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text_ + length_, sizeof(text_) - length_, format, arguments);
  va_end(arguments);
  assert(length >= 0);
  length_ = std::min(length_ + static_cast<size_t>(length), sizeof(text_) - 1);
}

void Paragraph::AddTasks(const Machine& machine, double nanoseconds, int64_t tasks) {
  Add("One thread needs about %.0f us", nanoseconds / 1e3);
  if (machine.workers == 1) return Add(", and there is one worker. ");
  if (tasks == 1) {
    return Add("; another one of the %" PRId64 " workers pays from %.0f us on. ", machine.workers,
               2 * machine.tuning.least_task_ns / 1e3);
  }
  Add(", so that %" PRId64 " of %" PRId64 " workers get a task. ", tasks, machine.workers);
}

const char* Paragraph::c_str() {
  assert(length_ > 0 && text_[length_ - 1] == ' ');
  text_[--length_] = '\0';
  return text_;
}

namespace {

void AddShare(const EntryLoops& loops, const Schedule& schedule, Paragraph* text) {
  switch (schedule.share) {
    case Share::kAlone:
      if (loops.out_of_range == OutOfRange::kDrop) {
        text->Add("A filter leaves out what is dropped. ");
      }
      return;
    case Share::kCut:
      return text->Add("The batch and the runs are cut into %" PRId64 " parts. ",
                       schedule.cut.parts());
    case Share::kFilter:
      return text->Add("Destinations are shared out by range: %" PRId64
                       " tasks look at all entries, and each keeps its own (filter). ",
                       schedule.tasks);
    case Share::kPartition:
      return text->Add("Destinations are shared out by range: %" PRId64
                       " tasks sort entries by range, and then each writes its own (partition). ",
                       schedule.tasks);
  }
}

void AddTraversal(const EntryLoops& loops, const Circumstances& about, const Schedule& schedule,
                  Paragraph* text) {
  const Staging& staging = schedule.staging;
  const bool is_part = schedule.share == Share::kCut;
  EntryLoops first = loops;
  if (is_part) first.Restrict(schedule.cut, 0);
  TraversalLoops chosen;
  const bool drops = first.out_of_range == OutOfRange::kDrop;
  const kernel::OffsetWidth width = drops ? first.WholeOffsets() : first.TileOffsets();
  const char* const bits = width == kernel::kOffset32 ? "32" : "64";
  const Tuning& tuning = about.machine.tuning;
  const int64_t block = MostOfTile(first, width);
  const Traversal traversal = drops ? TraversalOfSink(first, tuning, block, &chosen.flat)
                                    : TraversalFor(first, about.machine, about.width, block,
                                                   staging, schedule.hints.keeps_rows, &chosen);
  const bool in_rows = traversal == Traversal::kShortRows || traversal == Traversal::kLongRows;
  if (in_rows && schedule.hints.indices_are_offsets) {
    text->Add("Indices are offsets as they are. ");
  } else {
    text->Add("Offsets have %s bits. ", bits);
  }
  text->Add("%s ", is_part ? "The first part is" : "Entries are");
  switch (traversal) {
    case Traversal::kSlices:
      text->Add("gone through slice by slice, because they are few and large. ");
      if (chosen.slices.fetches_next) text->Add("The next block is prefetched. ");
      return;
    case Traversal::kFlat:
      return text->Add(
          "gone through flat, in the order of the indices in memory: the loops are "
          "short and lie together. ");
    case Traversal::kPacked:
      return text->Add(
          "gone through packed: the loops are short, and what lies apart of indices and updates is "
          "brought together first. ");
    case Traversal::kStrips:
      return text->Add("gone through in strips of %" PRId64
                       " columns, while their axis is in %" PRId64 " KiB of scratch. ",
                       staging.strip, staging.scratch_bytes >> 10);
    case Traversal::kBatchColumns:
      return text->Add("gone through in columns, %" PRId64
                       " at a time: writes lie closer together "
                       "along the batch than along the axis. ",
                       BatchColumns(first, tuning, about.width, block));
    case Traversal::kShortRows:
      text->Add("gone through in short rows of %" PRId64 ", several in a tile. ",
                first.column.count);
      if (schedule.hints.combines_in_vectors) text->Add("Each row is combined in a vector. ");
      return;
    case Traversal::kLongRows:
      return text->Add("gone through in long rows of %" PRId64 ". ", first.column.count);
  }
}

void AddMemory(const EntryLoops& loops, const Circumstances& about, const Schedule& schedule,
               Paragraph* text) {
  if (schedule.staging.copies_data) {
    text->Add("Data is copied just before its updates. ");
  } else if (!about.in_place) {
    text->Add("Data is copied first. ");
  }
  if (schedule.hints.prefetch == 0) {
    text->Add("Destinations span %" PRId64 " KiB and need no prefetch. ",
              loops.DestinationSpan() * about.width >> 10);
  } else {
    text->Add("Destinations are prefetched %" PRId64 " entries ahead. ", schedule.hints.prefetch);
  }
  if (schedule.hints.row_read_ahead != 0) {
    text->Add("Rows of updates are prefetched %" PRId64 " ahead. ", schedule.hints.row_read_ahead);
  }
  if (schedule.hints.streams && about.moves) {
    text->Add("Rows are replaced past the caches if they can be. ");
  }
}

}  // namespace

void ExplainFew(const Call& call, int64_t updates) {
  call.Explain("%" PRId64 " update%s: applied one by one, because a schedule would take longer.",
               updates, Plural(updates));
}

void Explain(const Call& call, const Pass& check, int64_t indices) {
  Paragraph text;
  text.Add("%" PRId64 " ind%s: checked before anything is written, in %" PRId64 " part%s. ",
           indices, indices == 1 ? "ex" : "ices", check.parts, Plural(check.parts));
  text.AddTasks(Machine(call), check.nanoseconds, check.tasks);
  call.Explain("%s", text.c_str());
}

void Explain(const Call& call, const DraftSchedule& schedule, int64_t indices) {
  call.Explain("%" PRId64 " indices: read once, in %" PRId64
               " part%s. Each part is checked, and then its updates are applied to a draft of the "
               "output, in %" PRId64 " KiB of scratch, which is copied into the output at the end.",
               indices, schedule.parts, Plural(schedule.parts),
               (schedule.scratch_bytes + 1023) >> 10);
}

void Explain(const Call& call, const BoxSchedule& schedule, const char* what, int64_t bytes) {
  Paragraph text;
  text.Add("%s of %" PRId64 " bytes: written %s. ", what, bytes,
           schedule.streams ? "past the caches, because it is large" : "through the caches");
  text.AddTasks(Machine(call), schedule.nanoseconds, schedule.tasks);
  call.Explain("%s", text.c_str());
}

void Explain(const Call& call, const EntryLoops& loops, const Circumstances& about,
             const Schedule& schedule) {
  Paragraph text;
  const int64_t units = loops.EntryUnits();
  text.Add("%" PRId64 " entries of %" PRId64 " element%s. ", loops.Entries(), units, Plural(units));
  text.AddTasks(about.machine, schedule.nanoseconds, schedule.tasks);
  AddShare(loops, schedule, &text);
  if (!schedule.IsByRange()) AddTraversal(loops, about, schedule, &text);
  AddMemory(loops, about, schedule, &text);
  call.Explain("%s", text.c_str());
}

}  // namespace strew::plan
