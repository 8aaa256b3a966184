// SPDX-License-Identifier: Apache-2.0
//! strew from Rust: every function once.

use std::alloc::{alloc, dealloc, Layout};
use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt::Display;
use std::ops::Deref;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::thread::Builder;

/// What handles point to. The library changes it behind shared references.
#[repr(C)]
struct RawTensor(UnsafeCell<[u8; 0]>);
#[repr(C)]
struct RawContext(UnsafeCell<[u8; 0]>);
#[repr(C)]
struct RawPlan([u8; 0]);

type In<'a> = &'a RawTensor;
type Context<'a> = Option<&'a RawContext>;
type Dims = *const i64;
type Text = *const c_char;
type Memory = *mut c_void;
type Task = extern "C" fn(Memory, i64);
type ParallelFor = extern "C" fn(Memory, i64, Task, Memory) -> i32;
type Alloc = extern "C" fn(Memory, usize, usize) -> Memory;
type Free = extern "C" fn(Memory, Memory, usize);

#[link(name = "strew")]
extern "C" {
    fn strew_version() -> Text;
    fn strew_version_number() -> i32;
    fn strew_status_name(status: i32) -> Text;
    fn strew_status_description(status: i32) -> Text;
    fn strew_dtype_name(dtype: i32) -> Text;
    fn strew_dtype_size(dtype: i32) -> usize;
    fn strew_simd_target() -> Text;
    fn strew_simd_target_at(i: i32) -> Text;

    #[rustfmt::skip]
    fn strew_tensor_create(
        dtype: i32,
        rank: i32,
        shape: Dims,
        strides: Dims,
        data: Memory,
        out: &mut *mut RawTensor,
    ) -> i32;
    fn strew_tensor_reset(_: In, dtype: i32, rank: i32, _: Dims, _: Dims, _: Memory) -> i32;
    fn strew_tensor_set_data(tensor: In, data: Memory) -> i32;
    fn strew_tensor_from_dlpack(dl_tensor: *const DlTensor, out: &mut *mut RawTensor) -> i32;
    #[rustfmt::skip]
    fn strew_tensor_from_dlpack_versioned(
        managed: *const DlManaged,
        out: &mut *mut RawTensor,
    ) -> i32;
    fn strew_tensor_destroy(tensor: *mut RawTensor);
    fn strew_tensor_dtype(tensor: In) -> i32;
    fn strew_tensor_rank(tensor: In) -> i32;
    fn strew_tensor_size(tensor: In) -> i64;
    fn strew_tensor_shape(tensor: In) -> Dims;
    fn strew_tensor_strides(tensor: In) -> Dims;
    fn strew_tensor_data(tensor: In) -> Memory;

    fn strew_context_create(out: &mut *mut RawContext) -> i32;
    fn strew_context_destroy(context: *mut RawContext);
    fn strew_context_set_num_threads(context: &RawContext, n: i32) -> i32;
    #[rustfmt::skip]
    fn strew_context_set_parallel_for(
        _: &RawContext,
        parallel_for: ParallelFor,
        opaque: Memory,
        workers: i32,
    ) -> i32;
    fn strew_context_set_index_policy(context: &RawContext, policy: i32) -> i32;
    fn strew_context_set_negative_indices(context: &RawContext, wrap: i32) -> i32;
    fn strew_context_set_duplicate_policy(context: &RawContext, policy: i32) -> i32;
    #[rustfmt::skip]
    fn strew_context_set_allocator(
        _: &RawContext,
        alloc: Alloc,
        release: Free,
        opaque: Memory,
    ) -> i32;
    fn strew_context_set_simd_target(context: &RawContext, name: Text) -> i32;
    fn strew_context_error(context: &RawContext) -> Text;
    fn strew_last_error() -> Text;
    fn strew_context_error_position(context: &RawContext) -> i64;
    fn strew_context_applied(context: &RawContext) -> i64;

    fn strew_scatter_elements(_: Context, _: In, _: In, _: In, axis: i64, _: i32, _: In) -> i32;
    fn strew_scatter_nd(_: Context, _: In, _: In, _: In, reduction: i32, output: In) -> i32;
    #[rustfmt::skip]
    fn strew_slice_scatter(
        _: Context,
        _: In,
        _: In,
        start: In,
        stop: In,
        step: In,
        axes: Option<In>,
        reduction: i32,
        output: In,
    ) -> i32;
    #[rustfmt::skip]
    fn strew_slice_scatter_int64(
        _: Context,
        _: In,
        _: In,
        count: i64,
        start: Dims,
        stop: Dims,
        step: Dims,
        axes: Dims,
        reduction: i32,
        output: In,
    ) -> i32;
    fn strew_scatter_update(_: Context, _: In, _: In, _: In, axis: i64, _: i32, _: In) -> i32;
    fn strew_tensor_scatter(_: Context, _: In, _: In, _: In, axis: i64, mode: i32, _: In) -> i32;

    #[rustfmt::skip]
    fn strew_plan_scatter_elements(
        _: Context,
        indices: In,
        axis: i64,
        extent: i64,
        out: &mut *mut RawPlan,
    ) -> i32;
    #[rustfmt::skip]
    fn strew_plan_scatter_nd(
        _: Context,
        indices: In,
        extents: Dims,
        out: &mut *mut RawPlan,
    ) -> i32;
    #[rustfmt::skip]
    fn strew_plan_scatter_update(
        _: Context,
        indices: In,
        axis: i64,
        extent: i64,
        out: &mut *mut RawPlan,
    ) -> i32;
    fn strew_plan_destroy(plan: *mut RawPlan);
    fn strew_plan_entries(plan: &RawPlan) -> i64;
    fn strew_plan_dropped(plan: &RawPlan) -> i64;
    fn strew_plan_memory(plan: &RawPlan) -> usize;
    #[rustfmt::skip]
    fn strew_plan_scatter(
        _: Context,
        _: &RawPlan,
        data: In,
        updates: In,
        reduction: i32,
        output: In,
    ) -> i32;
    fn strew_plan_gather(_: Context, _: &RawPlan, source: In, output: In) -> i32;
    #[rustfmt::skip]
    fn strew_plan_gather_scatter(
        _: Context,
        from: &RawPlan,
        source: In,
        weights: Option<In>,
        to: &RawPlan,
        data: In,
        reduction: i32,
        output: In,
    ) -> i32;
}

