// Small dense linear algebra in float64. Matrices are row-major Float64Arrays.

/** Eigenvalues in descending order, and eigenvectors as columns: vectors[i * n + k] is entry i of vector k. */
export interface Eigen {
  values: Float64Array;
  vectors: Float64Array;
}

/** Eigendecomposition of a symmetric matrix: Householder tridiagonalization, then implicit QL (EISPACK tred2, tql2). */
export function symmetricEigen(matrix: Float64Array, n: number): Eigen {
  const V = Array.from({ length: n }, (_, i) => matrix.slice(i * n, i * n + n));
  const d = new Float64Array(n);
  const e = new Float64Array(n);
  tridiagonalize(V, d, e, n);
  qlIterate(V, d, e, n);
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => d[b]! - d[a]!);
  const vectors = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) vectors[i * n + k] = V[i]![order[k]!]!;
  return { values: Float64Array.from(order, (k) => d[k]!), vectors };
}

function tridiagonalize(V: Float64Array[], d: Float64Array, e: Float64Array, n: number): void {
  for (let j = 0; j < n; j++) d[j] = V[n - 1]![j]!;
  for (let i = n - 1; i > 0; i--) {
    let scale = 0;
    let h = 0;
    for (let k = 0; k < i; k++) scale += Math.abs(d[k]!);
    if (scale === 0) {
      e[i] = d[i - 1]!;
      for (let j = 0; j < i; j++) {
        d[j] = V[i - 1]![j]!;
        V[i]![j] = 0;
        V[j]![i] = 0;
      }
    } else {
      for (let k = 0; k < i; k++) {
        d[k]! /= scale;
        h += d[k]! * d[k]!;
      }
      const f = d[i - 1]!;
      const g = f > 0 ? -Math.sqrt(h) : Math.sqrt(h);
      e[i] = scale * g;
      h -= f * g;
      d[i - 1] = f - g;
      e.fill(0, 0, i);
      for (let j = 0; j < i; j++) {
        const fj = d[j]!;
        V[j]![i] = fj;
        let gj = e[j]! + V[j]![j]! * fj;
        for (let k = j + 1; k <= i - 1; k++) {
          gj += V[k]![j]! * d[k]!;
          e[k]! += V[k]![j]! * fj;
        }
        e[j] = gj;
      }
      let sum = 0;
      for (let j = 0; j < i; j++) {
        e[j]! /= h;
        sum += e[j]! * d[j]!;
      }
      const hh = sum / (h + h);
      for (let j = 0; j < i; j++) e[j]! -= hh * d[j]!;
      for (let j = 0; j < i; j++) {
        const fj = d[j]!;
        const gj = e[j]!;
        for (let k = j; k <= i - 1; k++) V[k]![j]! -= fj * e[k]! + gj * d[k]!;
        d[j] = V[i - 1]![j]!;
        V[i]![j] = 0;
      }
    }
    d[i] = h;
  }
  accumulateReflections(V, d, n);
  for (let j = 0; j < n; j++) {
    d[j] = V[n - 1]![j]!;
    V[n - 1]![j] = 0;
  }
  V[n - 1]![n - 1] = 1;
  e[0] = 0;
}

function accumulateReflections(V: Float64Array[], d: Float64Array, n: number): void {
  for (let i = 0; i < n - 1; i++) {
    V[n - 1]![i] = V[i]![i]!;
    V[i]![i] = 1;
    const h = d[i + 1]!;
    if (h !== 0) {
      for (let k = 0; k <= i; k++) d[k] = V[k]![i + 1]! / h;
      for (let j = 0; j <= i; j++) {
        let g = 0;
        for (let k = 0; k <= i; k++) g += V[k]![i + 1]! * V[k]![j]!;
        for (let k = 0; k <= i; k++) V[k]![j]! -= g * d[k]!;
      }
    }
    for (let k = 0; k <= i; k++) V[k]![i + 1] = 0;
  }
}

