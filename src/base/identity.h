// SPDX-License-Identifier: Apache-2.0
// Identity elements of reductions. An identity combined with an update is the update, up to the
// payload of a NaN. Identities replace old values in reductions that exclude them.
#ifndef STREW_BASE_IDENTITY_H_
#define STREW_BASE_IDENTITY_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

// True if the reduction has an identity on the dtype. A product of complex numbers has none: the
// imaginary part of 1 * (inf + 0i) is NaN.
bool HasIdentity(strew_dtype dtype, strew_reduction kind);

// Stores the identity at `element`. For sums of floats it is -0, because +0 would lose the sign of
// -0; for minima of floats without infinities it is the largest finite number. Requires that the
// reduction is defined on the dtype and that its row names an identity.
void StoreIdentity(strew_dtype dtype, strew_reduction kind, unsigned char* element);

// Stores a run of `count` identities at `elements` if `bytes` hold it, else a single one. Returns
// the step with which they are read as a run: 1 or 0.
int64_t StoreIdentities(strew_dtype dtype, strew_reduction kind, int64_t count, int64_t bytes,
                        unsigned char* elements);

}  // namespace strew

#endif  // STREW_BASE_IDENTITY_H_
