// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_SIGNALS_H_
#define STREW_CLI_SIGNALS_H_

#include <string>

namespace strew::cli {

// While it lives, every signal that would end the program, and can be caught, removes the file at
// `path` first, if there is one. Signals that are ignored, as by nohup, stay ignored. At most one
// lives at a time, in the thread that creates, writes, renames and removes the file. Does nothing
// on systems without POSIX signals.
class RemovedBySignals {
 public:
  explicit RemovedBySignals(std::string path);
  ~RemovedBySignals();
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  const std::string path_;
};

}  // namespace strew::cli

#endif  // STREW_CLI_SIGNALS_H_
