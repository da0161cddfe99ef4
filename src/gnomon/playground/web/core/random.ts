// Random numbers that Python and the browser compute bit for bit: integer mixing and basic arithmetic only.
// The number with index i of a stream is a function of (seed, stream, i), so any of them can be computed alone.

/** Mixes the 32 bits of a word (the "lowbias32" function of C. Wellons). */
function mix(word: number): number {
  let x = word >>> 0;
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  x ^= x >>> 16;
  return x >>> 0;
}

/** Uniform numbers of one stream, strictly between 0 and 1, with 52 random bits each. */
export function uniforms(seed: number, stream: number, count: number): Float64Array {
  const key = mix((Math.imul(seed, 0x9e3779b1) + mix(stream + 0x85ebca6b)) >>> 0);
  const second = mix(key ^ 0x27d4eb2f);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const high = mix((mix((2 * i) ^ key) + second) >>> 0) >>> 6;
    const low = mix((mix((2 * i + 1) ^ key) + second) >>> 0) >>> 6;
    out[i] = (high * 67108864 + low + 0.5) / 4503599627370496;
  }
  return out;
}

const CENTER_TOP = [
  2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
  1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
];
const CENTER_BOTTOM = [
  5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
  687.1870074920579083, 42.313330701600911252, 1,
];
const TAIL_TOP = [
  7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.4178072517745061177e-1, 1.27045825245236838258,
  3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
];
const TAIL_BOTTOM = [
  1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.4810397642748007459e-1,
  6.8976733498510000455e-1, 1.6763848301838038494, 2.05319162663775882187, 1,
];
/** The smallest probability that the tail formula covers; a rarer value is moved to it, at 6.6 standard deviations. */
const RAREST = 1.4e-11;

function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0;
  for (const c of coefficients) sum = sum * x + c;
  return sum;
}

/** Natural logarithm of a number in (0, 1) from basic arithmetic, which every machine rounds in the same way. */
function logarithm(x: number): number {
  let mantissa = x;
  let exponent = 0;
  while (mantissa < 0.70710678) {
    mantissa *= 2;
    exponent -= 1;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let sum = 0;
  for (let k = 23; k >= 1; k -= 2) sum = sum * square + 1 / k;
  return exponent * 0.6931471805599453 + 2 * s * sum;
}

/** Inverse of the normal distribution function: algorithm AS 241 of Wichura (1988). */
export function normalQuantile(probability: number): number {
  const q = probability - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * polynomial(CENTER_TOP, r)) / polynomial(CENTER_BOTTOM, r);
  }
  const tail = Math.max(q < 0 ? probability : 1 - probability, RAREST);
  const r = Math.sqrt(-logarithm(tail)) - 1.6;
  const size = polynomial(TAIL_TOP, r) / polynomial(TAIL_BOTTOM, r);
  return q < 0 ? -size : size;
}

/** Standard normal numbers of one stream. */
export function normals(seed: number, stream: number, count: number): Float64Array {
  return uniforms(seed, stream, count).map(normalQuantile);
}

/** A random order of 0 .. n - 1. */
export function permutation(seed: number, stream: number, n: number): number[] {
  const key = uniforms(seed, stream, n);
  return Array.from({ length: n }, (_, i) => i).sort((a, b) => key[a]! - key[b]! || a - b);
}
