// SPDX-License-Identifier: Apache-2.0
// The entry of the library: OrtApi::RegisterCustomOpsLibrary_V2 finds it by its name.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "onnxruntime/operators.h"
#include "onnxruntime/runtime.h"

namespace strew::onnxruntime {
namespace {

// The custom ops of one runtime. They must outlive all sessions and are never freed. The library is
// linked so that it is never unloaded either.
struct Registration {
  Runtime runtime;
  Entries entries;
  OrtCustomOpDomain* domain = nullptr;
  Registration* next = nullptr;
};

std::atomic<Registration*> registrations{nullptr};

// By the runtime's version string, because GetApi() with an unknown version prints an error.
bool HasShapeReference(const OrtApiBase& base) {
  int major = 0;
  int minor = 0;
  const int found = std::sscanf(base.GetVersionString(), "%d.%d", &major, &minor);
  return found == 2 && (major > 1 || minor >= static_cast<int>(kVersionOfShapeReference));
}

// nullptr if the runtime has none.
ShapeReference ShapeReferenceOf(const OrtApiBase& base) {
  if (!HasShapeReference(base)) return nullptr;
  const OrtApi* const api = base.GetApi(kVersionOfShapeReference);
  if (api == nullptr) return nullptr;
  const auto* const members = reinterpret_cast<const unsigned char*>(api);
  ShapeReference reference;
  std::memcpy(&reference, members + kPlaceOfShapeReference * sizeof(reference), sizeof(reference));
  return reference;
}

OrtStatus* FillDomain(Registration* made) {
  FillEntries(made->runtime, &made->entries);
  const OrtApi& api = *made->runtime.api;
  // ONNX's own domain.
  OrtStatus* status = api.CreateCustomOpDomain("", &made->domain);
  for (const Entry& entry : made->entries) {
    if (status != nullptr) return status;
    status = api.CustomOpDomain_Add(made->domain, &entry);
  }
  return status;
}

OrtStatus* Register(const Runtime& runtime, Registration** found) {
  const OrtApi& api = *runtime.api;
  Registration* const first = registrations.load(std::memory_order_acquire);
  for (Registration* made = first; made != nullptr; made = made->next) {
    *found = made;
    if (made->runtime.api == &api) return nullptr;
  }
  auto* const made = new (std::nothrow) Registration{runtime, {}};
  if (made == nullptr) return OutOfMemory(api);
  OrtStatus* const status = FillDomain(made);
  if (status != nullptr) {
    if (made->domain != nullptr) api.ReleaseCustomOpDomain(made->domain);
    delete made;
    return status;
  }
  // If two threads come here at once, each makes one, and both are valid.
  made->next = first;
  while (!registrations.compare_exchange_weak(made->next, made, std::memory_order_release)) {
  }
  *found = made;
  return nullptr;
}

}  // namespace
}  // namespace strew::onnxruntime

extern "C" __attribute__((visibility("default"))) OrtStatus* ORT_API_CALL
RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  using namespace strew::onnxruntime;
  const OrtApi* const api = base->GetApi(kApiVersion);
  if (api == nullptr) {
    // Every runtime has version 1 of the API, which has the function that makes a status.
    return base->GetApi(1)->CreateStatus(ORT_FAIL, "strew needs ONNX Runtime 1.18 or newer");
  }
  Registration* registration = nullptr;
  OrtStatus* const status = Register({api, ShapeReferenceOf(*base)}, &registration);
  return status != nullptr ? status : api->AddCustomOpDomain(options, registration->domain);
}
