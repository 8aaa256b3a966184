/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 * strew: scatter updates into a tensor, checked and deterministic.
 *
 * MODEL. An operator writes `updates` into a copy of `data` at the places that `indices` name and
 * leaves the result in `output`. Every operator is one call:
 *
 *     status = strew_<operator>(context, inputs..., attributes..., output);
 *
 *   - Tensors are opaque descriptors (dtype, shape, strides, pointer) of memory that the caller
 *     owns. A descriptor copies the shape and the strides and borrows the memory. Memory is written
 *     only through `output`, so read-only memory may be cast for an input.
 *   - `output` has the dtype and the shape of `data`. It is updated IN PLACE when it is the
 *     descriptor `data` itself or names the same pointer, shape and strides (strides of dims <= 1
 *     are ignored everywhere). Otherwise `data` is copied first, and the byte extents of `output`
 *     and of every input, lowest to highest byte addressed, must not intersect.
 *   - `output` must be injective: with its dims > 1 sorted by |stride|, each |stride| is greater
 *     than the sum of (dim - 1) * |stride| over the smaller ones.
 *   - The result is that of applying the updates one at a time in row-major order of `indices`
 *     (slice_scatter: of `updates`). The last of several writers wins, and sums are added in that
 *     order. The bytes are the same for every thread count and SIMD target, except for the sign and
 *     the payload of a NaN that a reduction makes. STREW_NONE moves bits: signalling NaNs, -0 and
 *     odd bools come through unchanged. Nothing is fused into multiply-add.
 *
 * FAILURE. All arguments and all index values are checked, and all scratch is obtained, before the
 * first byte of `output` is written: with any status but STREW_OK and STREW_RUNNER_FAILED its bytes
 * are unchanged. If several things are wrong, the first line of this list decides:
 *
 *      1. STREW_INVALID_ARGUMENT    a NULL handle, an unbound tensor with elements, a read-only
 *                                   output (from DLPack), unknown bits of a reduction or a mode,
 *                                   STREW_SUB | STREW_EXCLUDE_SELF
 *      2. STREW_INVALID_DTYPE       dtypes of data, updates and output differ; an index operand
 *                                   that is not of an integer dtype; a reduction not defined on
 *                                   the dtype
 *      3. STREW_UNSUPPORTED         not available in this build
 *      4. STREW_INVALID_SHAPE       ranks; start, stop, step and axes that are not 1-D or not of
 *                                   one length; more slice entries than dims
 *      5. STREW_INVALID_AXIS        an axis out of range or repeated; axis 0 in tensor_scatter
 *      6. STREW_INVALID_ARGUMENT    a step of 0
 *      7. STREW_INVALID_SHAPE       extents
 *      8. STREW_OVERLAPPING_MEMORY  output intersects an input, or has elements and is not
 *                                   injective
 *      9. STREW_INDEX_OUT_OF_RANGE  an index value
 *     10. STREW_OUT_OF_MEMORY       scratch, if the call cannot do without it
 *     11. STREW_DUPLICATE_INDEX     two updates of one element
 *
 * With a context, strew_context_error() names the operand, position, value and valid range. After
 * STREW_RUNNER_FAILED the elements of `output` are unspecified, and nothing else is touched.
 *
 * COST. In place, a call takes time in proportion to the u updates, not to data. STREW_MEAN,
 * STREW_WIDE, STREW_DUPLICATE_ERROR, and STREW_MUL | STREW_EXCLUDE_SELF on complex dtypes take
 * u log u at most, whatever the index values are. Scratch is at most 2 MiB, and 64 KiB more for
 * each worker, whatever the sizes, and 16 bytes for an entry where several workers share out single
 * elements that may land anywhere; where the allocator refuses it, a plan without it is taken. Four
 * things have no such plan and take more: STREW_MEAN, and STREW_WIDE where it makes a difference,
 * at most 40 bytes for a touched element; STREW_DUPLICATE_ERROR, and STREW_MUL | STREW_EXCLUDE_SELF
 * on complex dtypes, 16 bytes for an entry, which is one index value of scatter_elements, one tuple
 * of scatter_nd or one index of scatter_update. Calls of up to 64 updates with none, add, mul, min,
 * max or sub and default policies allocate nothing, unless STREW_WIDE makes a difference. A call
 * needs at most 48 KiB of stack, and so does a task.
 *
 * THREADS. A context is used by one call at a time; different contexts may be used at the same
 * time, and a tensor may be read by any number of calls at once. Inputs must not change during a
 * call. Calls run in the default floating-point environment; strew neither reads nor changes it.
 * A call runs on the thread that makes it unless its context has more workers, by
 * strew_context_set_num_threads() or strew_context_set_parallel_for(); what takes less than about
 * 60 microseconds stays on the calling thread all the same. Workers share out the check of the
 * indices, the copy of data, and the destinations: each of these belongs to one of them, so that no
 * result depends on who was faster. Duplicates are looked for, and places of means and of
 * reductions with STREW_WIDE are counted, by the calling thread.
 *
 * The library never reads or writes a byte outside the elements that a descriptor names, starts no
 * thread unless asked to, has no mutable global state besides CPU detection, and never prints,
 * aborts, throws or unwinds.
 *
 * ABI. Every argument is a pointer, an int32_t, an int64_t or a size_t; no signature has an enum,
 * bool, long or structure by value. Values of constants never change.
 *
 * On a system without POSIX threads strew_context_set_num_threads() answers STREW_UNSUPPORTED to
 * anything but 1; the caller's own threads are welcome in every build.
 */
