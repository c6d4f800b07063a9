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

/** A type that is `Wire` is a format: what it holds, and how it is put and taken. */
export const noMachineWidths: Check = (files) => {
  const engine = matching(files, ENGINE).map(([path, text]) => ({
    path,
    code: withoutComments(text),
  }));
  const stored = new Set(engine.flatMap(({ code }) => wireNames(code)));
  const faults = engine.flatMap(({ path, code }) => [
    ...[...code.matchAll(DEFINITION)]
      .filter(([body, name = '']) => stored.has(name) && MACHINE_WIDTH.test(body))
      .map(([, name]) => `${path}: ${name} is stored and holds a number as wide as the machine's`),
    ...[...code.matchAll(WIRE_IMPL)]
      .filter(([body]) => MACHINE_WIDTH.test(body))
      .map(([, , name]) => `${path}: ${name} is stored as a number as wide as the machine's`),
  ]);
  return stored.size === 0 ? ['src: no format found'] : faults;
};

const MACHINE_WIDTH = /\b[ui]size\b/;
const DEFINITION = /^(?:pub(?:\(\w+\))? )?(?:struct|enum) (\w+)(?:[^;{]*;|[\s\S]*?^\})/gm;
/** In a macro it stands further in, and ends where it began. */
const WIRE_IMPL = /^( *)(?:\$\()?impl(?:<.*>)? Wire for ([^{]*?) \{[\s\S]*?^\1\}/gm;

/** `wire! { struct Row { … } }`, `impl Wire for Row`, and lists of types for a macro of impls. */
function wireNames(code: string): string[] {
  const named = /\bwire! \{\s*(?:struct|enum) (\w+)|\bWire for (\w+)/g;
  const listed = /^\w+! \{ ((?:[A-Z]\w* )+)\}$/gm;
  return [
    ...[...code.matchAll(named)].map(([, first, second]) => first ?? second ?? ''),
    ...(/\bWire for \$/.test(code) ? [...code.matchAll(listed)] : []).flatMap(([, names = '']) =>
      names.trim().split(' '),
    ),
  ];
}

function places(files: Files, pattern: RegExp, fault: string, where = ENGINE): string[] {
  return matching(files, where)
    .flatMap(([path, text]) => linesOf(path, withoutComments(text)))
    .filter(({ line }) => pattern.test(line))
    .map(({ place }) => `${place}: ${fault}`);
}
