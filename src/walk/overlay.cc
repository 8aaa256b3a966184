// SPDX-License-Identifier: Apache-2.0
// Runs overlays.
#include <algorithm>

#include "walk/box.h"
#include "walk/joined_copies.h"

namespace strew::walk {
namespace {

using plan::OverlayDim;
using plan::OverlayPlan;
using plan::Tuning;

// The output is processed in pieces. A piece is some rows of the dim `split`, with all dims within.
// If `split` is the last dim, a row is one element.
struct Pieces {
  int split;
  int64_t rows;
};

bool TakesEveryOther(const OverlayDim& line) {
  return line.slice.step == 2 && line.updates_stride == 1;
}

// A long line of which at least half is a slice of every other element is one piece.
Pieces PiecesOf(const OverlayPlan& plan, int64_t width, bool moves, const Tuning& tuning) {
  const OverlayDim& line = plan.dim[plan.rank - 1];
  const bool is_interleaved = TakesEveryOther(line) && line.slice.count >= line.size / 4;
  if (moves && is_interleaved && line.size >= tuning.long_line / width) {
    return {plan.rank - 1, line.size};
  }
  const int64_t bytes = tuning.overlay_piece;
  int split = plan.rank - 1;
  int64_t row_bytes = width;
  while (split > 0 && plan.dim[split].size <= bytes / 2 / row_bytes) {
    row_bytes *= plan.dim[split--].size;
  }
  return {split, std::min(bytes / row_bytes, plan.dim[split].size)};
}

// A block that copies whole rows of the dim `split`.
Block WholeRows(const RowKernel& move, int64_t width, const OverlayPlan& plan, int split,
                const Tuning& tuning) {
  BoxNest row;
  for (int i = split + 1; i < plan.rank; ++i) {
    const OverlayDim& dim = plan.dim[i];
    row.Append(dim.size, dim.output_stride, dim.data_stride);
  }
  const OverlayDim& dim = plan.dim[split];
  return Block(move, width, row, dim.output_stride, dim.data_stride, tuning);
}

// A block that applies updates to these rows. It counts only the rows that the slice includes.
Block SlicedRows(const RowKernel& kernel, int64_t width, const OverlayPlan& plan, int split,
                 const Tuning& tuning) {
  BoxNest row;
  for (int i = split + 1; i < plan.rank; ++i) {
    const OverlayDim& dim = plan.dim[i];
    row.Append(dim.slice.count, dim.output_stride * dim.slice.step, dim.updates_stride);
  }
  const OverlayDim& dim = plan.dim[split];
  return Block(kernel, width, row, dim.output_stride * dim.slice.step, dim.updates_stride, tuning);
}

// Offset of the slice's first element from the start of a row of the dim `split`.
int64_t FirstInRow(const OverlayPlan& plan, int split) {
  int64_t first = 0;
  for (int i = split + 1; i < plan.rank; ++i) {
    first += plan.dim[i].slice.first * plan.dim[i].output_stride;
  }
  return first;
}

// The outermost dim from which both output and data are contiguous.
int FirstDense(const OverlayPlan& plan) {
  int first = plan.rank - 1;
  for (int64_t turns = plan.dim[first].size; first > 0; turns *= plan.dim[--first].size) {
    const OverlayDim& outer = plan.dim[first - 1];
    if (outer.output_stride != turns || outer.data_stride != turns) break;
  }
  return first;
}

// Finds the steps of a slice for ascending positions on its axis.
class StepFinder {
 public:
  explicit StepFinder(const plan::Slice& slice) : slice_(slice), next_(slice.first) {}

  // The step of the slice at `position`, or -1. Call this for consecutive positions, of which the
  // first is 0 or that of the slice.
  int64_t Find(int64_t position) {
    if (position != next_ || taken_ == slice_.count) return -1;
    next_ += slice_.step;
    return taken_++;
  }

 private:
  const plan::Slice& slice_;
  int64_t next_;
  int64_t taken_ = 0;
};

class OuterTurns {
 public:
  OuterTurns(const OverlayPlan& plan, JoinedCopies* copies, int64_t width, int64_t prefetch)
      : plan_(plan),
        copies_(copies),
        width_(width),
        prefetch_(prefetch),
        first_dense_(FirstDense(plan)) {}

