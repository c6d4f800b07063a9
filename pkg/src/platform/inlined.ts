/** The engine inside of a module: nothing to fetch, nothing to read, no permission to ask for. */
import gzipped from '../../wasm/inlined.js';
import { host } from '../host.js';
import { joinChunks } from '../journal/chunks.js';
import { engineOfBytes, once } from '../load.js';

const ADVICE = 'pass a WebAssembly.Module as the option wasm';

export const inlinedEngine = once(async () =>
  engineOfBytes(await unzipped(decoded(gzipped)), 'the inlined module'),
);

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(host('atob')(base64), (character) => character.charCodeAt(0));
}

/** Without a Blob and a Response, which some hosts of this stream do not have. */
async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new (host('DecompressionStream', ADVICE))('gzip');
  const writer = writable.getWriter();
  // What goes wrong is told to whoever reads.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  const reader = readable.getReader();
  const chunks: Uint8Array[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value);
  }
  return joinChunks(chunks);
}
