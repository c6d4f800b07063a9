/** The engine inside of a module: nothing to fetch, nothing to read, no permission to ask for. */
import gzipped from '../../wasm/inlined.js';
import { engineOfBytes, once } from '../load.js';

export const inlinedEngine = once(async () =>
  engineOfBytes(await unzipped(decoded(gzipped)), 'the inlined module'),
);

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
