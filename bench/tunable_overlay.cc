// SPDX-License-Identifier: Apache-2.0
#include "tunable_tuning.h"
// Included after tunable_tuning.h, so that it uses the table of that header.
#include "walk/overlay.cc"
