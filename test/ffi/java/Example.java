// SPDX-License-Identifier: Apache-2.0

import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import com.sun.jna.ptr.PointerByReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** strew from Java: every function once, through JNA. size_t is a long where a pointer is one. */
public class Example {
  interface Alloc extends Callback {
    Pointer invoke(Pointer opaque, long size, long alignment);
  }

  interface Free extends Callback {
    void invoke(Pointer opaque, Pointer memory, long size);
  }

  interface Task extends Callback {
    void invoke(Pointer task, long i);
  }

  interface ParallelFor extends Callback {
    int invoke(Pointer opaque, long count, Task run, Pointer task);
  }

  interface Strew extends Library {
    int OK = 0, INDEX_OUT_OF_RANGE = 5;
    int INT64 = 5, FLOAT32 = 12, COMPLEX64 = 14;
    int NONE = 0, ADD = 1, MIN = 3, MAX = 4;
    int INDEX_DROP = 1, DUPLICATE_ERROR = 1, CACHE_CIRCULAR = 1;

    String strew_version();
    int strew_version_number();
    String strew_status_name(int status);
    String strew_status_description(int status);
    String strew_dtype_name(int dtype);
    long strew_dtype_size(int dtype);
    String strew_simd_target();
    String strew_simd_target_at(int i);

    int strew_tensor_create(
        int dtype, int rank, long[] shape, long[] strides, Pointer data, PointerByReference out);
    int strew_tensor_reset(
        Pointer tensor, int dtype, int rank, long[] shape, long[] strides, Pointer data);
    int strew_tensor_set_data(Pointer tensor, Pointer data);
    int strew_tensor_from_dlpack(DLTensor tensor, PointerByReference out);
    int strew_tensor_from_dlpack_versioned(DLManaged managed, PointerByReference out);
    void strew_tensor_destroy(Pointer tensor);
    int strew_tensor_dtype(Pointer tensor);
    int strew_tensor_rank(Pointer tensor);
    long strew_tensor_size(Pointer tensor);
    Pointer strew_tensor_shape(Pointer tensor);
    Pointer strew_tensor_strides(Pointer tensor);
    Pointer strew_tensor_data(Pointer tensor);

    int strew_context_create(PointerByReference out);
    void strew_context_destroy(Pointer context);
    int strew_context_set_num_threads(Pointer context, int n);
    int strew_context_set_parallel_for(
        Pointer context, ParallelFor parallelFor, Pointer opaque, int workers);
    int strew_context_set_index_policy(Pointer context, int policy);
    int strew_context_set_negative_indices(Pointer context, int wrap);
    int strew_context_set_duplicate_policy(Pointer context, int policy);
    int strew_context_set_allocator(Pointer context, Alloc alloc, Free release, Pointer opaque);
    int strew_context_set_simd_target(Pointer context, String name);
    String strew_context_error(Pointer context);

    String strew_last_error();
    long strew_context_error_position(Pointer context);
    long strew_context_applied(Pointer context);

    int strew_scatter_elements(
        Pointer context, Pointer data, Pointer indices, Pointer updates, long axis, int reduction,
        Pointer output);
    int strew_scatter_nd(
        Pointer context, Pointer data, Pointer indices, Pointer updates, int reduction,
        Pointer output);
    int strew_slice_scatter(
        Pointer context, Pointer data, Pointer updates, Pointer start, Pointer stop, Pointer step,
        Pointer axes, int reduction, Pointer output);
    int strew_slice_scatter_int64(
        Pointer context, Pointer data, Pointer updates, long count, long[] start, long[] stop,
        long[] step, long[] axes, int reduction, Pointer output);
    int strew_scatter_update(
        Pointer context, Pointer data, Pointer indices, Pointer updates, long axis, int reduction,
        Pointer output);
    int strew_tensor_scatter(
        Pointer context, Pointer pastCache, Pointer update, Pointer writeIndices, long axis,
        int mode, Pointer presentCache);

