/**
 * Takes and gives back the journals it is told to, one line each:
 *
 * - `hold <path>` answers `held` or the code of the error, and keeps what it holds
 * - `release` answers `released`
 * - `contend <path> <times>` opens, appends and closes until it has succeeded `times` times, and
 *   answers `done` or what went wrong
 */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { stdin } from 'node:process';
import { createInterface } from 'node:readline';
import { file } from 'fencepost/file';
import { FencepostError } from '../../../pkg/dist/errors.js';
import type { Journal } from '../../../pkg/dist/journal/journal.js';
import { patternBytes, Replica } from '../../../pkg/dist/testing/replica.js';
import { say } from './say.js';

let held: Journal[] = [];

async function obey(line: string): Promise<string> {
  const [command, path = '', times] = line.split(' ');
  if (command === 'hold') return hold(path);
  if (command === 'contend') return contend(path, Number(times));
  for (const journal of held) await journal.close();
  held = [];
  return 'released';
}

async function hold(path: string): Promise<string> {
  const journal = file(path);
  const refused = await refusalOf(journal.open('locks'));
  if (refused === null) held.push(journal);
  return refused ?? 'held';
}

async function contend(path: string, times: number): Promise<string> {
  for (let won = 0; won < times; ) {
    const replica = new Replica(file(path));
    const refused = await refusalOf(replica.open('locks'));
    if (refused === 'JOURNAL_LOCKED') continue;
    if (refused !== null) return refused;
    // Whoever is in here alone can make this file; the system refuses it to a second one.
    const alone = join(path, 'alone');
    closeSync(openSync(alone, 'wx'));
    await replica.append(patternBytes(10, process.pid));
    unlinkSync(alone);
    await replica.journal.close();
    won += 1;
  }
  return 'done';
}

async function refusalOf(opening: Promise<unknown>): Promise<string | null> {
  try {
    await opening;
    return null;
  } catch (error) {
    if (error instanceof FencepostError) return error.code;
    throw error;
  }
}

say('ready');
for await (const line of createInterface({ input: stdin })) say(await obey(line));
