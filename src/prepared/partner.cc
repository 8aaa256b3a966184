// SPDX-License-Identifier: Apache-2.0
#include "prepared/partner.h"

#include <cstdlib>
#include <new>

#include "prepared/plan.h"

namespace strew::prepared {

Token* Token::New() {
  void* const memory = std::malloc(sizeof(Token));
  return memory == nullptr ? nullptr : new (memory) Token();
}

void Token::Release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  this->~Token();
  std::free(this);
}

Partner::~Partner() { Free(contents_.load(std::memory_order_relaxed)); }

void Partner::Free(Contents* contents) {
  if (contents == nullptr) return;
  contents->from->Release();
  contents->~Contents();
  std::free(contents);
}

Partner::Contents* Partner::Make(const Plan& from, const Plan& to) {
  void* const memory = std::malloc(sizeof(Contents));
  if (memory == nullptr) return nullptr;
  Contents* const contents = new (memory) Contents{from.token->Share(), {}};
  Numbers& places = contents->places;
  if (!places.Allocate(to.kept, from.places.width())) {
    Free(contents);
    return nullptr;
  }
  to.order.Visit([&](const auto* order) {
    from.places.Visit([&](auto* in_rows) {
      auto* const in_order = reinterpret_cast<decltype(in_rows)>(places.data());
      for (int64_t i = 0; i < to.kept; ++i) in_order[i] = in_rows[order[i]];
    });
  });
  return contents;
}

const Numbers* Partner::PlacesOf(const Plan& from, const Plan& to) {
  Contents* contents = contents_.load(std::memory_order_acquire);
  if (contents == nullptr) {
    constexpr int64_t kMostBytes = 24;  // of an entry, as strew.h promises
    const int64_t bytes = to.bytes() + to.kept * from.places.width();
    if (bytes / kMostBytes > to.all_entries) return nullptr;
    Contents* const made = Make(from, to);
    if (made == nullptr) return nullptr;
    if (contents_.compare_exchange_strong(contents, made, std::memory_order_acq_rel)) {
      contents = made;
    } else {
      Free(made);
    }
  }
  return contents->from == from.token ? &contents->places : nullptr;
}

int64_t Partner::bytes() const {
  const Contents* const contents = contents_.load(std::memory_order_acquire);
  return contents == nullptr ? 0 : int64_t{sizeof(Contents)} + contents->places.bytes();
}

}  // namespace strew::prepared
