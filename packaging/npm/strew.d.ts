// SPDX-License-Identifier: Apache-2.0

type IntegerArray =
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint8ClampedArray
  | Uint16Array
  | Uint32Array
  | BigUint64Array;
type DataArray = IntegerArray | Float32Array | Float64Array;

export type Dtype =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float16'
  | 'bfloat16'
  | 'float32'
  | 'float64'
  | 'complex64'
  | 'complex128'
  | 'float8_e4m3fn'
  | 'float8_e5m2';

/** A row-major tensor. A typed array alone is one of one dimension. */
export interface Tensor {
  data: DataArray;
  /** Default: one dimension. */
  shape?: readonly number[];
  /** Default: that of the typed array. Another one takes its bytes, float16 those of a
   * Uint16Array. */
  dtype?: Dtype;
}
export type Operand = DataArray | Tensor;
export type Integers = readonly number[] | IntegerArray;

export interface Reduction {
  /** How an update combines with the element that it meets. Default 'none': it replaces it. */
  reduction?: 'none' | 'add' | 'mul' | 'min' | 'max' | 'sub' | 'mean';
  /** Without the old value: the first update of an element replaces it. */
  excludeSelf?: boolean;
  /** Sums and products of floats of 8 and 16 bits are rounded once. */
  wide?: boolean;
}

export interface Policies {
  /** An update whose index is out of range. Default 'error'. */
  indexPolicy?: 'error' | 'drop' | 'clamp';
  /** -1 means the last element. Default true. */
  negativeIndices?: boolean;
  /** Several updates of one element. Default 'last': they are applied in order. */
  duplicatePolicy?: 'last' | 'error';
}

/** A bad operand or index value. Data is then unchanged. */
export class StrewError extends Error {
  /** 'STREW_INDEX_OUT_OF_RANGE' and so on, as in strew.h. */
  readonly status: string;
  /** The row-major position of the bad index value, or -1. */
  readonly position: number;
}

/** Every operator changes its first operand in place, and returns how many elements of the updates
 * it applied: all but those that the policy 'drop' skips. */
export interface Strew {
  readonly version: string;

  /** data[i0, ..., indices[i], ...] (+)= updates[i], with the index on the axis. */
  scatterElements(
    data: Operand,
    indices: Operand,
    updates: Operand,
    options?: Reduction & Policies & { axis?: number },
  ): number;

  /** data[indices[t, 0], ..., indices[t, k - 1], ...] (+)= updates[t, ...] */
  scatterNd(
    data: Operand,
    indices: Operand,
    updates: Operand,
    options?: Reduction & Policies,
  ): number;

  /** data[a, indices[t], b] (+)= updates[a, t, b], with the index on the axis. */
  scatterUpdate(
    data: Operand,
    indices: Operand,
    updates: Operand,
    options?: Reduction & Policies & { axis?: number },
  ): number;

  /** data[start0:stop0:step0, ...] (+)= updates, by Python's rule; entry j slices axis axes[j]. */
  sliceScatter(
    data: Operand,
    updates: Operand,
    options: Reduction & { start: Integers; stop: Integers; step?: Integers; axes?: Integers },
  ): number;

  /** cache[b, ..., writeIndices[b] + j, ...] = update[b, ..., j, ...], with j on the axis (default
   * -2); null for zeros. */
  tensorScatter(
    cache: Operand,
    update: Operand,
    writeIndices: Operand | null,
    options?: Policies & { axis?: number; mode?: 'linear' | 'circular' },
  ): number;
}

/** Compiles strew.wasm, which lies beside this file unless a source is given. What it returns has a
 * memory of its own. */
export function load(source?: URL | BufferSource | WebAssembly.Module): Promise<Strew>;