function qlIterate(V: Float64Array[], d: Float64Array, e: Float64Array, n: number): void {
  for (let i = 1; i < n; i++) e[i - 1] = e[i]!;
  e[n - 1] = 0;
  let f = 0;
  let largest = 0;
  const eps = 2 ** -52;
  for (let l = 0; l < n; l++) {
    largest = Math.max(largest, Math.abs(d[l]!) + Math.abs(e[l]!));
    let m = l;
    while (m < n - 1 && Math.abs(e[m]!) > eps * largest) m++;
    if (m > l) {
      for (let round = 0; round < 200; round++) {
        let g = d[l]!;
        let p = (d[l + 1]! - g) / (2 * e[l]!);
        let r = Math.hypot(p, 1);
        if (p < 0) r = -r;
        d[l] = e[l]! / (p + r);
        d[l + 1] = e[l]! * (p + r);
        const next = d[l + 1]!;
        const h = g - d[l]!;
        for (let i = l + 2; i < n; i++) d[i]! -= h;
        f += h;
        p = d[m]!;
        let c = 1;
        let c2 = c;
        let c3 = c;
        const el1 = e[l + 1]!;
        let s = 0;
        let s2 = 0;
        for (let i = m - 1; i >= l; i--) {
          c3 = c2;
          c2 = c;
          s2 = s;
          g = c * e[i]!;
          const hi = c * p;
          r = Math.hypot(p, e[i]!);
          e[i + 1] = s * r;
          s = e[i]! / r;
          c = p / r;
          p = c * d[i]! - s * g;
          d[i + 1] = hi + s * (c * g + s * d[i]!);
          for (let k = 0; k < n; k++) {
            const row = V[k]!;
            const old = row[i + 1]!;
            row[i + 1] = s * row[i]! + c * old;
            row[i] = c * row[i]! - s * old;
          }
        }
        p = (-s * s2 * c3 * el1 * e[l]!) / next;
        e[l] = s * p;
        d[l] = c * p;
        if (!(Math.abs(e[l]!) > eps * largest)) break;
      }
    }
    d[l]! += f;
    e[l] = 0;
  }
}

/** Euclidean inner product. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Frobenius or Euclidean norm. */
export function norm(a: Float64Array): number {
  return Math.sqrt(dot(a, a));
}

/** Matrix (rows x columns) times vector; `out` is overwritten. */
export function multiply(
  matrix: Float64Array, vector: Float64Array, out = new Float64Array(vector.length ? matrix.length / vector.length : 0),
): Float64Array {
  const columns = vector.length;
  const rows = out.length;
  for (let i = 0; i < rows; i++) {
    let sum = 0;
    for (let j = 0; j < columns; j++) sum += matrix[i * columns + j]! * vector[j]!;
    out[i] = sum;
  }
  return out;
}

/** Least-squares solution of smallest norm of A w = b, A of shape (n, p), through the smaller Gram matrix. */
export function minimumNormSolution(A: Float64Array, b: Float64Array, p: number): Float64Array {
  const n = b.length;
  const wide = p > n;
  const size = wide ? n : p;
  const gram = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      if (wide) for (let k = 0; k < p; k++) sum += A[i * p + k]! * A[j * p + k]!;
      else for (let k = 0; k < n; k++) sum += A[k * p + i]! * A[k * p + j]!;
      gram[i * size + j] = gram[j * size + i] = sum;
    }
  }
  const { values, vectors } = symmetricEigen(gram, size);
  const right = wide ? b : transposeMultiply(A, b, p);
  const solved = new Float64Array(size);
  for (let k = 0; k < size; k++) {
    if (!(values[k]! > 1e-11 * values[0]!)) continue;
    let c = 0;
    for (let i = 0; i < size; i++) c += vectors[i * size + k]! * right[i]!;
    for (let i = 0; i < size; i++) solved[i]! += (vectors[i * size + k]! * c) / values[k]!;
  }
  return wide ? transposeMultiply(A, solved, p) : solved;
}

function transposeMultiply(A: Float64Array, v: Float64Array, p: number): Float64Array {
  const out = new Float64Array(p);
  for (let i = 0; i < v.length; i++) for (let k = 0; k < p; k++) out[k]! += A[i * p + k]! * v[i]!;
  return out;
}
