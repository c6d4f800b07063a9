/** Engines in files. Node's `fetch` does not reach them. */
import { readFile } from 'node:fs/promises';
import { arrived, type EngineModule, engineOfBytes, fetchedEngine } from '../load.js';

/** The engine behind a URL, which may name a file. */
export async function readEngine(url: URL): Promise<EngineModule> {
  if (url.protocol !== 'file:') return fetchedEngine(url);
  const bytes = await arrived(url.href, () => readFile(url));
  return engineOfBytes(new Uint8Array(bytes), url.href);
}
