// SPDX-License-Identifier: Apache-2.0
// Included before every file of strew.jax. GCC 12 gave std::condition_variable::wait() a new
// version, which differs by what it may throw. With the older one, which its runtime still has, a
// wheel that GCC 12 built needs no runtime newer than that of GCC 11.
#ifndef STREW_JAX_OLDER_WAIT_H_
#define STREW_JAX_OLDER_WAIT_H_

#define STREW_WAIT "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
__asm__(".symver " STREW_WAIT "," STREW_WAIT "@GLIBCXX_3.4.11");
#undef STREW_WAIT

#endif  // STREW_JAX_OLDER_WAIT_H_
