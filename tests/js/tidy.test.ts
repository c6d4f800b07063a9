/**
 * What a reviewer would otherwise repeat. Each check is shown to fail on a small bad example, and
 * then holds for the repository.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesAgree, codesAreExplained } from './tidy/codes.js';
import { type Check, repositoryFiles } from './tidy/files.js';
import { noBareGlobals, noForeignClasses, noLateImports } from './tidy/hosts.js';
import { engineLayers, packageLayers } from './tidy/layers.js';
import { mapIsComplete, mapIsCurrent } from './tidy/map.js';
import { operationsAgree } from './tidy/operations.js';
import { bugsCanBePlanted } from './tidy/planted.js';
import { promisesAreThere } from './tidy/promises.js';
import { noJavaScript, noMachineWidths, noOutsideWorld, noUnsafe } from './tidy/purity.js';
import { fileSizes, lineLengths } from './tidy/sizes.js';
import { noForeignHosts, noLeftovers, noMachinePaths } from './tidy/words.js';

const repository = repositoryFiles();

/** An example is files by path; every complaint about it is listed. */
function holds(
  promise: string,
  check: Check,
  examples: [Record<string, string>, string[]][],
): void {
  test(promise, () => {
    const canFail = examples.some(([, complaints]) => complaints.length > 0);
    assert.ok(canFail, 'no example shows that this check can fail');
    for (const [files, complaints] of examples) {
      assert.deepEqual(check(new Map(Object.entries(files))), complaints);
    }
    const complaints = check(repository);
    assert.ok(complaints.length === 0, `\n${complaints.join('\n')}`);
  });
}

holds('a module of the engine imports from the layers below it', engineLayers, [
  [{ 'src/task.rs': 'use crate::id::Token;\n// crate::engine is fine to name' }, []],
  [
    { 'src/task.rs': 'use crate::state::State;' },
    ['src/task.rs:1: task must not import state, a layer above'],
  ],
  [
    { 'src/change.rs': 'use crate::{\n    task::{Task, engine},\n    ops::claim,\n};' },
    ['src/change.rs:1: change must not import ops, a layer above'],
  ],
  [
    { 'src/index/ready.rs': 'use super::At;\nuse super::super::txn::Txn;' },
    ['src/index/ready.rs:2: index must not import txn, a layer above'],
  ],
  [
    { 'src/codec/mod.rs': 'fn f() {\n    super::ops::claim();\n}' },
    ['src/codec/mod.rs:2: codec must not import ops, a layer above'],
  ],
  [{ 'src/novel.rs': '' }, ['src/novel.rs: the module novel is in no layer']],
]);

holds('a module of the package imports from the layers below it', packageLayers, [
  [{ 'pkg/src/store.ts': "import { Queue } from './queue.js';\nimport 'node:fs';" }, []],
  [
    { 'pkg/src/journal/file.ts': "import { Engine } from '../engine.js';" },
    ['pkg/src/journal/file.ts:1: journal must not import engine, a layer above'],
  ],
  [
    { 'pkg/src/queue.ts': "import {\n  type Store,\n} from './store.js';" },
    ['pkg/src/queue.ts:3: queue must not import store, a layer above'],
  ],
  [
    { 'pkg/src/errors.ts': "const { open } = await import('./index.js');" },
    ['pkg/src/errors.ts:1: errors must not import index, a layer above'],
  ],
  [{ 'pkg/src/novel.ts': '' }, ['pkg/src/novel.ts: the module novel is in no layer']],
]);

const oneIsLong = fileSizes({ 'src/long.rs': 'one table' });

test('a file that may be long is long', () => {
  const long = 'a\n'.repeat(401);
  assert.deepEqual(oneIsLong(new Map([['src/long.rs', long]])), []);
  const complaint = 'src/long.rs: is listed as long, but is not';
  assert.deepEqual(oneIsLong(new Map([['src/long.rs', 'a\n'.repeat(400)]])), [complaint]);
  assert.deepEqual(oneIsLong(new Map()), [complaint], 'nor when it is gone');
});

holds('a file is about one thing', fileSizes(), [
  [{ 'src/id.rs': `${'\n'.repeat(399)}a\n`, 'README.md': '\n'.repeat(900) }, []],
  [
    { 'pkg/src/queue.ts': 'a\n'.repeat(401), 'bench/a.js': 'a\n'.repeat(500) },
    [
      'pkg/src/queue.ts: 401 lines; 400 are enough for one noun',
      'bench/a.js: 500 lines; 400 are enough for one noun',
    ],
  ],
  [
    { 'tests/queue.rs': 'a\n'.repeat(600), 'tests/lease.rs': 'a\n'.repeat(601) },
    ['tests/lease.rs: 601 lines; 600 are enough for one noun'],
  ],
]);

holds('a line fits on a screen', lineLengths, [
  [{ 'src/id.rs': 'é'.repeat(100) }, []],
  [{ 'tests/queue.rs': `    1ms  list mail => ${'task 1 '.repeat(20)}` }, []],
  [{ 'scripts/a.mjs': `\n${'a'.repeat(101)}` }, ['scripts/a.mjs:2: 101 columns of 100']],
  [{ 'tests/page/a.js': 'a'.repeat(101) }, ['tests/page/a.js:1: 101 columns of 100']],
]);

