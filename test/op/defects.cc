// SPDX-License-Identifier: Apache-2.0
#include "op/defects.h"

#include <limits>

namespace strew_test {
namespace {

using OperandOf = Operand Request::*;

struct Role {
  const char* name;
  OperandOf operand;
};

std::vector<Role> IndexRoles(Operator op) {
  if (op == Operator::kSliceScatter) {
    return {{"start", &Request::start},
            {"stop", &Request::stop},
            {"step", &Request::step},
            {"axes", &Request::axes}};
  }
  if (op == Operator::kSliceScatterInt64) return {};
  return {{InfoOf(op).operands.indices, &Request::indices}};
}

std::vector<Role> AllRoles(Operator op) {
  std::vector<Role> roles = {{InfoOf(op).operands.data, &Request::data},
                             {InfoOf(op).operands.updates, &Request::updates},
                             {InfoOf(op).operands.output, &Request::output}};
  for (const Role& role : IndexRoles(op)) roles.push_back(role);
  return roles;
}

// ---- Line 1: handles and reductions ----------------------------------------------------------

void AddHandles(Operator op, Defects& defects) {
  for (const Role& role : AllRoles(op)) {
    const OperandOf operand = role.operand;
    const std::string name = role.name;
    if (name != "axes" && name != "write_indices") {  // which have a default
      defects.push_back({1, "NULL " + name, name, [=](Request& r) { (r.*operand).null = true; }});
    }
    defects.push_back(
        {1, "unbound " + name, name, [=](Request& r) { (r.*operand).bound = false; }});
  }
  defects.push_back({1, "read-only output", InfoOf(op).operands.output, [](Request& r) {
                       r.output.read_only = true;
                       r.output.dtype = STREW_FLOAT32;  // DLPack, which says so, has no opaque ones
                     }});
}

void AddUnknownReductions(Operator op, Defects& defects) {
  if (!Takes(op, "reduction")) return;
  for (const strew_reduction reduction : std::vector<strew_reduction>{
           -1, 7, 0x80, 0x400, STREW_EXCLUDE_SELF | 7, STREW_EXCLUDE_SELF | STREW_SUB,
           STREW_WIDE | 7, STREW_WIDE | STREW_EXCLUDE_SELF | STREW_SUB,
           std::numeric_limits<strew_reduction>::min()}) {
    defects.push_back({1, "reduction " + std::to_string(reduction), "reduction",
                       [=](Request& r) { r.reduction = reduction; }});
  }
}

void AddModes(Operator op, Defects& defects) {
  if (!Takes(op, "mode")) return;
  for (const strew_cache_mode mode : {-1, 2, 0x100, std::numeric_limits<strew_cache_mode>::min()}) {
    defects.push_back(
        {1, "mode " + std::to_string(mode), "mode", [=](Request& r) { r.mode = mode; }});
  }
}

void AddLists(Operator op, Defects& defects) {
  if (op != Operator::kSliceScatterInt64) return;
  defects.push_back({1, "negative count", "count", [](Request& r) { r.count = -1; }});
  const std::vector<Role> lists = {
      {"start", &Request::start}, {"stop", &Request::stop}, {"step", &Request::step}};
  for (const Role& list : lists) {
    const OperandOf operand = list.operand;
    defects.push_back({1, std::string("NULL ") + list.name, list.name,
                       [=](Request& r) { (r.*operand).null = true; }});
  }
}

// ---- Line 2: dtypes -----------------------------------------------------------------------------

void AddDtypes(Operator op, Defects& defects) {
  const char* const updates = InfoOf(op).operands.updates;
  defects.push_back(
      {2, "updates of another dtype", updates, [](Request& r) { r.updates.dtype = STREW_INT32; }});
  defects.push_back({2, "output of another dtype", InfoOf(op).operands.output,
                     [](Request& r) { r.output.dtype = STREW_UINT32; }});
  defects.push_back({2, "opaque of another size", updates, [](Request& r) {
                       r.SetDtype(STREW_OPAQUE(4));
                       r.updates.dtype = STREW_OPAQUE(5);
                     }});
  for (const Role& role : IndexRoles(op)) {
    for (const strew_dtype dtype :
         std::vector<strew_dtype>{STREW_BOOL, STREW_FLOAT32, STREW_STRING, STREW_OPAQUE(8)}) {
      const OperandOf operand = role.operand;
      defects.push_back({2, std::string(role.name) + " of dtype " + std::to_string(dtype),
                         role.name, [=](Request& r) { (r.*operand).dtype = dtype; }});
    }
  }
}

void AddRefusedReductions(Operator op, Defects& defects) {
  if (!Takes(op, "reduction")) return;
  struct Refusal {
    strew_dtype dtype;
    strew_reduction reduction;
  };
  const Refusal refusals[] = {{STREW_COMPLEX64, STREW_MIN},
                              {STREW_COMPLEX64, STREW_MAX},
                              {STREW_COMPLEX128, STREW_MIN},
                              {STREW_COMPLEX128, STREW_MAX},
                              {STREW_STRING, STREW_ADD},
                              {STREW_STRING, STREW_MAX},
                              {STREW_OPAQUE(4), STREW_ADD},
                              {STREW_OPAQUE(4), STREW_MUL},
                              {STREW_STRING, STREW_SUB},
                              {STREW_OPAQUE(4), STREW_MEAN},
                              {STREW_BOOL, STREW_MEAN},
                              {STREW_COMPLEX64, STREW_MIN | STREW_EXCLUDE_SELF},
                              {STREW_STRING, STREW_ADD | STREW_EXCLUDE_SELF}};
  for (const Refusal& refusal : refusals) {
    defects.push_back({2,
                       "reduction " + std::to_string(refusal.reduction) + " of dtype " +
                           std::to_string(refusal.dtype),
                       strew_dtype_name(refusal.dtype), [=](Request& r) {
                         r.SetDtype(refusal.dtype);
                         r.reduction = refusal.reduction;
                       }});
  }
}

// ---- Line 4: ranks and the lists of a slice --------------------------------------------------

void AddRanks(Operator op, Defects& defects) {
  defects.push_back({4, "data of rank 0", InfoOf(op).operands.data, [](Request& r) {
                       r.data.SetShape({});
                       r.output.SetShape({});
                     }});
  defects.push_back({4, "output of another rank", InfoOf(op).operands.output,
                     [](Request& r) { r.output.SetShape({12}); }});
  defects.push_back({4, "updates of another rank", InfoOf(op).operands.updates, [](Request& r) {
                       r.updates.SetShape({2, 2, 2});
                     }});
  if (op == Operator::kScatterElements) {
    defects.push_back(
        {4, "indices of another rank", "indices", [](Request& r) { r.indices.SetShape({6}); }});
  }
  if (op == Operator::kScatterNd) {
    defects.push_back(
        {4, "indices of rank 0", "indices", [](Request& r) { r.indices.SetShape({}); }});
    defects.push_back({4, "more components than dims", "indices", [](Request& r) {
                         r.indices.SetValues({2, 3}, {0, 0, 0, 1, 1, 1});
                         r.updates.SetShape({2});
                       }});
  }
}

void AddCacheRanks(Operator op, Defects& defects) {
  if (op != Operator::kTensorScatter) return;
  defects.push_back({4, "past_cache of rank 1", "past_cache", [](Request& r) {
                       r.data.SetShape({3});
                       r.output.SetShape({3});
                       r.updates.SetShape({3});
                     }});
  for (const Dims& shape : {Dims{}, Dims{3, 1}, Dims{1, 3}}) {
    defects.push_back({4, "write_indices of shape " + ToString(shape), "write_indices",
                       [=](Request& r) { r.indices.SetShape(shape); }});
  }
}

void AddSliceLists(Operator op, Defects& defects) {
  if (op == Operator::kSliceScatter) {
    for (const Role& role : IndexRoles(op)) {
      const OperandOf operand = role.operand;
      const std::string name = role.name;
      defects.push_back({4, name + " of rank 2", name, [=](Request& r) {
                           (r.*operand).SetShape({1, 1});
                         }});
      defects.push_back(
          {4, name + " of rank 0", name, [=](Request& r) { (r.*operand).SetShape({}); }});
      defects.push_back({4, name + " of another length", "", [=](Request& r) {
                           (r.*operand).SetList({1, 1, 1});
                         }});
    }
  }
  if (IsSlice(op)) {
    defects.push_back({4, "more entries than dims", "", [](Request& r) {
                         r.SetSlice({0, 0, 0}, {2, 2, 2}, {1, 1, 1}, {0, 1, 2});
                       }});
  }
}

// ---- Lines 5 to 7: axes, steps and extents ---------------------------------------------------

void AddAxes(Operator op, Defects& defects) {
  const Dims wrong = {2, -3, std::numeric_limits<int64_t>::max(),
                      std::numeric_limits<int64_t>::min()};
  for (const int64_t axis : wrong) {
    const std::string name = "axis " + std::to_string(axis);
    if (!IsSlice(op) && op != Operator::kScatterNd) {
      defects.push_back({5, name, "axis", [=](Request& r) { r.axis = axis; }});
    }
    if (IsSlice(op)) {
      defects.push_back({5, name, "axes", [=](Request& r) { r.axes.SetList({axis}); }});
    }
  }
  if (op == Operator::kTensorScatter) {
    for (const int64_t axis : {0, -2}) {
      defects.push_back({5, "axis of the batch, " + std::to_string(axis), "axis",
                         [=](Request& r) { r.axis = axis; }});
    }
  }
  if (!IsSlice(op)) return;
  for (const int64_t twin : {0, -2}) {
    defects.push_back({5, "repeated axis " + std::to_string(twin), "axes", [=](Request& r) {
                         r.SetSlice({0, 0}, {2, 2}, {1, 1}, {0, twin});
                       }});
  }
}

void AddSteps(Operator op, Defects& defects) {
  if (!IsSlice(op)) return;
  defects.push_back(
      {6, "step 0", "step", [](Request& r) { r.step.values.assign(r.step.values.size(), 0); }});
}

void AddExtents(Operator op, Defects& defects) {
  defects.push_back({7, "output of another shape", InfoOf(op).operands.output, [](Request& r) {
                       r.output.SetShape({4, 3});
                     }});
  defects.push_back({7, "updates of another shape", InfoOf(op).operands.updates, [](Request& r) {
                       r.updates.SetShape({2, 5});
                     }});
  if (op == Operator::kScatterElements) {
    defects.push_back({7, "indices beyond data", "indices", [](Request& r) {
                         r.indices.SetShape({4, 2});
                         r.updates.SetShape({4, 2});
                       }});
  }
  if (op == Operator::kScatterUpdate) {
    defects.push_back(
        {7, "more indices than updates", "updates", [](Request& r) { r.indices.SetShape({3}); }});
  }
  if (op == Operator::kScatterNd) {
    defects.push_back({7, "more tuples than updates", "updates", [](Request& r) {
                         r.indices.SetShape({3, 1});
                       }});
  }
}

// ---- Lines 8 and 9: memory and index values -------------------------------------------------

void AddOverlaps(Operator op, Defects& defects) {
  const char* const output = InfoOf(op).operands.output;
  defects.push_back({8, "output over part of data", output,
                     [](Request& r) { r.output.offset = r.data.offset + 16; }});
  defects.push_back(
      {8, "output over updates", output, [](Request& r) { r.output.offset = r.updates.offset; }});
  defects.push_back({8, "output that meets itself", output, [](Request& r) {
                       r.output.layout.strides = {0, 1};
                     }});
  for (const Role& role : IndexRoles(op)) {
    const OperandOf operand = role.operand;
    defects.push_back({8, std::string("output over ") + role.name, output,
                       [=](Request& r) { r.output.offset = (r.*operand).offset; }});
  }
}

void AddIndexValues(Operator op, Defects& defects) {
  if (IsSlice(op)) return;
  const std::string place = std::string(InfoOf(op).operands.indices) + "[";
  for (const int64_t value : {4, -5}) {
    defects.push_back({9, "index " + std::to_string(value), place,
                       [=](Request& r) { r.indices.values.front() = value; }});
  }
}

}  // namespace

Defects DefectsOf(Operator op) {
  Defects defects;
  AddHandles(op, defects);
  AddUnknownReductions(op, defects);
  AddModes(op, defects);
  AddLists(op, defects);
  AddDtypes(op, defects);
  AddRefusedReductions(op, defects);
  AddRanks(op, defects);
  AddCacheRanks(op, defects);
  AddSliceLists(op, defects);
  AddAxes(op, defects);
  AddSteps(op, defects);
  AddExtents(op, defects);
  AddOverlaps(op, defects);
  AddIndexValues(op, defects);
  return defects;
}

}  // namespace strew_test
