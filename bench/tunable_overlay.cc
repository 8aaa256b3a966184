// SPDX-License-Identifier: Apache-2.0
#include "tunable_tuning.h"
// Behind the header that it is to see.
#include "walk/overlay.cc"
