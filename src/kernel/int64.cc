// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/int64.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Int64
#define STREW_ELEMENT int64_t
#include "kernel/reductions-inl.h"
