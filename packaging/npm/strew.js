// SPDX-License-Identifier: Apache-2.0
//
// The operators of strew on typed arrays, in place. strew.d.ts describes them; the contract is that
// of the C API. Operands are copied into the memory of WebAssembly for each call, and data back.

const REDUCTIONS = ['none', 'add', 'mul', 'min', 'max', 'sub', 'mean']; // their codes in strew.h
const EXCLUDE_SELF = 0x100, WIDE = 0x200;
const INDEX_POLICIES = ['error', 'drop', 'clamp'];
const DUPLICATE_POLICIES = ['last', 'error'];
const CACHE_MODES = ['linear', 'circular'];

// A bad operand or index value, in the library's own words.
export class StrewError extends Error {
  constructor(message, status, position = -1) {
    super(message);
    this.name = 'StrewError';
    this.status = status;
    this.position = position;
  }
}

function choice(option, names, name) {
  const code = names.indexOf(name);
  if (code < 0) throw new TypeError(`${option} is '${name}', and not one of ${names.join(', ')}`);
  return code;
}

const LEAST = -(2n ** 63n), GREATEST = 2n ** 63n - 1n;

// As an int64; what is beyond it lies beyond every axis either way.
function clamped(number) {
  const whole = BigInt(number);
  return whole < LEAST ? LEAST : whole > GREATEST ? GREATEST : whole;
}

function reductionCode({ reduction = 'none', excludeSelf = false, wide = false }) {
  const flags = (excludeSelf ? EXCLUDE_SELF : 0) | (wide ? WIDE : 0);
  return choice('reduction', REDUCTIONS, reduction) | flags;
}

// 'float32' for a Float32Array, 'int64' for a BigInt64Array.
function dtypeOf(array) {
  return array[Symbol.toStringTag].toLowerCase().replace(/^big|(clamped)?array$/g, '');
}

function described(name, operand) {
  const { data, shape, dtype } = ArrayBuffer.isView(operand) ? { data: operand } : operand ?? {};
  if (!ArrayBuffer.isView(data)) {
    throw new TypeError(`${name} is neither a typed array nor { data, shape } with one`);
  }
  return { data, shape: shape ?? [data.length], dtype: dtype ?? dtypeOf(data) };
}

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

// The functions of strew.h, and the memory that they see.
class Library {
  #dtypes = new Map();
  #view = new DataView(new ArrayBuffer(0));
  #bytes = new Uint8Array(0);

  constructor(exports) {
    this.c = exports;
    for (let code = 1; this.text(exports.strew_dtype_name(code)) !== 'unknown'; ++code) {
      const width = exports.strew_dtype_size(code);
      this.#dtypes.set(this.text(exports.strew_dtype_name(code)), { code, width });
    }
    this.#dtypes.delete('string'); // its elements are pointers
  }

  dtype(name, dtype) {
    const found = this.#dtypes.get(dtype);
    if (found === undefined) throw new TypeError(`${name}: there is no dtype '${dtype}'`);
    return found;
  }

