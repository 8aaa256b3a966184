/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * strew: scatter updates into a tensor, checked and deterministic.
 *
 * MODEL. An operator copies `data` to `output` and combines `updates` with it at the places that
 * `indices` name: `status = strew_<operator>(context, inputs..., attributes..., output)`. A tensor
 * describes memory that you own: dtype, shape, strides, pointer. Memory is written only through
 * `output`, which has the dtype and shape of `data`. A call works in place, without the copy, if
 * `output` is `data` itself or has the same pointer, shape and strides. Otherwise the memory from
 * the lowest to the highest byte of `output` must not overlap that of any input. Elements of
 * `output` must not share memory: with its dims > 1 sorted by |stride|, each |stride| must exceed
 * the sum of (dim - 1) * |stride| of the smaller ones. Strides of dims <= 1 are always ignored.
 *
 * RESULT. The updates are applied one at a time in row-major order of `indices` (slice_scatter: of
 * `updates`), so that the last of several writers wins and sums are added in that order. The bytes
 * are the same for every number of threads and every instruction set, except for the sign and
 * payload of a NaN that a reduction makes. STREW_NONE copies the bits of an element unchanged, also
 * of signalling NaNs, -0 and bools other than 0 and 1. Products and sums are never fused (no FMA).
 *
 * FAILURE. All arguments and index values are checked, and all scratch is obtained, before `output`
 * is written. After any status but STREW_OK and STREW_RUNNER_FAILED its bytes are unchanged. If
 * several things are wrong, the first line of this list that applies decides:
 *
 *      1. STREW_INVALID_ARGUMENT    NULL; an unbound tensor that has elements; a read-only output;
 *                                   an unknown reduction or mode; STREW_SUB | STREW_EXCLUDE_SELF
 *      2. STREW_INVALID_DTYPE       dtypes of data, updates and output differ; indices are not of
 *                                   an integer dtype; the reduction is not defined for the dtype
 *      3. STREW_UNSUPPORTED         not available in this build
 *      4. STREW_INVALID_SHAPE       wrong ranks; wrong lengths of start, stop, step or axes
 *      5. STREW_INVALID_AXIS        an axis out of range or repeated; axis 0 in tensor_scatter
 *      6. STREW_INVALID_ARGUMENT    a step of 0
 *      7. STREW_INVALID_SHAPE       extents that do not match
 *      8. STREW_OVERLAPPING_MEMORY  output overlaps an input, or its elements share memory
 *      9. STREW_INDEX_OUT_OF_RANGE  an index value out of range
 *     10. STREW_OUT_OF_MEMORY       no scratch, if the call cannot do without it
 *     11. STREW_DUPLICATE_INDEX     two updates of one element
 *
 * COST. In place, the time grows with the number u of updates, not with the size of data: at most
 * as u log u for STREW_MEAN, STREW_WIDE, STREW_DUPLICATE_ERROR, and STREW_MUL | STREW_EXCLUDE_SELF
 * on complex dtypes. Scratch is at most 2 MiB plus 64 KiB per worker. Several workers may use
 * another 16 bytes per entry; if the allocator refuses them, the call does without. An entry is an
 * index value of scatter_elements, a tuple of scatter_nd, or an index of scatter_update. Only these
 * need more: STREW_MEAN and STREW_WIDE, up to 40 bytes per touched element; STREW_DUPLICATE_ERROR,
 * and STREW_MUL | STREW_EXCLUDE_SELF on complex dtypes, up to 16 bytes per entry. Calls of up to 64
 * updates with none, add, mul, min, max or sub and default policies allocate nothing, unless
 * STREW_WIDE makes a difference. A call or a task needs at most 48 KiB of stack.
 *
 * THREADS. A context serves one call at a time. Calls with different contexts may run at the same
 * time, and may read the same tensors and plans. Inputs must not change during a call. A call runs
 * on the calling thread, unless its context has more workers and the call takes more than about 60
 * microseconds. strew neither reads nor changes the floating-point environment, which must be the
 * default one. It starts no thread unless asked to, never prints, aborts, throws or unwinds, and
 * has no mutable global state besides CPU detection and the text of strew_last_error().
 *
 * ABI. Every argument is a pointer, an int32_t, an int64_t or a size_t. Values of constants never
 * change; functions and constants are only added.
 */
