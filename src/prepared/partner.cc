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

Partner::Contents* Partner::Make(const Plan& from, const Plan& to) {
  Contents* const contents = StoredOnce<Contents>::New();
  if (contents == nullptr) return nullptr;
  Numbers& places = contents->places;
  if (!places.Allocate(to.kept, from.places.width())) {
    StoredOnce<Contents>::Free(contents);
    return nullptr;
  }
  contents->from = from.token->Share();
  to.order.Visit([&](const auto* order) {
    from.places.Visit([&](auto* in_rows) {
      auto* const in_order = reinterpret_cast<decltype(in_rows)>(places.data());
      for (int64_t i = 0; i < to.kept; ++i) in_order[i] = in_rows[order[i]];
    });
  });
  return contents;
}

const Numbers* Partner::PlacesOf(const Plan& from, const Plan& to) {
  const Contents* contents = contents_.get();
  if (contents == nullptr) {
    if (!to.MayGrowBy(to.kept * from.places.width())) return nullptr;
    Contents* const made = Make(from, to);
    if (made == nullptr) return nullptr;
    contents = contents_.Store(made);
  }
  return contents->from == from.token ? &contents->places : nullptr;
}

int64_t Partner::bytes() const {
  const Contents* const contents = contents_.get();
  return contents == nullptr ? 0 : int64_t{sizeof(Contents)} + contents->places.bytes();
}

}  // namespace strew::prepared
