/** What a worker is told, checked; and the name of one that was given none. */

import {
  invalid,
  optionalFlag,
  optionalSignal,
  optionalWhole,
  readOptions,
  requireFunction,
} from './arguments.js';
import { type FencepostError, shown } from './errors.js';
import { host, isEdgeWorker } from './host.js';
import { ownerName } from './names.js';
import type { FullName } from './requests.js';
import type { Task } from './types.js';

const OPTIONS = [
  'owner',
  'concurrency',
  'lease',
  'maxRun',
  'batch',
  'online',
  'signal',
  'onError',
  'onFailure',
] as const;
const CONCURRENCY = 1;
const LEASE_MS = 30_000;
/** Leaves room for the random part. */
const HOST_CHARS_MAX = 60;

export interface WorkSettings {
  readonly owner: FullName;
  readonly concurrency: number;
  readonly lease: number;
  readonly maxRun: number;
  readonly batch: number;
  readonly online: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onError: ((error: FencepostError) => void) | undefined;
  readonly onFailure: ((task: Task, error: unknown) => void) | undefined;
}

export function readWorkOptions(value: unknown): WorkSettings {
  const options = readOptions('options', value, OPTIONS);
  const { onError, onFailure } = options;
  if (onError !== undefined) requireFunction('onError', onError);
  if (onFailure !== undefined) requireFunction('onFailure', onFailure);
  const or = (number: number, fallback: number) => (Number.isNaN(number) ? fallback : number);
  return {
    owner: ownerName(options.owner ?? freshOwner()),
    concurrency: or(optionalWhole('concurrency', options.concurrency, 1), CONCURRENCY),
    lease: or(optionalWhole('lease', options.lease, 1), LEASE_MS),
    maxRun: readMaxRun(options.maxRun),
    batch: or(optionalWhole('batch', options.batch, 1), Infinity),
    online: optionalFlag('online', options.online),
    signal: optionalSignal(options.signal),
    onError: onError as WorkSettings['onError'],
    onFailure: onFailure as WorkSettings['onFailure'],
  };
}

/** How long to wait for running handlers. */
export function readDrain(value: unknown, fallback: number): number {
  const { drain } = readOptions('options', value, ['drain']);
  if (drain === undefined) return fallback;
  if (drain === Infinity || (Number.isSafeInteger(drain) && (drain as number) >= 0)) {
    return drain as number;
  }
  throw invalid('drain', 'a whole number from 0 on, or Infinity', shown(drain));
}

function readMaxRun(value: unknown): number {
  if (value === undefined || value === Infinity) return Infinity;
  return optionalWhole('maxRun', value, 1);
}

/** A worker that is started again is a new owner: it must not be taken for its predecessor. */
function freshOwner(): string {
  const random = host('crypto').getRandomValues(new Uint8Array(8));
  const part = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hostName().slice(0, HOST_CHARS_MAX)}-${part}`;
}

function hostName(): string {
  const { process, navigator } = globalThis as {
    process?: {
      getBuiltinModule?(id: 'node:os'): { hostname(): string } | undefined;
      env?: { HOSTNAME?: string };
    };
    navigator?: { userAgent?: string };
  };
  // A bundler must not follow this into a browser, hence no import.
  try {
    const host = process?.getBuiltinModule?.('node:os')?.hostname() ?? process?.env?.HOSTNAME;
    if (host !== undefined && host.trim() !== '') return host;
  } catch {
    // A runtime may forbid to ask.
  }
  const isTab = process === undefined && navigator !== undefined && !isEdgeWorker();
  return isTab ? 'tab' : 'worker';
}
