// Activations: values, derivatives, and what they do to a pair of Gaussian variables (their dual functions).

export const ACTIVATIONS = ["relu", "tanh", "erf", "gelu", "sin", "sigmoid", "linear"] as const;
export type Activation = (typeof ACTIVATIONS)[number];

/** A function with its first two derivatives. */
export interface Elementwise {
  value(z: number): number;
  slope(z: number): number;
  curvature(z: number): number;
}

/** E[phi(u) phi(v)] and E[phi'(u) phi'(v)] for centered Gaussians with variances a, b and covariance c. */
export interface Dual {
  product(a: number, b: number, c: number): number;
  slopes(a: number, b: number, c: number): number;
}

const TWO_PI = 2 * Math.PI;
const STEP = 1 / 8;
const ORDER = 12;
const REACH = 6.25; // erf is 1 in double precision beyond 5.93
const TAYLOR = taylorTable();

/** Taylor coefficients of erf around multiples of 1/8. */
function taylorTable(): Float64Array {
  const count = Math.round(REACH / STEP) + 1;
  const table = new Float64Array(count * ORDER);
  for (let i = 0; i < count; i++) {
    const x = i * STEP;
    let term = x;
    let sum = x;
    for (let k = 1; k < 200; k++) {
      term *= (2 * x * x) / (2 * k + 1);
      sum += term;
    }
    const density = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x);
    table[i * ORDER] = density * sum;
    // The derivative of order k is density times (-1)^(k-1) H_(k-1)(x), with Hermite polynomials.
    let before = 0;
    let hermite = 1;
    let factorial = 1;
    for (let k = 1; k < ORDER; k++) {
      factorial *= k;
      table[i * ORDER + k] = (density * hermite * (k % 2 ? 1 : -1)) / factorial;
      const next = 2 * x * hermite - 2 * (k - 1) * before;
      before = hermite;
      hermite = next;
    }
  }
  return table;
}

/** The error function in double precision. */
export function erf(x: number): number {
  const size = Math.abs(x);
  if (!(size < REACH - STEP)) return Number.isNaN(x) ? NaN : Math.sign(x);
  const i = Math.round(size / STEP);
  const d = size - i * STEP;
  let sum = 0;
  for (let k = ORDER - 1; k >= 0; k--) sum = sum * d + TAYLOR[i * ORDER + k]!;
  return x < 0 ? -sum : sum;
}

const density = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(TWO_PI);
const cumulative = (z: number) => (1 + erf(z * Math.SQRT1_2)) / 2;
const logistic = (z: number) => (z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z)));

export const FUNCTIONS: Record<Activation, Elementwise> = {
  relu: { value: (z) => (z > 0 ? z : 0), slope: (z) => (z > 0 ? 1 : 0), curvature: () => 0 },
  tanh: {
    value: Math.tanh,
    slope: (z) => 1 - Math.tanh(z) ** 2,
    curvature: (z) => -2 * Math.tanh(z) * (1 - Math.tanh(z) ** 2),
  },
  erf: {
    value: erf,
    slope: (z) => (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z),
    curvature: (z) => (-4 / Math.sqrt(Math.PI)) * z * Math.exp(-z * z),
  },
  gelu: {
    value: (z) => z * cumulative(z),
    slope: (z) => cumulative(z) + z * density(z),
    curvature: (z) => (2 - z * z) * density(z),
  },
  sin: { value: Math.sin, slope: Math.cos, curvature: (z) => -Math.sin(z) },
  sigmoid: {
    value: logistic,
    slope: (z) => logistic(z) * logistic(-z),
    curvature: (z) => logistic(z) * logistic(-z) * (1 - 2 * logistic(z)),
  },
  linear: { value: (z) => z, slope: () => 1, curvature: () => 0 },
};

function angle(a: number, b: number, c: number): number {
  const size = Math.sqrt(a * b); // exactly a if a = b, so equal points have the angle 0
  if (!(size > 0)) return Math.PI / 2;
  if (size - c <= 2 ** -50 * size) return 0; // equal up to rounding, which would give an angle of 1e-8
  return Math.atan2(Math.sqrt(Math.max(0, (size - c) * (size + c))), c);
}

const relu: Dual = {
  product(a, b, c) {
    const t = angle(a, b, c);
    return (Math.sqrt(a) * Math.sqrt(b) * (Math.sin(t) + (Math.PI - t) * Math.cos(t))) / TWO_PI;
  },
  slopes: (a, b, c) => (a > 0 && b > 0 ? (Math.PI - angle(a, b, c)) / TWO_PI : 0),
};

/** (1 + a)(1 + b) - c^2 without cancellation. */
const determinant = (a: number, b: number, c: number) => 1 + a + b + Math.max(0, a * b - c * c);

const erfDual: Dual = {
  product: (a, b, c) => (2 / Math.PI) * Math.atan((2 * c) / Math.sqrt(determinant(2 * a, 2 * b, 2 * c))),
  slopes: (a, b, c) => 4 / Math.PI / Math.sqrt(determinant(2 * a, 2 * b, 2 * c)),
};

const gelu: Dual = {
  product(a, b, c) {
    const root = Math.sqrt(determinant(a, b, c));
    const q = 0.25 + Math.atan(c / root) / TWO_PI;
    return c * q + (a * b + c * c * (1 / (1 + a) + 1 / (1 + b) - 1)) / (TWO_PI * root);
  },
  slopes(a, b, c) {
    const d = determinant(a, b, c);
    const root = Math.sqrt(d);
    return 0.25 + Math.atan(c / root) / TWO_PI + (c * (1 / (1 + a) + 1 / (1 + b) + 1 / d)) / (TWO_PI * root);
  },
};

