// SPDX-License-Identifier: Apache-2.0
//
// Tests name what src/reference declares without its namespace.
#ifndef STREW_TEST_SUPPORT_REFERENCE_H_
#define STREW_TEST_SUPPORT_REFERENCE_H_

namespace strew::reference {}

namespace strew_test {
using namespace strew::reference;
}

#endif  // STREW_TEST_SUPPORT_REFERENCE_H_