#ifndef STREW_STREW_H_
#define STREW_STREW_H_

#include <stddef.h>
#include <stdint.h>

/* The version of this header. The build reads these three lines. */
#define STREW_VERSION_MAJOR 0 /**< incremented when the ABI breaks */
#define STREW_VERSION_MINOR 1 /**< incremented for new functions and constants */
#define STREW_VERSION_PATCH 0 /**< incremented for fixes */

/** Linkage of every function below. Define STREW_STATIC when linking the static library on Windows;
 * STREW_BUILDING is defined by the library's own build only. */
#if defined(_WIN32) && !defined(STREW_STATIC)
#if defined(STREW_BUILDING)
#define STREW_API __declspec(dllexport)
#else
#define STREW_API __declspec(dllimport)
#endif
#elif !defined(_WIN32) && defined(__GNUC__)
#define STREW_API __attribute__((visibility("default")))
#else
#define STREW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Vocabulary --------------------------------------------------------------------------- */
/** @name Vocabulary
 * @{ */

/** The result of a call. */
typedef int32_t strew_status;
enum {
  STREW_OK = 0,                 /**< the call did what was asked */
  STREW_INVALID_ARGUMENT = 1,   /**< NULL, unbound, read-only, misaligned; an unknown value */
  STREW_INVALID_DTYPE = 2,      /**< dtypes that do not match, or lack the reduction */
  STREW_INVALID_SHAPE = 3,      /**< ranks or extents that do not match */
  STREW_INVALID_AXIS = 4,       /**< an axis out of range, repeated or not allowed */
  STREW_INDEX_OUT_OF_RANGE = 5, /**< an index value that the policy does not accept */
  STREW_DUPLICATE_INDEX = 6,    /**< two updates of one element, under STREW_DUPLICATE_ERROR */
  STREW_OVERLAPPING_MEMORY = 7, /**< output overlaps an input or itself */
  STREW_SIZE_OVERFLOW = 8,      /**< more elements or bytes than PTRDIFF_MAX */
  STREW_OUT_OF_MEMORY = 9,      /**< an allocator returned NULL */
  STREW_UNSUPPORTED = 10,       /**< not available in this build or on this CPU */
  STREW_RUNNER_FAILED = 11      /**< a parallel_for failed, or did not run all tasks */
};

/** The type of an element. Data must be aligned to the width of an element for types of 1, 2, 4 and
 * 8 bytes and for pointers, to 4 bytes for complex64, to 8 for complex128, and to 1 for opaque. */
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

/** n bytes that are only moved, 1 <= n <= 4096. */
#define STREW_OPAQUE(n) ((strew_dtype)(0x10000 + (n)))

/**
 * How an update combines with the element that it meets, on dtype T:
 *   - STREW_NONE replaces, for every dtype. The others: every dtype but string and opaque.
 *   - Integers wrap modulo 2^n. float16, bfloat16 and float8 compute in float32 and round to
 *     nearest even after every update. Results that are too large become infinity, or NaN in
 *     float8_e4m3fn, where conversions of PyTorch and ONNX Cast saturate.
 *   - STREW_SUB takes the update from the element that it meets.
 *   - STREW_MIN and STREW_MAX are IEEE 754-2019 minimum and maximum: any NaN gives NaN, and
 *     -0 < +0. They are refused for complex.
 *   - bool: STREW_ADD and STREW_MAX are or, STREW_MUL and STREW_MIN are and, STREW_SUB is exclusive
 *     or.
 *   - complex: STREW_ADD and STREW_SUB by component; STREW_MUL is (ac - bd) + (ad + bc)i, every
 *     product and every sum rounded.
 *   - STREW_MEAN is (old + update + update + ...) / n with the n terms added in order, in float32
 *     for floats of 8 and 16 bits, and the quotient rounded to float32 and then to T. n is
 *     converted to the type of the sum. Integers: the exact sum, divided and rounded down.
 *     Elements that no update touches stay as they are. It is refused for bool.
 * Other pairs of dtype and reduction give STREW_INVALID_DTYPE. STREW_EXCLUDE_SELF is or-ed in: the
 * old value of a touched element is ignored, its first update replaces it, and n counts only the
 * updates. With STREW_NONE it changes nothing.
 *
 * STREW_WIDE is or-ed in, with STREW_EXCLUDE_SELF or without: where STREW_ADD, STREW_SUB or
 * STREW_MUL meets float16, bfloat16 or float8, the old value and all updates of an element are
 * combined in order in float32, and the result is rounded to T once, as PyTorch sums such floats.
 * The sum of 70,000 ones in bfloat16 is 256, and 70,144 with STREW_WIDE: 70,000, rounded. Other
 * dtypes and reductions, STREW_MEAN included, are the same with it and without it. */