const sin: Dual = {
  product: (a, b, c) => Math.exp(-(a + b) / 2) * Math.sinh(c),
  slopes: (a, b, c) => Math.exp(-(a + b) / 2) * Math.cosh(c),
};

const linear: Dual = { product: (_a, _b, c) => c, slopes: () => 1 };

const WIDTH = 12; // standard deviations covered; the root of the density beyond is below 1e-15
/** Settings of the series: to rounding for numbers, to less than a pixel for the band of a picture. */
const TO_ROUNDING = { terms: 240, nodes: 360, exact: true };
const TO_DRAW = { terms: 120, nodes: 200, exact: false };

/**
 * Dual of a smooth function by Mehler's series; Hermite coefficients by the trapezoidal rule, kept per variance. The
 * series converges slowly for large variances; `terms` is where it ends, and `exact` integrates directly what is left.
 */
export function mehlerDual(phi: Elementwise, { terms: most, nodes, exact }: { terms: number; nodes: number; exact: boolean }): Dual {
  const known = [new Map<number, Float64Array>(), new Map<number, Float64Array>()];
  const series = (order: 0 | 1, a: number, b: number, c: number): number => {
    const f = order ? phi.slope : phi.value;
    if (!(a > 0 && b > 0)) return f(0) * (a > 0 ? hermite(order, f, a)[0]! : b > 0 ? hermite(order, f, b)[0]! : f(0));
    const left = hermite(order, f, a);
    const right = a === b ? left : hermite(order, f, b);
    const rho = Math.max(-1, Math.min(1, a === b && c === a ? 1 : c / Math.sqrt(a * b)));
    const terms = Math.min(left.length, right.length);
    if (exact && terms === most && Math.abs(rho) ** most > 1e-11) return doubleIntegral(f, a, b, rho);
    let sum = 0;
    for (let k = terms - 1; k >= 0; k--) sum = sum * rho + left[k]! * right[k]!;
    return sum;
  };
  const hermite = (order: 0 | 1, f: (z: number) => number, a: number): Float64Array => {
    let found = known[order]!.get(a);
    if (!found) {
      found = hermiteCoefficients(f, a, most, nodes);
      if (known[order]!.size > 4000) known[order]!.clear();
      known[order]!.set(a, found);
    }
    return found;
  };
  return { product: (a, b, c) => series(0, a, b, c), slopes: (a, b, c) => series(1, a, b, c) };
}

/** E[f(u) f(v)] by the trapezoidal rule in both variables; steps follow the poles of tanh at a distance pi / 2. */
function doubleIntegral(f: (z: number) => number, a: number, b: number, rho: number): number {
  const rest = Math.sqrt(Math.max(0, (1 - rho) * (1 + rho)) * b);
  const outer = Math.min(0.6, 0.25 / Math.sqrt(Math.max(a, b)));
  const inner = Math.min(0.6, 0.25 / rest);
  const m = rest > 1e-12 ? Math.ceil(9 / inner) : 0;
  const weights = Float64Array.from({ length: 2 * m + 1 }, (_, j) => (m ? inner * density((j - m) * inner) : 1));
  let total = 0;
  for (let i = -Math.ceil(9 / outer); i <= Math.ceil(9 / outer); i++) {
    const z = i * outer;
    let sum = 0;
    for (let j = -m; j <= m; j++) sum += weights[j + m]! * f(Math.sqrt(b) * rho * z + rest * j * inner);
    total += outer * density(z) * f(Math.sqrt(a) * z) * sum;
  }
  return total;
}

/** E[f(sqrt(a) z) he_k(z)] for k = 0, 1, ... with normalized Hermite polynomials, until the rest is negligible. */
function hermiteCoefficients(f: (z: number) => number, a: number, most: number, nodes: number): Float64Array {
  const h = (2 * WIDTH) / nodes;
  const root = Math.sqrt(a);
  const z = Float64Array.from({ length: nodes + 1 }, (_, i) => -WIDTH + i * h);
  const weighted = z.map((x) => f(root * x) * h * Math.sqrt(density(x)));
  let before = new Float64Array(nodes + 1);
  let current = z.map((x) => Math.sqrt(density(x)));
  let total = 0;
  for (let i = 0; i <= nodes; i++) total += weighted[i]! * f(root * z[i]!) * current[i]!;
  const out: number[] = [];
  let found = 0;
  for (let k = 0; k < most; k++) {
    let sum = 0;
    for (let i = 0; i <= nodes; i++) sum += weighted[i]! * current[i]!;
    out.push(sum);
    found += sum * sum;
    if (k % 2 && total - found < 1e-13 * total && Math.abs(sum) + Math.abs(out[k - 1]!) < 1e-12) break;
    const next = new Float64Array(nodes + 1);
    const up = 1 / Math.sqrt(k + 1);
    const down = Math.sqrt(k) * up;
    for (let i = 0; i <= nodes; i++) next[i] = z[i]! * current[i]! * up - down * before[i]!;
    before = current;
    current = next;
  }
  return Float64Array.from(out);
}

export const DUALS: Record<Activation, Dual> = {
  relu,
  erf: erfDual,
  gelu,
  sin,
  linear,
  tanh: mehlerDual(FUNCTIONS.tanh, TO_ROUNDING),
  sigmoid: mehlerDual(FUNCTIONS.sigmoid, TO_ROUNDING),
};

/** The same as accurate as a picture needs, because series to rounding take seconds for a whole curve. */
export const DRAWN_DUALS: Record<Activation, Dual> = {
  ...DUALS,
  tanh: mehlerDual(FUNCTIONS.tanh, TO_DRAW),
  sigmoid: mehlerDual(FUNCTIONS.sigmoid, TO_DRAW),
};
