// SPDX-License-Identifier: Apache-2.0
//
// The types of the npm package: every export is used, and misuse is an error. Compiled, never run.
import * as everything from 'strew';
import { StrewError, load } from 'strew';
import type { Dtype, Integers, Operand, Policies, Reduction, Strew, Tensor } from 'strew';

// One that is added has to be added here and used below.
const values: Record<keyof typeof everything, true> = { load: true, StrewError: true };
const members: Record<keyof Strew, true> = {
  version: true,
  scatterElements: true,
  scatterNd: true,
  scatterUpdate: true,
  sliceScatter: true,
  tensorScatter: true,
};

const fromBytes: Strew = await load(new Uint8Array(8));
await load(new URL('strew.wasm', import.meta.url));
await load(await WebAssembly.compile(new ArrayBuffer(8)));
const strew = await load();
const version: string = strew.version;

const dtype: Dtype = 'bfloat16';
const tensor: Tensor = { data: new Uint16Array(6), shape: [3, 2], dtype };
const operand: Operand = new Float32Array(6);
const indices = BigInt64Array.of(2n, 0n);
const numbers: Integers = [0, 1];
const reduction: Reduction = { reduction: 'mean', excludeSelf: true, wide: true };
const policies: Policies = {
  indexPolicy: 'clamp',
  negativeIndices: false,
  duplicatePolicy: 'error',
};

const applied: number[] = [
  strew.scatterElements(tensor, indices, tensor),
  strew.scatterElements(tensor, indices, tensor, { axis: -1, ...reduction, ...policies }),
  strew.scatterNd(operand, { data: indices, shape: [2, 1] }, operand),
  strew.scatterNd(operand, indices, operand, { reduction: 'add', indexPolicy: 'drop' }),
  strew.scatterUpdate(operand, indices, operand),
  strew.scatterUpdate(operand, indices, operand, { axis: 0, reduction: 'max' }),
  strew.sliceScatter(operand, operand, { start: numbers, stop: Int32Array.of(3, 4) }),
  strew.sliceScatter(operand, operand, { start: [0], stop: indices, step: [2], axes: [1] }),
  strew.tensorScatter(operand, operand, null),
  strew.tensorScatter(operand, operand, indices, { axis: -2, mode: 'circular', ...policies }),
];

try {
  // @ts-expect-error An array of numbers has no dtype.
  strew.scatterUpdate([1, 2], indices, operand);
  // @ts-expect-error There is no such reduction.
  strew.scatterUpdate(operand, indices, operand, { reduction: 'sum' });
  // @ts-expect-error There is no such policy.
  strew.scatterUpdate(operand, indices, operand, { indexPolicy: 'wrap' });
  // @ts-expect-error A slice has two ends.
  strew.sliceScatter(operand, operand, { start: [0] });
  // @ts-expect-error Tuples of indices have no axis.
  strew.scatterNd(operand, indices, operand, { axis: 0 });
  // @ts-expect-error The version cannot be changed.
  strew.version = '1';
} catch (error) {
  if (error instanceof StrewError) {
    const { status, position, message }: { status: string; position: number; message: string } = error;
    console.log(status, position, message);
  }
}
console.log(values, members, fromBytes, version, applied);