  // Calls body(operands, ahead) for every turn of the dims [dim, end). `operands` point to the
  // turn; `updates` is NULL if the turn is outside the slice. `ahead` is the memory that a later
  // turn reads, or NULL. Contiguous turns outside the slice are copied here, without a call.
  template <class Body>
  void ForEach(int dim, int end, const OverlayOperands& at, const Body& body) const {
    if (at.updates == nullptr && dim >= first_dense_) return CopyFrom(dim, 1, at);
    if (dim == end) return body(at, nullptr);
    const OverlayDim& turns = plan_.dim[dim];
    const auto turn_at = [&](int64_t c, int64_t step) {
      const bool inside = at.updates != nullptr && step >= 0;
      return OverlayOperands{at.output + c * turns.output_stride * width_,
                             at.data + c * turns.data_stride * width_,
                             inside ? at.updates + step * turns.updates_stride * width_ : nullptr};
    };
    // Contiguous turns before the slice are one copy, and those after it are another.
    const bool dense = at.updates != nullptr && dim >= first_dense_;
    const int64_t begin = dense ? turns.slice.first : 0;
    const int64_t last = turns.slice.first + (turns.slice.count - 1) * turns.slice.step;
    const int64_t behind = dense ? last + 1 : turns.size;
    if (begin > 0) CopyFrom(dim + 1, begin, at);
    StepFinder here(turns.slice), ahead(turns.slice);
    for (int64_t c = begin; c < begin + prefetch_; ++c) ahead.Find(c);
    for (int64_t c = begin; c < behind; ++c) {
      const OverlayOperands turn = turn_at(c, here.Find(c));
      if (dim + 1 < end || turns.size - c <= prefetch_) {
        ForEach(dim + 1, end, turn, body);
      } else {
        const OverlayOperands later = turn_at(c + prefetch_, ahead.Find(c + prefetch_));
        body(turn, later.updates != nullptr ? later.updates : later.data);
      }
    }
    if (behind < turns.size) CopyFrom(dim + 1, turns.size - behind, turn_at(behind, -1));
  }

 private:
  // Copies some turns of the dims from `dim` on, which are contiguous.
  void CopyFrom(int dim, int64_t turns, const OverlayOperands& at) const {
    int64_t n = turns;
    for (int i = dim; i < plan_.rank; ++i) n *= plan_.dim[i].size;
    copies_->Copy(at.output, at.data, n);
  }

  const OverlayPlan& plan_;
  JoinedCopies* const copies_;
  const int64_t width_;
  const int64_t prefetch_;  // distance in turns
  const int first_dense_;
};

// ---- Lines in which one range is replaced: every byte goes straight to the output ----

class LineReplacer {
 public:
  // `move` and `copies` write alike.
  LineReplacer(const OverlayPlan& plan, kernel::RunKernel move, JoinedCopies* copies, int64_t width,
               bool stream, const Tuning& tuning)
      : line_(plan.dim[plan.rank - 1]),
        move_(move),
        copies_(copies),
        width_(width),
        prefetched_(stream && line_.updates_stride == 1
                        ? std::min(line_.slice.count * width_, tuning.most_prefetched_line)
                        : 0) {}

  void operator()(const OverlayOperands& at, const unsigned char* ahead) const {
    if (ahead != nullptr) kernel::PrefetchOnce(ahead, prefetched_);
    if (at.updates == nullptr) return copies_->Copy(at.output, at.data, line_.size);
    const plan::Slice& slice = line_.slice;
    const int64_t end = slice.first + slice.count;
    if (slice.first > 0) copies_->Copy(at.output, at.data, slice.first);
    MoveUpdates(at.output + slice.first * width_, at.updates);
    if (end == line_.size) return;
    copies_->Copy(at.output + end * width_, at.data + end * width_, line_.size - end);
  }

 private:
  void MoveUpdates(unsigned char* output, const unsigned char* updates) const {
    const int64_t count = line_.slice.count;
    if (line_.updates_stride == 1) return copies_->Copy(output, updates, count);
    if (line_.updates_stride != 0) return move_(output, 1, updates, line_.updates_stride, count);
    kernel::WalkBox(move_, width_, {output, updates, 1, 0, 0, count, 1, 0});
  }

  const OverlayDim& line_;
  const kernel::RunKernel move_;
  JoinedCopies* const copies_;
  const int64_t width_;
  const int64_t prefetched_;
};

// ---- Other overlays: pieces are copied, and updated while they are in the caches ----

// True if rows of pieces are elements, and contiguous updates replace every other one.
bool IsInterleaving(const OverlayPlan& plan, const Pieces& pieces) {
  return pieces.split == plan.rank - 1 && TakesEveryOther(plan.dim[pieces.split]);
}

class PieceRunner {
 public:
  PieceRunner(const OverlayPlan& plan, kernel::RunKernel run, const kernel::MoveKernels& move,
              const Pieces& pieces, bool stream, const Tuning& tuning)
      : dim_(plan.dim[pieces.split]),
        interleave_(run == move.combine.run && IsInterleaving(plan, pieces) ? move.interleave
                                                                            : nullptr),
        rows_(interleave_ != nullptr ? dim_.size : pieces.rows),
        width_(move.combine.element_size),
        stream_(stream),
        first_(FirstInRow(plan, pieces.split)),
        copy_(WholeRows({stream ? move.stream : move.combine.run, true, move.transpose, stream},
                        width_, plan, pieces.split, tuning)),
        fill_(WholeRows(KernelOf(move.combine.run, move), width_, plan, pieces.split, tuning)),
        apply_(SlicedRows(KernelOf(run, move), width_, plan, pieces.split, tuning)) {}