typedef int32_t strew_reduction;
enum {
  STREW_NONE = 0,             /**< update */
  STREW_ADD = 1,              /**< old + update */
  STREW_MUL = 2,              /**< old * update */
  STREW_MIN = 3,              /**< the lesser of old and update */
  STREW_MAX = 4,              /**< the greater of old and update */
  STREW_SUB = 5,              /**< old - update */
  STREW_MEAN = 6,             /**< the mean of old and all updates */
  STREW_EXCLUDE_SELF = 0x100, /**< or-ed in: without old */
  STREW_WIDE = 0x200          /**< or-ed in: floats of 8 and 16 bits are rounded once */
};

/** Treatment of an update whose index is out of range. */
typedef int32_t strew_index_policy;
enum {
  STREW_INDEX_ERROR = 0, /**< the call returns STREW_INDEX_OUT_OF_RANGE */
  STREW_INDEX_DROP = 1,  /**< the update is skipped; in scatter_nd that of the whole tuple */
  STREW_INDEX_CLAMP = 2  /**< use the nearest valid index; on an empty axis like ERROR */
};

/** Treatment of several updates of one element. Dropped updates have no element; clamped ones have
 * the element that their index is clamped to. */
typedef int32_t strew_duplicate_policy;
enum {
  STREW_DUPLICATE_LAST = 0, /**< apply them in order; with STREW_NONE the last one stays */
  STREW_DUPLICATE_ERROR = 1 /**< the call returns STREW_DUPLICATE_INDEX */
};

/** Writes past the end of a cache: not allowed, or continued at its beginning. */
typedef int32_t strew_cache_mode;
enum {
  STREW_CACHE_LINEAR = 0,  /**< w + S <= m */
  STREW_CACHE_CIRCULAR = 1 /**< positions modulo m */
};

/** @} */
/* ---- Names and versions ------------------------------------------------------------------- */
/** @name Names and versions
 * Thread-safe; static strings, never freed.
 * @{ */

/** Version of the library that runs, "major.minor.patch". */
STREW_API const char *strew_version(void);

/** The same as major * 10000 + minor * 100 + patch. */
STREW_API int32_t strew_version_number(void);

/** "STREW_INDEX_OUT_OF_RANGE"; "unknown" for an unknown code. Never NULL. */
STREW_API const char *strew_status_name(strew_status status);

/** One sentence in English that explains the status. Never NULL. */
STREW_API const char *strew_status_description(strew_status status);

/** "float32", as NumPy and ml_dtypes spell them; "opaque" for every STREW_OPAQUE(n); "unknown".
 * Never NULL. */
STREW_API const char *strew_dtype_name(strew_dtype dtype);

/** Bytes of one element; 0 for an unknown code. */
STREW_API size_t strew_dtype_size(strew_dtype dtype);

/** The instruction set that calls use unless their context says otherwise: "AVX3" (AVX-512),
 * "AVX2", "SSE4", "SSSE3", "NEON", ..., "SCALAR". */
STREW_API const char *strew_simd_target(void);

/** The i-th of the instruction sets that this build has and this CPU can run, best first; 0 gives
 * strew_simd_target(). NULL for any other i. */
STREW_API const char *strew_simd_target_at(int32_t i);

/** @} */
/* ---- Tensors ------------------------------------------------------------------------------ */
/** @name Tensors
 * @{ */

/** A descriptor: dtype, shape, strides and a borrowed pointer to the element at index (0, ..., 0).
 */
typedef struct strew_tensor strew_tensor;

/**
 * Creates a descriptor, which the caller owns and passes to strew_tensor_destroy().
 *
 *     rank     0 ... 32; a tensor of rank 0 has one element
 *     shape    `rank` dims >= 0; may be NULL for rank 0; copied
 *     strides  `rank` strides in ELEMENTS, may be negative, and 0 in inputs; NULL = row-major;
 *              copied
 *     data     aligned as the dtype requires; NULL makes an unbound tensor, which no operator
 *              accepts while it has elements. A tensor with a dim of 0 is empty: its strides and
 *              its pointer are ignored.
 *     out      receives the descriptor; NULL on failure
 *
 * Errors, in this order: INVALID_ARGUMENT (NULL out, NULL shape at rank > 0, rank outside 0 ... 32,
 * unknown dtype, negative dim, misaligned data); SIZE_OVERFLOW (element count or byte extent above
 * PTRDIFF_MAX); OUT_OF_MEMORY. */
