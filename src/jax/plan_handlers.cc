// SPDX-License-Identifier: Apache-2.0
// XLA handlers that make plans, and that scatter and gather with them.
#include <xla/ffi/api/ffi.h>

#include <cstdint>

#include "jax/call.h"
#include "jax/plans.h"
#include "strew/strew.h"

namespace ffi = xla::ffi;

namespace strew::jax {
namespace {

using Buffer = ffi::AnyBuffer;
using Result = ffi::Result<ffi::AnyBuffer>;
using Numbers = ffi::Span<const std::int64_t>;

// As _jax_plans.py names them.
enum Kind : std::int64_t { kElements, kNd, kUpdate };

ffi::Error MakePlan(ffi::ThreadPool pool, Buffer indices, Result number, std::int64_t kind,
                    std::int64_t axis, Numbers extents, std::int64_t index_policy,
                    std::int64_t negative_indices, std::int64_t duplicate_policy) {
  const Buffer::Dimensions dims = indices.dimensions();
  std::size_t width = 1;
  if (kind == kNd) width = dims.size() == 0 ? 0 : static_cast<std::size_t>(*(dims.end() - 1));
  if (extents.size() != width) {
    return ffi::Error::InvalidArgument("extents needs one number for each index of a tuple");
  }
  const auto run = [&](strew_context* context, const strew_tensor* places) {
    strew_plan* plan = nullptr;
    const strew_status status =
        kind == kNd ? strew_plan_scatter_nd(context, places, extents.begin(), &plan)
        : kind == kElements
            ? strew_plan_scatter_elements(context, places, axis, *extents.begin(), &plan)
            : strew_plan_scatter_update(context, places, axis, *extents.begin(), &plan);
    if (status == STREW_OK) KeepPlan(plan, *number);
    return status;
  };
  Attributes attributes;
  attributes.index_policy = index_policy;
  attributes.negative_indices = negative_indices;
  attributes.duplicate_policy = duplicate_policy;
  return Call(pool, attributes).Finish(run, Tensor(indices));
}

ffi::Error Freed() {
  return ffi::Error::InvalidArgument(
      "the plan of this program has been freed: keep it as long as the program");
}

// XLA gives the output the memory of the first operand: dropped entries keep its elements.
ffi::Error Gather(ffi::ThreadPool pool, Buffer, Buffer source, Buffer number, Result output) {
  const PlanPointer plan = PlanOf(number);
  if (plan == nullptr) return Freed();
  const auto run = [&](strew_context* context, const strew_tensor* from, strew_tensor* out) {
    return strew_plan_gather(context, plan.get(), from, out);
  };
  return Call(pool, Attributes()).Finish(run, Tensor(source), Tensor(*output));
}

ffi::Error GatherScatter(ffi::ThreadPool pool, Buffer data, ffi::RemainingArgs others,
                         Result output, std::int64_t reduction) {
  // from, source, to, and weights or nothing.
  const ffi::ErrorOr<Buffer> from = others.get<Buffer>(0);
  const ffi::ErrorOr<Buffer> source = others.get<Buffer>(1);
  const ffi::ErrorOr<Buffer> to = others.get<Buffer>(2);
  if (!from || !source || !to) return ffi::Error::InvalidArgument("operands are missing");
  const PlanPointer from_plan = PlanOf(*from);
  const PlanPointer to_plan = PlanOf(*to);
  if (from_plan == nullptr || to_plan == nullptr) return Freed();
  const auto combine = [&](strew_context* context, const strew_tensor* target,
                           const strew_tensor* rows, const strew_tensor* weights,
                           strew_tensor* out) {
    return strew_plan_gather_scatter(context, from_plan.get(), rows, weights, to_plan.get(), target,
                                     static_cast<strew_reduction>(reduction), out);
  };
  if (others.size() < 4) {
    const auto run = [&](strew_context* context, const strew_tensor* target,
                         const strew_tensor* rows, strew_tensor* out) {
      return combine(context, target, rows, nullptr, out);
    };
    return Call(pool, Attributes()).Finish(run, Tensor(data), Tensor(*source), Tensor(*output));
  }
  const ffi::ErrorOr<Buffer> weights = others.get<Buffer>(3);
  return Call(pool, Attributes())
      .Finish(combine, Tensor(data), Tensor(*source), Tensor(*weights), Tensor(*output));
}

auto Bind() { return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>(); }

}  // namespace
}  // namespace strew::jax

#pragma GCC visibility push(default)
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_plan, strew::jax::MakePlan,
                              strew::jax::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("kind")
                                  .Attr<std::int64_t>("axis")
                                  .Attr<strew::jax::Numbers>("extents")
                                  .Attr<std::int64_t>("index_policy")
                                  .Attr<std::int64_t>("negative_indices")
                                  .Attr<std::int64_t>("duplicate_policy"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_plan_gather, strew::jax::Gather,
                              strew::jax::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_gather_scatter, strew::jax::GatherScatter,
                              strew::jax::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<std::int64_t>("reduction"));
#pragma GCC visibility pop
