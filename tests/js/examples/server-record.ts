/**
 * The server's record, read and judged by the tests themselves: nothing of the example's own check
 * is used here.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Line {
  id: string;
  token: number;
  outcome: string;
  applied: boolean;
}

export interface Verdict {
  applied: number;
  refused: number;
  problems: string[];
}

export function recordPath(dir: string): string {
  return join(dir, 'record.jsonl');
}

export function recordLines(dir: string): string[] {
  if (!existsSync(recordPath(dir))) return [];
  return readFileSync(recordPath(dir), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

export function requestIds(requests: string): string[] {
  const lines = readFileSync(requests, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).id);
}

/** Each id applied once, or never and refused at last; accepted tokens rise. */
export function judge(dir: string, requests: string): Verdict {
  const lines: Line[] = recordLines(dir).map((line) => JSON.parse(line));
  const verdict: Verdict = { applied: 0, refused: 0, problems: [] };
  for (const id of requestIds(requests)) {
    const mine = lines.filter((line) => line.id === id && line.outcome !== 'fenced');
    const applied = mine.filter((line) => line.applied).length;
    const isRefused = mine.at(-1)?.outcome === 'refused';
    if (applied === 1 && !isRefused) verdict.applied += 1;
    else if (applied === 0 && isRefused) verdict.refused += 1;
    else verdict.problems.push(`${id}: applied ${applied} times, last ${mine.at(-1)?.outcome}`);
    const tokens = mine.map((line) => line.token);
    if (tokens.some((token, index) => index > 0 && token <= (tokens[index - 1] ?? 0))) {
      verdict.problems.push(`${id}: tokens do not rise: ${tokens.join(' ')}`);
    }
  }
  return verdict;
}
