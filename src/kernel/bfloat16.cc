// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/bfloat16.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Bfloat16
#define STREW_ELEMENT Brain
#include "kernel/reductions-inl.h"
