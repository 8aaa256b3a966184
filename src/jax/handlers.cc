// SPDX-License-Identifier: Apache-2.0
// The operators as handlers of XLA's foreign function interface, one exported function each, which
// src/python/strew/_jax_native.py registers. If data may be overwritten, XLA gives the output its
// memory, and the call works in place.
#include <xla/ffi/api/ffi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "jax/call.h"
#include "jax/slice_shape.h"
#include "strew/strew.h"

namespace ffi = xla::ffi;

namespace strew::jax {
namespace {

using Buffer = ffi::AnyBuffer;
using Result = ffi::Result<ffi::AnyBuffer>;
using Numbers = ffi::Span<const std::int64_t>;

// The result of Operator(context, data, indices, updates, attributes, output).
template <auto kOperator>
ffi::Error Indexed(ffi::ThreadPool pool, Buffer data, Buffer indices, Buffer updates, Result output,
                   Attributes attributes) {
  const auto run = [&](strew_context* context, const strew_tensor* to, const strew_tensor* places,
                       const strew_tensor* from, strew_tensor* out) {
    return kOperator(context, to, places, from, attributes, out);
  };
  return Call(pool, attributes)
      .Finish(run, Tensor(data), Tensor(indices), Tensor(updates), Tensor(*output));
}

strew_status ScatterElements(strew_context* context, const strew_tensor* data,
                             const strew_tensor* indices, const strew_tensor* updates,
                             const Attributes& attributes, strew_tensor* output) {
  return strew_scatter_elements(context, data, indices, updates, attributes.axis,
                                attributes.Reduction(), output);
}

strew_status ScatterNd(strew_context* context, const strew_tensor* data,
                       const strew_tensor* indices, const strew_tensor* updates,
                       const Attributes& attributes, strew_tensor* output) {
  return strew_scatter_nd(context, data, indices, updates, attributes.Reduction(), output);
}

strew_status ScatterUpdate(strew_context* context, const strew_tensor* data,
                           const strew_tensor* indices, const strew_tensor* updates,
                           const Attributes& attributes, strew_tensor* output) {
  return strew_scatter_update(context, data, indices, updates, attributes.axis,
                              attributes.Reduction(), output);
}

strew_status TensorScatter(strew_context* context, const strew_tensor* past_cache,
                           const strew_tensor* write_indices, const strew_tensor* update,
                           const Attributes& attributes, strew_tensor* present_cache) {
  return strew_tensor_scatter(context, past_cache, update, write_indices, attributes.axis,
                              attributes.Mode(), present_cache);
}

ffi::Error SliceScatter(ffi::ThreadPool pool, Buffer data, Buffer start, Buffer stop, Buffer step,
                        Buffer updates, Result output, Numbers axes, std::int64_t reduction) {
  const std::string fault = UpdatesShapeFault(data, updates, start, stop, step, axes);
  if (!fault.empty()) return ffi::Error::InvalidArgument(fault);
  const auto run = [&](strew_context* context, const strew_tensor* to, const strew_tensor* starts,
                       const strew_tensor* stops, const strew_tensor* steps,
                       const strew_tensor* from, strew_tensor* out) {
    const Tensor sliced(axes);
    if (sliced.status() != STREW_OK) return sliced.status();
    return strew_slice_scatter(context, to, from, starts, stops, steps, sliced.get(),
                               static_cast<strew_reduction>(reduction), out);
  };
  return Call(pool, Attributes())
      .Finish(run, Tensor(data), Tensor(start), Tensor(stop), Tensor(step), Tensor(updates),
              Tensor(*output));
}

// Slices whose bounds are known when the program is compiled.
ffi::Error SliceScatterInt64(ffi::ThreadPool pool, Buffer data, Buffer updates, Result output,
                             Numbers start, Numbers stop, Numbers step, Numbers axes,
                             std::int64_t reduction) {
  const std::size_t count = start.size();
  if (stop.size() != count || step.size() != count || axes.size() != count) {
    return ffi::Error::InvalidArgument("start, stop, step and axes must have the same length");
  }
  const auto run = [&](strew_context* context, const strew_tensor* to, const strew_tensor* from,
                       strew_tensor* out) {
    return strew_slice_scatter_int64(context, to, from, static_cast<std::int64_t>(count),
                                     start.begin(), stop.begin(), step.begin(), axes.begin(),
                                     static_cast<strew_reduction>(reduction), out);
  };
  return Call(pool, Attributes()).Finish(run, Tensor(data), Tensor(updates), Tensor(*output));
}

auto Bind() { return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>(); }

auto BindIndexed() {
  return Bind().Arg<Buffer>().Arg<Buffer>().Arg<Buffer>().Ret<Buffer>().Attrs<Attributes>();
}

}  // namespace
}  // namespace strew::jax

#pragma GCC visibility push(default)
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_scatter_elements,
                              strew::jax::Indexed<strew::jax::ScatterElements>,
                              strew::jax::BindIndexed());
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_scatter_nd, strew::jax::Indexed<strew::jax::ScatterNd>,
                              strew::jax::BindIndexed());
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_scatter_update,
                              strew::jax::Indexed<strew::jax::ScatterUpdate>,
                              strew::jax::BindIndexed());
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_tensor_scatter,
                              strew::jax::Indexed<strew::jax::TensorScatter>,
                              strew::jax::BindIndexed());
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_slice_scatter, strew::jax::SliceScatter,
                              strew::jax::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<strew::jax::Numbers>("axes")
                                  .Attr<std::int64_t>("reduction"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(strew_jax_slice_scatter_int64, strew::jax::SliceScatterInt64,
                              strew::jax::Bind()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Ret<xla::ffi::AnyBuffer>()
                                  .Attr<strew::jax::Numbers>("start")
                                  .Attr<strew::jax::Numbers>("stop")
                                  .Attr<strew::jax::Numbers>("step")
                                  .Attr<strew::jax::Numbers>("axes")
                                  .Attr<std::int64_t>("reduction"));
#pragma GCC visibility pop
