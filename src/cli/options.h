// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_OPTIONS_H_
#define STREW_CLI_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace strew::cli {

// The values of a command line, for all operators together.
struct Options {
  std::string data;
  std::string indices;
  std::string updates;
  std::string output;     // empty: the result is printed
  bool in_place = false;  // the result replaces data, in its file
  bool cast = false;      // updates take the dtype of data
  std::string reduction = "none";
  bool exclude_self = false;
  bool wide = false;
  std::string out_of_range = "error";
  bool no_negative_indices = false;
  std::string duplicates = "last";
  std::string simd_target;  // empty: the best
  int threads = 1;          // 0: as many as there are CPUs to run on
  int repeat = 0;           // calls to time; 0: one call, not timed
  bool plan = false;        // scatter by a plan of the indices
  bool explain = false;     // tell how the call runs

  std::int64_t axis = 0;
  bool circular = false;  // tensor-scatter

  std::vector<std::int64_t> start;  // slice-scatter
  std::vector<std::int64_t> stop;
  std::vector<std::int64_t> step;
  std::vector<std::int64_t> axes;
};

}  // namespace strew::cli

#endif  // STREW_CLI_OPTIONS_H_
