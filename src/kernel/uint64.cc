// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/uint64.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Uint64
#define STREW_ELEMENT uint64_t
#include "kernel/reductions-inl.h"