const INDEX_OUT_OF_RANGE: i32 = 5;
const INT64: i32 = 5;
const FLOAT32: i32 = 12;
const COMPLEX64: i32 = 14;
const NONE: i32 = 0;
const ADD: i32 = 1;
const MIN: i32 = 3;
const MAX: i32 = 4;
const INDEX_DROP: i32 = 1;
const DUPLICATE_ERROR: i32 = 1;
const CACHE_CIRCULAR: i32 = 1;

/// A status other than STREW_OK, and the sentence about it.
struct Error(i32, String);

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}: {}", text(unsafe { strew_status_name(self.0) }), self.1)
    }
}

type Result<T> = std::result::Result<T, Error>;

fn text(pointer: Text) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn check(status: i32) -> Result<()> {
    match status {
        0 => Ok(()),
        _ => Err(Error(status, text(unsafe { strew_status_description(status) }))),
    }
}

trait Element: Copy {
    const DTYPE: i32;
}
impl Element for f32 {
    const DTYPE: i32 = FLOAT32;
}
impl Element for i64 {
    const DTYPE: i32 = INT64;
}

/// A descriptor and the memory that it borrows, which is reached through it alone.
struct Tensor<E> {
    handle: *mut RawTensor,
    _memory: Vec<E>,
}

impl<E: Element> Tensor<E> {
    fn new(shape: &[i64], mut memory: Vec<E>) -> Result<Self> {
        let (rank, data) = (shape.len() as i32, memory.as_mut_ptr() as Memory);
        let mut handle = null_mut();
        check(unsafe {
            strew_tensor_create(E::DTYPE, rank, shape.as_ptr(), null(), data, &mut handle)
        })?;
        Ok(Tensor { handle, _memory: memory })
    }

