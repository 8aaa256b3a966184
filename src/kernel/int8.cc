// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/int8.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Int8
#define STREW_ELEMENT int8_t
#include "kernel/reductions-inl.h"
