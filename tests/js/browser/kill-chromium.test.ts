/** Chromium killed while it writes, on both backends of its IndexedDB: see `kill.ts`. */
import { chromium, chromiumOnSqlite } from './chromium.js';
import { killWhileWriting, ROUNDS } from './kill.js';

killWhileWriting(chromium, ROUNDS);
killWhileWriting(chromiumOnSqlite, Math.ceil(ROUNDS / 5));