STREW_API strew_status strew_tensor_create(strew_dtype dtype, int32_t rank, const int64_t *shape,
                                           const int64_t *strides, void *data, strew_tensor **out);

/** Replaces the contents of a descriptor, with the arguments of strew_tensor_create(). Allocates
 * nothing; on failure (also INVALID_ARGUMENT for a NULL tensor) the descriptor is unchanged. shape
 * and strides may be those that the descriptor itself returned. The descriptor is no longer
 * read-only. */
STREW_API strew_status strew_tensor_reset(strew_tensor *tensor, strew_dtype dtype, int32_t rank,
                                          const int64_t *shape, const int64_t *strides, void *data);

/** Binds the descriptor to other memory; NULL unbinds it. INVALID_ARGUMENT for a NULL tensor or a
 * misaligned pointer; the pointer is then unchanged. A read-only descriptor stays read-only. */
STREW_API strew_status strew_tensor_set_data(strew_tensor *tensor, void *data);

/**
 * Creates a descriptor for a DLTensor of DLPack, which is the start of a DLManagedTensor
 * ("dltensor" as a Python capsule). The caller owns the descriptor. It copies the shape and the
 * strides and borrows the memory: you must keep the producer's tensor alive while operators use the
 * descriptor. strew calls no deleter.
 *
 *     device      kDLCPU; device_id is ignored
 *     dtype       lanes = 1, and the code and the bits of one of these:
 *                   kDLBool      8                 STREW_BOOL
 *                   kDLInt       8, 16, 32, 64     STREW_INT8 ... STREW_INT64
 *                   kDLUInt      8, 16, 32, 64     STREW_UINT8 ... STREW_UINT64
 *                   kDLFloat     16, 32, 64        STREW_FLOAT16, _FLOAT32, _FLOAT64
 *                   kDLBfloat    16                STREW_BFLOAT16
 *                   kDLComplex   64, 128           STREW_COMPLEX64, _COMPLEX128
 *                   kDLFloat8_e4m3fn, _e5m2   8    STREW_FLOAT8_E4M3FN, _E5M2
 *     ndim,       as rank, shape and strides of strew_tensor_create(); strides may be NULL
 *     shape,
 *     strides
 *     data        the first element is byte_offset bytes after it; NULL makes an unbound tensor
 *     out         receives the descriptor; NULL on failure
 *
 * Errors, in this order: INVALID_ARGUMENT (NULL out or dl_tensor); UNSUPPORTED (another device or
 * dtype); those of strew_tensor_create() before OUT_OF_MEMORY; SIZE_OVERFLOW (a first element
 * beyond the address space, or more than PTRDIFF_MAX bytes after data); OUT_OF_MEMORY. */
STREW_API strew_status strew_tensor_from_dlpack(const void *dl_tensor, strew_tensor **out);

/** The same for a DLManagedTensorVersioned ("dltensor_versioned"). UNSUPPORTED for a major version
 * other than 1; nothing else is read then. With the flag DLPACK_FLAG_BITMASK_READ_ONLY the
 * descriptor is read-only: every operator returns INVALID_ARGUMENT for it as output, even without
 * elements, until strew_tensor_reset(). Other flags are ignored. */
STREW_API strew_status strew_tensor_from_dlpack_versioned(const void *dl_managed_tensor_versioned,
                                                          strew_tensor **out);

/** Frees the descriptor, not the memory that it describes. NULL is allowed. */
STREW_API void strew_tensor_destroy(strew_tensor *tensor);

/** The dtype. This and the getters below accept NULL and then return 0 or NULL. */
STREW_API strew_dtype strew_tensor_dtype(const strew_tensor *tensor);

/** The number of dims. */
STREW_API int32_t strew_tensor_rank(const strew_tensor *tensor);

/** The number of elements. */
STREW_API int64_t strew_tensor_size(const strew_tensor *tensor);

/** The dims: `rank` entries, valid until the descriptor is reset or destroyed. */
STREW_API const int64_t *strew_tensor_shape(const strew_tensor *tensor);

/** The strides in elements: `rank` entries, valid as long as those of the shape. */
STREW_API const int64_t *strew_tensor_strides(const strew_tensor *tensor);

/** The pointer to the element at index (0, ..., 0); NULL for an unbound tensor. */
STREW_API void *strew_tensor_data(const strew_tensor *tensor);

/** @} */
/* ---- Contexts ----------------------------------------------------------------------------- */
/** @name Contexts
 * Setters return INVALID_ARGUMENT for a NULL context or a value that is not named here, and
 * UNSUPPORTED for anything that this build lacks; the setting is then unchanged. They do not change
 * the report of the last call. Setting a default always returns STREW_OK.
 * @{ */

/** Settings of calls, and the report of the last call of an operator. Every operator accepts NULL
 * instead: one thread, default policies, no error detail. */
typedef struct strew_context strew_context;

