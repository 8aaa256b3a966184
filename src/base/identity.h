// SPDX-License-Identifier: Apache-2.0
// What an update may meet without being changed, up to the payload of a NaN: where old values take
// no part this is stored first.
#ifndef STREW_BASE_IDENTITY_H_
#define STREW_BASE_IDENTITY_H_

#include "strew/strew.h"

namespace strew {

// Whether the reduction has such an element on the dtype. A product of complex numbers has none: of
// 1 * (inf + 0i) the imaginary part is NaN.
bool HasIdentity(strew_dtype dtype, strew_reduction kind);

// Stores it at `element`, which has room for the dtype: -0 for sums of floats, because +0 would
// take the sign of -0; the largest finite number for minima of floats that have no infinity. The
// reduction is defined on the dtype, and its row names an identity.
void StoreIdentity(strew_dtype dtype, strew_reduction kind, unsigned char* element);

}  // namespace strew

#endif  // STREW_BASE_IDENTITY_H_
