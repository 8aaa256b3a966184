// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/places.h"

#include <new>

namespace strew::onnxruntime {
namespace {

// Strings may contain zeros.
OrtStatus* CopyString(const OrtApi& api, const OrtValue* source, size_t from, OrtValue* output,
                      size_t to) {
  size_t length = 0;
  OrtStatus* status = api.GetStringTensorElementLength(source, from, &length);
  char* text = nullptr;
  if (status == nullptr) {
    status = api.GetResizedStringTensorElementBuffer(output, to, length, &text);
  }
  return status != nullptr ? status : api.GetStringTensorElement(source, length, from, text);
}

}  // namespace

Places::Places(std::int64_t data_size, std::int64_t update_size)
    : data_size_(static_cast<size_t>(data_size)) {
  const size_t count = data_size_ + static_cast<size_t>(update_size);
  places_ = new (std::nothrow) const char*[count];
  if (places_ == nullptr) return;
  for (size_t i = 0; i < count; ++i) places_[i] = reinterpret_cast<const char*>(i);
}

Places::~Places() { delete[] places_; }

OrtStatus* Places::Copy(const OrtApi& api, const OrtValue* data, const OrtValue* updates,
                        bool in_place, OrtValue* output) const {
  for (size_t to = 0; to < data_size_; ++to) {
    const auto place = reinterpret_cast<std::uintptr_t>(places_[to]);
    const bool old = place < data_size_;
    if (old && in_place) continue;
    OrtStatus* const status = old ? CopyString(api, data, place, output, to)
                                  : CopyString(api, updates, place - data_size_, output, to);
    if (status != nullptr) return status;
  }
  return nullptr;
}

}  // namespace strew::onnxruntime