/** Returns `size` bytes aligned to `alignment` (a power of two), or NULL: the call then does
 * without scratch or, if it cannot, returns STREW_OUT_OF_MEMORY. It and the function
 * below are called only on the thread that called the operator. They must not unwind: in a language
 * with exceptions catch them all, and return NULL. */
typedef void *(*strew_alloc)(void *opaque, size_t size, size_t alignment);

/** Frees memory that strew_alloc returned for the same opaque and size. */
typedef void (*strew_free)(void *opaque, void *memory, size_t size);

/** One task of a parallel_for: item i of the work that `task` stands for. */
typedef void (*strew_task)(void *task, int64_t i);

/**
 * Calls run(task, i) exactly once for every i in [0, count), in any order and on any threads, and
 * returns 0 when all have returned. count never exceeds the number of workers it was set with;
 * tasks never wait for one another, and need 48 KiB of stack. A call of an operator may ask for
 * several parallel_for, one after the other. Anything but 0, or fewer finished tasks than count,
 * makes the operator answer STREW_RUNNER_FAILED. Whatever it returns, no task may run or begin once
 * it has returned. It must not unwind: in a language with exceptions
 * catch them all, and return something else than 0.
 *
 * One that runs all tasks in turn, and counts how often it was asked to:
 *
 *     int32_t run_in_turn(void *opaque, int64_t count, strew_task run, void *task) {
 *       for (int64_t i = 0; i < count; ++i) run(task, i);
 *       ++*(int64_t *)opaque;
 *       return 0;
 *     }
 *
 *     int add(const strew_tensor *indices, const strew_tensor *updates, strew_tensor *data) {
 *       int64_t asked = 0;
 *       strew_context *context;
 *       if (strew_context_create(&context) != STREW_OK) return -1;
 *       strew_context_set_parallel_for(context, run_in_turn, &asked, 4);
 *       strew_status status = strew_scatter_nd(context, data, indices, updates, STREW_ADD, data);
 *       strew_context_destroy(context);
 *       return status == STREW_OK ? (int)asked : -1;
 *     }
 */
typedef int32_t (*strew_parallel_for)(void *opaque, int64_t count, strew_task run, void *task);

/** Creates a context with the defaults below; the caller owns it. INVALID_ARGUMENT for a NULL out,
 * OUT_OF_MEMORY; *out is NULL on failure. */
STREW_API strew_status strew_context_create(strew_context **out);

/** Frees the context, and ends its threads. NULL is allowed. */
STREW_API void strew_context_destroy(strew_context *context);

/** 1 (default): the calling thread. n > 1: so many threads with the calling one, but never more than
 * the CPUs that this process may run on, for which 0 stands. UNSUPPORTED for n != 1 in a build
 * without threads, OUT_OF_MEMORY without memory; the context is then unchanged.
 *
 * The others are started by the first large call, and sleep when there is nothing to do; one that
 * the system refuses is done without. They belong to the context until it is destroyed or another
 * number or a runner of yours is set, which waits for them to end. The calling thread takes every
 * task that no other has begun, and a call never waits for a thread that has not begun. Threads that
 * lose time, because other processes or threads want the CPUs, are left out of calls for a while. In
 * a child after fork() calls run on the calling thread until the number is set again. Threads block
 * all signals but those of their own faults. */
STREW_API strew_status strew_context_set_num_threads(strew_context *context, int32_t n);

/** Runs the tasks of large calls on the caller's threads: workers >= 1 with a function, or NULL,
 * NULL, 0 for one thread. `opaque` is handed to the function as it is. Of this and set_num_threads
 * the later call decides. */
STREW_API strew_status strew_context_set_parallel_for(strew_context *context,
                                                      strew_parallel_for parallel_for, void *opaque,
                                                      int32_t workers);

/** Default STREW_INDEX_ERROR. Negative indices are wrapped before. Ignored by slice_scatter. */
STREW_API strew_status strew_context_set_index_policy(strew_context *context,
                                                      strew_index_policy policy);

/** wrap 1 (default): an index i in [-n, -1] on an axis of n elements means i + n. wrap 0: negative
 * indices are out of range. */
STREW_API strew_status strew_context_set_negative_indices(strew_context *context, int32_t wrap);

/** Default STREW_DUPLICATE_LAST. */
STREW_API strew_status strew_context_set_duplicate_policy(strew_context *context,
                                                          strew_duplicate_policy policy);

/** Sets the allocator of scratch: both functions, or neither for malloc and free. Descriptors and
 * contexts always use malloc. */
STREW_API strew_status strew_context_set_allocator(strew_context *context, strew_alloc alloc,
                                                   strew_free release, void *opaque);

/** Forces an instruction set by its name; NULL = the best. A name that strew_simd_target_at() does
 * not list is UNSUPPORTED. The name is copied. */
STREW_API strew_status strew_context_set_simd_target(strew_context *context, const char *name);

