// SPDX-License-Identifier: Apache-2.0
// The formula of each operator and the shapes of its operands, for the help of the command and the
// package.
#ifndef STREW_REFERENCE_OPERATOR_HELP_H_
#define STREW_REFERENCE_OPERATOR_HELP_H_

#define STREW_SCATTER_ELEMENTS_HELP                                                          \
  "    output = data\n"                                                                      \
  "    output[i0, ..., indices[i], ...] (+)= updates[i]    indices[i] in place of i[axis]\n" \
  "\n"                                                                                       \
  "data      [d0, ..., d(r-1)], r >= 1\n"                                                    \
  "indices   [n0, ..., n(r-1)] with n(j) <= d(j) for j != axis, of any integer dtype\n"      \
  "updates   the shape of indices\n"                                                         \
  "axis      in [-r, r - 1]\n"

#define STREW_SCATTER_ND_HELP                                                   \
  "    output = data\n"                                                         \
  "    output[indices[t, 0], ..., indices[t, k-1], ...] (+)= updates[t, ...]\n" \
  "\n"                                                                          \
  "data      [d0, ..., d(r-1)], r >= 1\n"                                       \
  "indices   its last dim is k <= r; of any integer dtype\n"                    \
  "updates   indices.shape[:-1] + data.shape[k:]; where that is (), any shape with one element\n"

#define STREW_SCATTER_UPDATE_HELP                                                          \
  "    output = data\n"                                                                    \
  "    output[a, indices[t], b] (+)= updates[a, t, b]    a before the axis, b behind it\n" \
  "\n"                                                                                     \
  "data      [d0, ..., d(r-1)], r >= 1\n"                                                  \
  "indices   any shape, of any integer dtype\n"                                            \
  "updates   data.shape[:axis] + indices.shape + data.shape[axis+1:]\n"                    \
  "axis      in [-r, r - 1]\n"

#define STREW_SLICE_SCATTER_HELP                                                      \
  "    output = data\n"                                                               \
  "    output[start0:stop0:step0, ...] (+)= updates    entry j slices axis axes[j]\n" \
  "\n"                                                                                \
  "data               [d0, ..., d(r-1)], r >= 1\n"                                    \
  "updates            the shape of the slice, or one that NumPy broadcasts to it\n"   \
  "start, stop, step  a number or n <= r of them, in elements; no step: ones\n"       \
  "axes               n axes in [-r, r - 1]; none: 0, ..., n - 1\n"

// Without the options that the command and the package name differently.
#define STREW_TENSOR_SCATTER_HELP                                                   \
  "    present_cache = past_cache\n"                                                \
  "    present_cache[b, ..., write_indices[b] + j, ...] = update[b, ..., j, ...]\n" \
  "\n"                                                                              \
  "past_cache     [B, ..., m, ...], rank r >= 2\n"                                  \
  "update         the same with S <= m positions on `axis`\n"                       \
  "write_indices  [B], of any integer dtype, which never count from the end\n"      \
  "axis           in [-r, r - 1], not 0\n"

#endif  // STREW_REFERENCE_OPERATOR_HELP_H_
