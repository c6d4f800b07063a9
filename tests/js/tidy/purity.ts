/**
 * What the engine never does, so that replicas which merge the same entries agree: it reads no
 * clock, does no input or output, knows no JavaScript outside of `wasm/`, and stores no number that
 * is as wide as the machine's. (That it iterates no hash map is a matter for clippy.)
 */
import { type Check, type Files, linesOf, matching, withoutComments } from './files.js';

const ENGINE = /^src\/(?!wasm\/).*\.rs$/;

/** What gives memory to the allocator can't be said otherwise. */
const UNSAFE_CODE = 'src/wasm/memory.rs';

export const noUnsafe: Check = (files) =>
  places(files, /\bunsafe\b/, 'unsafe code', /^src\/.*\.rs$/).filter(
    (fault) => !fault.startsWith(UNSAFE_CODE),
  );

export const noOutsideWorld: Check = (files) =>
  places(files, /\bstd::(time|env|fs|io|net|process|thread)\b/, 'reaches outside of the engine');

export const noJavaScript: Check = (files) =>
  places(files, /\b(wasm_bindgen|js_sys|web_sys|serde_wasm_bindgen)\b/, 'knows of JavaScript');

/** A type that is serialized is a format. */
export const noMachineWidths: Check = (files) =>
  matching(files, ENGINE).flatMap(([path, text]) => {
    const formats =
      /#\[derive\([^)]*\bSerialize\b[^)]*\)\][^{};]*?\b(?:struct|enum) (\w+)[\s\S]*?(?:^\}|;$)/gm;
    return [...withoutComments(text).matchAll(formats)]
      .filter(([body]) => /\b[ui]size\b/.test(body))
      .map(([, name]) => `${path}: ${name} is stored and holds a number as wide as the machine's`);
  });

function places(files: Files, pattern: RegExp, fault: string, where = ENGINE): string[] {
  return matching(files, where)
    .flatMap(([path, text]) => linesOf(path, withoutComments(text)))
    .filter(({ line }) => pattern.test(line))
    .map(({ place }) => `${place}: ${fault}`);
}
