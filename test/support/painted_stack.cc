// SPDX-License-Identifier: Apache-2.0
#include "painted_stack.h"

#include <cstdlib>

#include <pthread.h>
#include <sys/mman.h>

namespace strew_test {
namespace {

constexpr size_t kBytes = size_t{256} << 10;
constexpr unsigned char kPaint = 0xC3;
// Bytes of the frame that paints.
constexpr size_t kOwnFrame = 512;

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

PaintedStack::PaintedStack()
    : memory_(static_cast<unsigned char*>(
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
  Require(memory_ != MAP_FAILED);
}

PaintedStack::~PaintedStack() { munmap(memory_, kBytes); }

void PaintedStack::Run(const std::function<void()>& all) {
  pthread_attr_t attributes;
  Require(pthread_attr_init(&attributes) == 0);
  Require(pthread_attr_setstack(&attributes, memory_, kBytes) == 0);
  pthread_t thread;
  const auto body = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  Require(pthread_create(&thread, &attributes, body, const_cast<std::function<void()>*>(&all)) ==
          0);
  Require(pthread_join(thread, nullptr) == 0);
  Require(pthread_attr_destroy(&attributes) == 0);
}

[[gnu::noinline]] size_t PaintedStack::Depth(const std::function<void()>& body) {
  auto* const here = static_cast<unsigned char*>(__builtin_frame_address(0));
  // A loop over volatile bytes is no call.
  volatile unsigned char* const end = here - kOwnFrame;
  for (volatile unsigned char* byte = memory_; byte != end; ++byte) *byte = kPaint;
  body();
  const unsigned char* lowest = memory_;
  while (lowest != here && *lowest == kPaint) ++lowest;
  return static_cast<size_t>(here - lowest);
}

}  // namespace strew_test
