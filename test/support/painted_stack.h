// SPDX-License-Identifier: Apache-2.0
//
// How deep a call goes: on a stack that was painted before, the paint tells.
#ifndef STREW_TEST_SUPPORT_PAINTED_STACK_H_
#define STREW_TEST_SUPPORT_PAINTED_STACK_H_

#include <cstddef>
#include <functional>

namespace strew_test {

// A thread of its own with a stack of 256 KiB, on which Depth() runs one body after another.
class PaintedStack {
 public:
  PaintedStack();
  ~PaintedStack();
  PaintedStack(const PaintedStack&) = delete;
  PaintedStack& operator=(const PaintedStack&) = delete;

  // Runs `all`, which calls Depth(), on the thread.
  void Run(const std::function<void()>& all);

  // Bytes of stack below this call that the body wrote to. For the thread of Run() only.
  size_t Depth(const std::function<void()>& body);

 private:
  unsigned char* memory_;
};

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_PAINTED_STACK_H_