/** The error of the last call of an operator, in one sentence; "" after a success and for NULL. The
 * text is valid until the next call of an operator with this context, or its destruction. */
STREW_API const char *strew_context_error(const strew_context *context);

/** After STREW_INDEX_OUT_OF_RANGE the row-major position in `indices` or `write_indices` of the
 * first bad value; after STREW_DUPLICATE_INDEX that of the first update whose element an earlier
 * one names, in scatter_nd of the first number of its tuple, or -1 when k = 0; else -1. */
STREW_API int64_t strew_context_error_position(const strew_context *context);

/** One sentence about the last call on this thread that failed and had no context to tell why: of a
 * function that makes or changes a tensor or a context, or of an operator or a function of plans
 * with NULL as context. "" before the first; calls that succeed leave it alone. The text is valid
 * until the next such failure on this thread, or its end. */
STREW_API const char *strew_last_error(void);

/** Number of elements of `updates`, as stored, that the last call of an operator applied: all of
 * them except with STREW_INDEX_DROP. 0 after a failure, for a new context and for NULL. */
STREW_API int64_t strew_context_applied(const strew_context *context);

/** @} */
/* ---- Operators ---------------------------------------------------------------------------- */
/** @name Operators
 * For all of them: data, updates and output have the same dtype; index operands have any of the
 * eight integer dtypes, int8 to uint64. An index i on an axis of n elements must lie in
 * [-n, n - 1], or in [0, n - 1] after strew_context_set_negative_indices(context, 0). A uint64 of
 * 2^63 and more is large, never negative; an index into an axis of 0 elements is out of range.
 * Indices are checked even if nothing would be written. Empty operands are valid: without updates
 * output is a copy of data. r is the rank of data, r >= 1. (+) stands for the reduction. Errors are
 * those of the numbered list at the top of this file, in that order.
 * @{ */

/**
 * Every update has an index of its own along one axis:
 *
 *     output = data
 *     output[i0, ..., indices[i], ..., i(r-1)] (+)= updates[i]      indices[i] in place of i(axis)
 *     for every index i = (i0, ..., i(r-1)) of indices, in row-major order
 *
 *     data, output      [d0, ..., d(r-1)]
 *     indices, updates  one shape [n0, ..., n(r-1)] with n(j) <= d(j) for j != axis
 *     axis              in [-r, r - 1]
 *
 * Errors: INVALID_SHAPE for ranks and extents other than these, INVALID_AXIS, and those common to
 * all operators.
 *
 * Implements ONNX ScatterElements 11, 13, 16 and 18 and Scatter 9, and OpenVINO
 * ScatterElementsUpdate-3 (exactly with strew_context_set_negative_indices(context, 0)) and
 * -12, use_init_val = false being STREW_EXCLUDE_SELF. */
STREW_API strew_status strew_scatter_elements(strew_context *context, const strew_tensor *data,
                                              const strew_tensor *indices,
                                              const strew_tensor *updates, int64_t axis,
                                              strew_reduction reduction, strew_tensor *output);

/**
 * Every tuple of k indices names a slice of the r - k last axes:
 *
 *     output = data
 *     output[indices[t, 0], ..., indices[t, k-1], ...] (+)= updates[t, ...]
 *     for every index t of indices.shape[:-1], in row-major order
 *
 *     data, output  [d0, ..., d(r-1)]
 *     indices       rank q >= 1; its last dim is k, 0 <= k <= r; k = 0 names the whole tensor
 *     updates       indices.shape[:-1] + data.shape[k:]; if that has rank 0, any shape with one
 *                   element
 *
 * Each index is checked against its own axis.
 * Errors: INVALID_SHAPE for ranks and extents other than these, and those common to all operators.
 *
 * Implements ONNX ScatterND 11, 13, 16 and 18, and OpenVINO ScatterNDUpdate-3 and -15. */
STREW_API strew_status strew_scatter_nd(strew_context *context, const strew_tensor *data,
                                        const strew_tensor *indices, const strew_tensor *updates,
                                        strew_reduction reduction, strew_tensor *output);

/**
 * Applies the updates to a slice by Python's rule:
 *
 *     output = data
 *     output[start0:stop0:step0, ...] (+)= updates      entry j slices axis axes[j]
 *
 *     data, output             [d0, ..., d(r-1)]
 *     start, stop, step, axes  1-D and of one length n <= r, of any integer dtypes
 *     start, stop              in elements of the axis; negative values count from the end; values
 *                              out of range are clamped as in Python, so that the limits of an
 *                              integer type are open ends
 *     step                     in elements, not 0; negative slices backwards. A start below -d with
 *                              a negative step is an empty slice, as in Python
 *     axes                     in [-r, r - 1], unique; NULL = 0, ..., n - 1
 *     updates                  the shape of the slice, or of rank <= r and broadcast to it as in
 *                              NumPy: dims of 1 and missing leading ones are repeated
 *
 * Errors: INVALID_SHAPE for ranks, lengths and extents other than these, INVALID_AXIS,
 * INVALID_ARGUMENT for a step of 0, and those common to all operators. The policies of a context
 * for indices do not apply.
 * Implements OpenVINO SliceScatter-15, PyTorch slice_scatter and, with an entry of one element,
 * select_scatter. */
