// SPDX-License-Identifier: Apache-2.0
//
// Bytes are a descriptor that is created, given to a reset and offered as a DLPack tensor. A model
// with wider numbers judges it. No address is one of memory: nobody may look there.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/random.h"
#include "support/dlpack.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int32_t kMostDims = 32;

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// ---- Descriptors -----------------------------------------------------------------------------

// Blocks of exactly as many numbers as may be read, or none.
using Numbers = std::unique_ptr<int64_t[]>;

struct Descriptor {
  strew_dtype dtype = 0;
  int32_t rank = 0;
  Numbers shape, strides;
  uint64_t address = 0;

  bool HasRank() const { return 0 <= rank && rank <= kMostDims; }
  void* data() const { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }
};

int64_t AnyNumber(Random& random) {
  const int64_t power = static_cast<int64_t>(uint64_t{1} << random.Between(0, 62));
  switch (random.Between(0, 5)) {
    case 0:
      return random.Pick(Dims{kMost, kLeast, kLeast + 1, kMost - 1});
    case 1:
      return power;
    case 2:
      return random.Between(-1, 1) - power;
    case 3:
      return static_cast<int64_t>(random.Bits());
    default:
      return random.Between(0, 4);
  }
}

int64_t AnyExtent(Random& random) {
  const int64_t number = AnyNumber(random);
  return number < 0 && !random.OneIn(8) ? -(number + 1) : number;
}

