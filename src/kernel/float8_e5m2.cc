// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/float8_e5m2.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Float8E5m2
#define STREW_ELEMENT E5m2
#include "kernel/reductions-inl.h"
