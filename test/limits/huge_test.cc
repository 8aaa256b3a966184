// SPDX-License-Identifier: Apache-2.0
//
// More than 2^31 elements: in data, in updates, and before one element. The memory is sparse, so
// that what nobody writes is one page of zeros; the outputs of copies are not.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "reference/handles.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kElements = (int64_t{1} << 31) + 5;
constexpr int64_t kLast = kElements - 1;
constexpr int64_t kHalf = int64_t{1} << 30;
constexpr int64_t kNeededBytes = int64_t{8} << 30;

// The bytes that a process may still get, or -1 where the system does not tell.
int64_t AvailableBytes() {
  std::FILE* const file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return -1;
  char line[256];
  long long kibibytes = -1;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %lld kB", &kibibytes) == 1) break;
  }
  std::fclose(file);
  return kibibytes < 0 ? -1 : int64_t{kibibytes} * 1024;
}

enum class Use { kSparse, kWrittenThroughout };

// Zeros that take memory where they are written only.
class Zeros {
 public:
  explicit Zeros(int64_t size, Use use = Use::kSparse) : size_(size) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const memory =
        mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    // Huge pages would take 2 MiB for one byte, but 2 GiB of others are half a million faults.
    madvise(memory, static_cast<size_t>(size),
            use == Use::kSparse ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    bytes_ = static_cast<int8_t*>(memory);
  }
  ~Zeros() { munmap(bytes_, static_cast<size_t>(size_)); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  int8_t& operator[](int64_t place) { return bytes_[place]; }
  int8_t* data() { return bytes_; }
  int64_t size() const { return size_; }

 private:
  int8_t* bytes_;
  int64_t size_;
};

using Numbers = std::map<int64_t, int8_t>;

// Everything but zeros, as long as it is not much.
Numbers NonZeros(Zeros& zeros) {
  static const char kBlock[4096] = {};
  Numbers found;
  for (int64_t first = 0; first < zeros.size() && found.size() < 100;
       first += int64_t{sizeof(kBlock)}) {
    const int64_t end = std::min(zeros.size(), first + int64_t{sizeof(kBlock)});
    if (std::memcmp(&zeros[first], kBlock, static_cast<size_t>(end - first)) == 0) continue;
    for (int64_t i = first; i < end; ++i) {
      if (zeros[i] != 0) found[i] = zeros[i];
    }
  }
  return found;
}

Tensor Bytes(Zeros& zeros, Dims shape) {
  return MakeTensor(STREW_INT8, RowMajor(std::move(shape)), zeros.data());
}

// By the number of workers.
class Huge : public testing::TestWithParam<int32_t> {
 protected:
  void SetUp() override {
    const int64_t available = sizeof(void*) < 8 ? 0 : AvailableBytes();
    if (available < kNeededBytes) {
      GTEST_SKIP() << "needs 8 GiB of free memory and an address space for them; "
                   << (available >> 20) << " MiB are free";
    }
    if (GetParam() > 1) threads_.InstallIn(context_.get(), GetParam());
  }

  void ExpectOk(strew_status status, int64_t applied) const {
    EXPECT_EQ(status, STREW_OK) << strew_context_error(context_.get());
    EXPECT_EQ(strew_context_applied(context_.get()), applied);
  }