holds('no work is left over', noLeftovers, [
  [{ 'src/id.rs': `// ${'TO'}${'DO'}: later` }, ['src/id.rs:1: names work that was left over']],
]);

holds("no path of anyone's machine is named", noMachinePaths, [
  [{ 'scripts/a.mjs': "'/usr/bin/rustc', 'src/work/a', './tmp/a'" }, []],
  [{ 'scripts/a.mjs': `'/${'home'}/me'` }, ["scripts/a.mjs:1: names a path of one's machine"]],
]);

holds('no host elsewhere is named', noForeignHosts, [
  [{ 'a.md': 'http://127.0.0.1:80/x https://api.example.com/ http://localhost' }, []],
  [
    { 'a.md': `\nsee https:/${'/'}packages.elsewhere.dev/x` },
    ['a.md:2: names the host packages.elsewhere.dev'],
  ],
]);

const error = (rows: string) => ({ 'src/error.rs': rows });

holds('the error codes are the same in Rust and in TypeScript', codesAgree, [
  [{ ...error('TaskGone "TASK_GONE" Ended,'), 'pkg/src/errors.ts': "  TASK_GONE: 'ended'," }, []],
  [
    {
      ...error('  TaskGone "TASK_GONE" Ended,\n  Stopped "STOPPED" Ended,'),
      'pkg/src/errors.ts': "  TASK_GONE: 'closed',\n  TIMED_OUT: 'ended',",
    },
    [
      'TASK_GONE: ended in src/error.rs, closed in pkg/src/errors.ts',
      'STOPPED: ended in src/error.rs, nothing in pkg/src/errors.ts',
      'TIMED_OUT: nothing in src/error.rs, ended in pkg/src/errors.ts',
    ],
  ],
  [{}, ['src/error.rs: no error codes found', 'pkg/src/errors.ts: no error codes found']],
]);

const operations = (rust: string, typescript: string) => ({
  'src/wasm/operations.rs': rust,
  'pkg/src/operations.ts': typescript,
});

holds('the operations have the same numbers in Rust and in TypeScript', operationsAgree, [
  [operations('    4 KvPut value::put,', 'export const kvPut = 4;'), []],
  [
    operations('4 KvPut value::put,\n5 KvGet value::get,', 'export const kvPut = 3;'),
    [
      'kvPut: 4 in src/wasm/operations.rs, 3 in pkg/src/operations.ts',
      'kvGet: 5 in src/wasm/operations.rs, nothing in pkg/src/operations.ts',
    ],
  ],
  [
    operations('4 A b::a,\n4 B b::b,', 'export const a = 4;\nexport const b = 4;'),
    [
      'src/wasm/operations.rs: two operations have number 4',
      'pkg/src/operations.ts: two operations have number 4',
    ],
  ],
  [
    {},
    ['src/wasm/operations.rs: no operations found', 'pkg/src/operations.ts: no operations found'],
  ],
]);

holds('the README explains every error code', codesAreExplained, [
  [{ ...error('TaskGone "TASK_GONE" Ended,'), 'README.md': '| `TASK_GONE` | it is gone |' }, []],
  [
    { ...error('TaskGone "TASK_GONE" Ended,'), 'README.md': 'There is `TASK_GONE`.' },
    ['README.md: no table row explains TASK_GONE'],
  ],
]);

holds('the code map names every file of the engine', mapIsComplete, [
  [{ 'src/README.md': '`ops/`: `ops/claim.rs`', 'src/ops/mod.rs': '', 'src/ops/claim.rs': '' }, []],
  [
    { 'src/README.md': '`ops/task.rs`', 'src/task.rs': '', 'src/ops/task.rs': '' },
    ['src/README.md: does not name task.rs'],
  ],
]);

holds('the code map names no file that is gone', mapIsCurrent, [
  [
    { 'src/README.md': '`task.rs`, see `tests/queue.rs`', 'src/task.rs': '', 'tests/queue.rs': '' },
    [],
  ],
  [{ 'src/README.md': '`job.rs`' }, ['src/README.md: names job.rs, which is not there']],
]);

const promises = (list: string, table: string) => ({
  'tests/PROMISES.md': list,
  'tests/README.md': table,
});

holds('what tests cite was promised, and what was promised is tested', promisesAreThere, [
  [{ ...promises('1. A.', '| 1 a | t |'), 'tests/a.rs': '//! promise 1 of n' }, []],
  [
    { ...promises('1. A.\n3. B.', '| 1 a | t |'), 'tests/js/a.test.ts': '/** Promises 1 to 4. */' },
    [
      'tests/PROMISES.md: 3 stands where 2 is due',
      'tests/README.md: no row answers for promise 3',
      'tests/js/a.test.ts:1: there is no promise 4',
    ],
  ],
  [{}, ['tests/PROMISES.md: no promise found']],
]);

