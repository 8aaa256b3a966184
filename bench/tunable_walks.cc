// SPDX-License-Identifier: Apache-2.0
// The walks of the kernels, with constants that can be changed.
#define STREW_TUNABLE
#include "kernel/walks.cc"
#undef STREW_TUNABLE

#include "tunable.h"
#include "tuning_fields.h"

namespace strew_bench {

const Constant* ConstantsOfWalks(int32_t* count) {
  using strew::kernel::kWalks;
#define FIELD(name) ConstantOf("walks." #name, &kWalks.name),
  static const Constant constants[] = {WALKS_FIELDS(FIELD)};
#undef FIELD
  static_assert(sizeof(constants) / sizeof(Constant) * 8 == sizeof(kWalks), "a field is missing");
  *count = sizeof(constants) / sizeof(Constant);
  return constants;
}

}  // namespace strew_bench
