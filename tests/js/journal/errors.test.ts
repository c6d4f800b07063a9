/** Errors say what to do, name what came, and print nothing that a terminal obeys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Cancelled,
  ERROR_KINDS,
  type ErrorCode,
  FencepostError,
  LeaseLost,
  NonRetriable,
  quote,
  RetryAfter,
  Stopped,
  shown,
  TimedOut,
} from '../../../pkg/dist/errors.js';

test('every code has one of the seven kinds', () => {
  const kinds = new Set([
    'invalid',
    'denied',
    'conflict',
    'ended',
    'unavailable',
    'data',
    'closed',
  ]);
  assert.equal(Object.keys(ERROR_KINDS).length, 26);
  for (const [code, kind] of Object.entries(ERROR_KINDS)) {
    const error = new FencepostError(code as ErrorCode, 'what happened');
    assert.ok(kinds.delete(kind) || error.kind === kind);
    assert.deepEqual([error.code, error.kind, error.name], [code, kind, 'FencepostError']);
    assert.ok(error instanceof Error);
  }
  assert.equal(kinds.size, 0);
});

test('an error carries details and cause, or is without', () => {
  const cause = new Error('disk');
  const error = new FencepostError('JOURNAL_FULL', 'no room', { cause, details: { path: 'x' } });
  assert.equal(error.cause, cause);
  assert.deepEqual(error.details, { path: 'x' });
  const plain = new FencepostError('JOURNAL_FULL', 'no room');
  assert.ok(!('cause' in plain));
  assert.deepEqual(plain.details, {});
});

test('what ends a handler is told by class and code', () => {
  const ended = [new LeaseLost(), new Cancelled('by hand'), new TimedOut(), new Stopped()];
  const names = ['LeaseLost', 'Cancelled', 'TimedOut', 'Stopped'];
  const codes = ['LEASE_LOST', 'CANCELLED', 'TIMED_OUT', 'STOPPED'];
  for (const [index, error] of ended.entries()) {
    assert.ok(error instanceof FencepostError);
    assert.deepEqual([error.name, error.code, error.kind], [names[index], codes[index], 'ended']);
    assert.match(String(error.stack), new RegExp(`^${names[index]}: `));
  }
  assert.equal(ended[1]?.message, 'by hand');
});

test('what a handler throws is a plain error', () => {
  const final = new NonRetriable('no such user', { cause: 'x' });
  assert.ok(!(final instanceof FencepostError));
  assert.deepEqual([final.name, final.message, final.cause], ['NonRetriable', 'no such user', 'x']);
  const later = new RetryAfter(1500);
  assert.ok(!(later instanceof FencepostError));
  assert.deepEqual([later.delay, later.message], [1500, 'retry after 1500 ms']);
  assert.equal(new RetryAfter(-1).delay, -1);
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 1.5, '5', null, undefined, 5n]) {
    assert.throws(() => new RetryAfter(bad as number), { code: 'INVALID_ARGUMENT' });
  }
});

test('values are shown on one line, without control characters, and run no code', () => {
  const shownAs: [unknown, string][] = [
    ['it', '"it"'],
    ['a"b\\', '"a\\"b\\\\"'],
    ['\0\n\x1b[31m\x7f\u0085\u2028', '"\\u{0}\\u{a}\\u{1b}[31m\\u{7f}\\u{85}\\u{2028}"'],
    ['\u202e\ud800x', '"\\u{202e}\\u{d800}x"'],
    ['é💩', '"é💩"'],
    [-0, '-0'],
    [1.5, '1.5'],
    [5n, '5n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [false, 'false'],
    [[1], 'an array'],
    [Symbol('x'), 'a symbol'],
    [() => 1, 'a function'],
  ];
  for (const [value, text] of shownAs) assert.equal(shown(value), text);
  const trap = new Proxy({}, { get: () => assert.fail('a getter was run') });
  assert.equal(shown(trap), 'an object');
  assert.equal(quote('x'.repeat(101)), `"${'x'.repeat(100)}…" (101 characters)`);
  assert.equal(quote('x'.repeat(100)), `"${'x'.repeat(100)}"`);
});
