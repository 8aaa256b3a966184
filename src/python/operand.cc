// SPDX-License-Identifier: Apache-2.0
#include "python/operand.h"

#include <cstring>
#include <utility>

#include "base/tensor_view.h"
#include "python/error.h"
#include "python/shutdown.h"
#include "python/stable_abi.h"
#include "python/support.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

// Nothing for memory that is not aligned to its elements.
Tensor DescribeDlpack(const nb::dlpack::dltensor& described) {
  strew_tensor* tensor = nullptr;
  const strew_status status = strew_tensor_from_dlpack(&described, &tensor);
  if (status == STREW_UNSUPPORTED) {
    RaiseStatus(status, "strew takes tensors in the memory of the CPU, of the dtypes of its header",
                -1);
  }
  if (status != STREW_INVALID_ARGUMENT) Check(status);
  return Tensor(tensor);
}

template <typename Array>
Tensor DescribeArray(const Array& array) {
  nb::dlpack::dltensor described;
  described.data = array.data_handle();
  described.device = {array.device_type(), array.device_id()};
  described.ndim = static_cast<std::int32_t>(array.ndim());
  described.dtype = array.dtype();
  described.shape = const_cast<std::int64_t*>(array.shape_ptr());
  described.strides = const_cast<std::int64_t*>(array.stride_ptr());
  described.byte_offset = array.byte_offset();
  return DescribeDlpack(described);
}

strew_dtype DtypeOf(const char* name, std::int64_t size) {
  for (strew_dtype dtype = STREW_BOOL; strew_dtype_size(dtype) != 0; ++dtype) {
    if (std::strcmp(strew_dtype_name(dtype), name) == 0) return dtype;
  }
  return STREW_OPAQUE(static_cast<strew_dtype>(size));
}

nb::object CapsuleOfVersion(const nb::object& dlpack) {
  const nb::tuple nothing;
  nb::dict options;
  options["max_version"] = nb::make_tuple(1, 1);
  return Owned(Guarded([&] { return PyObject_Call(dlpack.ptr(), nothing.ptr(), options.ptr()); }));
}

nb::object Capsule(nb::handle object) {
  // PyTorch exports the memory of lazily negated tensors without the negation.
  if (nb::hasattr(object.type(), "is_neg") && nb::cast<bool>(CallPython(object.attr("is_neg")))) {
    PyErr_SetString(PyExc_BufferError, "elements are negated where they are read: resolve_neg()");
    throw nb::python_error();
  }
  const nb::object dlpack = object.attr("__dlpack__");
  try {
    return CapsuleOfVersion(dlpack);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return CallPython(dlpack);  // older than versions
}

// The memory by __dlpack__, or else by the buffer, as nanobind reads it, but outside of its
// noexcept functions, in which a thread could not be stopped.
nb::object CapsuleOrBuffer(nb::handle object) {
  try {
    return Capsule(object);
  } catch (nb::python_error&) {
    return Owned(Guarded([&] { return PyMemoryView_FromObject(object.ptr()); }));
  }
}

// True if DLPack and buffers can describe the elements of a NumPy array, by the number of its
// dtype: not dates, texts and structures, nor dtypes that other packages add.
bool IsCommon(nb::handle array) {
  constexpr long kLongComplex = 16, kHalf = 23;
  const nb::object dtype = nb::getattr(array, "dtype", nb::none());
  long number = 0;
  if (!nb::try_cast(nb::getattr(dtype, "num", nb::none()), number)) return true;
  return number <= kLongComplex || number == kHalf;
}

// True for single characters, which nanobind treats as integers, and NumPy as texts of dtype S1.
bool HasCharacters(nb::handle view) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(view.ptr(), &buffer, PyBUF_FULL_RO) != 0) throw nb::python_error();
  const char* const format = buffer.format;
  const bool are_characters =
      format != nullptr && std::strcmp(format + std::strspn(format, "@=<>!"), "c") == 0;
  PyBuffer_Release(&buffer);
  return are_characters;
}

