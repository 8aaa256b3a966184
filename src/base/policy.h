// SPDX-License-Identifier: Apache-2.0
// Names of policies and modes in the command-line tool and the Python package, indexed by their
// values in strew.h.
#ifndef STREW_BASE_POLICY_H_
#define STREW_BASE_POLICY_H_

#include "strew/strew.h"

namespace strew {

inline constexpr const char* kIndexPolicyNames[] = {"error", "drop", "clamp"};
static_assert(STREW_INDEX_ERROR == 0 && STREW_INDEX_DROP == 1 && STREW_INDEX_CLAMP == 2);

inline constexpr const char* kDuplicatePolicyNames[] = {"last", "error"};
static_assert(STREW_DUPLICATE_LAST == 0 && STREW_DUPLICATE_ERROR == 1);

inline constexpr const char* kCacheModeNames[] = {"linear", "circular"};
static_assert(STREW_CACHE_LINEAR == 0 && STREW_CACHE_CIRCULAR == 1);

}  // namespace strew

#endif  // STREW_BASE_POLICY_H_