    int strew_plan_scatter_elements(
        Pointer context, Pointer indices, long axis, long extent, PointerByReference out);
    int strew_plan_scatter_nd(
        Pointer context, Pointer indices, long[] extents, PointerByReference out);
    int strew_plan_scatter_update(
        Pointer context, Pointer indices, long axis, long extent, PointerByReference out);
    void strew_plan_destroy(Pointer plan);
    long strew_plan_entries(Pointer plan);
    long strew_plan_dropped(Pointer plan);
    long strew_plan_memory(Pointer plan);
    int strew_plan_scatter(
        Pointer context, Pointer plan, Pointer data, Pointer updates, int reduction,
        Pointer output);
    int strew_plan_gather(Pointer context, Pointer plan, Pointer source, Pointer output);
    int strew_plan_gather_scatter(
        Pointer context, Pointer from, Pointer source, Pointer weights, Pointer to, Pointer data,
        int reduction, Pointer output);
  }

  // As dlpack.h has them.
  @FieldOrder({
    "data", "deviceType", "deviceId", "ndim", "code", "bits", "lanes", "shape", "strides",
    "byteOffset"
  })
  public static class DLTensor extends Structure {
    public Pointer data;
    public int deviceType, deviceId, ndim;
    public byte code, bits;
    public short lanes;
    public Pointer shape, strides;
    public long byteOffset;
  }

  public interface Deleter extends Callback {
    void invoke(DLManaged managed);
  }

  @FieldOrder({"major", "minor", "manager", "deleter", "flags", "tensor"})
  public static class DLManaged extends Structure {
    public int major, minor;
    public Pointer manager;
    public Deleter deleter;
    public long flags;
    public DLTensor tensor;
  }

  static final Strew strew = Native.load("strew", Strew.class);

  static void check(int status) {
    if (status != Strew.OK) throw new RuntimeException(strew.strew_status_description(status));
  }

  /** A descriptor and the memory that it borrows, which may not become garbage before it. */
  static class Tensor implements AutoCloseable {
    final Pointer handle;
    final Memory memory;

    private Tensor(int dtype, long[] shape, Memory memory) {
      PointerByReference out = new PointerByReference();
      check(strew.strew_tensor_create(dtype, shape.length, shape, null, memory, out));
      this.handle = out.getValue();
      this.memory = memory;
    }

    private Tensor(Pointer handle) {
      this.handle = handle;
      this.memory = null;
    }

    static Tensor floats(long[] shape, float... values) {
      Memory memory = new Memory(4L * values.length);
      memory.write(0, values, 0, values.length);
      return new Tensor(Strew.FLOAT32, shape, memory);
    }

    static Tensor int64s(long[] shape, long... values) {
      Memory memory = new Memory(8L * values.length);
      memory.write(0, values, 0, values.length);
      return new Tensor(Strew.INT64, shape, memory);
    }

    float[] values() {
      int size = (int) strew.strew_tensor_size(handle);
      return strew.strew_tensor_data(handle).getFloatArray(0, size);
    }

    @Override
    public void close() {
      strew.strew_tensor_destroy(handle);
    }
  }

  /** A context and its callbacks, which C does not keep from becoming garbage. */
  static class Context implements AutoCloseable {
    final Pointer handle;
    final List<Callback> callbacks = new ArrayList<>();

    Context() {
      PointerByReference out = new PointerByReference();
      check(strew.strew_context_create(out));
      handle = out.getValue();
    }

    void setAllocator(Alloc alloc, Free release) {
      callbacks.addAll(List.of(alloc, release));
      check(strew.strew_context_set_allocator(handle, alloc, release, null));
    }

    void setParallelFor(ParallelFor parallelFor, int workers) {
      callbacks.add(parallelFor);
      check(strew.strew_context_set_parallel_for(handle, parallelFor, null, workers));
    }

    @Override
    public void close() {
      strew.strew_context_destroy(handle);
    }
  }

  /** A plan, which has a copy of what it needs, so that the indices may go. */
  static class Plan implements AutoCloseable {
    interface Create {
      int call(PointerByReference out);
    }

    final Pointer handle;

    Plan(Create create) {
      PointerByReference out = new PointerByReference();
      check(create.call(out));
      handle = out.getValue();
    }

    static Plan rows(Context context, long... rows) {
      try (Tensor indices = Tensor.int64s(dims(rows.length), rows)) {
        return new Plan(
            out -> strew.strew_plan_scatter_update(context.handle, indices.handle, 0, 3, out));
      }
    }