// The object that nanobind reads; none if only NumPy knows what the memory means. If __dlpack__
// refuses, nanobind would try PyTorch's old to_dlpack(), which ignores that elements are conjugated
// or recorded for a gradient. It also reads strides, which buffers of ctypes leave out and a
// memoryview has.
nb::object Exported(nb::handle object) {
  const bool has_buffer = PyObject_CheckBuffer(object.ptr()) != 0;
  const nb::object dlpack = nb::getattr(object.type(), "__dlpack__", nb::none());
  const bool has_dlpack = !dlpack.is_none();
  if (has_buffer && has_dlpack) {
    const bool is_derived = BaseOf(Py_TYPE(object.ptr())) != &PyBaseObject_Type;
    if (is_derived) CallPython(Support("plain_array"), object);
    if (!IsCommon(object)) return nb::object();
    return IsPythonFunction(dlpack) ? CapsuleOrBuffer(object) : nb::borrow(object);
  }
  if (has_dlpack) return Capsule(object);
  if (!has_buffer) return nb::borrow(object);
  // NumPy's scalars have buffers, but some of these describe only bytes.
  if (nb::hasattr(object.type(), "__array__")) return nb::object();
  const nb::object view = nb::steal(Guarded([&] { return PyMemoryView_FromObject(object.ptr()); }));
  if (view.is_valid()) return HasCharacters(view) ? nb::object() : view;
  PyErr_Clear();  // numpy.asarray() may take it nevertheless
  return nb::borrow(object);
}

// JAX arrays are read-only, which their buffers report and their __dlpack__ does not.
bool IsReadOnlyBuffer(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_WRITABLE | PyBUF_STRIDES) == 0) {
    PyBuffer_Release(&view);
    return false;
  }
  PyErr_Clear();
  return true;
}

// Describes what nanobind can read.
template <typename Array>
Tensor Describe(nb::handle exported, Array& memory) {
  if (!exported.is_valid() || !nb::try_cast(exported, memory, false)) return nullptr;
  return DescribeArray(memory);
}

// The operand of an array that DLPack cannot describe, as an array of integers in its memory.
Operand DescribedByNumpy(const char* function, nb::handle object) {
  const nb::tuple parts(CallPython(Support(function), object));
  const auto name = nb::cast<const char*>(parts[2]);
  const auto size = nb::cast<std::int64_t>(parts[3]);
  Operand operand;
  operand.array = parts[0];
  operand.memory = nb::cast<nb::ndarray<nb::ro>>(parts[1]);
  const std::int64_t* shape = operand.memory.shape_ptr();
  if (operand.memory.ndim() > kMaxRank) {
    const nb::str sentence("an array has {} dims; strew takes up to {}");
    RaiseStatus(STREW_INVALID_ARGUMENT,
                nb::str(sentence.format(operand.memory.ndim(), kMaxRank)).c_str(), -1);
  }
  std::vector<std::int64_t> strides(operand.memory.ndim());
  const auto unit = static_cast<std::int64_t>(operand.memory.itemsize());
  for (std::size_t i = 0; i < strides.size(); ++i) {
    strides[i] = operand.memory.stride(i) * unit / size;
  }
  strew_tensor* tensor = nullptr;
  Check(strew_tensor_create(DtypeOf(name, size), static_cast<std::int32_t>(strides.size()), shape,
                            strides.data(), const_cast<void*>(operand.memory.data()), &tensor));
  operand.tensor.reset(tensor);
  return operand;
}

Operand OfNumbers(std::vector<std::int64_t> numbers) {
  Operand operand;
  operand.numbers = std::move(numbers);
  const auto count = static_cast<std::int64_t>(operand.numbers.size());
  strew_tensor* tensor = nullptr;
  Check(strew_tensor_create(STREW_INT64, 1, &count, nullptr, operand.numbers.data(), &tensor));
  operand.tensor.reset(tensor);
  return operand;
}

std::int64_t Number(nb::handle object) {
  const Py_ssize_t number = Guarded([&] { return PyNumber_AsSsize_t(object.ptr(), nullptr); });
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

// True if the object describes its memory by C functions.
bool ReadByExchange(nb::handle object, Operand* operand) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) return false;
  const ExchangeFunctions* const functions = ExchangeFunctionsOf(object);
  nb::dlpack::dltensor described;
  if (functions == nullptr || !DescribeByExchange(*functions, object, &described)) return false;
  operand->tensor = DescribeDlpack(described);
  operand->exchange = functions;
  operand->dtype = described.dtype;
  return operand->tensor != nullptr;
}

// True for numbers of Python or NumPy, lists and tuples: their dtype may be chosen.
bool IsOfNumbers(nb::handle object) {
  PyObject* const given = object.ptr();
  if (PyList_Check(given) || PyTuple_Check(given)) return true;
  if (PyFloat_Check(given) || PyLong_Check(given) || PyComplex_Check(given)) return true;
  if (PyObject_CheckBuffer(given) == 0 || nb::hasattr(object.type(), "__dlpack__")) return false;
  return nb::hasattr(object.type(), "__array_wrap__");
}

