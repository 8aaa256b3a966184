// SPDX-License-Identifier: Apache-2.0
// Applies updates to drafts, part by part, as their indices are checked.
#include <algorithm>

#include "base/scratch.h"
#include "plan/draft.h"
#include "plan/explain.h"
#include "share/share.h"
#include "walk/entries.h"

namespace strew::share {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

// Parts run on the calling thread and explain nothing, because the call starts again without a
// draft if an index is out of range.
Settings SettingsOfParts(const Call& call) {
  Settings settings = call.settings();
  settings.runner = {};
  settings.explainer = {};
  return settings;
}

// Applies updates to a draft. Each part is a call of its own, with some turns of one loop of the
// index space. The destructor restores that loop.
class Drafter {
 public:
  Drafter(const Call& call, const walk::Operands& operands, strew_reduction reduction,
          plan::IndexSpace* space, const plan::DraftSchedule& schedule, unsigned char* scratch)
      : reduction_(reduction),
        space_(space),
        schedule_(schedule),
        loop_(*schedule.loop),
        settings_(SettingsOfParts(call)),
        call_(settings_, nullptr),
        indices_(operands.indices),
        updates_(operands.updates),
        draft_(operands.output) {
    draft_.data = scratch - draft_.lowest;
  }
  ~Drafter() { schedule_.loop->count = loop_.count; }

  const TensorView& draft() const { return draft_; }

  // Returns false if an index is out of range.
  bool ApplyParts() {
    const int64_t step = schedule_.turns;
    const int64_t indices_of_turn = indices_.size / loop_.count;
    bool is_valid = true;
    int64_t turn = 0;
    for (; is_valid && turn < loop_.count; turn += step) {
      const int64_t left = loop_.count - turn;
      schedule_.loop->count = std::min(step, left);
      indices_.size = indices_of_turn * schedule_.loop->count;
      is_valid = ApplyPart(left <= step);
      Advance(step);
    }
    Advance(-turn);
    return is_valid;
  }

 private:
  void Advance(int64_t turns) {
    const int64_t width = plan::IndexedUnitsOf(draft_.element_size).width;
    indices_.data += turns * loop_.stride[kIndices] * indices_.element_size;
    updates_.data += turns * loop_.stride[kUpdates] * width;
    draft_.data += turns * loop_.stride[kOutput] * width;
  }

  bool ApplyPart(bool is_last) const {
    plan::Findings findings;
    if (!AreInRange(call_, indices_, *space_, &findings)) return false;
    const plan::EntryLoops loops(*space_, findings);
    const walk::Scatter scatter(call_, {draft_, indices_, updates_, draft_}, loops, reduction_,
                                nullptr);
    plan::MemoryHints hints = HintsFor(scatter);
    hints.streams = false;
    if (!is_last) hints.next_part = schedule_.next_part;
    walk::WriteEntries(scatter, hints, plan::kNoStaging, nullptr);
    return true;
  }

  const strew_reduction reduction_;
  plan::IndexSpace* const space_;
  const plan::DraftSchedule& schedule_;
  const plan::IndexedLoop loop_;
  const Settings settings_;
  const Call call_;
  TensorView indices_;
  TensorView updates_;
  TensorView draft_;
};

}  // namespace

bool RunDraft(const Call& call, const walk::Operands& operands, strew_reduction reduction,
              plan::IndexSpace* space) {
  // Other policies allow indices out of range. Their check ends at the first one and costs little.
  if (call.settings().index_policy != STREW_INDEX_ERROR) return false;
  const plan::DraftSchedule schedule = plan::MakeDraftSchedule(
      plan::Machine(call), operands.indices, operands.updates, operands.output, space);
  if (schedule.loop == nullptr) return false;
  const Scratch scratch(call, schedule.scratch_bytes);
  if (scratch.memory() == nullptr) return false;
  if (call.explains()) plan::Explain(call, schedule, operands.indices.size);
  Drafter drafter(call, operands, reduction, space, schedule, scratch.memory());
  // Drafts are made with one worker only, so no runner can fail. GCOVR_EXCL_BR_START
  return Copy(call, operands.data, drafter.draft()).ok() && drafter.ApplyParts() &&
         Copy(call, drafter.draft(), operands.output).ok();
  // GCOVR_EXCL_BR_STOP
}

}  // namespace strew::share
