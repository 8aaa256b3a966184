// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bool.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Bool
#define STREW_ELEMENT Logical
#include "kernel/reductions-inl.h"