Operand Read(const char* function, nb::handle object) {
  Operand operand;
  if (ReadByExchange(object, &operand)) return operand;
  operand.tensor = Describe(Exported(object), operand.memory);
  return operand.tensor ? std::move(operand) : DescribedByNumpy(function, object);
}

}  // namespace

Operand ReadOperand(nb::handle object) { return Read("readable", object); }

Operand ReadOperandLike(nb::handle object, nb::handle data, const Operand& described) {
  if (!IsOfNumbers(object)) return ReadOperand(object);
  const nb::handle array = described.array.is_none() ? data : nb::handle(described.array);
  const nb::str dtype(strew_dtype_name(strew_tensor_dtype(described.tensor.get())));
  nb::object numbers = CallPython(Support("numbers_like"), object, array, dtype);
  Operand operand = ReadOperand(numbers);
  operand.owner = std::move(numbers);
  return operand;
}

void BroadcastTo(const Shape& shape, Operand* operand) {
  strew_tensor* const tensor = operand->tensor.get();
  const std::int32_t rank = strew_tensor_rank(tensor);
  const std::int64_t* const dims = strew_tensor_shape(tensor);
  const std::int64_t* const strides = strew_tensor_strides(tensor);
  const auto missing = static_cast<std::ptrdiff_t>(shape.size()) - rank;
  if (missing < 0) return;
  Shape repeated(shape.size(), 0);
  for (std::int32_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(missing + i);
    if (dims[i] == shape[axis]) {
      repeated[axis] = strides[i];
    } else if (dims[i] != 1) {
      return;
    }
  }
  // A failure means too many dims or elements: then the operator reports the shapes.
  static_cast<void>(strew_tensor_reset(tensor, strew_tensor_dtype(tensor),
                                       static_cast<std::int32_t>(shape.size()), shape.data(),
                                       repeated.data(), strew_tensor_data(tensor)));
}

Operand IndexOperand(nb::handle object) { return Read("readable_indices", object); }

Operand WriteOperand(nb::handle object) {
  Operand operand;
  if (ReadByExchange(object, &operand)) return operand;
  nb::ndarray<> memory;
  const nb::object exported = Exported(object);
  if (!IsReadOnlyBuffer(object)) operand.tensor = Describe(exported, memory);
  operand.memory = nb::ndarray<nb::ro>(memory);
  return operand.tensor ? std::move(operand) : DescribedByNumpy("writable", object);
}

Operand NumbersOperand(nb::handle object) {
  if (PyLong_Check(object.ptr()) || nb::isinstance<nb::list>(object) ||
      nb::isinstance<nb::tuple>(object)) {
    return OfNumbers(Numbers(object));
  }
  Operand operand = ReadOperand(object);
  if (strew_tensor_rank(operand.tensor.get()) > 0) return operand;
  return OfNumbers({Number(object)});
}

std::vector<std::int64_t> Numbers(nb::handle object) {
  if (PyIndex_Check(object.ptr()) && !PySequence_Check(object.ptr())) return {Number(object)};
  const nb::object items = Owned(Guarded([&] { return PySequence_Tuple(object.ptr()); }));
  std::vector<std::int64_t> numbers;
  for (const nb::handle item : nb::borrow<nb::tuple>(items)) numbers.push_back(Number(item));
  return numbers;
}

Operand OnesOperand(std::int64_t n) {
  return OfNumbers(std::vector<std::int64_t>(static_cast<std::size_t>(n), 1));
}

void RequireSameDtype(NamedOperand first, NamedOperand second) {
  if (strew_tensor_dtype(first.operand.tensor.get()) < STREW_OPAQUE(0)) return;
  if (strew_tensor_dtype(second.operand.tensor.get()) < STREW_OPAQUE(0)) return;
  const nb::object expected = first.operand.array.attr("dtype");
  const nb::object found = second.operand.array.attr("dtype");
  if (found.equal(expected)) return;
  const nb::object format = nb::str("{} is of dtype {}, {} of {}").attr("format");
  const nb::object sentence =
      CallPython(format, nb::str(second.name), found, nb::str(first.name), expected);
  RaiseStatus(STREW_INVALID_DTYPE, nb::str(sentence).c_str(), -1);
}

}  // namespace strew::python