Numbers AnyNumbers(Random& random, int32_t count, int64_t (*any)(Random&)) {
  if (count == 0 && random.OneIn(2)) return nullptr;
  Numbers numbers(new int64_t[static_cast<size_t>(count)]);
  for (int32_t i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = any(random);
  return numbers;
}

Descriptor AnyDescriptor(Random& random) {
  Descriptor d;
  d.dtype = random.OneIn(8) ? static_cast<strew_dtype>(random.Bits()) : random.Pick(Dtypes()).code;
  d.rank = static_cast<int32_t>(random.OneIn(8) ? random.Between(-2, 34) : random.Between(0, 4));
  const int32_t count = d.HasRank() ? d.rank : 0;
  if (!random.OneIn(16)) d.shape = AnyNumbers(random, count, AnyExtent);
  if (!random.OneIn(3)) d.strides = AnyNumbers(random, count, AnyNumber);
  d.address = static_cast<uint64_t>(random.Between(0, 2)) * 4096 +
              static_cast<uint64_t>(random.OneIn(3) ? random.Between(0, 17) : 0);
  return d;
}

// ---- The model -------------------------------------------------------------------------------

// Numbers of this type stop at 2^64, so that the product of one with an int64_t fits.
__extension__ typedef unsigned __int128 Wide;
constexpr Wide kWidest = Wide{1} << 64;
Wide Capped(Wide number) { return number < kWidest ? number : kWidest; }

uint64_t Magnitude(int64_t stride) {
  return stride < 0 ? uint64_t{0} - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
}

Wide Elements(const Descriptor& d) {
  Wide count = 1;
  for (int32_t i = 0; i < d.rank; ++i) {
    if (d.shape[static_cast<size_t>(i)] == 0) return 0;
    count = Capped(count * static_cast<uint64_t>(d.shape[static_cast<size_t>(i)]));
  }
  return count;
}

// The bytes of a descriptor with elements.
Wide Extent(const Descriptor& d) {
  if (!d.strides) return Capped(Elements(d) * WidthOf(d.dtype));
  Wide span = 1;
  for (int32_t i = 0; i < d.rank; ++i) {
    const auto axis = static_cast<size_t>(i);
    const auto steps = static_cast<uint64_t>(d.shape[axis] - 1);
    span = Capped(span + static_cast<Wide>(steps) * Magnitude(d.strides[axis]));
  }
  return Capped(span * WidthOf(d.dtype));
}

bool HasNegativeDim(const Descriptor& d) {
  for (int32_t i = 0; i < d.rank; ++i) {
    if (d.shape[static_cast<size_t>(i)] < 0) return true;
  }
  return false;
}

strew_status Expected(const Descriptor& d) {
  if (!d.HasRank() || (d.rank > 0 && !d.shape) || !IsKnown(d.dtype)) return STREW_INVALID_ARGUMENT;
  if (HasNegativeDim(d)) return STREW_INVALID_ARGUMENT;
  const Wide count = Elements(d);
  if (count == 0) return STREW_OK;
  if (d.address % Find(d.dtype).alignment != 0) return STREW_INVALID_ARGUMENT;
  const auto most = static_cast<Wide>(std::numeric_limits<ptrdiff_t>::max());
  return count > most || Extent(d) > most ? STREW_SIZE_OVERFLOW : STREW_OK;
}

// ---- Calls -----------------------------------------------------------------------------------

// NULL must come out of a failure even where something else went in.
strew_tensor* Somewhere() {
  static int64_t memory;
  return reinterpret_cast<strew_tensor*>(&memory);
}

void RequireSame(const strew_tensor* tensor, const Descriptor& d) {
  Require(strew_tensor_dtype(tensor) == d.dtype, "dtype");
  Require(strew_tensor_rank(tensor) == d.rank, "rank");
  Require(strew_tensor_size(tensor) == static_cast<int64_t>(Elements(d)), "size");
  Require(strew_tensor_data(tensor) == d.data(), "data");
  int64_t row_major = 1;
  for (int32_t i = d.rank - 1; i >= 0; --i) {
    const auto axis = static_cast<size_t>(i);
    Require(strew_tensor_shape(tensor)[axis] == d.shape[axis], "shape");
    if (!d.strides && Elements(d) == 0) continue;
    Require(strew_tensor_strides(tensor)[axis] == (d.strides ? d.strides[axis] : row_major),
            "strides");
    if (!d.strides) row_major *= d.shape[axis];
  }
}

void CheckCreate(const Descriptor& d) {
  strew_tensor* made = Somewhere();
  const strew_status status =
      strew_tensor_create(d.dtype, d.rank, d.shape.get(), d.strides.get(), d.data(), &made);
  const Tensor tensor(made);
  Require(status == Expected(d), "the status of create");
  Require((made != nullptr) == (status == STREW_OK), "NULL after a failure");
  if (status == STREW_OK) RequireSame(made, d);
}

// A failure leaves what `old` describes.
void CheckReset(const Descriptor& old, const Descriptor& d) {
  strew_tensor* made = nullptr;
  strew_tensor_create(old.dtype, old.rank, old.shape.get(), old.strides.get(), old.data(), &made);
  const Tensor tensor(made);
  if (made == nullptr) return;
  const strew_status status =
      strew_tensor_reset(made, d.dtype, d.rank, d.shape.get(), d.strides.get(), d.data());
  Require(status == Expected(d), "the status of reset");
  const Descriptor& now = status == STREW_OK ? d : old;
  RequireSame(made, now);
  const bool aligned = Elements(now) == 0 || old.address % Find(now.dtype).alignment == 0;
  const bool set = strew_tensor_set_data(made, old.data()) == STREW_OK;
  Require(set == aligned, "the status of set_data");
  Require(strew_tensor_data(made) == (set ? old.data() : now.data()), "set_data");
}

void CheckDlpack(Random& random, const Descriptor& d) {
  DlManagedTensorVersioned managed;
  DlTensor& dl = managed.tensor;
  const bool known = IsKnown(d.dtype);
  dl.dtype = known ? DlTypeOf(d.dtype) : DlType{255, 32, 1};
  bool supported = known && dl.dtype.bits != 0;
  if (random.OneIn(16)) {
    dl.dtype.lanes = static_cast<uint16_t>(random.Between(0, 3));
    supported = supported && dl.dtype.lanes == 1;
  }
  dl.device_type = static_cast<int32_t>(random.OneIn(16) ? random.Between(-1, 18) : 1);
  supported = supported && dl.device_type == 1;
  dl.data = d.data();
  dl.ndim = d.rank;
  dl.shape = d.shape.get();
  dl.strides = d.strides.get();
  dl.byte_offset = 16 * static_cast<uint64_t>(random.Between(0, 4));
  managed.flags = static_cast<uint64_t>(random.Between(0, 3));
  managed.major = static_cast<uint32_t>(random.OneIn(16) ? random.Between(0, 2) : 1);
  const bool versioned = random.OneIn(2);
  if (versioned) supported = supported && managed.major == 1;

  strew_tensor* made = Somewhere();
  const strew_status status = versioned ? strew_tensor_from_dlpack_versioned(&managed, &made)
                                        : strew_tensor_from_dlpack(&dl, &made);
  const Tensor tensor(made);
  Require(status == (supported ? Expected(d) : STREW_UNSUPPORTED), "the status of from_dlpack");
  Require((made != nullptr) == (status == STREW_OK), "NULL after a failure");
  if (status != STREW_OK) return;
  const uint64_t first = d.address == 0 ? 0 : d.address + dl.byte_offset;
  Require(reinterpret_cast<uintptr_t>(strew_tensor_data(made)) == first, "byte_offset");
  strew_tensor_set_data(made, d.data());
  RequireSame(made, d);
}

}  // namespace
}  // namespace strew_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace strew_test;
  Random random(bytes, size);
  const Descriptor descriptor = AnyDescriptor(random);
  CheckCreate(descriptor);
  CheckDlpack(random, descriptor);
  CheckReset(AnyDescriptor(random), descriptor);
  return 0;
}
