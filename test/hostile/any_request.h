// SPDX-License-Identifier: Apache-2.0
//
// Requests with anything wrong, or nothing.
#ifndef STREW_TEST_HOSTILE_ANY_REQUEST_H_
#define STREW_TEST_HOSTILE_ANY_REQUEST_H_

#include <string>

#include "op/error_list.h"
#include "op/request.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {

// A good request with up to five changes, all of which may leave it good. Its descriptors can be
// made, and what they address lies in the arena.
Request AnyRequest(Random& random, Operator op);

Settings AnySettings(Random& random);

// Numbers on which checks break: near 0, near the limits of types, and their multiples.
int64_t AnyExtreme(Random& random);

std::string Describe(const Request& request, const Settings& settings);

}  // namespace strew_test

#endif  // STREW_TEST_HOSTILE_ANY_REQUEST_H_
