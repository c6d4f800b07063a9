/** An import of the engine's file is a compiled module in one runtime, a path in another. */
declare module '*.wasm' {
  const imported: unknown;
  export default imported;
}
