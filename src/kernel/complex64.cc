// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/complex64.cc"
#include <hwy/foreach_target.h>

#define STREW_DTYPE STREW_COMPLEX64
#include "kernel/reductions-inl.h"
