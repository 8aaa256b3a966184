// SPDX-License-Identifier: Apache-2.0
//
// Descriptors and contexts where the system has no memory for them.
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <strew/strew.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STREW_TEST_MALLOC 1

extern "C" void* __libc_malloc(size_t size);

namespace {
thread_local bool malloc_fails = false;
}

// Takes the place of the C library's, for the library under test too.
extern "C" void* malloc(size_t size) { return malloc_fails ? nullptr : __libc_malloc(size); }
#endif

namespace strew_test {
namespace {

class NoMemory : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(STREW_TEST_MALLOC)
    GTEST_SKIP() << "malloc is another's here";
#endif
  }

  // The status of the call where malloc has nothing to give.
  template <class Call>
  static strew_status Without(Call call) {
#if defined(STREW_TEST_MALLOC)
    malloc_fails = true;
    const strew_status status = call();
    malloc_fails = false;
    return status;
#else
    return call();
#endif
  }
};

TEST_F(NoMemory, Tensor) {
  const int64_t shape[] = {3};
  int32_t numbers[3];
  strew_tensor* tensor = reinterpret_cast<strew_tensor*>(numbers);
  EXPECT_EQ(Without([&] {
              return strew_tensor_create(STREW_INT32, 1, shape, nullptr, numbers, &tensor);
            }),
            STREW_OUT_OF_MEMORY);
  EXPECT_EQ(tensor, nullptr);
  ASSERT_EQ(strew_tensor_create(STREW_INT32, 1, shape, nullptr, numbers, &tensor), STREW_OK);
  // An existing descriptor needs no memory.
  EXPECT_EQ(
      Without([&] { return strew_tensor_reset(tensor, STREW_INT32, 1, shape, nullptr, numbers); }),
      STREW_OK);
  strew_tensor_destroy(tensor);
}

TEST_F(NoMemory, Context) {
  int64_t place;
  strew_context* context = reinterpret_cast<strew_context*>(&place);
  EXPECT_EQ(Without([&] { return strew_context_create(&context); }), STREW_OUT_OF_MEMORY);
  EXPECT_EQ(context, nullptr);
}

}  // namespace
}  // namespace strew_test