  void operator()(const OverlayOperands& at, const unsigned char*) const {
    if (at.updates == nullptr) return copy_.Run(at.output, at.data, dim_.size);
    const plan::Slice& slice = dim_.slice;
    const int64_t end = slice.first + (slice.count - 1) * slice.step + 1;
    // Pieces begin at multiples of rows_ in the output.
    int64_t row = slice.first / rows_ * rows_;
    CopyRows(at, 0, row);
    for (; row < end; row += rows_) {
      RunPiece(row, std::min(rows_, dim_.size - row), RowsOf(at, row));
    }
    if (row < dim_.size) CopyRows(at, row, dim_.size - row);
  }

 private:
  static RowKernel KernelOf(kernel::RunKernel run, const kernel::MoveKernels& move) {
    const bool moves = run == move.combine.run;
    return {run, moves, moves ? move.transpose : nullptr};
  }

  OverlayOperands RowsOf(const OverlayOperands& at, int64_t row) const {
    return {at.output + row * dim_.output_stride * width_,
            at.data + row * dim_.data_stride * width_, at.updates};
  }

  // Copies rows that are outside the slice.
  void CopyRows(const OverlayOperands& at, int64_t row, int64_t rows) const {
    if (rows == 0) return;
    const OverlayOperands piece = RowsOf(at, row);
    copy_.Run(piece.output, piece.data, rows);
  }

  // Copies rows [row, row + rows) and applies their updates.
  void RunPiece(int64_t row, int64_t rows, const OverlayOperands& piece) const {
    const plan::Slice& slice = dim_.slice;
    const int64_t taken = slice.StepsBefore(row);
    const int64_t steps = slice.StepsBefore(row + rows) - taken;
    if (steps == 0) return copy_.Run(piece.output, piece.data, rows);
    const int64_t first = slice.first + taken * slice.step - row;
    const unsigned char* const updates = piece.updates + taken * dim_.updates_stride * width_;
    if (interleave_ != nullptr) return Interleave(piece, rows, updates, first, steps);
    fill_.Run(piece.output, piece.data, rows);
    apply_.Run(piece.output + (first * dim_.output_stride + first_) * width_, updates, steps);
  }

  // Copies `rows` elements and replaces every second one from `first` on, `steps` in all.
  void Interleave(const OverlayOperands& piece, int64_t rows, const unsigned char* updates,
                  int64_t first, int64_t steps) const {
    // The last update may have no element after it.
    const int64_t pairs = std::min(steps, (rows - first) / 2);
    const int64_t end = (first + 2 * pairs) * width_;
    if (first > 0) copy_.Run(piece.output, piece.data, first);
    if (pairs > 0) {
      interleave_(piece.output + first * width_, piece.data + first * width_, updates, pairs,
                  stream_);
    }
    if (steps > pairs) {
      copy_.Run(piece.output + end, updates + pairs * width_, 1);
    } else if (end < rows * width_) {
      copy_.Run(piece.output + end, piece.data + end, rows - first - 2 * pairs);
    }
  }

  const OverlayDim& dim_;
  const kernel::InterleaveKernel interleave_;  // NULL unless every other element is replaced
  const int64_t rows_;
  const int64_t width_;
  const bool stream_;
  const int64_t first_;
  const Block copy_, fill_, apply_;
};

}  // namespace

void RunOverlay(const plan::OverlayPlan& plan, kernel::RunKernel run,
                const kernel::MoveKernels& move, const OverlayOperands& at, Stores stores,
                const Tuning& tuning) {
  const bool stream = stores != Stores::kCached;
  const int64_t width = move.combine.element_size;
  const kernel::RunKernel copy = stores == Stores::kWords   ? move.stream_part
                                 : stores == Stores::kLines ? move.stream
                                                            : move.combine.run;
  JoinedCopies copies(copy, width, stores == Stores::kLines, at.output);
  const OuterTurns turns(plan, &copies, width, tuning.line_prefetch);
  const OverlayDim& line = plan.dim[plan.rank - 1];
  const bool moves = run == move.combine.run;
  const int64_t least = stores == Stores::kLines ? tuning.long_joined_line : tuning.long_line;
  if (moves && line.slice.step == 1 && line.size * width >= least) {
    turns.ForEach(0, plan.rank - 1, at, LineReplacer(plan, copy, &copies, width, stream, tuning));
  } else {
    const Pieces pieces = PiecesOf(plan, width, moves, tuning);
    turns.ForEach(0, pieces.split, at, PieceRunner(plan, run, move, pieces, stream, tuning));
  }
  copies.Flush();
  if (stream) kernel::FinishStreaming();
}

}  // namespace strew::walk
