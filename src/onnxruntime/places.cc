// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/places.h"

#include <new>

namespace strew::onnxruntime {
namespace {

// Copies a string over another, of which the first `kept` bytes stay. Strings may contain NUL
// bytes.
OrtStatus* CopyString(const OrtApi& api, const OrtValue* source, size_t from, size_t kept,
                      OrtValue* output, size_t to) {
  size_t length = 0;
  OrtStatus* status = api.GetStringTensorElementLength(source, from, &length);
  char* text = nullptr;
  if (status == nullptr) {
    status = api.GetResizedStringTensorElementBuffer(output, to, kept + length, &text);
  }
  return status != nullptr ? status : api.GetStringTensorElement(source, length, from, text + kept);
}

}  // namespace

Places::Places(std::int64_t data_size, std::int64_t update_size)
    : data_size_(static_cast<size_t>(data_size)), update_size_(static_cast<size_t>(update_size)) {
  places_ = new (std::nothrow) std::uintptr_t[data_size_ + update_size_];
  if (places_ != nullptr) Fill();
}

Places::~Places() { delete[] places_; }

void Places::Fill() {
  const size_t count = data_size_ + update_size_;
  for (size_t i = 0; i < count; ++i) places_[i] = i;
}

OrtStatus* Places::Copy(const OrtApi& api, const OrtValue* data, const OrtValue* updates,
                        bool in_place, OrtValue* output) const {
  for (size_t to = 0; to < data_size_; ++to) {
    const size_t place = places_[to];
    const bool old = place < data_size_;
    if (old && in_place) continue;
    OrtStatus* const status = old ? CopyString(api, data, place, 0, output, to)
                                  : CopyString(api, updates, place - data_size_, 0, output, to);
    if (status != nullptr) return status;
  }
  return nullptr;
}

OrtStatus* Places::Append(const OrtApi& api, const OrtValue* updates, OrtValue* output) const {
  for (size_t from = 0; from < update_size_; ++from) {
    const size_t to = places_[data_size_ + from];
    size_t kept = 0;
    OrtStatus* status = api.GetStringTensorElementLength(output, to, &kept);
    if (status == nullptr) status = CopyString(api, updates, from, kept, output, to);
    if (status != nullptr) return status;
  }
  return nullptr;
}

}  // namespace strew::onnxruntime