    fn values(&self) -> &[E] {
        unsafe {
            let (data, size) = (strew_tensor_data(self), strew_tensor_size(self));
            std::slice::from_raw_parts(data as *const E, size as usize)
        }
    }
}

impl<E> Deref for Tensor<E> {
    type Target = RawTensor;

    fn deref(&self) -> &RawTensor {
        unsafe { &*self.handle }
    }
}

impl<E> Drop for Tensor<E> {
    fn drop(&mut self) {
        unsafe { strew_tensor_destroy(self.handle) }
    }
}

struct Settings {
    handle: *mut RawContext,
}

impl Settings {
    fn new() -> Result<Self> {
        let mut handle = null_mut();
        check(unsafe { strew_context_create(&mut handle) })?;
        Ok(Settings { handle })
    }
}

impl Deref for Settings {
    type Target = RawContext;

    fn deref(&self) -> &RawContext {
        unsafe { &*self.handle }
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        unsafe { strew_context_destroy(self.handle) }
    }
}

/// A plan has a copy of what it needs, so that no lifetime ties it to its indices.
struct Plan {
    handle: *mut RawPlan,
}

impl Plan {
    fn new(create: impl FnOnce(&mut *mut RawPlan) -> i32) -> Result<Self> {
        let mut handle = null_mut();
        check(create(&mut handle))?;
        Ok(Plan { handle })
    }

    fn rows(context: &Settings, rows: Vec<i64>) -> Result<Self> {
        let indices = Tensor::new(&[rows.len() as i64], rows)?;
        Plan::new(|out| unsafe { strew_plan_scatter_update(Some(context), &indices, 0, 3, out) })
    }
}

impl Deref for Plan {
    type Target = RawPlan;

    fn deref(&self) -> &RawPlan {
        unsafe { &*self.handle }
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        unsafe { strew_plan_destroy(self.handle) }
    }
}

fn joined<T: Display>(values: &[T]) -> String {
    values.iter().map(|value| format!(" {value}")).collect()
}

fn show(name: &str, values: &[f32]) {
    println!("{name}:{}", joined(values));
}

fn names() {
    unsafe {
        println!("version: {} is {}", text(strew_version()), strew_version_number());
        let targets = (0..).map(|i| strew_simd_target_at(i)).take_while(|name| !name.is_null());
        let targets: Vec<String> = targets.map(text).collect();
        println!("targets:{}, the best is {}", joined(&targets), text(strew_simd_target()));
        let status = INDEX_OUT_OF_RANGE;
        let description = text(strew_status_description(status));
        println!("status: {}: {description}", text(strew_status_name(status)));
        let dtype = text(strew_dtype_name(COMPLEX64));
        println!("dtype: {dtype} of {} bytes", strew_dtype_size(COMPLEX64));
    }
}

fn describe(name: &str, tensor: &Tensor<f32>) {
    unsafe {
        let rank = strew_tensor_rank(tensor) as usize;
        let dims = |pointer| joined(std::slice::from_raw_parts(pointer, rank));
        println!(
            "{name}: {}, {} elements, shape{}, strides{}, first {}",
            text(strew_dtype_name(strew_tensor_dtype(tensor))),
            strew_tensor_size(tensor),
            dims(strew_tensor_shape(tensor)),
            dims(strew_tensor_strides(tensor)),
            *(strew_tensor_data(tensor) as *const f32)
        );
    }
}

