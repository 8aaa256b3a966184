// SPDX-License-Identifier: Apache-2.0
// Identity elements of reductions: combined with an update they give the update, up to the payload
// of a NaN. They replace old values in reductions that ignore those.
#ifndef STREW_BASE_IDENTITY_H_
#define STREW_BASE_IDENTITY_H_

#include "strew/strew.h"

namespace strew {

// True if the reduction has an identity on the dtype. A product of complex numbers has none: the
// imaginary part of 1 * (inf + 0i) is NaN.
bool HasIdentity(strew_dtype dtype, strew_reduction kind);

// Stores the identity at `element`: -0 for sums of floats, because +0 would lose the sign of -0;
// the largest finite number for minima of floats without infinities. Requires that the reduction is
// defined on the dtype and that its row names an identity.
void StoreIdentity(strew_dtype dtype, strew_reduction kind, unsigned char* element);

}  // namespace strew

#endif  // STREW_BASE_IDENTITY_H_