STREW_API strew_status strew_slice_scatter(strew_context *context, const strew_tensor *data,
                                           const strew_tensor *updates, const strew_tensor *start,
                                           const strew_tensor *stop, const strew_tensor *step,
                                           const strew_tensor *axes, strew_reduction reduction,
                                           strew_tensor *output);

/** The same with start, stop, step and axes as plain arrays of `count` numbers; axes may be NULL,
 * and all may be if count is 0. INVALID_ARGUMENT for count < 0 and for any other NULL array. */
STREW_API strew_status strew_slice_scatter_int64(strew_context *context, const strew_tensor *data,
                                                 const strew_tensor *updates, int64_t count,
                                                 const int64_t *start, const int64_t *stop,
                                                 const int64_t *step, const int64_t *axes,
                                                 strew_reduction reduction, strew_tensor *output);

/**
 * Every index names a slice of one axis:
 *
 *     output = data
 *     output[a, indices[t], b] (+)= updates[a, t, b]
 *     for every index t of indices, in row-major order; a runs over the axes before the indexed
 *     one, b over those after it
 *
 *     data, output  [d0, ..., d(r-1)]
 *     indices       any shape, rank 0 included
 *     updates       data.shape[:axis] + indices.shape + data.shape[axis+1:]
 *     axis          in [-r, r - 1]
 *
 * With slot numbers as indices, -1 for tokens to skip, STREW_INDEX_DROP and
 * strew_context_set_negative_indices(context, 0) it writes a paged cache.
 * Errors: INVALID_SHAPE for ranks and extents other than these, INVALID_AXIS, and those common to
 * all operators.
 * Implements OpenVINO ScatterUpdate-3, PyTorch index_copy, index_add and index_reduce, and JAX
 * `.at[index]` on one axis. */
STREW_API strew_status strew_scatter_update(strew_context *context, const strew_tensor *data,
                                            const strew_tensor *indices,
                                            const strew_tensor *updates, int64_t axis,
                                            strew_reduction reduction, strew_tensor *output);

/**
 * Writes new positions of a cache, for each batch entry b from a start of its own:
 *
 *     present_cache = past_cache
 *     present_cache[b, ..., w(b) + j, ...] = update[b, ..., j, ...]      w(b) = write_indices[b]
 *     for 0 <= j < S, with the positions on `axis`; STREW_CACHE_CIRCULAR: (w(b) + j) mod m
 *
 *     past_cache, present_cache  [B, ..., m, ...], rank r >= 2; in place if they are the same
 *     update                     the same with S <= m on `axis`
 *     write_indices              [B], any integer dtype; NULL = zeros
 *     axis                       in [-r, r - 1], not that of the batch, 0
 *     mode                       valid are, if linear, w >= 0 and w + S <= m; if circular, w >= 0.
 *                                Negative w never count from the end
 *
 * STREW_INDEX_DROP skips the batch entry, as for padding with w = -1. STREW_INDEX_CLAMP takes the
 * nearest valid w. In place a call costs O(update).
 * Errors: INVALID_ARGUMENT for an unknown mode, INVALID_SHAPE for ranks and extents other than
 * these, INVALID_AXIS, and those common to all operators; the error position is b.
 * Implements ONNX TensorScatter 24. */
STREW_API strew_status strew_tensor_scatter(strew_context *context, const strew_tensor *past_cache,
                                            const strew_tensor *update,
                                            const strew_tensor *write_indices, int64_t axis,
                                            strew_cache_mode mode, strew_tensor *present_cache);

/** @} */
/* ---- Plans -------------------------------------------------------------------------------- */
/** @name Plans
 * A plan is an index tensor that was checked, and put in the order of its destinations, once, to be
 * used by any number of calls: the layers and epochs of a graph network, the steps of a decoder, a
 * sparsity pattern that stays. It has a copy of what it needs, so that you may change or free the
 * indices afterwards. It never changes: any number of calls, contexts and threads may use it at
 * once. It depends on the index values and on the extents of the indexed axes alone; dtype,
 * strides and all other dims are free at each call.
 *
 * Making a plan takes 10 to 15 ns an entry on one thread. It pays from the first or second call on
 * for gather_scatter and gather with rows and for means of rows; from the third to the twentieth for
 * sums of short rows, by tuples, or of single elements in data that fits into the caches; and after
 * dozens of calls, if at all, for sums of long rows, along the last axis, or of single elements in
 * larger data. doc/plans.md has the measurements.
 *
 * The functions that make a plan take the policies for indices, negative indices and duplicates,
 * the allocator of scratch and the threads from the context. They return, in this order:
 * INVALID_ARGUMENT for a NULL out, NULL or unbound indices, NULL extents and negative ones;
 * INVALID_DTYPE, INVALID_SHAPE and INVALID_AXIS as described there; SIZE_OVERFLOW if a tensor with
 * these extents had more elements than PTRDIFF_MAX; INDEX_OUT_OF_RANGE; OUT_OF_MEMORY;
 * DUPLICATE_INDEX. The sentence and the position of the error are those of the operator. *out is
 * NULL on failure; otherwise the caller owns the plan. Its memory comes from malloc.
 * @{ */

