// SPDX-License-Identifier: Apache-2.0
#include "kernel/float_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/complex128.cc"
#include <hwy/foreach_target.h>

#define STREW_FAMILY Complex128
#define STREW_ELEMENT Complex<double>
#include "kernel/reductions-inl.h"
