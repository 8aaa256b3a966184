// SPDX-License-Identifier: Apache-2.0
//
// The npm package in Node.js: every operator, every kind of operand, and errors.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { StrewError, load } from 'strew';

const strew = await load();
const matrix = (data, ...shape) => ({ data, shape });

function thrown(call, status, message, position = -1) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof StrewError);
    assert.deepEqual([error.status, error.position], [status, position]);
    assert.match(error.message, message);
    return true;
  });
}

// Operators.
const table = new Float32Array(6);
assert.equal(strew.scatterElements(matrix(table, 3, 2), matrix(Int8Array.of(2, 0), 1, 2),
  matrix(Float32Array.of(1, 2), 1, 2)), 2);
assert.deepEqual([...table], [0, 2, 0, 0, 1, 0]);
strew.scatterNd(matrix(table, 3, 2), matrix(Uint16Array.of(1, 1, 1, 1), 2, 2),
  Float32Array.of(3, 4), { reduction: 'add' });
assert.deepEqual([...table], [0, 2, 0, 7, 1, 0]);
strew.scatterUpdate(matrix(table, 3, 2), Int32Array.of(-1), matrix(Float32Array.of(8, 9, 10), 3, 1),
  { axis: 1, reduction: 'max', excludeSelf: true });
assert.deepEqual([...table], [0, 8, 0, 9, 1, 10]);
strew.sliceScatter(matrix(table, 3, 2), Float32Array.of(5), { start: [2], stop: [-4], step: [-2] });
assert.deepEqual([...table], [5, 5, 0, 9, 5, 5]);
strew.sliceScatter(matrix(table, 3, 2), Float32Array.of(1), { start: [0], stop: [1], axes: [1],
  reduction: 'sub' });
assert.deepEqual([...table], [4, 5, -1, 9, 4, 5]);
// An end beyond 64 bits is that of the axis.
strew.sliceScatter(table, Float32Array.of(2), { start: [4], stop: BigUint64Array.of(2n ** 64n - 1n) });
strew.sliceScatter(table, Float32Array.of(3), { start: [1], stop: [-(2n ** 70n)], step: [-1] });
assert.deepEqual([...table], [3, 3, -1, 9, 2, 2]);
const cache = new Uint8Array(8);
strew.tensorScatter(matrix(cache, 1, 4, 2), matrix(Uint8Array.of(1, 2, 3, 4), 1, 2, 2),
  BigInt64Array.of(3n), { mode: 'circular' });
assert.deepEqual([...cache], [3, 4, 0, 0, 0, 0, 1, 2]);
strew.tensorScatter(matrix(cache, 1, 4, 2), matrix(Uint8Array.of(7, 7), 1, 1, 2), null);
assert.deepEqual([...cache], [7, 7, 0, 0, 0, 0, 1, 2]);

// Arrays of every type, in the middle of a buffer.
for (const array of [Int8Array, Int16Array, Int32Array, Uint8Array, Uint8ClampedArray, Uint16Array,
  Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]) {
  const number = array.name.startsWith('Big') ? BigInt : Number;
  const all = new array(5), data = all.subarray(1, 4);
  strew.scatterUpdate(data, Uint32Array.of(2, 0, 2), array.from([5, 6, 7], number),
    { reduction: 'add' });
  assert.deepEqual([...all], [0, 6, 0, 12, 0].map(number), array.name);
}
const complex = Float32Array.of(1, 2, 3, 4);
strew.scatterUpdate({ data: complex, dtype: 'complex64', shape: [2] }, Int32Array.of(1),
  { data: Float32Array.of(0, 1), dtype: 'complex64', shape: [1] }, { reduction: 'mul' });
assert.deepEqual([...complex], [1, 2, -4, 3]);
const half = Uint16Array.of(0x3C00);  // 1
strew.scatterElements({ data: half, dtype: 'float16' }, Int32Array.of(0),
  { data: half, dtype: 'float16' }, { reduction: 'add' });
assert.equal(half[0], 0x4000);
assert.equal(strew.scatterElements(new Int8Array(0), new Int32Array(0), new Int8Array(0)), 0);

// Policies, which are those of one call.
const counts = new Int32Array(2), bins = Int32Array.of(0, 5, -1), ones = Int32Array.of(1, 1, 1);
const drop = { reduction: 'add', indexPolicy: 'drop', negativeIndices: false };
assert.equal(strew.scatterElements(counts, bins, ones, drop), 1);
assert.deepEqual([...counts], [1, 0]);
thrown(() => strew.scatterElements(counts, bins, ones, { reduction: 'add' }),
  'STREW_INDEX_OUT_OF_RANGE', /indices.*5.*\[-2, 1\]/, 1);
assert.deepEqual([...counts], [1, 0]);
thrown(() => strew.scatterNd(counts, matrix(Int32Array.of(1, -1), 2, 1), ones.subarray(1),
  { duplicatePolicy: 'error' }), 'STREW_DUPLICATE_INDEX', /earlier update/, 1);

// Errors of the library, of descriptors and of this package.
thrown(() => strew.scatterUpdate(counts, bins, new Int8Array(3)), 'STREW_INVALID_DTYPE', /int8/);
thrown(() => strew.scatterUpdate(matrix(counts, -1, -2), bins, ones),
  'STREW_INVALID_ARGUMENT', /-1/);
assert.throws(() => strew.scatterUpdate(matrix(counts, 3), bins, ones), RangeError);
assert.throws(() => strew.scatterUpdate([1, 2], bins, ones), TypeError);
thrown(() => strew.scatterUpdate(counts, bins, ones, { axis: 2n ** 64n }), 'STREW_INVALID_AXIS', /axis/);
assert.throws(() => strew.scatterUpdate(new DataView(new ArrayBuffer(8)), bins, ones), TypeError);
assert.throws(() => strew.scatterUpdate(counts, bins, ones, { reduction: 'sum' }), /'sum'.*add/);
assert.throws(() => strew.sliceScatter(counts, ones, { start: [0], stop: [1, 2] }), RangeError);

// Memory that grows, and is given back.
const large = new Float64Array(3e6);
for (let i = 0; i < 200; ++i) {
  strew.scatterUpdate(large, Int32Array.of(i), Float64Array.of(i), { reduction: 'add' });
}
assert.deepEqual([large[0], large[199], large[200]], [0, 199, 0]);

// Other sources of the module.
const bytes = await readFile(createRequire(import.meta.url).resolve('strew/strew.wasm'));
for (const source of [bytes, await WebAssembly.compile(bytes)]) {
  assert.equal((await load(source)).version, strew.version);
}
console.log(strew.version);
