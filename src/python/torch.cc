// SPDX-License-Identifier: Apache-2.0
#include "python/torch.h"

#include <vector>

#include <nanobind/stl/vector.h>

#include "python/error.h"
#include "python/plan.h"
#include "python/shutdown.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace strew::python {
namespace {

const ExchangeFunctions& ExchangeOf(nb::handle tensor_type) {
  const ExchangeFunctions* const functions = ExchangeFunctionsOfType(tensor_type);
  if (functions != nullptr) return *functions;
  throw nb::type_error("this version of PyTorch has no DLPack exchange API that strew.torch knows");
}

struct Job {
  strew_task run;
  void* task;
};

void RunRange(std::int64_t begin, std::int64_t end, void* opaque) {
  const Job& job = *static_cast<const Job*>(opaque);
  for (std::int64_t i = begin; i < end; ++i) job.run(job.task, i);
}

// A strew_parallel_for; `opaque` is the address of PyTorch's function.
std::int32_t RunOnTorch(void* opaque, std::int64_t count, strew_task run, void* task) {
  Job job = {run, task};
  return reinterpret_cast<TorchParallelFor>(opaque)(0, count, 1, &RunRange, &job);
}

}  // namespace

TorchCalls::TorchCalls(nb::handle tensor_type, std::uintptr_t parallel_for,
                       std::uintptr_t num_threads)
    : tensor_type_(nb::borrow(tensor_type)),
      exchange_(ExchangeOf(tensor_type)),
      parallel_for_(reinterpret_cast<TorchParallelFor>(parallel_for)),
      num_threads_(reinterpret_cast<TorchNumThreads>(num_threads)) {}

Tensor TorchCalls::Describe(nb::handle tensor) const {
  // PyTorch casts without checking the type.
  if (!PyObject_TypeCheck(tensor.ptr(), reinterpret_cast<PyTypeObject*>(tensor_type_.ptr()))) {
    const nb::str sentence("an operand must be a torch.Tensor, not {}");
    PyErr_SetObject(PyExc_TypeError, sentence.format(tensor.type().attr("__name__")).ptr());
    throw nb::python_error();
  }
  nb::dlpack::dltensor described;
  if (!DescribeMemory(exchange_, tensor, &described)) throw nb::python_error();
  strew_tensor* created = nullptr;
  const strew_status status = strew_tensor_from_dlpack(&described, &created);
  if (status == STREW_UNSUPPORTED) {
    RaiseStatus(status, "strew takes tensors in the memory of the CPU, of the dtypes of its header",
                -1);
  }
  Check(status);
  return Tensor(created);
}

void TorchCalls::LendThreads(strew_context* context) const {
  std::uint32_t n = 1;
  if (num_threads_(&n) != 0 || n <= 1) return;
  Check(strew_context_set_parallel_for(context, &RunOnTorch, reinterpret_cast<void*>(parallel_for_),
                                       static_cast<std::int32_t>(n)));
}

namespace {

// The meaning of negative indices: PyTorch counts them from the end only in some operators.
enum Wrap : bool { kFromStartOnly = false, kFromEndToo = true };

// run(context) -> strew_status, without the GIL. A context costs 0.1 us, and one that is kept would
// have to be locked.
template <typename Run>
void RunOnce(const TorchCalls& calls, Wrap wrap, const Run& run) {
  strew_context* created = nullptr;
  Check(strew_context_create(&created));
  const std::unique_ptr<strew_context, DestroyContext> context(created);
  if (wrap == kFromStartOnly) Check(strew_context_set_negative_indices(created, 0));
  calls.LendThreads(created);
  const strew_status status = WithoutGil([&] { return run(created); });
  if (status == STREW_OK) return;
  RaiseStatus(status, strew_context_error(created), strew_context_error_position(created));
}

// The tensors of a call: data and out, which may be one object, and one more.
struct Operands {
  Operands(const TorchCalls& calls, nb::handle given_data, nb::handle given_updates,
           nb::handle given_out)
      : data(calls.Describe(given_data)),
        updates(calls.Describe(given_updates)),
        other_out(given_out.is(given_data) ? nullptr : calls.Describe(given_out)) {}

  strew_tensor* out() const { return other_out ? other_out.get() : data.get(); }

