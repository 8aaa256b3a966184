// SPDX-License-Identifier: Apache-2.0
// Tensors of strings, whose elements only the runtime can copy.
#ifndef STREW_ONNXRUNTIME_PLACES_H_
#define STREW_ONNXRUNTIME_PLACES_H_

#include <cstdint>

#include "onnxruntime/runtime.h"

namespace strew::onnxruntime {

// The numbers of the strings of data, 0, 1, ..., followed by those of updates. They are as wide as
// the pointers that strew expects for strings, and are scattered in place of the strings.
class Places {
 public:
  Places(std::int64_t data_size, std::int64_t update_size);
  ~Places();
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  bool allocated() const { return places_ != nullptr; }
  void* data() { return places_; }
  void* updates() { return places_ + data_size_; }

  void Fill();

  // After the places have been scattered: each string of the output is that whose place stands at
  // its own. In place, strings of data are not copied.
  OrtStatus* Copy(const OrtApi& api, const OrtValue* data, const OrtValue* updates, bool in_place,
                  OrtValue* output) const;

  // If the numbers of updates have been replaced by those of data: appends each update to the
  // string of that number.
  OrtStatus* Append(const OrtApi& api, const OrtValue* updates, OrtValue* output) const;

 private:
  size_t data_size_;
  size_t update_size_;
  std::uintptr_t* places_;
};

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_PLACES_H_
