// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/int16.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Int16
#define STREW_ELEMENT int16_t
#include "kernel/reductions-inl.h"