const planted = (find: string, test: string) => ({
  'src/a.rs': 'one two two',
  'tests/a.rs': 'fn it_works() {}',
  'tests/README.md': '| it fails | `src/a.rs` | `a`: it_works |',
  'tests/planted/bugs.json': JSON.stringify([
    { bug: 'it fails', file: 'src/a.rs', find, replace: 'two', by: 'tests/a.rs', test },
  ]),
});

holds('every planted bug can still be planted, and is in the table', bugsCanBePlanted, [
  [planted('one', 'it_works'), []],
  [
    planted('two', 'it_works'),
    ['it fails: fits 2 places of src/a.rs, not 1', 'it fails: changes nothing'],
  ],
  [planted('three', 'it_works'), ['it fails: fits 0 places of src/a.rs, not 1']],
  [
    planted('one', 'it_is'),
    [
      'it fails: tests/a.rs has no test "it_is"',
      'tests/README.md: lacks\n| it fails | `src/a.rs` | `a`: it_is |',
    ],
  ],
  [{}, ['tests/planted/bugs.json: no bugs found']],
]);

holds('no code is unsafe but what gives memory to the allocator', noUnsafe, [
  [{ 'src/wasm/memory.rs': 'unsafe {}', 'src/lib.rs': '#![forbid(unsafe_code)] // unsafe' }, []],
  [{ 'src/state.rs': '\nunsafe {}' }, ['src/state.rs:2: unsafe code']],
  [{ 'src/wasm/mod.rs': 'unsafe {}' }, ['src/wasm/mod.rs:1: unsafe code']],
]);

holds('the engine reads no clock and does no input or output', noOutsideWorld, [
  [{ 'src/state.rs': 'use std::collections::BTreeMap;' }, []],
  [
    { 'src/engine.rs': 'use std::time::Instant;' },
    ['src/engine.rs:1: reaches outside of the engine'],
  ],
]);

holds('the engine knows JavaScript in one folder only', noJavaScript, [
  [{ 'src/wasm/mod.rs': 'use wasm_bindgen::prelude::*;' }, []],
  [{ 'src/engine.rs': 'use js_sys::Date;' }, ['src/engine.rs:1: knows of JavaScript']],
]);

const wire = (text: string) => ({ 'src/codec/rows.rs': text });

holds('no stored number is as wide as the machine', noMachineWidths, [
  [
    { ...wire('wire! { struct A { a } }'), 'src/change.rs': 'struct A(u64);\nstruct B(usize);' },
    [],
  ],
  [wire('impl<T: Wire> Wire for Vec<T> {\n    fn f() {}\n}\nfn size(a: &A) -> usize {\n}'), []],
  [
    {
      ...wire(
        'wire! { struct Row { count } }\nwire! {\n    enum Kind {\n        0 A {},\n    }\n}',
      ),
      'src/change.rs': 'pub struct Row {\n    count: usize,\n}\nenum Kind {\n    A(isize),\n}',
    },
    ['Row', 'Kind'].map(
      (name) => `src/change.rs: ${name} is stored and holds a number as wide as the machine's`,
    ),
  ],
  [
    { ...wire('impl Wire for Id {\n    fn f() {}\n}'), 'src/id.rs': 'pub struct Id(usize);' },
    ["src/id.rs: Id is stored and holds a number as wide as the machine's"],
  ],
  [
    {
      ...wire('    $(impl Wire for $type {\n    })*\n\nsafe! { Id Seq }'),
      'src/id.rs': 'pub struct Seq(usize);',
    },
    ["src/id.rs: Seq is stored and holds a number as wide as the machine's"],
  ],
  [
    wire('impl Wire for usize {\n    fn f() {}\n}'),
    ["src/codec/rows.rs: usize is stored as a number as wide as the machine's"],
  ],
  [
    wire('    $(impl Wire for $type {\n        usize::f();\n    })*\n\nsafe! { Id }'),
    ["src/codec/rows.rs: $type is stored as a number as wide as the machine's"],
  ],
  [{ 'src/codec/rows.rs': '' }, ['src: no format found']],
]);

holds('a value of another realm is not disowned', noForeignClasses, [
  [{ 'pkg/src/a.ts': 'class Own {}\nif (error instanceof Own) throw error;' }, []],
  [
    { 'pkg/src/a.ts': '// instanceof Date\nif (value instanceof Date) return;' },
    ['pkg/src/a.ts:2: asks instanceof Date, which another realm has of its own'],
  ],
]);

holds('what a host may lack is asked for by name', noBareGlobals, [
  [{ 'pkg/src/a.ts': "new (host('TextEncoder'))();\nthis.crypto.fetch(1);" }, []],
  [
    { 'pkg/src/a.ts': 'new TextEncoder();\ncrypto.randomUUID();' },
    [
      'pkg/src/a.ts:1: uses TextEncoder, which a host may lack, without asking for it',
      'pkg/src/a.ts:2: uses crypto, which a host may lack, without asking for it',
    ],
  ],
]);

holds('nothing is imported later than the package', noLateImports, [
  [{ 'pkg/src/a.ts': "let a: typeof import('./b.js');" }, []],
  [
    { 'pkg/src/a.ts': "await import('./b.js');" },
    ['pkg/src/a.ts:1: imports something later, which a service worker may not'],
  ],
]);