  StdThreads threads_;
  Context context_ = MakeContext();
};

INSTANTIATE_TEST_SUITE_P(Workers, Huge, testing::Values(1, 2),
                         [](const auto& test) { return std::to_string(test.param); });

// ---- Places beyond 2^31, in place ------------------------------------------------------------

// One element each, at both ends of what 32 bits count and behind.
class HugePlaces : public Huge {
 protected:
  static constexpr int64_t kPlaces = 4;
  int64_t indices_[kPlaces] = {kLast, 0, 2 * kHalf - 1, -5};
  int8_t updates_[kPlaces] = {1, 2, 3, 4};
  const Numbers expected_ = {{0, 2}, {2 * kHalf - 1, 3}, {2 * kHalf, 4}, {kLast, 1}};
  Tensor updates() { return MakeTensor(STREW_INT8, {{kPlaces}, {1}}, updates_); }
};

INSTANTIATE_TEST_SUITE_P(Workers, HugePlaces, testing::Values(1, 2),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_P(HugePlaces, ScatterElements) {
  Zeros data(kElements);
  const Tensor tensor = Bytes(data, {kElements});
  const Tensor indices = MakeTensor(STREW_INT64, {{kPlaces}, {1}}, indices_);
  ExpectOk(strew_scatter_elements(context_.get(), tensor.get(), indices.get(), updates().get(), 0,
                                  STREW_ADD, tensor.get()),
           kPlaces);
  EXPECT_EQ(NonZeros(data), expected_);
}

TEST_P(HugePlaces, ScatterNd) {
  Zeros data(kElements);
  const Tensor tensor = Bytes(data, {kElements});
  const Tensor indices = MakeTensor(STREW_INT64, {{kPlaces, 1}, {1, 1}}, indices_);
  ExpectOk(strew_scatter_nd(context_.get(), tensor.get(), indices.get(), updates().get(),
                            STREW_NONE, tensor.get()),
           kPlaces);
  EXPECT_EQ(NonZeros(data), expected_);
}

TEST_P(HugePlaces, ScatterUpdate) {
  Zeros data(kElements);
  const Tensor tensor = Bytes(data, {kElements});
  const Tensor indices = MakeTensor(STREW_INT64, {{kPlaces}, {1}}, indices_);
  ExpectOk(strew_scatter_update(context_.get(), tensor.get(), indices.get(), updates().get(), 0,
                                STREW_MAX, tensor.get()),
           kPlaces);
  EXPECT_EQ(NonZeros(data), expected_);
}

TEST_P(HugePlaces, OutOfRange) {
  Zeros data(kElements);
  const Tensor tensor = Bytes(data, {kElements});
  indices_[3] = kElements;
  const Tensor indices = MakeTensor(STREW_INT64, {{kPlaces}, {1}}, indices_);
  EXPECT_EQ(strew_scatter_elements(context_.get(), tensor.get(), indices.get(), updates().get(), 0,
                                   STREW_ADD, tensor.get()),
            STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context_.get()), 3);
  EXPECT_EQ(NonZeros(data), Numbers());
}

TEST_P(HugePlaces, TensorScatter) {
  Zeros cache(kElements);
  const int64_t positions = kElements / 3;
  const Tensor tensor = MakeTensor(STREW_INT8, {{3, positions, 1}, {positions, 1, 1}}, &cache[0]);
  const Tensor update = MakeTensor(STREW_INT8, {{3, 1, 1}, {1, 1, 1}}, updates_);
  int64_t write_indices[3] = {1, 0, positions - 1};
  const Tensor places = MakeTensor(STREW_INT64, {{3}, {1}}, write_indices);
  for (const strew_cache_mode mode : {STREW_CACHE_LINEAR, STREW_CACHE_CIRCULAR}) {
    ExpectOk(strew_tensor_scatter(context_.get(), tensor.get(), update.get(), places.get(), 1, mode,
                                  tensor.get()),
             3);
  }
  EXPECT_EQ(NonZeros(cache), (Numbers{{1, 1}, {positions, 2}, {3 * positions - 1, 3}}));
}

// Strides that alone pass 2^31, and a step of a slice.
TEST_P(HugePlaces, StridesAndSteps) {
  Zeros data(2 * kElements);
  const Tensor far = MakeTensor(STREW_INT8, {{2, 2}, {kElements, 1}}, data.data());
  const Tensor updates = MakeTensor(STREW_INT8, {{2, 2}, {2, 1}}, updates_);
  int64_t last = 1, first = 0;
  const Tensor swapped = MakeTensor(STREW_INT64, {{2, 2}, {0, 0}}, &last);
  ExpectOk(strew_scatter_elements(context_.get(), far.get(), swapped.get(), updates.get(), 0,
                                  STREW_ADD, far.get()),
           4);
  EXPECT_EQ(NonZeros(data), (Numbers{{kElements, 4}, {kElements + 1, 6}}));
  const Tensor whole = Bytes(data, {2 * kElements});
  const Tensor two = MakeTensor(STREW_INT8, {{2}, {1}}, updates_);
  int64_t end = 2 * kElements, step = kElements;
  ExpectOk(strew_slice_scatter_int64(context_.get(), whole.get(), two.get(), 1, &first, &end, &step,
                                     nullptr, STREW_ADD, whole.get()),
           2);
  EXPECT_EQ(NonZeros(data), (Numbers{{0, 1}, {kElements, 6}, {kElements + 1, 6}}));
  first = kElements + 1, step = kElements - 2;
  ExpectOk(strew_slice_scatter_int64(context_.get(), whole.get(), two.get(), 1, &first, &end, &step,
                                     nullptr, STREW_NONE, whole.get()),
           2);
  EXPECT_EQ(NonZeros(data),
            (Numbers{{0, 1}, {kElements, 6}, {kElements + 1, 1}, {2 * kElements - 1, 2}}));
}

// ---- Updates and indices beyond 2^31 ---------------------------------------------------------

// Nearly all of them are zeros that go to element 0.
class HugeUpdates : public Huge {
 protected:
  void SetUp() override {
    Huge::SetUp();
    if (IsSkipped()) return;
    Zeros& updates = updates_memory_.emplace(kElements);
    Zeros& indices = indices_memory_.emplace(kElements);
    updates[5] = 7;
    updates[2 * kHalf] = 8;
    updates[kLast] = 9;
    indices[2 * kHalf] = 1;
    indices[kLast] = -1;
  }

