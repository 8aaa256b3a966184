// SPDX-License-Identifier: Apache-2.0

// strew from Go: every function once.
package main

/*
#cgo LDFLAGS: -lstrew
#include <stdlib.h>
#include <strew/strew.h>

struct counts { size_t taken, returned, asked; };

// Go can call a function of C but no pointer to one.
static inline void run_task(strew_task run, void *task, int64_t i) { run(task, i); }

extern void *allocate(void *opaque, size_t size, size_t alignment);
extern void release(void *opaque, void *memory, size_t size);
extern int32_t runAtOnce(void *opaque, int64_t count, strew_task run, void *task);

// As dlpack.h has them.
struct dl_tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct dl_managed {
  uint32_t major, minor;
  void *manager;
  void (*deleter)(struct dl_managed *);
  uint64_t flags;
  struct dl_tensor tensor;
};
extern void deleteManaged(struct dl_managed *managed);
static inline void call_deleter(struct dl_managed *managed) { managed->deleter(managed); }
*/
import "C"

import (
	"errors"
	"fmt"
	"log"
	"math"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

func check(status C.strew_status) {
	if status != C.STREW_OK {
		log.Fatal(C.GoString(C.strew_status_description(status)))
	}
}

// A descriptor and the memory that it borrows. That is C's: C may not keep pointers to Go's.
type tensor[T float32 | int64] struct {
	handle *C.strew_tensor
	values []T
}

func newTensor[T float32 | int64](shape []int64, values ...T) tensor[T] {
	t := tensor[T]{}
	size := len(values) * int(unsafe.Sizeof(values[0]))
	memory := C.malloc(C.size_t(size))
	t.values = unsafe.Slice((*T)(memory), len(values))
	copy(t.values, values)
	dtype := C.strew_dtype(C.STREW_FLOAT32)
	if _, integers := any(values).([]int64); integers {
		dtype = C.STREW_INT64
	}
	rank := C.int32_t(len(shape))
	check(C.strew_tensor_create(dtype, rank, dims(shape), nil, memory, &t.handle))
	return t
}

func (t tensor[T]) free() {
	C.strew_tensor_destroy(t.handle)
	C.free(unsafe.Pointer(&t.values[0]))
}

func newContext() *C.strew_context {
	var context *C.strew_context
	check(C.strew_context_create(&context))
	return context
}

func dims(values []int64) *C.int64_t {
	if len(values) == 0 {
		return nil
	}
	return (*C.int64_t)(&values[0])
}

func words(values any) string { return strings.Trim(fmt.Sprint(values), "[]") }

func show(name string, values []float32) { fmt.Printf("%s: %s\n", name, words(values)) }

func names() {
	version, number := C.GoString(C.strew_version()), C.strew_version_number()
	fmt.Printf("version: %s is %d\n", version, number)
	var targets []string
	for i := C.int32_t(0); C.strew_simd_target_at(i) != nil; i++ {
		targets = append(targets, C.GoString(C.strew_simd_target_at(i)))
	}
	best := C.GoString(C.strew_simd_target())
	fmt.Printf("targets: %s, the best is %s\n", words(targets), best)
	name := C.GoString(C.strew_status_name(C.STREW_INDEX_OUT_OF_RANGE))
	description := C.GoString(C.strew_status_description(C.STREW_INDEX_OUT_OF_RANGE))
	fmt.Printf("status: %s: %s\n", name, description)
	dtype := C.GoString(C.strew_dtype_name(C.STREW_COMPLEX64))
	fmt.Printf("dtype: %s of %d bytes\n", dtype, C.strew_dtype_size(C.STREW_COMPLEX64))
}

func describe(name string, tensor *C.strew_tensor) {
	rank := C.strew_tensor_rank(tensor)
	dtype := C.GoString(C.strew_dtype_name(C.strew_tensor_dtype(tensor)))
	fmt.Printf("%s: %s, %d elements, shape %s, strides %s, first %g\n",
		name, dtype, C.strew_tensor_size(tensor),
		words(unsafe.Slice(C.strew_tensor_shape(tensor), rank)),
		words(unsafe.Slice(C.strew_tensor_strides(tensor), rank)),
		*(*float32)(C.strew_tensor_data(tensor)))
}

func descriptors() {
	rising := newTensor[float32]([]int64{2, 3}, 1, 2, 3, 4, 5, 6)
	defer rising.free()
	falling := newTensor[float32]([]int64{6}, 6, 5, 4, 3, 2, 1)
	defer falling.free()
	describe("create", rising.handle)
	data := unsafe.Pointer(&rising.values[0])
	shape, strides := dims([]int64{3, 2}), dims([]int64{1, 3})
	check(C.strew_tensor_reset(rising.handle, C.STREW_FLOAT32, 2, shape, strides, data))
	describe("transposed", rising.handle)
	check(C.strew_tensor_set_data(rising.handle, unsafe.Pointer(&falling.values[0])))
	describe("elsewhere", rising.handle)
}

func scatterElements() {
	data := newTensor([]int64{3, 3}, make([]float32, 9)...)
	defer data.free()
	output := newTensor([]int64{3, 3}, make([]float32, 9)...)
	defer output.free()
	updates := newTensor[float32]([]int64{2, 3}, 1, 1.1, 1.2, 2, 2.1, 2.2)
	defer updates.free()
	indices := newTensor[int64]([]int64{2, 3}, 1, 0, 2, 0, 2, 1)
	defer indices.free()
	check(C.strew_scatter_elements(
		nil, data.handle, indices.handle, updates.handle, 0, C.STREW_NONE, output.handle))
	show("scatter_elements", output.values)
}

// Here and below the output is data itself: in place.
func scatterRow(name string, first, second int64, reduction C.strew_reduction) {
	data := newTensor[float32]([]int64{1, 5}, 1, 2, 3, 4, 5)
	defer data.free()
	updates := newTensor[float32]([]int64{1, 2}, 1.1, 2.1)
	defer updates.free()
	indices := newTensor([]int64{1, 2}, first, second)
	defer indices.free()
	check(C.strew_scatter_elements(
		nil, data.handle, indices.handle, updates.handle, 1, reduction, data.handle))
	show("scatter_elements "+name, data.values)
}

func scatterND() {
	data := newTensor[float32]([]int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	defer data.free()
	updates := newTensor[float32]([]int64{4}, 9, 10, 11, 12)
	defer updates.free()
	indices := newTensor[int64]([]int64{4, 1}, 4, 3, 1, 7)
	defer indices.free()
	check(C.strew_scatter_nd(
		nil, data.handle, indices.handle, updates.handle, C.STREW_NONE, data.handle))
	show("scatter_nd", data.values)
}

func scatterNDSlices() {
	data := newTensor[float32]([]int64{4, 4, 4},
		1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
		1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
		8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8,
		8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8)
	defer data.free()
	updates := newTensor[float32]([]int64{2, 4, 4},
		5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8,
		1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4)
	defer updates.free()
	indices := newTensor[int64]([]int64{2, 1}, 0, 2)
	defer indices.free()
	check(C.strew_scatter_nd(
		nil, data.handle, indices.handle, updates.handle, C.STREW_NONE, data.handle))
	show("scatter_nd slices", data.values)
}

func countingUp(count int64) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

func sliceScatter() {
	data := newTensor([]int64{2, 5}, countingUp(10)...)
	defer data.free()
	updates := newTensor[float32]([]int64{1, 5}, 10, 20, 30, 40, 50)
	defer updates.free()
	zero, one := newTensor[int64]([]int64{1}, 0), newTensor[int64]([]int64{1}, 1)
	defer zero.free()
	defer one.free()
	check(C.strew_slice_scatter(nil, data.handle, updates.handle,
		zero.handle, one.handle, one.handle, zero.handle, C.STREW_NONE, data.handle))
	show("slice_scatter", data.values)
}

// Without axes the entries are those of the first ones.
type slices struct{ start, stop, step, axes []int64 }

func slice(name string, shape []int64, updates tensor[float32], s slices) {
	data := newTensor(shape, countingUp(shape[0]*shape[1])...)
	defer data.free()
	defer updates.free()
	check(C.strew_slice_scatter_int64(nil, data.handle, updates.handle,
		C.int64_t(len(s.start)), dims(s.start), dims(s.stop), dims(s.step), dims(s.axes),
		C.STREW_NONE, data.handle))
	show("slice_scatter "+name, data.values)
}

func caches() {
	context := newContext()
	defer C.strew_context_destroy(context)
	check(C.strew_context_set_index_policy(context, C.STREW_INDEX_DROP))
	check(C.strew_context_set_negative_indices(context, 0)) // -1: no slot
	pages := newTensor([]int64{3, 2}, make([]float32, 6)...)
	defer pages.free()
	tokens := newTensor[float32]([]int64{3, 2}, 1, 2, 3, 4, 5, 6)
	defer tokens.free()
	slots := newTensor[int64]([]int64{3}, 2, -1, 0)
	defer slots.free()
	check(C.strew_scatter_update(
		context, pages.handle, slots.handle, tokens.handle, 0, C.STREW_NONE, pages.handle))
	show("scatter_update", pages.values)
	fmt.Printf("applied: %d of 6\n", C.strew_context_applied(context))

	cache := newTensor([]int64{2, 4}, make([]float32, 8)...)
	defer cache.free()
	update := newTensor[float32]([]int64{2, 2}, 1, 2, 3, 4)
	defer update.free()
	places := newTensor[int64]([]int64{2}, 3, 1)
	defer places.free()
	check(C.strew_tensor_scatter(context, cache.handle, update.handle, places.handle, 1,
		C.STREW_CACHE_CIRCULAR, cache.handle))
	show("tensor_scatter", cache.values)
}

// strew calls these from C. Where one panics the program ends.
//
//export allocate
func allocate(opaque unsafe.Pointer, size, alignment C.size_t) unsafe.Pointer {
	(*C.struct_counts)(opaque).taken += size
	return C.aligned_alloc(alignment, (size+alignment-1)/alignment*alignment)
}

//export release
func release(opaque, memory unsafe.Pointer, size C.size_t) {
	(*C.struct_counts)(opaque).returned += size
	C.free(memory)
}

//export runAtOnce
func runAtOnce(
	opaque unsafe.Pointer, count C.int64_t, run C.strew_task, task unsafe.Pointer,
) C.int32_t {
	(*C.struct_counts)(opaque).asked++
	var tasks sync.WaitGroup
	for i := C.int64_t(0); i < count; i++ {
		tasks.Add(1)
		go func(i C.int64_t) {
			defer tasks.Done()
			C.run_task(run, task, i)
		}(i)
	}
	tasks.Wait()
	return 0
}

func callbacks() {
	const count = 1 << 18
	backwards, unit := make([]int64, count), make([]float32, count)
	for i := range backwards {
		backwards[i], unit[i] = int64(count-1-i), 1
	}
	shape := []int64{count}
	sums := newTensor(shape, make([]float32, count)...)
	defer sums.free()
	ones, indices := newTensor(shape, unit...), newTensor(shape, backwards...)
	defer ones.free()
	defer indices.free()
	counts := (*C.struct_counts)(C.calloc(1, C.sizeof_struct_counts)) // C keeps a pointer to it
	defer C.free(unsafe.Pointer(counts))
	context := newContext()
	defer C.strew_context_destroy(context)
	check(C.strew_context_set_allocator(context,
		C.strew_alloc(C.allocate), C.strew_free(C.release), unsafe.Pointer(counts)))
	check(C.strew_context_set_duplicate_policy(context, C.STREW_DUPLICATE_ERROR))
	check(C.strew_context_set_simd_target(context, C.strew_simd_target()))
	check(C.strew_context_set_parallel_for(context,
		C.strew_parallel_for(C.runAtOnce), unsafe.Pointer(counts), 4))
	add := func() {
		check(C.strew_scatter_update(
			context, sums.handle, indices.handle, ones.handle, 0, C.STREW_ADD, sums.handle))
	}
	add()
	check(C.strew_context_set_num_threads(context, 1)) // 0: as many as CPUs
	add()
	runner, allocator := "not asked", "not balanced"
	if counts.asked > 0 {
		runner = "asked"
	}
	if counts.taken > 0 && counts.taken == counts.returned {
		allocator = "all returned"
	}
	fmt.Printf("runner: %s\nallocator: %s\n", runner, allocator)
	fmt.Printf("sums: %g to %g\n", sums.values[0], sums.values[count-1])
}

//export deleteManaged
func deleteManaged(managed *C.struct_dl_managed) {
	fmt.Println("dlpack: deleted")
	C.free(unsafe.Pointer(managed))
}

func dlpack() {
	row := newTensor[float32]([]int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	defer row.free()
	updates := newTensor[float32]([]int64{4}, 9, 10, 11, 12)
	defer updates.free()
	indices := newTensor[int64]([]int64{4, 1}, 4, 3, 1, 7)
	defer indices.free()
	managed := (*C.struct_dl_managed)(C.calloc(1, C.sizeof_struct_dl_managed))
	defer C.call_deleter(managed) // strew never calls it
	managed.major = 1
	managed.deleter = (*[0]byte)(C.deleteManaged)
	managed.tensor = C.struct_dl_tensor{
		data: unsafe.Pointer(&row.values[0]), device_type: 1, ndim: 1, code: 2, bits: 32, lanes: 1,
		shape: C.strew_tensor_shape(row.handle),
	}
	var data, output *C.strew_tensor // of one memory: in place
	check(C.strew_tensor_from_dlpack(unsafe.Pointer(&managed.tensor), &data))
	defer C.strew_tensor_destroy(data)
	check(C.strew_tensor_from_dlpack_versioned(unsafe.Pointer(managed), &output))
	defer C.strew_tensor_destroy(output)
	check(C.strew_scatter_nd(nil, data, indices.handle, updates.handle, C.STREW_NONE, output))
	show("dlpack", row.values)
}

func expect[T any](name string, found, wanted T) {
	if words(found) != words(wanted) {
		log.Fatalf("%s: %v instead of %v", name, found, wanted)
	}
}

func expectPlan(plan *C.strew_plan, entries, dropped C.int64_t) {
	expect("strew_plan_entries", C.strew_plan_entries(plan), entries)
	expect("strew_plan_dropped", C.strew_plan_dropped(plan), dropped)
	expect("strew_plan_memory > 0", C.strew_plan_memory(plan) > 0, true)
}

// A plan has a copy of what it needs, so that the indices may go.
func planRows(context *C.strew_context, rows ...int64) *C.strew_plan {
	indices := newTensor([]int64{int64(len(rows))}, rows...)
	defer indices.free()
	var plan *C.strew_plan
	check(C.strew_plan_scatter_update(context, indices.handle, 0, 3, &plan))
	return plan
}

func planElements() {
	data := newTensor[float32]([]int64{1, 5}, 1, 2, 3, 4, 5)
	defer data.free()
	updates := newTensor[float32]([]int64{1, 2}, 1.5, 2.5)
	defer updates.free()
	indices := newTensor[int64]([]int64{1, 2}, 1, 1)
	defer indices.free()
	var plan *C.strew_plan
	check(C.strew_plan_scatter_elements(nil, indices.handle, 1, 5, &plan))
	defer C.strew_plan_destroy(plan)
	expectPlan(plan, 2, 0)
	check(C.strew_plan_scatter(nil, plan, data.handle, updates.handle, C.STREW_ADD, data.handle))
	expect("sums of elements", data.values, []float32{1, 6, 3, 4, 5})
}

func planND() {
	data := newTensor[float32]([]int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	defer data.free()
	updates := newTensor[float32]([]int64{4}, 9, 10, 11, 12)
	defer updates.free()
	output := newTensor([]int64{4}, make([]float32, 4)...)
	defer output.free()
	indices := newTensor[int64]([]int64{4, 1}, 4, 3, 1, 7)
	defer indices.free()
	var plan *C.strew_plan
	check(C.strew_plan_scatter_nd(nil, indices.handle, dims([]int64{8}), &plan))
	defer C.strew_plan_destroy(plan)
	expectPlan(plan, 4, 0)
	check(C.strew_plan_gather(nil, plan, data.handle, output.handle))
	expect("gathered elements", output.values, []float32{5, 4, 2, 8})
	check(C.strew_plan_scatter(nil, plan, data.handle, updates.handle, C.STREW_NONE, data.handle))
	expect("placed elements", data.values, []float32{1, 11, 3, 10, 9, 6, 7, 12})
}

// Each edge of a graph hands the row of its first node, times a weight, to its second one.
func planGraph() {
	context := newContext()
	defer C.strew_context_destroy(context)
	check(C.strew_context_set_index_policy(context, C.STREW_INDEX_DROP))
	check(C.strew_context_set_negative_indices(context, 0)) // -1: no node
	from, to := planRows(context, 0, 0, 2, 1), planRows(context, 1, 2, 1, -1)
	defer C.strew_plan_destroy(from)
	defer C.strew_plan_destroy(to)
	expectPlan(from, 4, 0)
	expectPlan(to, 4, 1)
	source := newTensor[float32]([]int64{3, 2}, 1, 2, 3, 4, 5, 6)
	defer source.free()
	weights := newTensor[float32]([]int64{4, 1}, 1, 2, 0.5, 7)
	defer weights.free()
	data := newTensor([]int64{3, 2}, make([]float32, 6)...)
	defer data.free()
	check(C.strew_plan_gather_scatter(context, from, source.handle, weights.handle, to,
		data.handle, C.STREW_ADD, data.handle))
	expect("sums of a graph", data.values, []float32{0, 0, 3.5, 5, 2, 4})
}

func plans() {
	planElements()
	planND()
	planGraph()
}

func failure() error {
	context := newContext()
	defer C.strew_context_destroy(context)
	data := newTensor([]int64{8}, make([]float32, 8)...)
	defer data.free()
	updates := newTensor[float32]([]int64{4}, 9, 10, 11, 12)
	defer updates.free()
	indices := newTensor[int64]([]int64{4, 1}, 4, 3, 9, 7)
	defer indices.free()
	status := C.strew_scatter_nd(
		context, data.handle, indices.handle, updates.handle, C.STREW_NONE, data.handle)
	if status == C.STREW_OK {
		return errors.New("no error")
	}
	return fmt.Errorf("%s at %d: %s", C.GoString(C.strew_status_name(status)),
		C.strew_context_error_position(context), C.GoString(C.strew_context_error(context)))
}

// The last error is that of a thread of the system.
func lastError() string {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	context := newContext()
	defer C.strew_context_destroy(context)
	if C.strew_context_set_negative_indices(context, 2) == C.STREW_OK {
		return "none"
	}
	return C.GoString(C.strew_last_error())
}

func main() {
	names()
	descriptors()
	scatterElements()
	scatterRow("axis 1", 1, 3, C.STREW_NONE)
	scatterRow("negative", 1, -3, C.STREW_NONE)
	scatterRow("add", 1, 1, C.STREW_ADD)
	scatterRow("max", 1, 1, C.STREW_MAX)
	scatterRow("min", 1, 1, C.STREW_MIN)
	scatterND()
	scatterNDSlices()
	sliceScatter()
	slice("clamped", []int64{2, 5}, newTensor[float32]([]int64{2, 3}, 10, 20, 30, 40, 50, 60),
		slices{[]int64{-25}, []int64{25}, []int64{2}, []int64{1}})
	slice("both axes", []int64{3, 5}, newTensor[float32]([]int64{2, 2}, 50, 60, 70, 80),
		slices{[]int64{0, 1}, []int64{3, 5}, []int64{2, 2}, nil})
	slice("open ends", []int64{1, 5}, newTensor[float32]([]int64{1, 3}, 10, 20, 30),
		slices{[]int64{math.MaxInt64}, []int64{math.MinInt64}, []int64{-2}, []int64{-1}})
	caches()
	callbacks()
	dlpack()
	plans()
	fmt.Println("error:", failure())
	fmt.Println("last error:", lastError())
}