/** An index tensor that was checked and put in order. */
typedef struct strew_plan strew_plan;

/** A plan for the indices of strew_scatter_elements(): rank >= 1, an axis in [-r, r - 1] with r the
 * rank of indices, and the extent of that axis in data. */
STREW_API strew_status strew_plan_scatter_elements(strew_context *context,
                                                   const strew_tensor *indices, int64_t axis,
                                                   int64_t extent, strew_plan **out);

/** A plan for the tuples of strew_scatter_nd(): rank >= 1, and the extents of the k first axes of
 * data; NULL is allowed for k = 0. */
STREW_API strew_status strew_plan_scatter_nd(strew_context *context, const strew_tensor *indices,
                                             const int64_t *extents, strew_plan **out);

/** A plan for the indices of strew_scatter_update(), and the extent of the axis in data. The axis
 * may be any; each call resolves it against the rank of its data. */
STREW_API strew_status strew_plan_scatter_update(strew_context *context,
                                                 const strew_tensor *indices, int64_t axis,
                                                 int64_t extent, strew_plan **out);

/** Frees the plan. NULL is allowed. */
STREW_API void strew_plan_destroy(strew_plan *plan);

/** The number of index values or, of scatter_nd, of tuples. 0 for NULL. */
STREW_API int64_t strew_plan_entries(const strew_plan *plan);

/** The number of entries that STREW_INDEX_DROP skips. 0 for NULL. */
STREW_API int64_t strew_plan_dropped(const strew_plan *plan);

/** The bytes that the plan has: at most 24 for each entry, and 64 KiB. 0 for NULL. */
STREW_API size_t strew_plan_memory(const strew_plan *plan);

/**
 * The operator of the plan without another look at the indices:
 *
 *     output = data
 *     output[place of entry e] (+)= updates[e]      for every entry, in row-major order of indices
 *
 * The result is that of the operator to the byte, for any number of threads and on every
 * instruction set. data must have the extents of the plan, and updates the shape that the operator
 * asks for: INVALID_SHAPE. INVALID_ARGUMENT for a NULL plan; the other errors are those of the
 * operator. The policies of this context are ignored. Means, STREW_WIDE and STREW_EXCLUDE_SELF
 * allocate no more scratch than other reductions. */
STREW_API strew_status strew_plan_scatter(strew_context *context, const strew_plan *plan,
                                          const strew_tensor *data, const strew_tensor *updates,
                                          strew_reduction reduction, strew_tensor *output);

/**
 * The other direction, and the gradient of a sum:
 *
 *     output[e] = source[place of entry e]      for every entry
 *
 *     source  has the extents of the plan, as data of the operator
 *     output  has the shape of updates; it does not overlap source. Entries that are dropped keep
 *             their values
 *
 * source and output have the same dtype, which may be any. Implements ONNX GatherElements, GatherND
 * and Gather, and PyTorch gather, index_select and take. */
STREW_API strew_status strew_plan_gather(strew_context *context, const strew_plan *plan,
                                         const strew_tensor *source, strew_tensor *output);

/**
 * Takes rows from one tensor and combines them in another, without making the updates:
 *
 *     output = data
 *     output[place of e in to] (+)= weights[e] * source[place of e in from]      for every entry e
 *
 * in the order of the entries of `to`, to the byte as if strew_plan_gather(), a product and
 * strew_plan_scatter() were called one after the other. It is the message passing of a graph
 * network, a product of a sparse and a dense matrix, and an embedding bag.
 *
 *     source   has the extents of `from`
 *     weights  NULL for none, or any shape that NumPy broadcasts to that of the updates. Each
 *              product is rounded as STREW_MUL rounds
 *     data     has the extents of `to`; output may be data itself
 *
 * Both plans must mean updates of one shape: INVALID_SHAPE. An entry that either of them drops is
 * skipped. INVALID_DTYPE unless source, weights, data and output have one dtype, and for weights on
 * a dtype without STREW_MUL. output overlaps neither source nor weights. */
STREW_API strew_status strew_plan_gather_scatter(strew_context *context, const strew_plan *from,
                                                 const strew_tensor *source,
                                                 const strew_tensor *weights, const strew_plan *to,
                                                 const strew_tensor *data,
                                                 strew_reduction reduction, strew_tensor *output);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* STREW_STREW_H_ */