fn descriptors() -> Result<()> {
    let mut falling = vec![6.0f32, 5.0, 4.0, 3.0, 2.0, 1.0];
    let tensor = Tensor::new(&[2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    describe("create", &tensor);
    let (shape, strides) = ([3, 2], [1, 3]);
    unsafe {
        let data = strew_tensor_data(&tensor);
        let (shape, strides) = (shape.as_ptr(), strides.as_ptr());
        check(strew_tensor_reset(&tensor, FLOAT32, 2, shape, strides, data))?;
        describe("transposed", &tensor);
        check(strew_tensor_set_data(&tensor, falling.as_mut_ptr() as Memory))?;
    }
    describe("elsewhere", &tensor);
    Ok(())
}

fn scatter_elements() -> Result<()> {
    let data = Tensor::new(&[3, 3], vec![0.0f32; 9])?;
    let output = Tensor::new(&[3, 3], vec![0.0f32; 9])?;
    let updates = Tensor::new(&[2, 3], vec![1.0f32, 1.1, 1.2, 2.0, 2.1, 2.2])?;
    let indices = Tensor::new(&[2, 3], vec![1i64, 0, 2, 0, 2, 1])?;
    check(unsafe { strew_scatter_elements(None, &data, &indices, &updates, 0, NONE, &output) })?;
    show("scatter_elements", output.values());
    Ok(())
}

/// Here and below the output is data itself: in place.
fn scatter_row(name: &str, places: [i64; 2], reduction: i32) -> Result<()> {
    let data = Tensor::new(&[1, 5], vec![1.0f32, 2.0, 3.0, 4.0, 5.0])?;
    let updates = Tensor::new(&[1, 2], vec![1.1f32, 2.1])?;
    let indices = Tensor::new(&[1, 2], places.to_vec())?;
    check(unsafe { strew_scatter_elements(None, &data, &indices, &updates, 1, reduction, &data) })?;
    show(&format!("scatter_elements {name}"), data.values());
    Ok(())
}

fn scatter_nd(
    name: &str,
    data: &Tensor<f32>,
    indices: &Tensor<i64>,
    updates: &Tensor<f32>,
) -> Result<()> {
    check(unsafe { strew_scatter_nd(None, data, indices, updates, NONE, data) })?;
    show(name, data.values());
    Ok(())
}

fn scatter_nd_examples() -> Result<()> {
    let data = Tensor::new(&[8], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    let updates = Tensor::new(&[4], vec![9.0f32, 10.0, 11.0, 12.0])?;
    scatter_nd("scatter_nd", &data, &Tensor::new(&[4, 1], vec![4, 3, 1, 7])?, &updates)?;

    let up = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let down = [8.0f32, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
    let data = Tensor::new(&[4, 4, 4], [up, down, up, down, down, up, down, up].concat())?;
    let rows = [5.0f32, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0];
    let updates = Tensor::new(&[2, 4, 4], rows.map(|value| [value; 4]).concat())?;
    scatter_nd("scatter_nd slices", &data, &Tensor::new(&[2, 1], vec![0, 2])?, &updates)
}

fn slice_scatter() -> Result<()> {
    let data = Tensor::new(&[2, 5], (0..10).map(|i| i as f32).collect())?;
    let updates = Tensor::new(&[1, 5], vec![10.0f32, 20.0, 30.0, 40.0, 50.0])?;
    let (zero, one) = (Tensor::new(&[1], vec![0i64])?, Tensor::new(&[1], vec![1i64])?);
    check(unsafe {
        strew_slice_scatter(None, &data, &updates, &zero, &one, &one, Some(&zero), NONE, &data)
    })?;
    show("slice_scatter", data.values());
    Ok(())
}

struct Slice<'a> {
    start: &'a [i64],
    stop: &'a [i64],
    step: &'a [i64],
    axes: Option<&'a [i64]>,
}

fn slice(name: &str, shape: [i64; 2], updates: &Tensor<f32>, slice: Slice) -> Result<()> {
    let counting = (0..shape[0] * shape[1]).map(|i| i as f32).collect();
    let data = Tensor::new(&shape, counting)?;
    check(unsafe {
        strew_slice_scatter_int64(
            None,
            &data,
            updates,
            slice.start.len() as i64,
            slice.start.as_ptr(),
            slice.stop.as_ptr(),
            slice.step.as_ptr(),
            slice.axes.map_or(null(), |axes| axes.as_ptr()),
            NONE,
            &data,
        )
    })?;
    show(&format!("slice_scatter {name}"), data.values());
    Ok(())
}

fn slices() -> Result<()> {
    let tens = Tensor::new(&[2, 3], vec![10.0f32, 20.0, 30.0, 40.0, 50.0, 60.0])?;
    let clamped = Slice { start: &[-25], stop: &[25], step: &[2], axes: Some(&[1]) };
    slice("clamped", [2, 5], &tens, clamped)?;
    let corners = Tensor::new(&[2, 2], vec![50.0f32, 60.0, 70.0, 80.0])?;
    let both = Slice { start: &[0, 1], stop: &[3, 5], step: &[2, 2], axes: None };
    slice("both axes", [3, 5], &corners, both)?;
    let tens = Tensor::new(&[1, 3], vec![10.0f32, 20.0, 30.0])?;
    let open = Slice { start: &[i64::MAX], stop: &[i64::MIN], step: &[-2], axes: Some(&[-1]) };
    slice("open ends", [1, 5], &tens, open)
}

fn caches() -> Result<()> {
    let context = Settings::new()?;
    let pages = Tensor::new(&[3, 2], vec![0.0f32; 6])?;
    let tokens = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let slots = Tensor::new(&[3], vec![2i64, -1, 0])?; // -1: no slot
    unsafe {
        check(strew_context_set_index_policy(&context, INDEX_DROP))?;
        check(strew_context_set_negative_indices(&context, 0))?;
        check(strew_scatter_update(Some(&context), &pages, &slots, &tokens, 0, NONE, &pages))?;
    }
    show("scatter_update", pages.values());
    println!("applied: {} of 6", unsafe { strew_context_applied(&context) });

    let cache = Tensor::new(&[2, 4], vec![0.0f32; 8])?;
    let update = Tensor::new(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    let places = Tensor::new(&[2], vec![3i64, 1])?;
    check(unsafe {
        strew_tensor_scatter(Some(&context), &cache, &update, &places, 1, CACHE_CIRCULAR, &cache)
    })?;
    show("tensor_scatter", cache.values());
    Ok(())
}

/// Rust frees by layout, so that it has to be kept until then.
#[derive(Default)]
struct Blocks {
    taken: usize,
    layouts: HashMap<Memory, Layout>,
}

// No panic may leave a callback: it would unwind into C.
extern "C" fn allocate(opaque: Memory, size: usize, alignment: usize) -> Memory {
    let blocks = unsafe { &mut *(opaque as *mut Blocks) };
    let layout = match Layout::from_size_align(size.max(1), alignment) {
        Ok(layout) => layout,
        Err(_) => return null_mut(),
    };
    let memory = unsafe { alloc(layout) } as Memory;
    if !memory.is_null() {
        blocks.taken += size;
        blocks.layouts.insert(memory, layout);
    }
    memory
}

extern "C" fn free(opaque: Memory, memory: Memory, _size: usize) {
    let blocks = unsafe { &mut *(opaque as *mut Blocks) };
    if let Some(layout) = blocks.layouts.remove(&memory) {
        unsafe { dealloc(memory as *mut u8, layout) }
    }
}

extern "C" fn run_on_threads(opaque: Memory, count: i64, run: Task, task: Memory) -> i32 {
    unsafe { *(opaque as *mut bool) = true };
    let task = task as usize; // pointers do not cross threads
    std::thread::scope(|scope| {
        for i in 0..count {
            let spawned = Builder::new().spawn_scoped(scope, move || run(task as Memory, i));
            if spawned.is_err() {
                run(task as Memory, i); // scope.spawn() would panic
            }
        }
    });
    0
}

fn callbacks() -> Result<()> {
    const COUNT: i64 = 1 << 18;
    let sums = Tensor::new(&[COUNT], vec![0.0f32; COUNT as usize])?;
    let ones = Tensor::new(&[COUNT], vec![1.0f32; COUNT as usize])?;
    let indices = Tensor::new(&[COUNT], (0..COUNT).rev().collect())?;
    let mut blocks = Blocks::default();
    let mut asked = false;
    let context = Settings::new()?;
    let add = || unsafe {
        check(strew_scatter_update(Some(&context), &sums, &indices, &ones, 0, ADD, &sums))
    };
    unsafe {
        let (opaque, flag) = (&mut blocks as *mut Blocks, &mut asked as *mut bool);
        check(strew_context_set_allocator(&context, allocate, free, opaque as Memory))?;
        check(strew_context_set_duplicate_policy(&context, DUPLICATE_ERROR))?;
        check(strew_context_set_simd_target(&context, strew_simd_target()))?;
        check(strew_context_set_parallel_for(&context, run_on_threads, flag as Memory, 4))?;
        add()?;
        check(strew_context_set_num_threads(&context, 1))?; // 0: as many as CPUs
        add()?;
    }
    let balanced = blocks.taken > 0 && blocks.layouts.is_empty();
    println!("runner: {}", if asked { "asked" } else { "not asked" });
    println!("allocator: {}", if balanced { "all returned" } else { "not balanced" });
    println!("sums: {} to {}", sums.values()[0], sums.values()[COUNT as usize - 1]);
    Ok(())
}

/// As dlpack.h has them.
#[repr(C)]
struct DlTensor {
    data: Memory,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}
#[repr(C)]
struct DlManaged {
    major: u32,
    minor: u32,
    manager: Memory,
    deleter: extern "C" fn(*mut DlManaged),
    flags: u64,
    tensor: DlTensor,
}

extern "C" fn delete(managed: *mut DlManaged) {
    println!("dlpack: deleted");
    drop(unsafe { Box::from_raw(managed) });
}

fn dlpack() -> Result<()> {
    let mut row = vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let mut eight = 8i64;
    let managed = Box::into_raw(Box::new(DlManaged {
        major: 1,
        minor: 0,
        manager: null_mut(),
        deleter: delete,
        flags: 0,
        tensor: DlTensor {
            data: row.as_mut_ptr() as Memory,
            device_type: 1,
            device_id: 0,
            ndim: 1,
            code: 2,
            bits: 32,
            lanes: 1,
            shape: &mut eight,
            strides: null_mut(),
            byte_offset: 0,
        },
    }));
    let (mut plain, mut versioned) = (null_mut(), null_mut());
    unsafe {
        check(strew_tensor_from_dlpack(&(*managed).tensor, &mut plain))?;
        check(strew_tensor_from_dlpack_versioned(managed, &mut versioned))?;
    }
    let data = Tensor::<f32> { handle: plain, _memory: vec![] };
    let output = Tensor::<f32> { handle: versioned, _memory: vec![] }; // the memory of data
    let updates = Tensor::new(&[4], vec![9.0f32, 10.0, 11.0, 12.0])?;
    let indices = Tensor::new(&[4, 1], vec![4i64, 3, 1, 7])?;
    check(unsafe { strew_scatter_nd(None, &data, &indices, &updates, NONE, &output) })?;
    show("dlpack", output.values());
    drop(output);
    unsafe { ((*managed).deleter)(managed) }; // strew never calls it
    Ok(())
}

fn expect_plan(plan: &Plan, entries: i64, dropped: i64) {
    unsafe {
        assert_eq!(strew_plan_entries(plan), entries);
        assert_eq!(strew_plan_dropped(plan), dropped);
        assert!(strew_plan_memory(plan) > 0);
    }
}

fn plan_elements() -> Result<()> {
    let data = Tensor::new(&[1, 5], vec![1.0f32, 2.0, 3.0, 4.0, 5.0])?;
    let updates = Tensor::new(&[1, 2], vec![1.5f32, 2.5])?;
    let indices = Tensor::new(&[1, 2], vec![1i64, 1])?;
    let plan = Plan::new(|out| unsafe { strew_plan_scatter_elements(None, &indices, 1, 5, out) })?;
    expect_plan(&plan, 2, 0);
    check(unsafe { strew_plan_scatter(None, &plan, &data, &updates, ADD, &data) })?;
    assert_eq!(data.values(), [1.0, 6.0, 3.0, 4.0, 5.0]);
    Ok(())
}

fn plan_nd() -> Result<()> {
    let data = Tensor::new(&[8], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    let updates = Tensor::new(&[4], vec![9.0f32, 10.0, 11.0, 12.0])?;
    let output = Tensor::new(&[4], vec![0.0f32; 4])?;
    let indices = Tensor::new(&[4, 1], vec![4i64, 3, 1, 7])?;
    let plan = Plan::new(|out| unsafe {
        strew_plan_scatter_nd(None, &indices, strew_tensor_shape(&data), out)
    })?;
    expect_plan(&plan, 4, 0);
    check(unsafe { strew_plan_gather(None, &plan, &data, &output) })?;
    assert_eq!(output.values(), [5.0, 4.0, 2.0, 8.0]);
    check(unsafe { strew_plan_scatter(None, &plan, &data, &updates, NONE, &data) })?;
    assert_eq!(data.values(), [1.0, 11.0, 3.0, 10.0, 9.0, 6.0, 7.0, 12.0]);
    Ok(())
}

/// Each edge of a graph hands the row of its first node, times a weight, to its second one.
fn plan_graph() -> Result<()> {
    let context = Settings::new()?;
    unsafe {
        check(strew_context_set_index_policy(&context, INDEX_DROP))?;
        check(strew_context_set_negative_indices(&context, 0))?; // -1: no node
    }
    let from = Plan::rows(&context, vec![0, 0, 2, 1])?;
    let to = Plan::rows(&context, vec![1, 2, 1, -1])?;
    expect_plan(&from, 4, 0);
    expect_plan(&to, 4, 1);
    let source = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let weights = Tensor::new(&[4, 1], vec![1.0f32, 2.0, 0.5, 7.0])?;
    let data = Tensor::new(&[3, 2], vec![0.0f32; 6])?;
    let settings = Some(&*context);
    check(unsafe {
        let weights = Some(&*weights);
        strew_plan_gather_scatter(settings, &from, &source, weights, &to, &data, ADD, &data)
    })?;
    assert_eq!(data.values(), [0.0, 0.0, 3.5, 5.0, 2.0, 4.0]);
    Ok(())
}

fn plans() -> Result<()> {
    plan_elements()?;
    plan_nd()?;
    plan_graph()
}

fn failure() -> Result<()> {
    let context = Settings::new()?;
    let data = Tensor::new(&[8], vec![0.0f32; 8])?;
    let updates = Tensor::new(&[4], vec![9.0f32, 10.0, 11.0, 12.0])?;
    let indices = Tensor::new(&[4, 1], vec![4i64, 3, 9, 7])?;
    unsafe {
        let status = strew_scatter_nd(Some(&context), &data, &indices, &updates, NONE, &data);
        let position = strew_context_error_position(&context);
        let error = Error(status, text(strew_context_error(&context)));
        println!("error: {} at {position}: {}", text(strew_status_name(error.0)), error.1);
        assert_ne!(strew_context_set_negative_indices(&context, 2), 0);
        println!("last error: {}", text(strew_last_error()));
    }
    Ok(())
}

fn main() -> Result<()> {
    names();
    descriptors()?;
    scatter_elements()?;
    scatter_row("axis 1", [1, 3], NONE)?;
    scatter_row("negative", [1, -3], NONE)?;
    scatter_row("add", [1, 1], ADD)?;
    scatter_row("max", [1, 1], MAX)?;
    scatter_row("min", [1, 1], MIN)?;
    scatter_nd_examples()?;
    slice_scatter()?;
    slices()?;
    caches()?;
    callbacks()?;
    dlpack()?;
    plans()?;
    failure()
}
