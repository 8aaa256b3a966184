// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/attributes.h"

#include <cstdio>
#include <cstring>

namespace strew::onnxruntime {
namespace {

struct Word {
  const char* name;
  std::int32_t value;
};

constexpr Word kReductions[] = {{"none", STREW_NONE},
                                {"add", STREW_ADD},
                                {"mul", STREW_MUL},
                                {"min", STREW_MIN},
                                {"max", STREW_MAX}};
constexpr Word kModes[] = {{"linear", STREW_CACHE_LINEAR}, {"circular", STREW_CACHE_CIRCULAR}};

template <size_t kCount>
OrtStatus* ReadWord(const Entry& entry, const OrtKernelInfo* info, const char* attribute,
                    const Word (&words)[kCount], std::int32_t* value) {
  char text[16] = "";
  size_t size = sizeof(text);
  OrtStatus* const missing =
      entry.runtime.api->KernelInfoGetAttribute_string(info, attribute, text, &size);
  if (missing != nullptr) {
    entry.runtime.api->ReleaseStatus(missing);
    // A string that is too long exists, but is not a known value.
    if (size <= sizeof(text)) return nullptr;
    std::strcpy(text, "...");
  }
  for (const Word& word : words) {
    if (std::strcmp(word.name, text) != 0) continue;
    *value = word.value;
    return nullptr;
  }
  char sentence[96];
  std::snprintf(sentence, sizeof(sentence), "%s: unknown %s \"%s\"", entry.kind.name, attribute,
                text);
  return entry.runtime.api->CreateStatus(ORT_INVALID_ARGUMENT, sentence);
}

}  // namespace

OrtStatus* ReadAttributes(const Entry& entry, const OrtKernelInfo* info, Attributes* attributes) {
  const Operator op = entry.kind.op;
  if (op != Operator::kScatterNd) {
    std::int64_t axis = op == Operator::kTensorScatter ? -2 : 0;
    OrtStatus* const missing = entry.runtime.api->KernelInfoGetAttribute_int64(info, "axis", &axis);
    if (missing != nullptr) entry.runtime.api->ReleaseStatus(missing);
    attributes->axis = axis;
  }
  if (op == Operator::kTensorScatter) {
    return ReadWord(entry, info, "mode", kModes, &attributes->mode);
  }
  return ReadWord(entry, info, "reduction", kReductions, &attributes->reduction);
}

}  // namespace strew::onnxruntime