  // Views are kept: making them anew took 7 of the 14 µs of a small call. The memory moves when it
  // grows.
  get bytes() {
    const { buffer } = this.c.memory;
    if (this.#bytes.buffer !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  get view() {
    const { buffer } = this.c.memory;
    if (this.#view.buffer !== buffer) this.#view = new DataView(buffer);
    return this.#view;
  }

  text(address) {
    return new TextDecoder().decode(this.bytes.slice(address, this.bytes.indexOf(0, address)));
  }

  check(status, context = 0) {
    if (status === 0) return;
    const { c } = this;
    const message = context === 0 ? c.strew_last_error() : c.strew_context_error(context);
    const position = context === 0 ? -1 : Number(c.strew_context_error_position(context));
    throw new StrewError(this.text(message), this.text(c.strew_status_name(status)), position);
  }
}

// What one call has in the library's memory.
class Call {
  #library;
  #memory = [];
  #tensors = [];

  constructor(library) {
    this.#library = library;
  }

  allocate(size) {
    const address = this.#library.c.malloc(Math.max(size, 1));
    if (address === 0) {
      throw new StrewError(`no memory for an operand of ${size} bytes`, 'STREW_OUT_OF_MEMORY');
    }
    this.#memory.push(address);
    return address;
  }

  copyOf(array) {
    const address = this.allocate(array.byteLength);
    this.#library.bytes.set(bytesOf(array), address);
    return address;
  }

  integers(numbers) {
    const address = this.allocate(8 * numbers.length), { view } = this.#library;
    numbers.forEach((number, i) => view.setBigInt64(address + 8 * i, clamped(number), true));
    return address;
  }

  // The descriptor of a copy, and where the copy is.
  tensor(name, operand) {
    const { data, shape, dtype } = described(name, operand);
    const { code, width } = this.#library.dtype(name, dtype);
    const size = shape.reduce((product, dim) => product * dim, width);
    if (size !== data.byteLength) {
      const needed = `${dtype} of shape [${shape.join(', ')}] takes ${size}`;
      throw new RangeError(`${name} has ${data.byteLength} bytes, and ${needed}`);
    }
    const address = this.copyOf(data), dims = this.integers(shape), out = this.allocate(4);
    const { strew_tensor_create: create } = this.#library.c;
    this.#library.check(create(code, shape.length, dims, 0, address, out));
    const tensor = this.#library.view.getUint32(out, true);
    this.#tensors.push(tensor);
    return { tensor, address, array: data };
  }

  end() {
    this.#tensors.forEach((tensor) => this.#library.c.strew_tensor_destroy(tensor));
    this.#memory.forEach((address) => this.#library.c.free(address));
  }
}

class Strew {
  #library;
  #context;

  constructor(exports) {
    this.#library = new Library(exports);
    const out = exports.malloc(4);
    this.#library.check(exports.strew_context_create(out));
    this.#context = this.#library.view.getUint32(out, true);
    exports.free(out);
  }

  get version() {
    return this.#library.text(this.#library.c.strew_version());
  }

  scatterElements(data, indices, updates, options = {}) {
    const { axis = 0 } = options;
    return this.#indexed('strew_scatter_elements', { data, indices, updates }, options, axis);
  }

  scatterNd(data, indices, updates, options = {}) {
    return this.#indexed('strew_scatter_nd', { data, indices, updates }, options);
  }

  scatterUpdate(data, indices, updates, options = {}) {
    const { axis = 0 } = options;
    return this.#indexed('strew_scatter_update', { data, indices, updates }, options, axis);
  }

  sliceScatter(data, updates, { start, stop, step, axes, ...options }) {
    const steps = step ?? Array.from(start, () => 1);
    for (const [name, numbers] of Object.entries({ stop, step: steps, axes: axes ?? start })) {
      if (numbers.length !== start.length) {
        throw new RangeError(`${name} has ${numbers.length} numbers, and start ${start.length}`);
      }
    }
    const reduction = reductionCode(options), count = BigInt(start.length);
    return this.#run({ data, updates }, options, (c, context, { data, updates }, call) => {
      const slice = [start, stop, steps].map((numbers) => call.integers(numbers));
      slice.push(axes ? call.integers(axes) : 0);
      return c.strew_slice_scatter_int64(context, data, updates, count, ...slice, reduction, data);
    });
  }

  tensorScatter(cache, update, writeIndices, options = {}) {
    const { axis = -2, mode = 'linear' } = options;
    const last = [clamped(axis), choice('mode', CACHE_MODES, mode)];
    const operands = { cache, update, ...(writeIndices && { writeIndices }) };
    return this.#run(operands, options, (c, context, { cache, update, writeIndices = 0 }) =>
      c.strew_tensor_scatter(context, cache, update, writeIndices, ...last, cache));
  }

  #indexed(operator, operands, options, ...axis) {
    const last = [...axis.map(clamped), reductionCode(options)];
    return this.#run(operands, options, (c, context, { data, indices, updates }) =>
      c[operator](context, data, indices, updates, ...last, data));
  }

  // Calls the operator with descriptors of copies, and copies the first operand back.
  #run(operands, options, operator) {
    const library = this.#library, context = this.#context, call = new Call(library);
    try {
      this.#setPolicies(options);
      const copies = Object.entries(operands).map(([name, operand]) =>
        [name, call.tensor(name, operand)]);
      const tensors = Object.fromEntries(copies.map(([name, { tensor }]) => [name, tensor]));
      library.check(operator(library.c, context, tensors, call), context);
      const { address, array } = copies[0][1];
      bytesOf(array).set(library.bytes.subarray(address, address + array.byteLength));
      return Number(library.c.strew_context_applied(context));
    } finally {
      call.end();
    }
  }

  #setPolicies({ indexPolicy = 'error', negativeIndices = true, duplicatePolicy = 'last' }) {
    const { c } = this.#library, context = this.#context;
    const index = choice('indexPolicy', INDEX_POLICIES, indexPolicy);
    const duplicate = choice('duplicatePolicy', DUPLICATE_POLICIES, duplicatePolicy);
    this.#library.check(c.strew_context_set_index_policy(context, index));
    this.#library.check(c.strew_context_set_duplicate_policy(context, duplicate));
    this.#library.check(c.strew_context_set_negative_indices(context, negativeIndices ? 1 : 0));
  }
}

async function read(source) {
  if (!(source instanceof URL)) return source;
  if (source.protocol === 'file:') {
    const files = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    return files.readFile(source);
  }
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${source}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

// The operators, with a memory and settings of their own.
export async function load(source = new URL('./strew.wasm', import.meta.url)) {
  const compiled = source instanceof WebAssembly.Module;
  const module = compiled ? source : await WebAssembly.compile(await read(source));
  const imports = { env: { emscripten_notify_memory_growth() {} } };
  const { exports } = await WebAssembly.instantiate(module, imports);
  exports._initialize();
  return new Strew(exports);
}