    void expect(long entries, long dropped) {
      Example.expect(strew.strew_plan_entries(handle) == entries, "strew_plan_entries");
      Example.expect(strew.strew_plan_dropped(handle) == dropped, "strew_plan_dropped");
      Example.expect(strew.strew_plan_memory(handle) > 0, "strew_plan_memory");
    }

    @Override
    public void close() {
      strew.strew_plan_destroy(handle);
    }
  }

  static void expect(boolean holds, String what) {
    if (!holds) throw new AssertionError("not as expected: " + what);
  }

  static void expectValues(Tensor tensor, float... values) {
    expect(Arrays.equals(tensor.values(), values), Arrays.toString(tensor.values()));
  }

  static long[] dims(long... values) {
    return values;
  }

  static float[] countingUp(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; ++i) values[i] = i;
    return values;
  }

  static String word(float value) {
    return value == (int) value ? Integer.toString((int) value) : Float.toString(value);
  }

  static String words(long[] values) {
    return Arrays.stream(values).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  static void show(String name, Tensor tensor) {
    System.out.print(name + ":");
    for (float value : tensor.values()) System.out.print(" " + word(value));
    System.out.println();
  }

  static void names() {
    System.out.printf("version: %s is %d%n", strew.strew_version(), strew.strew_version_number());
    List<String> targets = new ArrayList<>();
    for (String name; (name = strew.strew_simd_target_at(targets.size())) != null; ) {
      targets.add(name);
    }
    String best = strew.strew_simd_target();
    System.out.printf("targets: %s, the best is %s%n", String.join(" ", targets), best);
    int status = Strew.INDEX_OUT_OF_RANGE;
    String description = strew.strew_status_description(status);
    System.out.printf("status: %s: %s%n", strew.strew_status_name(status), description);
    int dtype = Strew.COMPLEX64;
    long size = strew.strew_dtype_size(dtype);
    System.out.printf("dtype: %s of %d bytes%n", strew.strew_dtype_name(dtype), size);
  }

  static void describe(String name, Pointer tensor) {
    int rank = strew.strew_tensor_rank(tensor);
    System.out.printf(
        "%s: %s, %d elements, shape %s, strides %s, first %s%n",
        name,
        strew.strew_dtype_name(strew.strew_tensor_dtype(tensor)),
        strew.strew_tensor_size(tensor),
        words(strew.strew_tensor_shape(tensor).getLongArray(0, rank)),
        words(strew.strew_tensor_strides(tensor).getLongArray(0, rank)),
        word(strew.strew_tensor_data(tensor).getFloat(0)));
  }

  static void descriptors() {
    try (Tensor rising = Tensor.floats(dims(2, 3), 1, 2, 3, 4, 5, 6);
        Tensor falling = Tensor.floats(dims(6), 6, 5, 4, 3, 2, 1)) {
      Pointer tensor = rising.handle;
      describe("create", tensor);
      check(strew.strew_tensor_reset(
          tensor, Strew.FLOAT32, 2, dims(3, 2), dims(1, 3), rising.memory));
      describe("transposed", tensor);
      check(strew.strew_tensor_set_data(tensor, falling.memory));
      describe("elsewhere", tensor);
    }
  }

  static void scatterElements() {
    try (Tensor data = Tensor.floats(dims(3, 3), new float[9]);
        Tensor output = Tensor.floats(dims(3, 3), new float[9]);
        Tensor updates = Tensor.floats(dims(2, 3), 1, 1.1f, 1.2f, 2, 2.1f, 2.2f);
        Tensor indices = Tensor.int64s(dims(2, 3), 1, 0, 2, 0, 2, 1)) {
      check(strew.strew_scatter_elements(
          null, data.handle, indices.handle, updates.handle, 0, Strew.NONE, output.handle));
      show("scatter_elements", output);
    }
  }

  /** Here and below the output is data itself: in place. */
  static void scatterRow(String name, long[] places, int reduction) {
    try (Tensor data = Tensor.floats(dims(1, 5), 1, 2, 3, 4, 5);
        Tensor updates = Tensor.floats(dims(1, 2), 1.1f, 2.1f);
        Tensor indices = Tensor.int64s(dims(1, 2), places)) {
      check(strew.strew_scatter_elements(
          null, data.handle, indices.handle, updates.handle, 1, reduction, data.handle));
      show("scatter_elements " + name, data);
    }
  }

  static void scatterNd() {
    try (Tensor data = Tensor.floats(dims(8), 1, 2, 3, 4, 5, 6, 7, 8);
        Tensor updates = Tensor.floats(dims(4), 9, 10, 11, 12);
        Tensor indices = Tensor.int64s(dims(4, 1), 4, 3, 1, 7)) {
      check(strew.strew_scatter_nd(
          null, data.handle, indices.handle, updates.handle, Strew.NONE, data.handle));
      show("scatter_nd", data);
    }
  }

  static void scatterNdSlices() {
    float[] box = {
      1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
      1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
      8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8,
      8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8
    };
    float[] values = {
      5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8,
      1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4
    };
    try (Tensor data = Tensor.floats(dims(4, 4, 4), box);
        Tensor updates = Tensor.floats(dims(2, 4, 4), values);
        Tensor indices = Tensor.int64s(dims(2, 1), 0, 2)) {
      check(strew.strew_scatter_nd(
          null, data.handle, indices.handle, updates.handle, Strew.NONE, data.handle));
      show("scatter_nd slices", data);
    }
  }

  static void sliceScatter() {
    try (Tensor data = Tensor.floats(dims(2, 5), countingUp(10));
        Tensor updates = Tensor.floats(dims(1, 5), 10, 20, 30, 40, 50);
        Tensor zero = Tensor.int64s(dims(1), 0);
        Tensor one = Tensor.int64s(dims(1), 1)) {
      check(strew.strew_slice_scatter(
          null, data.handle, updates.handle, zero.handle, one.handle, one.handle, zero.handle,
          Strew.NONE, data.handle));
      show("slice_scatter", data);
    }
  }

  /** Without axes the entries are those of the first ones. */
  record Slice(long[] start, long[] stop, long[] step, long[] axes) {}

  static void slice(String name, long[] shape, long[] updatesShape, float[] values, Slice slice) {
    try (Tensor data = Tensor.floats(shape, countingUp((int) (shape[0] * shape[1])));
        Tensor updates = Tensor.floats(updatesShape, values)) {
      check(strew.strew_slice_scatter_int64(
          null, data.handle, updates.handle, slice.start.length, slice.start, slice.stop,
          slice.step, slice.axes, Strew.NONE, data.handle));
      show("slice_scatter " + name, data);
    }
  }

  static void caches() {
    try (Context context = new Context();
        Tensor pages = Tensor.floats(dims(3, 2), new float[6]);
        Tensor tokens = Tensor.floats(dims(3, 2), 1, 2, 3, 4, 5, 6);
        Tensor slots = Tensor.int64s(dims(3), 2, -1, 0);
        Tensor cache = Tensor.floats(dims(2, 4), new float[8]);
        Tensor update = Tensor.floats(dims(2, 2), 1, 2, 3, 4);
        Tensor places = Tensor.int64s(dims(2), 3, 1)) {
      check(strew.strew_context_set_index_policy(context.handle, Strew.INDEX_DROP));
      check(strew.strew_context_set_negative_indices(context.handle, 0)); // -1: no slot
      check(strew.strew_scatter_update(
          context.handle, pages.handle, slots.handle, tokens.handle, 0, Strew.NONE,
          pages.handle));
      show("scatter_update", pages);
      System.out.printf("applied: %d of 6%n", strew.strew_context_applied(context.handle));

      check(strew.strew_tensor_scatter(
          context.handle, cache.handle, update.handle, places.handle, 1, Strew.CACHE_CIRCULAR,
          cache.handle));
      show("tensor_scatter", cache);
    }
  }

  /** Scratch whose memory is freed when it is garbage. A callback that throws returns null. */
  static class Scratch {
    final Map<Pointer, Memory> inUse = new HashMap<>();
    long taken = 0;

    Pointer allocate(Pointer opaque, long size, long alignment) {
      Memory memory = new Memory(size + alignment);
      Pointer aligned = memory.align((int) alignment);
      inUse.put(aligned, memory);
      taken += size;
      return aligned;
    }

    void release(Pointer opaque, Pointer memory, long size) {
      inUse.remove(memory);
    }
  }

  static void callbacks() {
    int count = 1 << 18;
    float[] unit = new float[count];
    Arrays.fill(unit, 1);
    long[] backwards = LongStream.range(0, count).map(i -> count - 1 - i).toArray();
    Scratch scratch = new Scratch();
    AtomicBoolean asked = new AtomicBoolean();
    try (Context context = new Context();
        Tensor sums = Tensor.floats(dims(count), new float[count]);
        Tensor ones = Tensor.floats(dims(count), unit);
        Tensor indices = Tensor.int64s(dims(count), backwards)) {
      context.setAllocator(scratch::allocate, scratch::release);
      context.setParallelFor(
          (opaque, tasks, run, task) -> {
            asked.set(true);
            LongStream.range(0, tasks).parallel().forEach(i -> run.invoke(task, i));
            return 0;
          },
          4);
      check(strew.strew_context_set_duplicate_policy(context.handle, Strew.DUPLICATE_ERROR));
      check(strew.strew_context_set_simd_target(context.handle, strew.strew_simd_target()));
      Runnable add =
          () -> check(strew.strew_scatter_update(
              context.handle, sums.handle, indices.handle, ones.handle, 0, Strew.ADD,
              sums.handle));
      add.run();
      check(strew.strew_context_set_num_threads(context.handle, 1)); // 0: as many as CPUs
      add.run();
      float[] values = sums.values();
      boolean balanced = scratch.taken > 0 && scratch.inUse.isEmpty();
      System.out.println("runner: " + (asked.get() ? "asked" : "not asked"));
      System.out.println("allocator: " + (balanced ? "all returned" : "not balanced"));
      System.out.printf("sums: %s to %s%n", word(values[0]), word(values[count - 1]));
    }
  }

  static Tensor fromDlpack(DLManaged managed, boolean versioned) {
    PointerByReference out = new PointerByReference();
    check(
        versioned
            ? strew.strew_tensor_from_dlpack_versioned(managed, out)
            : strew.strew_tensor_from_dlpack(managed.tensor, out));
    return new Tensor(out.getValue());
  }

  static void dlpack() {
    DLManaged managed = new DLManaged();
    managed.major = 1;
    managed.deleter = deleted -> System.out.println("dlpack: deleted");
    try (Tensor row = Tensor.floats(dims(8), 1, 2, 3, 4, 5, 6, 7, 8)) {
      managed.tensor.data = row.memory;
      managed.tensor.deviceType = 1;
      managed.tensor.ndim = 1;
      managed.tensor.code = 2;
      managed.tensor.bits = 32;
      managed.tensor.lanes = 1;
      managed.tensor.shape = strew.strew_tensor_shape(row.handle);
      managed.write();
      try (Tensor data = fromDlpack(managed, false);
          Tensor output = fromDlpack(managed, true); // the memory of data: in place
          Tensor updates = Tensor.floats(dims(4), 9, 10, 11, 12);
          Tensor indices = Tensor.int64s(dims(4, 1), 4, 3, 1, 7)) {
        check(strew.strew_scatter_nd(
            null, data.handle, indices.handle, updates.handle, Strew.NONE, output.handle));
        show("dlpack", output);
      }
      managed.deleter.invoke(managed); // strew never calls it
    }
  }

  static void planElements() {
    try (Tensor data = Tensor.floats(dims(1, 5), 1, 2, 3, 4, 5);
        Tensor updates = Tensor.floats(dims(1, 2), 1.5f, 2.5f);
        Tensor indices = Tensor.int64s(dims(1, 2), 1, 1);
        Plan plan =
            new Plan(out -> strew.strew_plan_scatter_elements(null, indices.handle, 1, 5, out))) {
      plan.expect(2, 0);
      check(strew.strew_plan_scatter(
          null, plan.handle, data.handle, updates.handle, Strew.ADD, data.handle));
      expectValues(data, 1, 6, 3, 4, 5);
    }
  }

  static void planNd() {
    try (Tensor data = Tensor.floats(dims(8), 1, 2, 3, 4, 5, 6, 7, 8);
        Tensor updates = Tensor.floats(dims(4), 9, 10, 11, 12);
        Tensor output = Tensor.floats(dims(4), new float[4]);
        Tensor indices = Tensor.int64s(dims(4, 1), 4, 3, 1, 7);
        Plan plan =
            new Plan(out -> strew.strew_plan_scatter_nd(null, indices.handle, dims(8), out))) {
      plan.expect(4, 0);
      check(strew.strew_plan_gather(null, plan.handle, data.handle, output.handle));
      expectValues(output, 5, 4, 2, 8);
      check(strew.strew_plan_scatter(
          null, plan.handle, data.handle, updates.handle, Strew.NONE, data.handle));
      expectValues(data, 1, 11, 3, 10, 9, 6, 7, 12);
    }
  }

  /** Each edge of a graph hands the row of its first node, times a weight, to its second one. */
  static void planGraph() {
    try (Context context = new Context();
        Tensor source = Tensor.floats(dims(3, 2), 1, 2, 3, 4, 5, 6);
        Tensor weights = Tensor.floats(dims(4, 1), 1, 2, 0.5f, 7);
        Tensor data = Tensor.floats(dims(3, 2), new float[6])) {
      check(strew.strew_context_set_index_policy(context.handle, Strew.INDEX_DROP));
      check(strew.strew_context_set_negative_indices(context.handle, 0)); // -1: no node
      try (Plan from = Plan.rows(context, 0, 0, 2, 1);
          Plan to = Plan.rows(context, 1, 2, 1, -1)) {
        from.expect(4, 0);
        to.expect(4, 1);
        check(strew.strew_plan_gather_scatter(
            context.handle, from.handle, source.handle, weights.handle, to.handle, data.handle,
            Strew.ADD, data.handle));
      }
      expectValues(data, 0, 0, 3.5f, 5, 2, 4);
    }
  }

  static void plans() {
    planElements();
    planNd();
    planGraph();
  }

  static void failure() {
    try (Context context = new Context();
        Tensor data = Tensor.floats(dims(8), new float[8]);
        Tensor updates = Tensor.floats(dims(4), 9, 10, 11, 12);
        Tensor indices = Tensor.int64s(dims(4, 1), 4, 3, 9, 7)) {
      int status =
          strew.strew_scatter_nd(
              context.handle, data.handle, indices.handle, updates.handle, Strew.NONE,
              data.handle);
      long position = strew.strew_context_error_position(context.handle);
      String sentence = strew.strew_context_error(context.handle);
      System.out.printf(
          "error: %s at %d: %s%n", strew.strew_status_name(status), position, sentence);
      expect(strew.strew_context_set_negative_indices(context.handle, 2) != 0, "no such wrap");
      System.out.println("last error: " + strew.strew_last_error());
    }
  }

  public static void main(String[] arguments) {
    names();
    descriptors();
    scatterElements();
    scatterRow("axis 1", dims(1, 3), Strew.NONE);
    scatterRow("negative", dims(1, -3), Strew.NONE);
    scatterRow("add", dims(1, 1), Strew.ADD);
    scatterRow("max", dims(1, 1), Strew.MAX);
    scatterRow("min", dims(1, 1), Strew.MIN);
    scatterNd();
    scatterNdSlices();
    sliceScatter();
    float[] tens = {10, 20, 30, 40, 50, 60}, three = {10, 20, 30}, corners = {50, 60, 70, 80};
    slice(
        "clamped", dims(2, 5), dims(2, 3), tens,
        new Slice(dims(-25), dims(25), dims(2), dims(1)));
    slice(
        "both axes", dims(3, 5), dims(2, 2), corners,
        new Slice(dims(0, 1), dims(3, 5), dims(2, 2), null));
    slice(
        "open ends", dims(1, 5), dims(1, 3), three,
        new Slice(dims(Long.MAX_VALUE), dims(Long.MIN_VALUE), dims(-2), dims(-1)));
    caches();
    callbacks();
    dlpack();
    plans();
    failure();
  }
}