  Tensor data, updates, other_out;
};

using ScatterOnAxis = strew_status (*)(strew_context*, const strew_tensor*, const strew_tensor*,
                                       const strew_tensor*, std::int64_t, strew_reduction,
                                       strew_tensor*);

template <ScatterOnAxis scatter>
void OnAxis(const TorchCalls& calls, nb::handle data, nb::handle indices, nb::handle updates,
            std::int64_t axis, strew_reduction reduction, nb::handle out, bool wrap) {
  const Operands operands(calls, data, updates, out);
  const Tensor places = calls.Describe(indices);
  RunOnce(calls, Wrap(wrap), [&](strew_context* context) {
    return scatter(context, operands.data.get(), places.get(), operands.updates.get(), axis,
                   reduction, operands.out());
  });
}

void Nd(const TorchCalls& calls, nb::handle data, nb::handle indices, nb::handle updates,
        strew_reduction reduction, nb::handle out) {
  const Operands operands(calls, data, updates, out);
  const Tensor tuples = calls.Describe(indices);
  RunOnce(calls, kFromEndToo, [&](strew_context* context) {
    return strew_scatter_nd(context, operands.data.get(), tuples.get(), operands.updates.get(),
                            reduction, operands.out());
  });
}

using Numbers64 = std::vector<std::int64_t>;

void Slice(const TorchCalls& calls, nb::handle data, nb::handle updates, const Numbers64& start,
           const Numbers64& stop, const Numbers64& step, const Numbers64& axes,
           strew_reduction reduction, nb::handle out) {
  const Operands operands(calls, data, updates, out);
  const std::size_t n = start.size();
  if (stop.size() != n || step.size() != n || axes.size() != n) {
    RaiseStatus(STREW_INVALID_SHAPE, "start, stop, step and axes differ in length", -1);
  }
  RunOnce(calls, kFromEndToo, [&](strew_context* context) {
    return strew_slice_scatter_int64(context, operands.data.get(), operands.updates.get(),
                                     static_cast<std::int64_t>(n), start.data(), stop.data(),
                                     step.data(), axes.data(), reduction, operands.out());
  });
}

void PlanScatter(const TorchCalls& calls, const Plan& plan, nb::handle data, nb::handle updates,
                 strew_reduction reduction, nb::handle out) {
  const Operands operands(calls, data, updates, out);
  RunOnce(calls, kFromEndToo, [&](strew_context* context) {
    return strew_plan_scatter(context, plan.handle(), operands.data.get(), operands.updates.get(),
                              reduction, operands.out());
  });
}

void PlanGather(const TorchCalls& calls, const Plan& plan, nb::handle source, nb::handle out) {
  const Tensor from = calls.Describe(source);
  const Tensor to = calls.Describe(out);
  RunOnce(calls, kFromEndToo, [&](strew_context* context) {
    return strew_plan_gather(context, plan.handle(), from.get(), to.get());
  });
}

void GatherScatter(const TorchCalls& calls, const Plan& from, nb::handle source, const Plan& to,
                   nb::handle data, nb::handle weights, strew_reduction reduction, nb::handle out) {
  const Operands operands(calls, data, source, out);
  const Tensor factors = weights.is_none() ? nullptr : calls.Describe(weights);
  RunOnce(calls, kFromEndToo, [&](strew_context* context) {
    return strew_plan_gather_scatter(context, from.handle(), operands.updates.get(), factors.get(),
                                     to.handle(), operands.data.get(), reduction, operands.out());
  });
}

void LendTo(const TorchCalls& calls, Context& context) {
  const Context::Use use(context);
  calls.LendThreads(use.handle());
}

}  // namespace

void BindTorchCalls(nb::module_& module) {
  nb::class_<TorchCalls>(module, "TorchCalls", "Calls on torch tensors; for strew.torch alone.")
      .def(nb::init<nb::handle, std::uintptr_t, std::uintptr_t>(), "tensor_type"_a,
           "parallel_for"_a, "num_threads"_a)
      .def("scatter_elements", &OnAxis<&strew_scatter_elements>, "data"_a, "indices"_a, "updates"_a,
           "axis"_a, "reduction"_a, "out"_a, "wrap"_a)
      .def("scatter_update", &OnAxis<&strew_scatter_update>, "data"_a, "indices"_a, "updates"_a,
           "axis"_a, "reduction"_a, "out"_a, "wrap"_a)
      .def("scatter_nd", &Nd, "data"_a, "indices"_a, "updates"_a, "reduction"_a, "out"_a)
      .def("slice_scatter", &Slice, "data"_a, "updates"_a, "start"_a, "stop"_a, "step"_a, "axes"_a,
           "reduction"_a, "out"_a)
      .def("plan_scatter", &PlanScatter, "plan"_a, "data"_a, "updates"_a, "reduction"_a, "out"_a)
      .def("plan_gather", &PlanGather, "plan"_a, "source"_a, "out"_a)
      .def("gather_scatter", &GatherScatter, "from_plan"_a, "source"_a, "to_plan"_a, "data"_a,
           "weights"_a.none(), "reduction"_a, "out"_a)
      .def("lend_threads", &LendTo, "context"_a);
}

}  // namespace strew::python
