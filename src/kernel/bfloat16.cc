// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bfloat16.cc"
#include <hwy/foreach_target.h>

#define STREW_DTYPE STREW_BFLOAT16
#include "kernel/reductions-inl.h"