  int8_t data_[3] = {100, 0, 0};
  const Tensor tensor_ = MakeTensor(STREW_INT8, {{3}, {1}}, data_);
  // Absent where the test is skipped.
  std::optional<Zeros> updates_memory_;
  std::optional<Zeros> indices_memory_;
};

INSTANTIATE_TEST_SUITE_P(Workers, HugeUpdates, testing::Values(1, 2),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_P(HugeUpdates, ScatterElements) {
  const Tensor updates = Bytes(*updates_memory_, {kElements});
  const Tensor indices = Bytes(*indices_memory_, {kElements});
  ExpectOk(strew_scatter_elements(context_.get(), tensor_.get(), indices.get(), updates.get(), 0,
                                  STREW_ADD, tensor_.get()),
           kElements);
  EXPECT_EQ(data_[0], 107);
  EXPECT_EQ(data_[1], 8);
  EXPECT_EQ(data_[2], 9);
}

TEST_P(HugeUpdates, ScatterNd) {
  const Tensor updates = Bytes(*updates_memory_, {kElements});
  const Tensor indices = Bytes(*indices_memory_, {kElements, 1});
  ExpectOk(strew_scatter_nd(context_.get(), tensor_.get(), indices.get(), updates.get(), STREW_NONE,
                            tensor_.get()),
           kElements);
  EXPECT_EQ(data_[0], 0);
  EXPECT_EQ(data_[1], 8);
  EXPECT_EQ(data_[2], 9);
}

TEST_P(HugeUpdates, PositionOfTheLastIndex) {
  const Tensor updates = Bytes(*updates_memory_, {kElements});
  const Tensor indices = Bytes(*indices_memory_, {kElements});
  (*indices_memory_)[kLast] = 3;
  EXPECT_EQ(strew_scatter_update(context_.get(), tensor_.get(), indices.get(), updates.get(), 0,
                                 STREW_ADD, tensor_.get()),
            STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(strew_context_error_position(context_.get()), kLast);
  EXPECT_EQ(data_[0], 100);
}

// 2^31 of the largest number are more than 64 bits with a sign hold.
TEST(HugeMeans, OfUnsignedNumbers) {
  constexpr int64_t kTerms = (int64_t{1} << 31) + 1;
  uint32_t data[] = {0xFFFFFFFE, 3}, most = 0xFFFFFFFF;
  int8_t zero = 0;
  const Tensor tensor = MakeTensor(STREW_UINT32, {{2}, {1}}, data);
  const Tensor indices = MakeTensor(STREW_INT8, {{kTerms}, {0}}, &zero);
  const Tensor updates = MakeTensor(STREW_UINT32, {{kTerms}, {0}}, &most);
  EXPECT_EQ(strew_scatter_elements(nullptr, tensor.get(), indices.get(), updates.get(), 0,
                                   STREW_MEAN, tensor.get()),
            STREW_OK);
  EXPECT_EQ(data[0], 0xFFFFFFFE);  // rounded down
  EXPECT_EQ(data[1], 3u);
}

// ---- Runs beyond 2^31 ------------------------------------------------------------------------

TEST_P(Huge, OneRowIntoAFreshOutput) {
  Zeros data(kElements), updates(kElements), output(kElements, Use::kWrittenThroughout);
  data[3] = 1;
  updates[kLast] = 2;
  output[kHalf] = 3;
  int64_t index = 0;
  const Tensor indices = MakeTensor(STREW_INT64, {{1, 1}, {1, 1}}, &index);
  ExpectOk(strew_scatter_nd(context_.get(), Bytes(data, {1, kElements}).get(), indices.get(),
                            Bytes(updates, {1, kElements}).get(), STREW_ADD,
                            Bytes(output, {1, kElements}).get()),
           kElements);
  EXPECT_EQ(NonZeros(output), (Numbers{{3, 1}, {kLast, 2}}));
}

// All but the first element and the last.
TEST_P(Huge, SliceOfAFreshOutput) {
  Zeros data(kElements), updates(kElements - 2), output(kElements, Use::kWrittenThroughout);
  data[0] = data[1] = data[kLast] = 1;
  updates[kHalf] = updates[kElements - 3] = 2;
  int64_t start = 1, stop = -1, step = 1;
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD}) {
    ExpectOk(strew_slice_scatter_int64(context_.get(), Bytes(data, {kElements}).get(),
                                       Bytes(updates, {kElements - 2}).get(), 1, &start, &stop,
                                       &step, nullptr, reduction, Bytes(output, {kElements}).get()),
             kElements - 2);
    Numbers expected = {{0, 1}, {kHalf + 1, 2}, {kLast - 1, 2}, {kLast, 1}};
    if (reduction == STREW_ADD) expected[1] = 1;
    EXPECT_EQ(NonZeros(output), expected);
  }
}

TEST_P(Huge, OneElementBroadcast) {
  Zeros data(kElements, Use::kWrittenThroughout);
  data[kLast] = 1;
  int8_t update = 0;
  int64_t start = 0, stop = kElements, step = 1;
  const Tensor updates = MakeTensor(STREW_INT8, {{}, {}}, &update);
  const Tensor tensor = Bytes(data, {kElements});
  ExpectOk(strew_slice_scatter_int64(context_.get(), tensor.get(), updates.get(), 1, &start, &stop,
                                     &step, nullptr, STREW_NONE, tensor.get()),
           1);
  EXPECT_EQ(NonZeros(data), Numbers());
}

}  // namespace
}  // namespace strew_test
