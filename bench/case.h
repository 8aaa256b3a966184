// SPDX-License-Identifier: Apache-2.0
//
// A workload with the buffers that all contestants share, and a call of each contestant.
#ifndef BENCH_CASE_H_
#define BENCH_CASE_H_

#include <cstdint>
#include <string>

#include "handles.h"
#include "scalar_loops.h"
#include "strew/strew.h"
#include "workloads.h"

namespace strew_bench {

class Case {
 public:
  enum class Way { kCall, kPlan };

  // Makes and fills the buffers, applies the workload once by strew and once by the scalar loop,
  // and compares the bytes. No page is touched for the first time after that. With one thread strew
  // has no context. By a plan, which a slice does not have, strew makes it before.
  Case(const Workload& workload, int32_t threads, Way way = Way::kCall);

  // "" if the two results were the same, else what went wrong.
  const std::string& error() const { return error_; }

  // One call of each contestant; false if it failed.
  bool Strew() { return plan_ == nullptr ? StrewByCall() : StrewBy(plan_.get()); }
  bool Scalar() { return ScalarInto(output_.get()); }
  bool Memcpy();

  // A plan for the indices, which a slice does not have; NULL if it was refused.
  Plan MakePlan(strew_context* context) const;
  // The call by this plan.
  bool StrewBy(const strew_plan* plan);
  // error() of the call by this plan.
  std::string ErrorBy(const strew_plan* plan);

 private:
  bool StrewByCall();
  bool ScalarInto(void* output);
  template <class Call>
  std::string Verify(const Call& strew);

  const Workload workload_;
  const ScalarLoop scalar_loop_;
  const Context context_;
  Buffer data_, indices_, updates_, output_;
  Tensor data_tensor_, indices_tensor_, updates_tensor_, output_tensor_;
  Plan plan_;  // NULL for a call
  std::string error_;
};

}  // namespace strew_bench

#endif  // BENCH_CASE_H_
