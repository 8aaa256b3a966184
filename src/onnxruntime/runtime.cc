// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/runtime.h"

namespace strew::onnxruntime {

OrtStatus* StatusOf(const OrtApi& api, strew_status status, const strew_context* context) {
  if (status == STREW_OK) return nullptr;
  const bool of_caller = status != STREW_OUT_OF_MEMORY && status != STREW_RUNNER_FAILED;
  const char* const sentence =
      context != nullptr ? strew_context_error(context) : strew_status_description(status);
  return api.CreateStatus(of_caller ? ORT_INVALID_ARGUMENT : ORT_FAIL, sentence);
}

}  // namespace strew::onnxruntime
