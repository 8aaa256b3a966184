// SPDX-License-Identifier: Apache-2.0
//
// A call of an operator whose arguments are valid, except perhaps for index values.
#ifndef STREW_REFERENCE_CASE_H_
#define STREW_REFERENCE_CASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/array.h"
#include "reference/call.h"
#include "reference/handles.h"
#include "reference/oracle.h"

namespace strew::reference {

// All operators, in the order of their list.
const std::vector<Operator>& Operators();

// The operators that have plans.
const std::vector<Operator>& PlannedOperators();

// Operands have the names that most operators give them.
struct Case {
  Operator op;
  Array data;
  Array updates;
  std::optional<Array> indices = {};  // none for slices; optional for caches
  std::optional<Array> start = {}, stop = {}, step = {}, axes = {};  // axes are optional
  std::optional<Array> output = {};                                  // absent: in place
  strew_reduction reduction = STREW_NONE;
  int64_t axis = 0;
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
  strew_cache_mode mode = STREW_CACHE_LINEAR;

  Rules rules() const { return {reduction, wrap, policy, duplicates}; }

  // Sets lists of one length and dtype. No `slice_axes` stand for 0, 1, ...
  void SetSlice(const Dims& starts, const Dims& stops, const Dims& steps,
                const Dims& slice_axes = {}, strew_dtype dtype = STREW_INT64);

  // The array to which the call writes.
  Array& destination() { return output ? *output : data; }
};

// All arrays that a call reads and does not write.
std::vector<Array*> Inputs(Case& c);

// Calls the library, with `output` in place of the destination's own descriptor.
strew_status Call(const Case& c, strew_context* context, strew_tensor* output);

// Gives the context the policies of the case. Returns false if it refuses them.
bool SetPolicies(const Case& c, strew_context* context);

// True if a plan can be made for the case. With DUPLICATE_ERROR a plan refuses two entries that
// name one slice, even if a dim of 0 leaves the slice without elements; the operator does not
// refuse this.
bool HasPlan(const Case& c);

// Makes a plan with the policies of the context.
strew_status MakePlan(const Case& c, strew_context* context, Plan* plan);

// Makes a plan and calls the library with it. Returns the status of the first call that fails.
strew_status CallByPlan(const Case& c, strew_context* context, strew_tensor* output);

// Runs the oracle, with the data at `data` and the output at `output`.
Outcome Expect(const Case& c, const View& data, const View& output);

// Describes the call and its operands, with the values of short index arrays only.
std::string Describe(const Case& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_CASE_H_
