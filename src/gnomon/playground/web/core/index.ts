// Everything without a page: what the worker computes with, and what the tests compare with the package.
export * from "./activations";
export * from "./data";
export * from "./limit";
export * from "./linalg";
export * from "./meanfield";
export * from "./measures";
export * from "./models";
export * from "./network";
export * from "./predict";
export * from "./random";
export * from "./state";
export * from "./tangent";
export * from "./tfplayground";
export * from "./train";
