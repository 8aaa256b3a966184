// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/int8.cc"
#include <hwy/foreach_target.h>

#define STREW_DTYPE STREW_INT8
#include "kernel/reductions-inl.h"