#ifndef STREW_STREW_H_
#define STREW_STREW_H_

#include <stddef.h>
#include <stdint.h>

/* The version of this header. The build reads these three lines. */
#define STREW_VERSION_MAJOR 0 /**< incremented when the ABI breaks */
#define STREW_VERSION_MINOR 1 /**< incremented for new functions and constants */
#define STREW_VERSION_PATCH 0 /**< incremented for fixes */

/** Linkage of every function. Define STREW_STATIC when linking the static library on Windows. */
#if !defined(_WIN32) && defined(__GNUC__)
#define STREW_API __attribute__((visibility("default")))
#elif !defined(_WIN32) || defined(STREW_STATIC)
#define STREW_API
#elif defined(STREW_BUILDING) /* by the library's own build */
#define STREW_API __declspec(dllexport)
#else
#define STREW_API __declspec(dllimport)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Vocabulary
 * @{ */

/** The result of a call. */
typedef int32_t strew_status;
enum {
  STREW_OK = 0,                 /**< success */
  STREW_INVALID_ARGUMENT = 1,   /**< NULL, unbound, read-only, misaligned; an unknown value */
  STREW_INVALID_DTYPE = 2,      /**< dtypes that do not match, or do not have the reduction */
  STREW_INVALID_SHAPE = 3,      /**< ranks or extents that do not match */
  STREW_INVALID_AXIS = 4,       /**< an axis out of range, repeated or not allowed */
  STREW_INDEX_OUT_OF_RANGE = 5, /**< an index value that the policy does not accept */
  STREW_DUPLICATE_INDEX = 6,    /**< two updates of one element, under STREW_DUPLICATE_ERROR */
  STREW_OVERLAPPING_MEMORY = 7, /**< output overlaps an input or itself */
  STREW_SIZE_OVERFLOW = 8,      /**< more elements or bytes than PTRDIFF_MAX */
  STREW_OUT_OF_MEMORY = 9,      /**< an allocator returned NULL */
  STREW_UNSUPPORTED = 10,       /**< not available in this build or on this CPU */
  STREW_RUNNER_FAILED = 11      /**< a parallel_for failed, or did not run all tasks: elements of
                                     output are unspecified, nothing else is touched */
};

/** The type of an element. Data must be aligned to the size of an element, except complex64 (4
 * bytes), complex128 (8) and opaque (1). */
typedef int32_t strew_dtype;
enum {
  STREW_BOOL = 1,           /**< one byte; non-zero is true; reductions write 0 or 1 */
  STREW_INT8 = 2,           /**< 8 bits, signed */
  STREW_INT16 = 3,          /**< 16 bits, signed */
  STREW_INT32 = 4,          /**< 32 bits, signed */
  STREW_INT64 = 5,          /**< 64 bits, signed */
  STREW_UINT8 = 6,          /**< 8 bits, unsigned */
  STREW_UINT16 = 7,         /**< 16 bits, unsigned */
  STREW_UINT32 = 8,         /**< 32 bits, unsigned */
  STREW_UINT64 = 9,         /**< 64 bits, unsigned */
  STREW_FLOAT16 = 10,       /**< IEEE 754 binary16 */
  STREW_BFLOAT16 = 11,      /**< the upper half of a binary32 */
  STREW_FLOAT32 = 12,       /**< IEEE 754 binary32 */
  STREW_FLOAT64 = 13,       /**< IEEE 754 binary64 */
  STREW_COMPLEX64 = 14,     /**< two float32: real, imaginary */
  STREW_COMPLEX128 = 15,    /**< two float64: real, imaginary */
  STREW_STRING = 16,        /**< a `const char *`, moved as a pointer and never read */
  STREW_FLOAT8_E4M3FN = 17, /**< 4 bits of exponent, 3 of fraction; no infinity, 0x7F is NaN */
  STREW_FLOAT8_E5M2 = 18    /**< the upper half of a binary16 */
};

#define STREW_OPAQUE(n) ((strew_dtype)(0x10000 + (n))) /**< n bytes, only copied; 1 <= n <= 4096 */

/** How an update is combined with the old value of its element, on dtype T:
 *   - STREW_NONE accepts every dtype. The others refuse string and opaque; STREW_MIN and STREW_MAX
 *     also refuse complex, and STREW_MEAN bool. Refused pairs give STREW_INVALID_DTYPE.
 *   - Integers wrap modulo 2^n. float16, bfloat16 and float8 compute in float32 and round to
 *     nearest even after every update; overflow gives infinity, or NaN in float8_e4m3fn.
 *   - STREW_MIN and STREW_MAX: IEEE 754-2019 minimum and maximum. Any NaN gives NaN, and -0 < +0.
 *   - bool: STREW_ADD and STREW_MAX are OR, STREW_MUL and STREW_MIN are AND, STREW_SUB is XOR.
 *   - complex: STREW_ADD and STREW_SUB by component; STREW_MUL is (ac - bd) + (ad + bc)i, every
 *     product and every sum rounded.
 *   - STREW_MEAN: (old + update + update + ...) / n, n terms added in order, in float32 for floats
 *     of 8 and 16 bits; the quotient is rounded to float32 and then to T. Integers: the exact sum,
 *     divided and rounded down.
 *   - STREW_EXCLUDE_SELF, or-ed in: the first update of an element replaces the old value, and n
 *     counts only updates. It changes nothing for STREW_NONE.
 *   - STREW_WIDE, or-ed in: STREW_ADD, STREW_SUB and STREW_MUL of float16, bfloat16 and float8
 *     combine the old value and all updates in order in float32, and round once; else no effect. */
typedef int32_t strew_reduction;
enum {
  STREW_NONE = 0,             /**< update */
  STREW_ADD = 1,              /**< old + update */
  STREW_MUL = 2,              /**< old * update */
  STREW_MIN = 3,              /**< the lesser of old and update */
  STREW_MAX = 4,              /**< the greater of old and update */
  STREW_SUB = 5,              /**< old - update */
  STREW_MEAN = 6,             /**< the mean of old and all updates */
  STREW_EXCLUDE_SELF = 0x100, /**< or-ed in: the old value is left out */
  STREW_WIDE = 0x200          /**< or-ed in: floats of 8 and 16 bits are rounded once */
};

/** Treatment of an update whose index is out of range. */
typedef int32_t strew_index_policy;
enum {
  STREW_INDEX_ERROR = 0, /**< the call returns STREW_INDEX_OUT_OF_RANGE */
  STREW_INDEX_DROP = 1,  /**< the update is skipped; in scatter_nd, the tuple's whole update */
  STREW_INDEX_CLAMP = 2  /**< the nearest valid index is used; on an empty axis like ERROR */
};

/** Treatment of several updates of one element. Dropped updates do not count. */
typedef int32_t strew_duplicate_policy;
enum {
  STREW_DUPLICATE_LAST = 0, /**< they are applied in order; with STREW_NONE the last one wins */
  STREW_DUPLICATE_ERROR = 1 /**< the call returns STREW_DUPLICATE_INDEX */
};

/** Treatment of writes past the end of a cache of m positions. */
typedef int32_t strew_cache_mode;
enum {
  STREW_CACHE_LINEAR = 0,  /**< they are out of range */
  STREW_CACHE_CIRCULAR = 1 /**< they continue at its beginning: positions modulo m */
};

/** @} */ /** @name Names and versions
 * Thread-safe. Strings are static: do not free them. They are never NULL unless stated. @{ */

STREW_API const char *strew_version(void);    /**< of the loaded library, "major.minor.patch" */
STREW_API int32_t strew_version_number(void); /**< major * 10000 + minor * 100 + patch */
STREW_API const char *strew_status_name(strew_status status); /**< "STREW_OK"; or "unknown" */
STREW_API const char *strew_status_description(strew_status status); /**< one sentence */
/** "float32", as NumPy and ml_dtypes spell it; "opaque" for any STREW_OPAQUE(n); or "unknown". */
STREW_API const char *strew_dtype_name(strew_dtype dtype);
STREW_API size_t strew_dtype_size(strew_dtype dtype); /**< bytes; 0 for an unknown code */
/** The instruction set in use: "AVX3" (AVX-512), "AVX2", "SSE4", "SSSE3", "NEON", ..., "SCALAR". */
STREW_API const char *strew_simd_target(void);
/** The i-th target that this build has and this CPU can run, best first; NULL for any other i. */
STREW_API const char *strew_simd_target_at(int32_t i);

/** @} */ /** @name Tensors
 * Getters return 0 or NULL for NULL. The arrays that they return have `rank` entries and are valid
 * until the descriptor is reset or destroyed. After a failure strew_last_error() says why. @{ */

/** A descriptor: dtype, shape, strides and a borrowed pointer to the element at (0, ..., 0). */
typedef struct strew_tensor strew_tensor;

/** Creates a descriptor, which you must pass to strew_tensor_destroy() in the end.
 *
 *     rank     0 ... 32; a tensor of rank 0 has one element
 *     shape    `rank` dims >= 0; copied; may be NULL for rank 0
 *     strides  `rank` strides in ELEMENTS; copied; negative allowed, 0 in inputs; NULL = row-major
 *     data     aligned as the dtype requires; you own it. NULL: the tensor is unbound, and no
 *              operator accepts it if it has elements. Ignored, like strides, if a dim is 0
 *     out      receives the descriptor; NULL on failure
 * Errors, in this order: STREW_INVALID_ARGUMENT, STREW_SIZE_OVERFLOW, STREW_OUT_OF_MEMORY. */
STREW_API strew_status strew_tensor_create(strew_dtype dtype, int32_t rank, const int64_t *shape,
    const int64_t *strides, void *data, strew_tensor **out);
/** Replaces what strew_tensor_create() set. The arrays may be those that the getters returned for
 * this descriptor. Allocates nothing. On failure nothing changes; on success it is writable. */
STREW_API strew_status strew_tensor_reset(strew_tensor *tensor, strew_dtype dtype, int32_t rank,
    const int64_t *shape, const int64_t *strides, void *data);
/** Binds the descriptor to other memory; NULL unbinds it. STREW_INVALID_ARGUMENT for a NULL tensor
 * or a misaligned pointer; the old pointer then stays. */
STREW_API strew_status strew_tensor_set_data(strew_tensor *tensor, void *data);

/** Creates a descriptor for a DLTensor of DLPack (the start of a DLManagedTensor). It borrows the
 * memory: you must keep the producer's tensor alive, and call its deleter.
 *
 *     device   kDLCPU; lanes must be 1; byte_offset is added; strides may be NULL
 *     dtype    kDLBool 8, kDLInt and kDLUInt 8, 16, 32 and 64, kDLFloat 16, 32 and 64, kDLBfloat
 *              16, kDLComplex 64 and 128, kDLFloat8_e4m3fn, kDLFloat8_e5m2
 * STREW_INVALID_ARGUMENT for NULL; STREW_UNSUPPORTED for another device or dtype; then the errors
 * of strew_tensor_create(). *out is NULL on failure. */
STREW_API strew_status strew_tensor_from_dlpack(const void *dl_tensor, strew_tensor **out);
/** The same for a DLManagedTensorVersioned. STREW_UNSUPPORTED for a major version other than 1.
 * With DLPACK_FLAG_BITMASK_READ_ONLY the descriptor is read-only: as an output, even without
 * elements, it gives STREW_INVALID_ARGUMENT. Other flags are ignored. */
STREW_API strew_status strew_tensor_from_dlpack_versioned(
    const void *dl_managed_tensor_versioned, strew_tensor **out);
STREW_API void strew_tensor_destroy(strew_tensor *tensor); /**< not the memory; NULL is allowed */
STREW_API strew_dtype strew_tensor_dtype(const strew_tensor *tensor);      /**< of the elements */
STREW_API int32_t strew_tensor_rank(const strew_tensor *tensor);           /**< number of dims */
STREW_API int64_t strew_tensor_size(const strew_tensor *tensor);           /**< element count */
STREW_API const int64_t *strew_tensor_shape(const strew_tensor *tensor);   /**< the dims */
STREW_API const int64_t *strew_tensor_strides(const strew_tensor *tensor); /**< in elements */
STREW_API void *strew_tensor_data(const strew_tensor *tensor);             /**< NULL if unbound */

/** @} */ /** @name Contexts
 * Setters return STREW_INVALID_ARGUMENT for a NULL context or a value that is not listed here, and
 * then change nothing; strew_last_error() says why. They never change the report of a call. Keep
 * functions and pointers that you set valid until you replace them or destroy the context. @{ */

/** Settings for operator calls, which include making and using plans, and the report of the last
 * one. Every operator accepts NULL instead: one thread, default policies, and no report but
 * strew_last_error(). */
typedef struct strew_context strew_context;

/** Returns `size` bytes aligned to `alignment`, a power of two, or NULL. This and strew_free are
 * called only on the thread that called the operator. They must not unwind. */
typedef void *(*strew_alloc)(void *opaque, size_t size, size_t alignment);
/** Frees memory that strew_alloc returned for the same opaque and size. */
typedef void (*strew_free)(void *opaque, void *memory, size_t size);
/** One task of a parallel_for: item i of the work that `task` stands for. */
typedef void (*strew_task)(void *task, int64_t i);

/** Calls run(task, i) exactly once for every i in [0, count), in any order and on any threads, and
 * returns 0 when all have returned; no task may run or begin after that. It must not unwind. count
 * never exceeds the number of workers. Tasks never wait for one another. An operator may call it
 * several times, one after the other. If the result is not 0, or if fewer than count tasks have
 * finished, the operator returns STREW_RUNNER_FAILED. */
typedef int32_t (*strew_parallel_for)(void *opaque, int64_t count, strew_task run, void *task);
/** Creates a context with the defaults below; you own it. Errors: STREW_INVALID_ARGUMENT for a NULL
 * out, and STREW_OUT_OF_MEMORY. *out is NULL on failure. */
STREW_API strew_status strew_context_create(strew_context **out);
STREW_API void strew_context_destroy(strew_context *context); /**< ends its threads; may be NULL */

/** 1 (default): the calling thread alone. n > 1: n threads including the calling one, but no more
 * than there are CPUs that this process may run on. 0: as many as these CPUs. STREW_UNSUPPORTED for
 * n != 1 in a build without threads, STREW_OUT_OF_MEMORY if memory is refused. The first large
 * call starts the threads; they end with the context or with another setting. The calling thread
 * runs every task that no other thread has begun, and waits only for tasks that another thread has
 * begun. In a child process after fork(), the calling thread runs all tasks until you set the
 * number again. */
STREW_API strew_status strew_context_set_num_threads(strew_context *context, int32_t n);
/** Runs the tasks of large calls on your threads: workers >= 1 with a function, or NULL, NULL, 0
 * for one thread. The later of this and strew_context_set_num_threads() decides. */
STREW_API strew_status strew_context_set_parallel_for(
    strew_context *context, strew_parallel_for parallel_for, void *opaque, int32_t workers);
/** Default STREW_INDEX_ERROR. Negative indices are wrapped first. Ignored by slice_scatter. */
STREW_API strew_status strew_context_set_index_policy(
    strew_context *context, strew_index_policy policy);
/** wrap 1 (default): i in [-n, -1] on an axis of n elements means i + n; 0: it is out of range. */
STREW_API strew_status strew_context_set_negative_indices(strew_context *context, int32_t wrap);
/** Default STREW_DUPLICATE_LAST. */
STREW_API strew_status strew_context_set_duplicate_policy(
    strew_context *context, strew_duplicate_policy policy);
/** The allocator of scratch: both functions, or NULL for both to use malloc and free. Descriptors,
 * contexts and plans always use malloc. */
STREW_API strew_status strew_context_set_allocator(
    strew_context *context, strew_alloc alloc, strew_free release, void *opaque);
/** Forces an instruction set by its name, which is copied; NULL = the best. STREW_UNSUPPORTED for a
 * name that strew_simd_target_at() does not list. */
STREW_API strew_status strew_context_set_simd_target(strew_context *context, const char *name);
/** One sentence about the error of the last operator call: operand, position, value, valid range.
 * "" after a success and for NULL. Valid until the next call with this context. */
STREW_API const char *strew_context_error(const strew_context *context);
/** After STREW_INDEX_OUT_OF_RANGE, the row-major position of the first bad value in `indices` or
 * `write_indices`. After STREW_DUPLICATE_INDEX, the position of the first index that names the same
 * element as an earlier one; in scatter_nd, the position of the first number of its tuple, or -1 if
 * k = 0. Otherwise -1. */
STREW_API int64_t strew_context_error_position(const strew_context *context);
/** The number of elements of `updates`, before broadcasting, that the last operator call applied:
 * all of them, except with STREW_INDEX_DROP. strew_plan_gather() counts elements that it copies. 0
 * after a failure, for a new context and for NULL. */
STREW_API int64_t strew_context_applied(const strew_context *context);
/** One sentence about the last failure on this thread that no context reports: of a function that
 * makes or changes a tensor or a context, or of an operator call with a NULL context. "" before the
 * first; successful calls leave it unchanged. Valid until the next such failure on this thread. */
STREW_API const char *strew_last_error(void);

/** @} */ /** @name Operators
 * r >= 1 is the rank of data, [d0, ..., d(r-1)] is the shape of data and output, and (+) stands for
 * the reduction. An axis lies in [-r, r - 1]. Index operands have any of the eight integer dtypes,
 * int8 to uint64. An index on an axis of n elements must lie in [-n, n - 1], or in [0, n - 1]
 * without negative indices. A uint64 of 2^63 or more is large, never negative. Indices are checked
 * even if nothing would be written. Empty operands are valid: without updates, output is a copy of
 * data. Errors are those of the list above. @{ */

/** Every update has an index of its own along one axis:
 *
 *     output = data
 *     output[i0, ..., indices[i], ..., i(r-1)] (+)= updates[i]      indices[i] in place of i(axis)
 *     indices, updates  one shape [n0, ..., n(r-1)] with n(j) <= d(j) for j != axis
 * ONNX ScatterElements 11 to 18, Scatter 9; OpenVINO ScatterElementsUpdate-12, -3 with wrap 0. */
STREW_API strew_status strew_scatter_elements(strew_context *context, const strew_tensor *data,
    const strew_tensor *indices, const strew_tensor *updates, int64_t axis,
    strew_reduction reduction, strew_tensor *output);

/** Every tuple of k indices names a slice of the r - k last axes:
 *
 *     output = data
 *     output[indices[t, 0], ..., indices[t, k-1], ...] (+)= updates[t, ...]
 *     indices       rank >= 1; its last dim is k, 0 <= k <= r; k = 0 names the whole tensor
 *     updates       indices.shape[:-1] + data.shape[k:]; if that has rank 0, any shape of 1 element
 * ONNX ScatterND 11 to 18; OpenVINO ScatterNDUpdate-15, -3 with wrap 0. */
STREW_API strew_status strew_scatter_nd(strew_context *context, const strew_tensor *data,
    const strew_tensor *indices, const strew_tensor *updates, strew_reduction reduction,
    strew_tensor *output);

/** Applies updates to a slice by Python's rules. The policies for indices do not apply:
 *
 *     output = data
 *     output[start0:stop0:step0, ...] (+)= updates      entry j slices axis axes[j]
 *     start, stop, step, axes  1-D, of one length n <= r; each of any integer dtype
 *     start, stop              negative values count from the end; out of range they are clamped
 *     step                     not 0; < 0 goes backwards, and a start below -d then selects nothing
 *     axes                     unique; NULL = 0, ..., n - 1
 *     updates                  the shape of the slice, or one that NumPy broadcasts to it
 * OpenVINO SliceScatter-15; PyTorch slice_scatter and select_scatter. */
STREW_API strew_status strew_slice_scatter(strew_context *context, const strew_tensor *data,
    const strew_tensor *updates, const strew_tensor *start, const strew_tensor *stop,
    const strew_tensor *step, const strew_tensor *axes, strew_reduction reduction,
    strew_tensor *output);
/** The same with plain arrays of `count` numbers; axes may be NULL, and all may be if count is 0.
 * STREW_INVALID_ARGUMENT for count < 0 and for any other NULL array. */
STREW_API strew_status strew_slice_scatter_int64(strew_context *context, const strew_tensor *data,
    const strew_tensor *updates, int64_t count, const int64_t *start, const int64_t *stop,
    const int64_t *step, const int64_t *axes, strew_reduction reduction, strew_tensor *output);

/** Every index names a slice of one axis:
 *
 *     output = data
 *     output[a, indices[t], b] (+)= updates[a, t, b]      a: dims before the axis; b: dims after it
 *     indices       any shape, rank 0 included
 *     updates       data.shape[:axis] + indices.shape + data.shape[axis+1:]
 * OpenVINO ScatterUpdate-3; PyTorch index_copy, index_add and index_reduce; JAX `.at[]`. */
STREW_API strew_status strew_scatter_update(strew_context *context, const strew_tensor *data,
    const strew_tensor *indices, const strew_tensor *updates, int64_t axis,
    strew_reduction reduction, strew_tensor *output);

/** Writes S new positions of a cache. Those of batch entry b begin at w(b) = write_indices[b]:
 *
 *     present_cache = past_cache
 *     present_cache[b, ..., w(b) + j, ...] = update[b, ..., j, ...]      0 <= j < S, on `axis`
 *     past_cache, present_cache  [B, ..., m, ...], rank r >= 2
 *     update                     the same with S <= m on `axis`, which is not 0
 *     write_indices              [B], any integer dtype; NULL = zeros
 *     mode                       linear: 0 <= w(b) <= m - S; circular: w(b) >= 0, (w(b) + j) mod m
 * STREW_INDEX_DROP skips the batch entry, STREW_INDEX_CLAMP takes the nearest valid w(b). The error
 * position is b. ONNX TensorScatter 24. */
STREW_API strew_status strew_tensor_scatter(strew_context *context, const strew_tensor *past_cache,
    const strew_tensor *update, const strew_tensor *write_indices, int64_t axis,
    strew_cache_mode mode, strew_tensor *present_cache);

/** @} */ /** @name Plans
 * A plan is an index tensor that is checked and put in order once, and then serves any number of
 * calls. It copies what it needs and never changes, so any number of threads may use it at once. It
 * depends only on the index values and on the extents of the indexed axes: each call may have
 * another dtype, other strides and other dims. doc/plans.md says when a plan pays off.
 *
 * Making a plan uses the policies, threads and allocator of the given context, and scratch of up to
 * 16 bytes per entry and 512 KiB, or 32 bytes from 2^32 entries on or if data of these extents
 * would have 2^32 elements or more. Later calls use the threads and allocator of their own
 * contexts, but not the policies.
 * Errors: STREW_INVALID_ARGUMENT for a NULL out, NULL or unbound indices, NULL or negative
 * extents; STREW_INVALID_DTYPE, STREW_INVALID_SHAPE, STREW_INVALID_AXIS; STREW_SIZE_OVERFLOW if
 * data of these extents would be too large; lines 9 to 11 above. *out is NULL on failure; otherwise
 * you own the plan. Getters return 0 for NULL. @{ */

typedef struct strew_plan strew_plan; /**< an index tensor, checked and put in order */
/** For the indices of strew_scatter_elements(), of rank r >= 1: an axis in [-r, r - 1], and the
 * extent of that axis in data. */
STREW_API strew_status strew_plan_scatter_elements(strew_context *context,
    const strew_tensor *indices, int64_t axis, int64_t extent, strew_plan **out);
/** For tuples of strew_scatter_nd(), rank >= 1: extents of the k first axes, or NULL for k = 0. */
STREW_API strew_status strew_plan_scatter_nd(
    strew_context *context, const strew_tensor *indices, const int64_t *extents, strew_plan **out);
/** For the indices of strew_scatter_update(): the axis, which each call checks against the rank of
 * its data, and the extent of that axis. */
STREW_API strew_status strew_plan_scatter_update(strew_context *context,
    const strew_tensor *indices, int64_t axis, int64_t extent, strew_plan **out);
STREW_API void strew_plan_destroy(strew_plan *plan);          /**< NULL is allowed */
STREW_API int64_t strew_plan_entries(const strew_plan *plan); /**< index values, or tuples */
STREW_API int64_t strew_plan_dropped(const strew_plan *plan); /**< STREW_INDEX_DROP skips these */
/** At most 24 bytes per entry, or 32 from 2^32 entries on, and 64 KiB. */
STREW_API size_t strew_plan_memory(const strew_plan *plan);

/** Gives the result of the plan's operator, byte for byte, without reading the indices again:
 *
 *     output = data
 *     output[place of entry e] (+)= updates[e]
 * STREW_INVALID_SHAPE unless data has the plan's extents and updates the shape that the operator
 * requires. Means, STREW_WIDE and STREW_EXCLUDE_SELF need no more scratch than other reductions.
 * STREW_UNSUPPORTED for a mean or STREW_WIDE if one element has 2^31 - 1 or more updates. */
STREW_API strew_status strew_plan_scatter(strew_context *context, const strew_plan *plan,
    const strew_tensor *data, const strew_tensor *updates, strew_reduction reduction,
    strew_tensor *output);

/** The opposite direction: ONNX GatherElements, GatherND and Gather, and the gradient of a sum:
 *
 *     output[e] = source[place of entry e]
 *     source  has the extents of the plan, and any dtype
 *     output  has the shape that updates have in a scatter, and the dtype of source; elements of
 *             dropped entries are left unchanged */
STREW_API strew_status strew_plan_gather(strew_context *context, const strew_plan *plan,
    const strew_tensor *source, strew_tensor *output);

/** Gathers rows of one tensor and scatters them into another without storing them in between. The
 * bytes are those of strew_plan_gather(), a multiplication, and strew_plan_scatter():
 *
 *     output = data
 *     output[place of e in to] (+)= weights[e] * source[place of e in from]
 *     from, to  plans for updates of one shape, else STREW_INVALID_SHAPE; an entry is skipped if
 *               either drops it
 *     weights   NULL, or any shape that NumPy broadcasts to that of the updates; each product is
 *               rounded as STREW_MUL rounds
 * source, weights, data and output have one dtype, which must have STREW_MUL if there are weights;
 * else STREW_INVALID_DTYPE. output must overlap neither source nor weights. */
STREW_API strew_status strew_plan_gather_scatter(strew_context *context, const strew_plan *from,
    const strew_tensor *source, const strew_tensor *weights, const strew_plan *to,
    const strew_tensor *data, strew_reduction reduction, strew_tensor *output);

/** @} */
#ifdef __cplusplus
}
#endif
#endif /* STREW_STREW_H_ */
