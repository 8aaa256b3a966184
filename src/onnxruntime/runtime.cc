// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/runtime.h"

namespace strew::onnxruntime {

OrtStatus* StatusOf(const OrtApi& api, strew_status status, const char* sentence) {
  if (status == STREW_OK) return nullptr;
  const bool of_caller = status != STREW_OUT_OF_MEMORY && status != STREW_RUNNER_FAILED;
  return api.CreateStatus(of_caller ? ORT_INVALID_ARGUMENT : ORT_FAIL, sentence);
}

OrtStatus* OutOfMemory(const OrtApi& api) {
  return StatusOf(api, STREW_OUT_OF_MEMORY, strew_status_description(STREW_OUT_OF_MEMORY));
}

}  // namespace strew::onnxruntime
